"""Installed in other ways: runs in an execution service, and data on a volume instead of in the image."""

from __future__ import annotations

import base64
import json
import secrets
from pathlib import Path
from typing import Any

import pytest

from tests.kubernetes import manifests
from tests.kubernetes.install.conftest import HomeFor, Named, let_in
from tests.kubernetes.install.test_install import COUNT, LITTLE, image, product
from tests.kubernetes.target import Target

pytestmark = pytest.mark.needs("cluster", "helm")

SERVER = 65532


def test_runs_go_to_an_execution_service_and_people_through_a_chat_interface(
    cluster: Target, new_release: Named, home_for: HomeFor
) -> None:
    release = new_release()
    home_for(release)
    token = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "execd", "namespace": release.name}}
    cluster.apply({**token, "stringData": {"token": secrets.token_urlsafe(32)}})
    execd = {
        "enabled": True,
        "existingSecret": "execd",
        "resources": {**LITTLE, "limits": {"cpu": "1", "memory": "2Gi"}},
    }
    chat = {"enabled": True, "image": image(cluster, "chat")}
    release.install({**product(cluster, execd=execd, chat=chat), "backend": "remote"})
    assert "its capsule verifies" in release.test()
    with release.door() as door:
        run = door.run(COUNT)
        assert _executor(door.get(f"/runs/{run['run_id']}/capsule")) == "remote"
    with release.door(f"service/{release.name}-chat") as door:
        assert door.get(f"/runs/{run['run_id']}")["rows"] == run["rows"]
    # Nothing of what Jobs need is there.
    assert not cluster.kubectl("get", "namespace", release.runners, "--ignore-not-found")
    server = cluster.get("deployment", release.name, "-n", release.name)["spec"]["template"]["spec"]
    assert server["automountServiceAccountToken"] is False


def _executor(envelope: dict[str, Any]) -> str:
    """As the capsule says."""
    statement = json.loads(base64.b64decode(envelope["payload"]))
    return statement["predicate"]["executor"]


def test_runs_read_data_from_a_volume(
    cluster: Target, new_release: Named, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The server puts the datasets on an empty volume; a run that did not see it there would find none."""
    if not cluster.own:
        pytest.skip("two claims for one folder need a node of ours")
    let_in(tmp_path)
    release = new_release()
    cluster.apply(manifests.namespace(release.runners))
    for space, name in ((release.name, "server"), (release.runners, "runs")):
        volume = f"{release.name}-{name}"
        cluster.apply(_volume(volume, tmp_path), _claim("data", space, volume))
    home = f"{release.name}-home"
    folder = tmp_path_factory.mktemp("home")
    let_in(folder)
    cluster.apply(_volume(home, folder), _claim("home", release.name, home))
    values = product(
        cluster,
        data={"existingClaim": "data", "serverClaim": "data"},
        runners={"createNamespace": False},
        server={"home": {"existingClaim": "home"}},
    )
    release.install(values)
    with release.door() as door:
        assert door.run(COUNT)["row_count"] == 1
    assert list((tmp_path / "versions").iterdir())
    for name in ("server", "runs", "home"):
        cluster.kubectl("delete", "persistentvolume", f"{release.name}-{name}", "--wait=false")


def _volume(name: str, folder: Path) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteMany"],
            "persistentVolumeReclaimPolicy": "Retain",
            "hostPath": {"path": str(folder), "type": "Directory"},
        },
    }


def _claim(name: str, space: str, volume: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": space},
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "storageClassName": "",
            "volumeName": volume,
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
