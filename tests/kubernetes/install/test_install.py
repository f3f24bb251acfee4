"""From `helm install` to `helm uninstall` with the real server: what an operator does, and what must outlive it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kubernetes.install.conftest import HomeFor, Named
from tests.kubernetes.install.release import Door, Release
from tests.kubernetes.target import Target

pytestmark = pytest.mark.needs("cluster", "helm")

LITTLE = {"requests": {"cpu": "50m", "memory": "128Mi"}}
"""So that one node has room for several releases at the same time."""
COUNT = "select count(*) as n from orders"


def image(cluster: Target, which: str) -> dict[str, str]:
    repository, _, tag = cluster.images[which].rpartition(":")
    return {"repository": repository, "tag": tag, "pullPolicy": "IfNotPresent"}


def product(cluster: Target, **more: dict[str, Any]) -> dict[str, Any]:
    """Values for the images under test; `more` is added to the sections."""
    sections: dict[str, Any] = {
        "server": {"image": image(cluster, "server"), "drainSeconds": 1, "resources": LITTLE},
        "runners": {"image": image(cluster, "runner")},
        "tests": {"egressTarget": f"{cluster.outside}:80"} if cluster.outside else {},
    }
    return {name: {**sections.get(name, {}), **more.get(name, {})} for name in {*sections, *more}}


@pytest.fixture(scope="module")
def release(cluster: Target, new_release: Named, home_for: HomeFor) -> Release:
    release = new_release()
    home_for(release)
    release.install(product(cluster))
    return release


def test_a_question_is_answered_by_a_job_and_runs_are_shut_in(cluster: Target, release: Release) -> None:
    said = release.test()
    assert "rows, as it should" in said
    assert "executed by Job sandtable-run-" in said
    assert "its capsule verifies" in said
    assert "How many orders are there?" in said
    if cluster.outside:
        assert f"{cluster.outside}:80: this pod reaches it, a pod like a run's does not" in said
    assert "CANNOT TELL" not in said
    assert cluster.get("jobs", "-n", release.runners)["items"] == []


CONNECT = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 3)"


def test_the_server_reaches_what_it_needs_and_no_more(
    cluster: Target, release: Release, outside: str
) -> None:
    """That the same address is reached from a pod without a policy is seen in the test above."""
    inside = ("exec", f"deployment/{release.name}", "-n", release.name, "--", "python3", "-c", CONNECT)
    cluster.kubectl(*inside, "kubernetes.default.svc", "443")
    assert "timed out" in cluster.refused(*inside, outside, "80")


def test_upgrade_and_rollback_keep_what_was_done(cluster: Target, release: Release) -> None:
    with release.door() as door:
        before = door.run(COUNT)
        key = door.get("/keys")
    changed = product(cluster, limits={"timeoutSeconds": 20}, runners={"warm": 1})
    release.upgrade(changed)
    with release.door() as door:
        assert door.get(f"/runs/{before['run_id']}")["rows"] == before["rows"]
        assert door.get("/keys") == key
        between = _run_without_a_job(cluster, release, door)
        assert between["rows"] == before["rows"]
    release.rollback(1)
    with release.door() as door:
        for run in (before, between):
            assert door.get(f"/runs/{run['run_id']}")["rows"] == before["rows"]
            assert door.verifies(run)
    assert [one["status"] for one in release.history()] == ["superseded", "superseded", "deployed"]


def _run_without_a_job(cluster: Target, release: Release, door: Door) -> dict[str, Any]:
    """Given to a pod that waited. The first ones may come before it waits."""
    for _ in range(5):
        run = door.run(COUNT)
        named = "jsonpath={.items[*].involvedObject.name}"
        made = cluster.kubectl("get", "events", "-n", release.runners, "-o", named)
        assert "sandtable-" in made
        if run["run_id"].removeprefix("run_") not in made:
            return run
    raise AssertionError("every run was a Job of its own")


def test_uninstalling_leaves_the_state_and_nothing_else(cluster: Target, release: Release) -> None:
    with release.door() as door:
        run = door.run(COUNT)
    release.uninstall()
    # A pod that ends is listed until it has ended.
    cluster.wait_until("the server's pods to go", lambda: not _pods(cluster, release))
    left = cluster.kubectl(
        "get", "all,configmap,role,rolebinding,networkpolicy,pvc", "-n", release.name, "-o", "name"
    )
    # Kubernetes' own, and the pods of `helm test`, which stay to be looked at.
    others = ("configmap/kube-root-ca.crt", f"pod/{release.name}-test-ask", f"pod/{release.name}-test-egress")
    assert set(left.split()) - set(others) == {f"persistentvolumeclaim/{release.name}-home"}
    cluster.wait_until(
        "the runners' namespace to go", lambda: not _exists(cluster, "namespace", release.runners)
    )
    policies = cluster.kubectl("get", "validatingadmissionpolicy", "-o", "name")
    assert release.name not in policies
    release.install(product(cluster))
    with release.door() as door:
        assert door.get(f"/runs/{run['run_id']}")["rows"] == run["rows"]
        assert door.verifies(run)


def _pods(cluster: Target, release: Release) -> str:
    server = "app.kubernetes.io/component=server"
    return cluster.kubectl("get", "pods", "-n", release.name, "-l", server, "-o", "name")


def _exists(cluster: Target, kind: str, name: str) -> bool:
    return bool(cluster.kubectl("get", kind, name, "--ignore-not-found", "-o", "name"))
