"""What the other tests of this folder rely on: pods run, services answer, policies hold."""

from __future__ import annotations

import urllib.request

import pytest

from tests.kubernetes import manifests
from tests.kubernetes.cluster.cluster import Cluster
from tests.kubernetes.target import Target

pytestmark = pytest.mark.needs("cluster")

SERVE = ("sh", "-c", "mkdir /tmp/x; echo here >/tmp/x/index.html; exec httpd -f -p 8080 -h /tmp/x")


def _ask(address: str) -> tuple[str, ...]:
    # Not wget's own -T, which crashes Debian's static build; and the first process of a pod hears no SIGTERM.
    return ("sh", "-c", f"timeout 5 wget -q -O - http://{address}/ || exit 1")


def _serving(name: str, namespace: str, image: str) -> dict[str, object]:
    pod = manifests.pod(name, namespace, image, *SERVE)
    pod["spec"]["volumes"] = [{"name": "tmp", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}}]
    pod["spec"]["containers"][0]["volumeMounts"] = [{"name": "tmp", "mountPath": "/tmp"}]
    return pod


@pytest.fixture
def busybox(cluster: Target) -> str:
    return cluster.images["busybox"]


def test_the_node_is_ready(cluster: Target) -> None:
    (node, *_) = cluster.get("nodes")["items"]
    conditions = {one["type"]: one["status"] for one in node["status"]["conditions"]}
    assert conditions["Ready"] == "True"


def test_a_job_runs_and_its_log_is_read(cluster: Target, namespace: str, busybox: str) -> None:
    cluster.apply(manifests.job("sum", namespace, busybox, "sh", "-c", "echo $((6 * 7)); id -u"))
    cluster.kubectl("wait", "--for=condition=Complete", "job/sum", "-n", namespace, "--timeout=60s")
    assert cluster.kubectl("logs", "job/sum", "-n", namespace).split() == ["42", "65532"]


def test_a_pod_that_asks_for_more_than_restricted_is_refused(
    cluster: Target, namespace: str, busybox: str
) -> None:
    pod = manifests.pod("root", namespace, busybox, "true")
    pod["spec"]["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = True
    assert "violates PodSecurity" in cluster.refused("apply", "-f", "-", given=pod)


def test_a_service_is_reached_from_a_pod_and_from_here(
    cluster: Target, namespace: str, busybox: str, own_cluster: Cluster
) -> None:
    cluster.apply(_serving("web", namespace, busybox), manifests.service("web", namespace, 8080))
    cluster.kubectl("wait", "--for=condition=Ready", "pod/web", "-n", namespace, "--timeout=60s")
    service = cluster.get("service", "web", "-n", namespace)["spec"]["clusterIP"]
    pod = cluster.get("pod", "web", "-n", namespace)["status"]["podIP"]
    for address in (service, f"{pod}:8080"):
        cluster.wait_until(f"{address} to answer here", lambda address=address: _answers_here(address), 20)
    for number, address in enumerate((service, f"{pod}:8080", f"web.{namespace}.svc.cluster.local", "web")):
        asking = manifests.pod(f"ask-{number}", namespace, busybox, *_ask(address))
        assert cluster.run(namespace, asking) == ("Succeeded", "here\n")


def _answers_here(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://{address}/", timeout=3) as answer:
            return answer.read() == b"here\n"
    except OSError:
        return False


def test_a_policy_closes_the_way_out(cluster: Target, namespace: str, busybox: str, outside: str) -> None:
    """The same pod, once with and once without the policy, which is only then seen to do something."""
    free = manifests.pod("free", namespace, busybox, *_ask(outside))
    phase, said = cluster.run(namespace, free)
    assert (phase, said.startswith("outside, asked by 10.")) == ("Succeeded", True)

    cluster.apply(manifests.nothing_may("Egress", namespace, "held"))
    held = manifests.pod("held", namespace, busybox, *_ask(outside))
    phase, said = cluster.run(namespace, held)
    assert (phase, "outside" in said) == ("Failed", False)

    again = manifests.pod("again", namespace, busybox, *_ask(outside))
    assert cluster.run(namespace, again)[0] == "Succeeded"


def test_a_policy_closes_the_way_between_pods(cluster: Target, namespace: str, busybox: str) -> None:
    """On one node they are neighbours on one bridge, where packets may pass by the firewall."""
    cluster.apply(*(_serving(name, namespace, busybox) for name in ("open", "closed")))
    cluster.apply(manifests.nothing_may("Ingress", namespace, "closed"))
    cluster.kubectl(
        "wait", "--for=condition=Ready", "pod/open", "pod/closed", "-n", namespace, "--timeout=60s"
    )
    for name, phase in (("open", "Succeeded"), ("closed", "Failed")):
        address = cluster.get("pod", name, "-n", namespace)["status"]["podIP"]
        assert (
            cluster.run(
                namespace, manifests.pod(f"ask-{name}", namespace, busybox, *_ask(f"{address}:8080"))
            )[0]
            == phase
        )


def test_a_policy_opens_what_it_names(cluster: Target, namespace: str, busybox: str, outside: str) -> None:
    """Names and one neighbour, as a chart would have it; not the outside, not the API server."""
    cluster.apply(_serving("web", namespace, busybox), manifests.service("web", namespace, 8080))
    policy = manifests.nothing_may("Egress", namespace, "asker")
    names = {"namespaceSelector": {}, "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}}}
    web = {"podSelector": {"matchLabels": {"app": "web"}}}
    policy["spec"]["egress"] = [
        {"to": [names], "ports": [{"port": 53, "protocol": way} for way in ("UDP", "TCP")]},
        {"to": [web], "ports": [{"port": 8080}]},
    ]
    cluster.apply(policy)
    cluster.kubectl("wait", "--for=condition=Ready", "pod/web", "-n", namespace, "--timeout=60s")
    script = "; ".join(
        f"timeout 3 {what} >/dev/null 2>&1 && echo {name}"
        for name, what in (
            ("web", "wget -q -O - http://web/"),
            ("outside", f"wget -q -O - http://{outside}/"),
            ("api", "nc kubernetes.default 443 -e true"),
        )
    )
    asker = manifests.pod("asker", namespace, busybox, "sh", "-c", f"{script}; echo end")
    assert cluster.run(namespace, asker) == ("Succeeded", "web\nend\n")
