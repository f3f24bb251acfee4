"""The programs of a node and a control plane, with their arguments; name → argv."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from tests.kubernetes.cluster.inside import on_path
from tests.kubernetes.cluster.place import API_PORT, NODE, NODE_IP, PODS, SERVICES, Place

ROOT = Path(__file__).parents[3]
ETCD = "http://127.0.0.1:2379"


def _etcd(place: Place, _: Path) -> list[str]:
    # No fsync: what is in there need not outlive the machine.
    return [
        on_path("etcd"),
        "--data-dir=/var/lib/etcd",
        f"--listen-client-urls={ETCD}",
        f"--advertise-client-urls={ETCD}",
        "--listen-peer-urls=http://127.0.0.1:2380",
        "--unsafe-no-fsync",
        "--log-level=warn",
        "--logger=zap",
    ]


def _containerd(place: Place, _: Path) -> list[str]:
    return [on_path("containerd"), f"--config={place.settings / 'containerd.toml'}"]


def _apiserver(place: Place, programs: Path) -> list[str]:
    pki = place.pki
    return [
        str(programs / "kube-apiserver"),
        f"--etcd-servers={ETCD}",
        f"--secure-port={API_PORT}",
        f"--advertise-address={NODE_IP}",
        f"--tls-cert-file={pki / 'apiserver.crt'}",
        f"--tls-private-key-file={pki / 'apiserver.key'}",
        f"--client-ca-file={pki / 'ca.crt'}",
        f"--kubelet-certificate-authority={pki / 'ca.crt'}",
        f"--kubelet-client-certificate={pki / 'apiserver-kubelet-client.crt'}",
        f"--kubelet-client-key={pki / 'apiserver-kubelet-client.key'}",
        "--kubelet-preferred-address-types=InternalIP,Hostname",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={pki / 'accounts.pub'}",
        f"--service-account-signing-key-file={pki / 'accounts.key'}",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        f"--service-cluster-ip-range={SERVICES}",
        "--allow-privileged=true",
        "--profiling=false",
    ]


def _controller_manager(place: Place, programs: Path) -> list[str]:
    pki = place.pki
    return [
        str(programs / "kube-controller-manager"),
        *_talks_to_the_api(place, "kube-controller-manager"),
        f"--root-ca-file={pki / 'ca.crt'}",
        f"--service-account-private-key-file={pki / 'accounts.key'}",
        f"--cluster-signing-cert-file={pki / 'ca.crt'}",
        f"--cluster-signing-key-file={pki / 'ca.key'}",
        "--use-service-account-credentials=true",
        "--controllers=*,-cloud-node-lifecycle-controller",
        "--allocate-node-cidrs=true",
        f"--cluster-cidr={PODS}",
        "--node-cidr-mask-size=24",
    ]


def _scheduler(place: Place, programs: Path) -> list[str]:
    return [str(programs / "kube-scheduler"), *_talks_to_the_api(place, "kube-scheduler")]


def _talks_to_the_api(place: Place, who: str) -> list[str]:
    conf = place.pki / f"{who}.conf"
    files = [f"--{use}kubeconfig={conf}" for use in ("", "authentication-", "authorization-")]
    return [*files, "--bind-address=127.0.0.1", "--leader-elect=false"]


def _kubelet(place: Place, programs: Path) -> list[str]:
    return [
        str(programs / "kubelet"),
        f"--config={place.settings / 'kubelet.json'}",
        f"--kubeconfig={place.pki / 'kubelet.conf'}",
        f"--hostname-override={NODE}",
        f"--node-ip={NODE_IP}",
        "--v=2",
    ]


def _kube_proxy(place: Place, programs: Path) -> list[str]:
    return [
        str(programs / "kube-proxy"),
        f"--config={place.settings / 'kube-proxy.json'}",
        f"--hostname-override={NODE}",
    ]


def _firewall(place: Place, _: Path) -> list[str]:
    return [
        "env",
        f"PYTHONPATH={ROOT}",
        sys.executable,
        "-um",
        "tests.kubernetes.cluster.firewall",
        place.name,
    ]


DAEMONS: dict[str, Callable[[Place, Path], list[str]]] = {
    "etcd": _etcd,
    "containerd": _containerd,
    "kube-apiserver": _apiserver,
    "kube-controller-manager": _controller_manager,
    "kube-scheduler": _scheduler,
    "firewall": _firewall,
    "kubelet": _kubelet,
    "kube-proxy": _kube_proxy,
}
