"""How a cluster is found, from files as people have them, and what is said when one cannot be used."""

from __future__ import annotations

import base64
import datetime
import ssl
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from sandtable.errors import SandboxUnavailable
from sandtable.sandbox.kubernetes import cluster as module
from sandtable.sandbox.kubernetes.cluster import Cluster, find_cluster, read_kubeconfig


@pytest.fixture(scope="module")
def pem() -> tuple[str, str]:
    """A certificate that is its own authority, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "us")])
    start = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(start)
        .not_valid_after(start + datetime.timedelta(days=36500))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    encoding = serialization.Encoding.PEM
    private = key.private_bytes(
        encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    return certificate.public_bytes(encoding).decode(), private


def _config(user: dict[str, Any] | None = None, **cluster: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u", "namespace": "runs"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://api.test:6443/", **cluster}}],
        "users": [{"name": "u", "user": user or {}}],
    }


def _write(folder: Path, content: object, name: str = "config") -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
    return path


async def _header(cluster: Cluster) -> str | None:
    return await cluster.source.authorization(renew=False)


async def test_a_token(tmp_path: Path) -> None:
    found = read_kubeconfig([_write(tmp_path, _config({"token": "abc"}))])
    assert (found.server, found.namespace) == ("https://api.test:6443", "runs")
    assert await _header(found) == "Bearer abc"


async def test_a_name_and_a_password(tmp_path: Path) -> None:
    found = read_kubeconfig([_write(tmp_path, _config({"username": "u", "password": "p"}))])
    assert await _header(found) == "Basic " + base64.b64encode(b"u:p").decode()


@pytest.mark.parametrize("inside", [True, False], ids=["in the file", "beside it"])
async def test_certificates(tmp_path: Path, pem: tuple[str, str], inside: bool) -> None:
    certificate, key = pem
    texts = {"client-certificate": certificate, "client-key": key}
    if inside:
        user = {f"{name}-data": base64.b64encode(text.encode()).decode() for name, text in texts.items()}
        authority = {"certificate-authority-data": base64.b64encode(certificate.encode()).decode()}
    else:
        for name, text in {**texts, "ca": certificate}.items():
            _write(tmp_path, text, name)
        user = {name: name for name in texts}
        authority = {"certificate-authority": "ca"}
    found = read_kubeconfig([_write(tmp_path, _config(user, **authority))])
    assert len(found.tls.get_ca_certs()) == 1, "the machine's own authorities do not count then"
    assert found.tls.verify_mode is ssl.CERT_REQUIRED
    assert await _header(found) is None


def test_other_ways_to_a_server(tmp_path: Path) -> None:
    given = {
        "insecure-skip-tls-verify": True,
        "proxy-url": "http://proxy.test:3128",
        "tls-server-name": "kube",
    }
    found = read_kubeconfig([_write(tmp_path, _config(**given))])
    assert (found.tls.verify_mode, found.proxy) == (ssl.CERT_NONE, "http://proxy.test:3128")
    assert found.server_name == "kube"


async def test_several_files_are_one(tmp_path: Path) -> None:
    whole = _config({"tokenFile": "token"})
    (tmp_path / "sub").mkdir()
    _write(tmp_path / "sub", "from-sub\n", "token")
    first = _write(tmp_path, {"current-context": "here", "contexts": whole["contexts"]}, "first")
    second = _write(
        tmp_path / "sub", {"clusters": whole["clusters"], "users": whole["users"], "current-context": "x"}
    )
    found = read_kubeconfig([first, tmp_path / "missing", second])
    assert await _header(found) == "Bearer from-sub", "a path is relative to the file that names it"


_UNUSABLE: dict[str, tuple[object, str]] = {
    "no context": ({**_config(), "current-context": ""}, "no current-context"),
    "unknown context": ({**_config(), "current-context": "there"}, "context 'there'"),
    "unknown cluster": ({**_config(), "clusters": None}, "cluster 'c'"),
    "unknown user": ({**_config(), "users": [None]}, "user 'u'"),
    "no server": (_config(server=""), "no server"),
    "not YAML": ("{", "not YAML"),
    "a list": ("- 1", "not a kubeconfig"),
    "no base64": (_config(None, **{"certificate-authority-data": "%"}), "not base64"),
    "no certificate": (_config(None, **{"certificate-authority-data": "AAAA"}), "certificate"),
    "no such file": (_config(None, **{"certificate-authority": "nowhere"}), "nowhere cannot be read"),
    "given up": (_config({"auth-provider": {"name": "gcp"}}), "auth-provider"),
}


@pytest.mark.parametrize(("content", "told"), _UNUSABLE.values(), ids=list(_UNUSABLE))
def test_what_cannot_be_used_says_why(tmp_path: Path, content: object, told: str) -> None:
    with pytest.raises(SandboxUnavailable, match=told) as caught:
        read_kubeconfig([_write(tmp_path, content)])
    assert caught.value.suggestion
    assert str(tmp_path) in caught.value.message


def test_no_cluster_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "USUAL", tmp_path / "none")
    monkeypatch.setattr(module, "MOUNTED", tmp_path)
    for service in (None, ("10.96.0.1", 443)):
        with pytest.raises(SandboxUnavailable, match="no Kubernetes cluster is configured") as caught:
            find_cluster((), service)
        assert "KUBECONFIG" in caught.value.suggestion
    with pytest.raises(SandboxUnavailable, match=r"no kubeconfig at .*nowhere"):
        find_cluster([tmp_path / "nowhere"])


async def test_inside_a_pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pem: tuple[str, str]) -> None:
    monkeypatch.setattr(module, "MOUNTED", tmp_path)
    for name, text in {"token": "t1\n", "ca.crt": pem[0], "namespace": "team-a\n"}.items():
        _write(tmp_path, text, name)
    found = find_cluster((), ("fd00::1", 443))
    assert (found.server, found.namespace) == ("https://[fd00::1]:443", "team-a")
    assert await _header(found) == "Bearer t1"
    _write(tmp_path, "t2", "token")
    assert await _header(found) == "Bearer t1"
    assert await found.source.authorization(renew=True) == "Bearer t2", "it was rotated"
    assert find_cluster().server == "https://kubernetes.default.svc:443"
