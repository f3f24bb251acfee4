"""TLS is the deployment's matter: an `https://` address works, and only with an authority that is trusted."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import uvicorn
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from sandtable.errors import SandboxUnavailable
from sandtable.sandbox.remote.executor import RemoteExecutor
from tests.sandbox.remote.process import TOKEN
from tests.server.execd.house import FakeTier, OneSocketServer, job, make_app


def _certificate(folder: Path) -> tuple[Path, Path]:
    """Of an authority that nobody knows, for this machine."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "execd for tests")])
    now = datetime.now(UTC)
    here = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(here, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate, secret = folder / "cert.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return certificate, secret


@asynccontextmanager
async def _serving(folder: Path, certificate: Path, secret: Path) -> AsyncGenerator[str, None]:
    tier = FakeTier()
    server = OneSocketServer(make_app(tier, folder))
    server.config = uvicorn.Config(
        server.config.app, log_config=None, access_log=False, timeout_graceful_shutdown=1,
        ssl_certfile=certificate, ssl_keyfile=secret,
    )  # fmt: skip
    with socket.create_server(("127.0.0.1", 0)) as listening:
        task = asyncio.create_task(server.serve(sockets=[listening]))
        while not server.started:
            await asyncio.sleep(0.005)
        try:
            yield f"https://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            await task
            await tier.aclose()


async def test_over_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate, secret = _certificate(tmp_path)
    async with _serving(tmp_path, certificate, secret) as url:
        stranger = RemoteExecutor(url, TOKEN, patience_s=0.1)
        with pytest.raises(SandboxUnavailable, match="certificate verify failed"):
            await stranger.start()
        await stranger.aclose()
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        executor = RemoteExecutor(url, TOKEN)
        await executor.submit(job())
        assert (await executor.result("job-1")).status == "succeeded"
        await executor.aclose()
