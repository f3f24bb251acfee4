"""A chat model proposer over a scripted server, whose pauses are counted instead of waited."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from sandtable.agent.model_proposer import ModelProposer
from sandtable.agent.models import choose_endpoint
from sandtable.agent.negotiate import Negotiated
from tests.agent.models.scripted import Scripted

Open = Callable[..., ModelProposer]


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "OPENAI_BASE_URL",
        "ANTHROPIC_BASE_URL",
        "OLLAMA_HOST",
        "HTTPS_PROXY",
        "https_proxy",
        "ALL_PROXY",
        "all_proxy",
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session", autouse=True)
def _few_authorities(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Each client reads the authorities it would trust, which is most of a test's time: no wire here is encrypted."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "nobody")])
    begin, end = datetime(2020, 1, 1, tzinfo=UTC), datetime(2120, 1, 1, tzinfo=UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, begin, end).sign(key, hashes.SHA256())
    file = tmp_path_factory.mktemp("authorities") / "one.pem"
    file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(file))
        yield


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def opened(tmp_path: Path, pauses: list[float]) -> Open:
    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    def make(server: Scripted, wire: str, **more: Any) -> ModelProposer:
        settings = server.settings(wire, tmp_path, **{"model_timeout_s": 20, **more})
        endpoint = choose_endpoint(settings)
        assert endpoint is not None
        limit_s = endpoint.time_limit(settings.model_timeout_s)
        return ModelProposer(endpoint, Negotiated(tmp_path / "models.json"), limit_s, pause)

    return make
