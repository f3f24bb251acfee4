"""The settings files of the daemons. JSON where YAML is asked for: each JSON text is YAML too."""

from __future__ import annotations

import json
from pathlib import Path

from tests.kubernetes.cluster.place import DNS_DOMAIN, DNS_SERVICE_IP, PODS, Place

PAUSE = "sandtable.test/busybox:1"
"""Holds a pod's namespaces open; also what the first tests run."""
CONTAINERD_SOCKET = "/run/containerd/containerd.sock"
CNI_PROGRAMS = "/usr/lib/cni"

# restrict_oom_score_adj: root may lack the right to lower the score, and every pod would die of that.
_CONTAINERD = """\
version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
  address = "{socket}"
[plugins."io.containerd.grpc.v1.cri"]
  restrict_oom_score_adj = true
  sandbox_image = "{pause}"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{cni_programs}"
    conf_dir = "{cni}"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
"""


def write(place: Place) -> None:
    cni = place.settings / "cni"
    cni.mkdir(parents=True)
    (place.settings / "containerd.toml").write_text(
        _CONTAINERD.format(socket=CONTAINERD_SOCKET, pause=PAUSE, cni_programs=CNI_PROGRAMS, cni=cni)
    )
    _write(cni / "10-pods.conflist", _pod_network())
    _write(place.settings / "kubelet.json", _kubelet(place))
    _write(place.settings / "kube-proxy.json", _kube_proxy(place))


def _write(path: Path, content: dict[str, object]) -> None:
    path.write_text(json.dumps(content, indent=2))


def _pod_network() -> dict[str, object]:
    addresses = {"type": "host-local", "ranges": [[{"subnet": PODS}]], "routes": [{"dst": "0.0.0.0/0"}]}
    bridge = {"type": "bridge", "bridge": "pods0", "isGateway": True, "hairpinMode": True, "ipam": addresses}
    return {"cniVersion": "1.0.0", "name": "pods", "plugins": [bridge]}


def _kubelet(place: Place) -> dict[str, object]:
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(place.pki / "ca.crt")},
        },
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": str(place.pki / "kubelet-server.crt"),
        "tlsPrivateKeyFile": str(place.pki / "kubelet-server.key"),
        "containerRuntimeEndpoint": f"unix://{CONTAINERD_SOCKET}",
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{place.cgroup}",
        "failCgroupV1": False,
        "failSwapOn": False,
        "protectKernelDefaults": True,
        "makeIPTablesUtilChains": False,
        "resolvConf": "",
        "clusterDomain": DNS_DOMAIN,
        "clusterDNS": [DNS_SERVICE_IP],
        "seccompDefault": True,
        "maxPods": 60,
        "podPidsLimit": 1024,
        "imageMinimumGCAge": "24h",
        "imageGCHighThresholdPercent": 100,
        "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
        "enforceNodeAllocatable": ["pods"],
    }


def _kube_proxy(place: Place) -> dict[str, object]:
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "clientConnection": {"kubeconfig": str(place.kubeconfig)},
        "mode": "nftables",
        "clusterCIDR": PODS,
        "healthzBindAddress": "127.0.0.1:10256",
        "metricsBindAddress": "127.0.0.1:10249",
        "conntrack": {"maxPerCore": 0, "min": 0},
    }
