"""What the cluster itself refuses once the chart is installed. The server is a stand-in: none of this is its doing."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.kubernetes import manifests
from tests.kubernetes.install.conftest import Named
from tests.kubernetes.install.release import Release
from tests.kubernetes.install.rights import (
    ALLOWED,
    DENIED_AMONG_RUNNERS,
    DENIED_ELSEWHERE,
    DENIED_IN_THE_CLUSTER,
    may,
)
from tests.kubernetes.target import Target

pytestmark = pytest.mark.needs("cluster", "helm")

SERVES = "mkdir /tmp/x; echo ok >/tmp/x/healthz; echo ok >/tmp/x/readyz; exec httpd -f -p 8000 -h /tmp/x"
Pod = dict[str, Any]


def stand_in(cluster: Target) -> dict[str, Any]:
    """Values with which everything but the product is real."""
    repository, _, tag = cluster.images["busybox"].rpartition(":")
    image = {"repository": repository, "tag": tag, "pullPolicy": "IfNotPresent"}
    return {
        "server": {
            "image": image,
            "command": ["sh", "-c", SERVES],
            "drainSeconds": 0,
            "terminationGracePeriodSeconds": 1,
        },
        "runners": {"image": image, "warm": 1},
        "database": {"existingSecret": "none"},
        "migrations": {"enabled": False},
    }


@pytest.fixture(scope="module")
def release(cluster: Target, new_release: Named) -> Release:
    release = new_release()
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "none", "namespace": release.name}}
    cluster.apply({**secret, "stringData": {"url": "postgresql://nobody@nowhere/nothing"}})
    release.install(stand_in(cluster))
    return release


def test_it_is_installed_and_ready(cluster: Target, release: Release) -> None:
    assert [(one["revision"], one["status"]) for one in release.history()] == [(1, "deployed")]
    deployment = cluster.get("deployment", release.name, "-n", release.name)
    assert deployment["status"]["readyReplicas"] == 1
    labels = cluster.get("namespace", release.runners)["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"


def _account(space: str, name: str) -> str:
    return f"system:serviceaccount:{space}:{name}"


def test_the_server_may_do_what_it_needs(cluster: Target, release: Release) -> None:
    server = _account(release.name, release.name)
    found = may(cluster, server, release.runners, ALLOWED)
    assert found == dict.fromkeys(found, True)


@pytest.mark.parametrize(
    ("where", "denied"),
    [
        ("runners", DENIED_AMONG_RUNNERS),
        ("own", {**DENIED_ELSEWHERE, "configmaps": "get", "serviceaccounts/token": "create"}),
        ("kube-system", DENIED_ELSEWHERE),
        ("everywhere", {**DENIED_ELSEWHERE, **DENIED_IN_THE_CLUSTER}),
    ],
    ids=["among runners", "at home", "in the system's namespace", "in the whole cluster"],
)
def test_the_server_may_do_nothing_else(
    cluster: Target, release: Release, where: str, denied: dict[str, str]
) -> None:
    space = {"runners": release.runners, "own": release.name, "everywhere": None}.get(where, where)
    found = may(cluster, _account(release.name, release.name), space, denied)
    assert found == dict.fromkeys(found, False)


def test_a_run_may_do_nothing(cluster: Target, release: Release) -> None:
    runner = _account(release.runners, f"{release.name}-runner")
    for asked in (ALLOWED, DENIED_AMONG_RUNNERS):
        found = may(cluster, runner, release.runners, asked)
        assert found == dict.fromkeys(found, False)


@pytest.fixture(scope="module")
def good_pod(cluster: Target, release: Release) -> Pod:
    """As the Job controller makes it from the template that the server has."""
    config = cluster.get("configmap", f"{release.name}-runner", "-n", release.name)
    template = json.loads(config["data"]["job.json"])["spec"]["template"]
    metadata = {**template["metadata"], "name": "tried", "namespace": release.runners}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}


def _try(cluster: Target, pod: Pod) -> str:
    return cluster.kubectl("create", "--dry-run=server", "-o", "json", "-f", "-", given=pod)


def _refused(cluster: Target, pod: Pod) -> str:
    return cluster.refused("create", "--dry-run=server", "-f", "-", given=pod)


def test_a_pod_like_a_runs_is_taken(cluster: Target, good_pod: Pod) -> None:
    assert json.loads(_try(cluster, good_pod))["spec"]["automountServiceAccountToken"] is False


def test_a_pod_without_limits_is_given_some(cluster: Target, good_pod: Pod) -> None:
    pod = copy.deepcopy(good_pod)
    del pod["spec"]["containers"][0]["resources"]
    assert json.loads(_try(cluster, pod))["spec"]["containers"][0]["resources"]["limits"]["memory"] == "512Mi"


def _set(path: str, value: Any) -> Callable[[Pod], None]:
    """`c.` begins at the container, everything else at the pod's spec."""

    def change(pod: Pod) -> None:
        node = pod["spec"]["containers"][0] if path.startswith("c.") else pod["spec"]
        *way, last = path.removeprefix("c.").split(".")
        for key in way:
            node = node.setdefault(key, {})
        node[last] = value

    return change


def _volume(**source: Any) -> Callable[[Pod], None]:
    return _set("volumes", [{"name": "more", **source}])


