"""Who is who in the cluster: one authority, a certificate and a kubeconfig for each component.

Keys live as long as the cluster's folder. Nobody else trusts this authority.
"""

from __future__ import annotations

import base64
import ipaddress
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from tests.kubernetes.cluster.place import API_PORT, API_SERVICE_IP, DNS_DOMAIN, NODE, NODE_IP

DAYS = 30
API_NAMES = (
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    f"kubernetes.default.svc.{DNS_DOMAIN}",
)


@dataclass(frozen=True, slots=True)
class Client:
    name: str
    group: str | None = None


CLIENTS = {
    "admin": Client("admin", "system:masters"),
    "apiserver-kubelet-client": Client("kube-apiserver-kubelet-client", "system:masters"),
    "kube-controller-manager": Client("system:kube-controller-manager"),
    "kube-scheduler": Client("system:kube-scheduler"),
    "kubelet": Client(f"system:node:{NODE}", "system:nodes"),
}


def write(folder: Path) -> None:
    """NAME.crt and NAME.key of everybody, NAME.conf of every client, and the key of service accounts."""
    folder.mkdir(mode=0o700)
    authority = _Authority(folder)
    loopback = ipaddress.ip_address("127.0.0.1")
    node = ipaddress.ip_address(NODE_IP)
    service = ipaddress.ip_address(API_SERVICE_IP)
    authority.serve("apiserver", Client("kube-apiserver"), API_NAMES, (loopback, node, service))
    authority.serve("kubelet-server", CLIENTS["kubelet"], (NODE,), (loopback, node))
    for file, client in CLIENTS.items():
        authority.know(file, client)
        (folder / f"{file}.conf").write_text(json.dumps(_kubeconfig(folder, file), indent=2))
    accounts = ec.generate_private_key(ec.SECP256R1())
    _write_key(folder / "accounts.key", accounts)
    public = accounts.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    (folder / "accounts.pub").write_bytes(public)


class _Authority:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _subject(Client("sandtable-cluster"))
        certificate = (
            _unsigned(self._name, self._name, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        _write_key(folder / "ca.key", self._key)
        _write_certificate(folder / "ca.crt", certificate)

    def serve(
        self,
        file: str,
        who: Client,
        names: Sequence[str],
        addresses: Sequence[ipaddress.IPv4Address | ipaddress.IPv6Address],
    ) -> None:
        also = [*map(x509.DNSName, names), *map(x509.IPAddress, addresses)]
        self._certify(file, who, ExtendedKeyUsageOID.SERVER_AUTH, x509.SubjectAlternativeName(also))

    def know(self, file: str, who: Client) -> None:
        self._certify(file, who, ExtendedKeyUsageOID.CLIENT_AUTH)

    def _certify(self, file: str, who: Client, use: x509.ObjectIdentifier, *more: x509.ExtensionType) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        unsigned = _unsigned(_subject(who), self._name, key.public_key())
        for extension in (x509.ExtendedKeyUsage([use]), *more):
            unsigned = unsigned.add_extension(extension, critical=False)
        _write_key(self._folder / f"{file}.key", key)
        _write_certificate(self._folder / f"{file}.crt", unsigned.sign(self._key, hashes.SHA256()))


def _unsigned(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=DAYS))
    )


def _subject(who: Client) -> x509.Name:
    group = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, who.group)] if who.group else []
    return x509.Name([*group, x509.NameAttribute(NameOID.COMMON_NAME, who.name)])


def _kubeconfig(folder: Path, file: str) -> dict[str, object]:
    """With the certificates in it, so that the file alone is enough."""

    def inline(name: str) -> str:
        return base64.b64encode((folder / name).read_bytes()).decode()

    server = {"server": f"https://127.0.0.1:{API_PORT}", "certificate-authority-data": inline("ca.crt")}
    user = {"client-certificate-data": inline(f"{file}.crt"), "client-key-data": inline(f"{file}.key")}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "sandtable", "cluster": server}],
        "users": [{"name": file, "user": user}],
        "contexts": [{"name": "sandtable", "context": {"cluster": "sandtable", "user": file}}],
        "current-context": "sandtable",
    }


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> None:
    path.touch(mode=0o600)
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
    )


def _write_certificate(path: Path, certificate: x509.Certificate) -> None:
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
