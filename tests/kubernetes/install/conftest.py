"""Releases for the tests of this folder. A failed test leaves what its pods said."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.kubernetes.chart.helm import Helm
from tests.kubernetes.install.release import Release
from tests.kubernetes.target import Target

Named = Callable[[], Release]
HomeFor = Callable[[Release], None]


@pytest.fixture(scope="session")
def helm(cluster: Target) -> Iterator[Helm]:
    with Helm(cluster.kubeconfig) as helm:
        yield helm


@pytest.fixture(scope="module")
def new_release(cluster: Target, helm: Helm) -> Iterator[Named]:
    """Names of releases; whatever became of them, nothing of them is left."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(
            _removed(Release(cluster, helm, f"sandtable-{secrets.token_hex(3)}"))
        )


@contextmanager
def _removed(release: Release) -> Iterator[Release]:
    # In a cluster of somebody else's it may be there; pods of the release meet the strictest standard.
    release.cluster.apply(_namespace(release.name))
    try:
        yield release
    finally:
        release.uninstall()
        for space in (release.name, release.runners):
            release.cluster.kubectl("delete", "namespace", space, "--ignore-not-found", "--wait=false")


def _namespace(name: str) -> dict[str, Any]:
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


@pytest.fixture(scope="module")
def home_for(cluster: Target, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HomeFor]:
    """Makes the volume for the home of a release. A cluster of ours has nothing that makes volumes for claims."""
    made: list[str] = []

    def make(release: Release) -> None:
        if not cluster.own:
            return
        folder = tmp_path_factory.mktemp("volume")
        let_in(folder)
        made.append(f"volume-{secrets.token_hex(3)}")
        cluster.apply(_home(made[-1], folder, release))

    yield make
    for name in made:
        cluster.kubectl("delete", "persistentvolume", name, "--wait=false")


def _home(name: str, folder: Path, release: Release) -> dict[str, Any]:
    """No claim of another release, installed at the same time, is bound to it."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": "8Gi"},
            "accessModes": ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain",
            "claimRef": {"namespace": release.name, "name": f"{release.name}-home"},
            "hostPath": {"path": str(folder), "type": "Directory"},
        },
    }


def let_in(folder: Path) -> None:
    """Every user may write there: a pod has a user of its own."""
    folder.chmod(0o777)
    for parent in folder.parents[:-2]:
        parent.chmod(parent.stat().st_mode | 0o011)
