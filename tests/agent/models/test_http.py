"""The way to a chat model and back: proxies, certificates, redirects, and what is taken from a reply."""

from __future__ import annotations

import ipaddress
import json
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from sandtable.agent.model_http import HttpReply, HttpRequest
from sandtable.agent.model_proposer import ModelProposer
from sandtable.agent.model_reply import ModelReply
from sandtable.agent.model_trouble import Fault
from sandtable.agent.model_wire import MOST_TOKENS, said_in
from sandtable.agent.models import ModelTrouble, choose_endpoint, open_proposer
from sandtable.agent.proposer import PlanProposal, SqlProposal
from sandtable.settings import Settings
from tests.agent.models.asking import GOOD, PLAN, asking
from tests.agent.models.conftest import Open
from tests.agent.models.hostile import PASSWORD, body_of, drip, head, start_hostile
from tests.agent.models.scripted import KEY, Say, Scripted, start_scripted

WIRES = ("openai", "anthropic", "ollama")
every_wire = pytest.mark.parametrize("wire", WIRES)
CHAT = HttpRequest("POST", b"http", b"x", None, b"/v1/chat/completions", (), b"{}")


@every_wire
@pytest.mark.parametrize(
    "variable", ["HTTP_PROXY", "ALL_PROXY", "HTTPS_PROXY", "OPENAI_PROXY", "ANTHROPIC_PROXY"]
)
async def test_no_proxy_reads_what_is_not_encrypted(
    wire: str, variable: str, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    with start_scripted([Say("No.")]) as spy, start_scripted([Say(GOOD)]) as server:
        monkeypatch.setenv(variable, spy.url)
        assert (await opened(server, wire).propose(asking())).what == PlanProposal(PLAN)
        assert spy.requests == []


@every_wire
async def test_a_proxy_learns_the_host_and_nothing_else(
    wire: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with start_hostile() as proxy:
        proxy.plays(body_of(b"", "502 No"))
        monkeypatch.setenv("HTTPS_PROXY", f"http://ada:{PASSWORD}@127.0.0.1:{proxy.port}")
        proposer = _opened(proxy.settings(wire, tmp_path, model_base_url="https://model.test:8443/v1"))
        with pytest.raises(ModelTrouble) as caught:
            await proposer.propose(asking())
        seen = b"\n".join(proxy.requests)
    assert caught.value.kind == "unreachable"
    assert seen.startswith(b"CONNECT model.test:8443 HTTP/1.1\r\n") and KEY.encode() not in seen
    assert b"Proxy-Authorization: Basic " in seen
    assert PASSWORD not in caught.value.problem.model_dump_json()


@pytest.mark.parametrize(
    ("environment", "proxy"),
    [
        pytest.param({}, None, id="none"),
        pytest.param({"HTTPS_PROXY": "http://p:1"}, "http://p:1", id="named"),
        pytest.param({"https_proxy": "p:1"}, "http://p:1", id="without-a-scheme"),
        pytest.param({"ALL_PROXY": "http://p:1"}, "http://p:1", id="for-all"),
        pytest.param({"HTTP_PROXY": "http://p:1"}, None, id="for-plain-http"),
        pytest.param({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "model.test"}, None, id="not-for-this-host"),
        pytest.param({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"}, None, id="for-no-host"),
        pytest.param({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "other.test"}, "http://p:1", id="for-another"),
    ],
)
def test_which_proxy(environment: dict[str, str], proxy: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    endpoint = choose_endpoint(Settings(model="openai:m", model_base_url="https://model.test/v1"))
    assert endpoint is not None and endpoint.proxy == proxy
    assert "p:1" not in repr(endpoint)


def test_a_proxy_of_another_kind_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "socks5://p:1")
    with pytest.raises(ModelTrouble, match="proxy") as caught:
        choose_endpoint(Settings(model="openai:m", model_base_url="https://model.test/v1"))
    assert caught.value.kind == "configuration" and "NO_PROXY" in caught.value.suggestion


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A server's own, for 127.0.0.1, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "model")])
    begin, end = datetime(2020, 1, 1, tzinfo=UTC), datetime(2120, 1, 1, tzinfo=UTC)
    place = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.IPv4Address("127.0.0.1"))])
    made = x509.CertificateBuilder(name, name, key.public_key(), 7, begin, end).add_extension(place, False)
    file = tmp_path_factory.mktemp("tls") / "server.pem"
    proof = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(proof + made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    return file


@pytest.fixture
def encrypted(certificate: Path) -> Iterator[Scripted]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with start_scripted([Say(GOOD)], tls=context) as server:
        yield server


@every_wire
async def test_an_unknown_certificate_ends_the_connection(
    wire: str, encrypted: Scripted, opened: Open
) -> None:
    with pytest.raises(ModelTrouble) as caught:
        await opened(encrypted, wire).propose(asking())
    assert caught.value.kind == "unreachable" and encrypted.requests == []


@every_wire
async def test_an_encrypted_reply_is_read(
    wire: str, encrypted: Scripted, certificate: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert (await opened(encrypted, wire).propose(asking())).what == PlanProposal(PLAN)


@every_wire
async def test_a_redirect_is_named_and_not_followed(wire: str, tmp_path: Path) -> None:
    with start_scripted([Say(GOOD)]) as elsewhere, start_hostile() as server:
        server.plays(body_of(b"", "307 Go", f"location: {elsewhere.url}/{KEY}/chat/completions"))
        with pytest.raises(ModelTrouble) as caught:
            await _opened(server.settings(wire, tmp_path)).propose(asking())
        assert elsewhere.requests == [] and len(server.requests) == 1
    assert "redirects to `http://127.0.0.1` (HTTP 307)" in caught.value.message
    assert "SANDTABLE_MODEL_BASE_URL" in caught.value.suggestion
    assert KEY not in caught.value.problem.model_dump_json()


@every_wire
async def test_nothing_compressed_is_asked_for(wire: str, opened: Open) -> None:
    with start_scripted([Say(GOOD)]) as server:
        await opened(server, wire).propose(asking())
    assert server.requests[0].headers["accept-encoding"] == "identity"
    assert not server.requests[0].body.get("stream")


@every_wire
async def test_the_name_and_password_of_an_address_are_the_proof(wire: str, opened: Open) -> None:
    with start_scripted([Say(GOOD)]) as server:
        address = server.base_url(wire).replace("//", "//ada:pa%2Fss@")
        await opened(server, wire, model_base_url=address).propose(asking())
    assert server.requests[0].headers["authorization"] == "Basic YWRhOnBhL3Nz"


async def test_a_status_counts_though_its_body_never_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandtable.agent.model_http._ERROR_S", 0.2)
    with start_hostile() as server:
        server.plays(drip(head("401 No", "content-length: 99999")))
        with pytest.raises(ModelTrouble) as caught:
            await _opened(server.settings("openai", tmp_path)).propose(asking())
    assert caught.value.kind == "refused_key"


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
async def test_a_key_that_http_does_not_allow(wire: str, opened: Open) -> None:
    with start_scripted([Say(GOOD)]) as server:
        key = {f"SANDTABLE_{wire.upper()}_API_KEY": "sk-two\nlines"}
        proposer = opened(server, wire, **key)
        with pytest.raises(ModelTrouble, match="character that HTTP does not allow") as caught:
            await proposer.propose(asking())
        assert server.requests == []
    assert caught.value.kind == "configuration" and "two" not in caught.value.problem.model_dump_json()


@pytest.mark.parametrize(
    ("given", "tokens"),
    [
        (5, 5),
        (12.7, 12),
        (-5, 0),
        (10**300, MOST_TOKENS),
        (1e300, MOST_TOKENS),
        ("5", 0),
        (None, 0),
        (True, 0),
        ([5], 0),
    ],
    ids=str,
)
def test_what_a_reply_cost_is_clamped(given: Any, tokens: int) -> None:
    body = {"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": given}}
    said = said_in(CHAT, HttpReply(200, json.dumps(body).encode()), ())
    assert isinstance(said, ModelReply) and said.tokens_in == tokens


@pytest.mark.parametrize(
    ("retry_after", "seconds"),
    [
        ("5", 5.0),
        ("0.5", 0.5),
        ("", None),
        ("-1", None),
        ("1e9", None),
        ("²", None),
        ("٣", None),
        ("999999999", 86_400),
    ],
)
def test_how_long_to_wait(retry_after: str, seconds: float | None) -> None:
    fault = said_in(CHAT, HttpReply(429, b"", retry_after), ())
    assert isinstance(fault, Fault) and fault.retry_after_s == seconds


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
async def test_a_reply_that_quotes_the_key_has_it_cut_out(wire: str, opened: Open) -> None:
    quoting = {"intent": "talk", "text": f"Your key is {KEY}."}
    with start_scripted([Say(quoting)]) as server:
        proposed = await opened(server, wire).propose(asking())
    assert repr(proposed.what) == "Talk(text='Your key is ….')"


async def test_a_server_that_takes_any_key_may_use_its_word(opened: Open) -> None:
    """Without a key one is sent that means nothing; with a short one nothing else is cut either."""
    sql = {"intent": "sql", "sql": "SELECT 'None', 'EMPTY' FROM orders"}
    with start_scripted([Say(sql)]) as server:
        for key in ("EMPTY", None):
            proposed = await opened(server, "openai", SANDTABLE_OPENAI_API_KEY=key).propose(asking())
            assert proposed.what == SqlProposal(str(sql["sql"]))


def _opened(settings: Settings) -> ModelProposer:
    proposer = open_proposer(settings)
    assert isinstance(proposer, ModelProposer)
    return proposer