NOT_RESTRICTED: dict[str, Callable[[Pod], None]] = {
    "privileged": _set("c.securityContext", {"privileged": True, "readOnlyRootFilesystem": True}),
    "privilege escalation": _set("c.securityContext.allowPrivilegeEscalation", True),
    "a capability": _set("c.securityContext.capabilities.add", ["NET_RAW"]),
    "all capabilities": _set("c.securityContext.capabilities", {}),
    "root": _set("securityContext.runAsUser", 0),
    "no filter of system calls": _set("securityContext.seccompProfile", {"type": "Unconfined"}),
    "the node's network": _set("hostNetwork", True),
    "the node's processes": _set("hostPID", True),
    "the node's files": _volume(hostPath={"path": "/"}),
    "a port of the node": _set("c.ports", [{"containerPort": 80, "hostPort": 80}]),
}


@pytest.mark.parametrize("name", NOT_RESTRICTED)
def test_pod_security_refuses(cluster: Target, good_pod: Pod, name: str) -> None:
    pod = copy.deepcopy(good_pod)
    NOT_RESTRICTED[name](pod)
    assert "violates PodSecurity" in _refused(cluster, pod)


_TOKEN = {"serviceAccountToken": {"path": "token", "expirationSeconds": 3600}}
NOT_A_RUNNER: dict[str, tuple[Callable[[Pod], None], str]] = {
    "a token": (_set("automountServiceAccountToken", True), "no service account token"),
    "a token by a volume": (_volume(projected={"sources": [_TOKEN]}), "nothing else"),
    "another account": (_set("serviceAccountName", "default"), "has the account"),
    "a writable root": (_set("c.securityContext.readOnlyRootFilesystem", False), "read-only"),
    "another image": (_set("c.image", "example.com/other:1"), "has the image"),
    "restarts": (_set("restartPolicy", "OnFailure"), "never started again"),
    "a secret as file": (_volume(secret={"secretName": "x"}), "nothing else"),
    "a config map as file": (_volume(configMap={"name": "x"}), "nothing else"),
    "endless scratch": (_volume(emptyDir={}), "nothing else"),
    "a writable claim": (_volume(persistentVolumeClaim={"claimName": "x"}), "nothing else"),
    "a secret as variable": (
        _set("c.env", [{"name": "X", "valueFrom": {"secretKeyRef": {"name": "x", "key": "y"}}}]),
        "no environment from secrets",
    ),
    "a secret's variables": (
        _set("c.envFrom", [{"secretRef": {"name": "x"}}]),
        "no environment from secrets",
    ),
    "a loose container before": (
        _set("initContainers", [{"name": "first", "image": "example.com/other:1"}]),
        "",
    ),
}


@pytest.mark.parametrize("name", NOT_A_RUNNER)
def test_the_admission_policy_refuses(cluster: Target, release: Release, good_pod: Pod, name: str) -> None:
    change, said = NOT_A_RUNNER[name]
    pod = copy.deepcopy(good_pod)
    change(pod)
    reason = _refused(cluster, pod)
    assert said in reason
    assert "ValidatingAdmissionPolicy" in reason or "violates PodSecurity" in reason


def test_the_policy_binds_no_other_namespace(cluster: Target, namespace: str, good_pod: Pod) -> None:
    pod = copy.deepcopy(good_pod)
    pod["metadata"]["namespace"] = namespace
    pod["spec"]["serviceAccountName"] = "default"
    pod["spec"]["containers"][0]["securityContext"]["readOnlyRootFilesystem"] = False
    assert json.loads(_try(cluster, pod))["metadata"]["namespace"] == namespace


def test_nobody_is_attached_to_a_run(cluster: Target, release: Release, good_pod: Pod) -> None:
    cluster.apply(_runner(good_pod, "tried", "sleep 600"))
    try:
        cluster.wait_for_phase(release.runners, "tried", "Running")
        image = cluster.images["busybox"]
        said = cluster.refused(
            "debug",
            "tried",
            "-n",
            release.runners,
            f"--image={image}",
            "--profile=restricted",
            "-q",
            "--",
            "true",
        )
        assert "ephemeral containers are forbidden" in said
    finally:
        cluster.kubectl("delete", "pod", "tried", "-n", release.runners, "--wait=true")


def test_a_waiting_pod_is_reached_by_the_server_alone(
    cluster: Target, release: Release, good_pod: Pod
) -> None:
    """Also by no other run."""
    serve = "mkdir /tmp/x; echo here >/tmp/x/index.html; exec httpd -f -p 8377 -h /tmp/x"
    waiting = _runner(good_pod, "waiting", serve)
    cluster.apply(waiting)
    try:
        cluster.kubectl(
            "wait", "--for=condition=Ready", "pod/waiting", "-n", release.runners, "--timeout=60s"
        )
        address = cluster.get("pod", "waiting", "-n", release.runners)["status"]["podIP"]
        ask = f"timeout 4 wget -q -O - http://{address}:8377/ || echo nothing"
        server = ("exec", f"deployment/{release.name}", "-n", release.name, "--", "sh", "-c", ask)
        assert cluster.kubectl(*server) == "here\n"
        neighbour = manifests.pod("neighbour", release.name, cluster.images["busybox"], "sh", "-c", ask)
        assert "nothing" in cluster.run(release.name, neighbour)[1].split()
        assert "nothing" in cluster.run(release.runners, _runner(good_pod, "another", ask))[1].split()
    finally:
        cluster.kubectl("delete", "pod", "waiting", "another", "-n", release.runners, "--ignore-not-found")


def _runner(good_pod: Pod, name: str, command: str) -> Pod:
    """A pod like a run's that does something else."""
    pod = copy.deepcopy(good_pod)
    pod["metadata"]["name"] = name
    pod["spec"]["volumes"] = [{"name": "tmp", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}}]
    pod["spec"]["containers"][0] |= {
        "command": ["sh", "-c", command],
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],
    }
    return pod
