"""Daemons of the cluster restart, and what runs in pods goes on."""

from __future__ import annotations

import pytest

from tests.kubernetes import manifests
from tests.kubernetes.cluster.cluster import Cluster
from tests.kubernetes.target import Target

pytestmark = pytest.mark.needs("cluster")


@pytest.mark.parametrize("daemon", ["kube-apiserver", "kubelet", "kube-controller-manager", "containerd"])
def test_a_daemon_restarts_under_running_pods(
    cluster: Target, namespace: str, own_cluster: Cluster, daemon: str
) -> None:
    busybox = cluster.images["busybox"]
    cluster.apply(manifests.pod("lasting", namespace, busybox, "sleep", "600"))
    cluster.wait_for_phase(namespace, "lasting", "Running")
    before = _container(cluster, namespace)

    own_cluster.restart(daemon)

    cluster.apply(manifests.job("after", namespace, busybox, "echo", "after"))
    cluster.kubectl("wait", "--for=condition=Complete", "job/after", "-n", namespace, "--timeout=60s")
    assert cluster.kubectl("logs", "job/after", "-n", namespace) == "after\n"
    assert _container(cluster, namespace) == before


def _container(cluster: Target, namespace: str) -> tuple[str, int]:
    (status,) = cluster.get("pod", "lasting", "-n", namespace)["status"]["containerStatuses"]
    return status["containerID"], status["restartCount"]
