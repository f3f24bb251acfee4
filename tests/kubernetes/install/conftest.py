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
def volume(cluster: Target, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cluster of ours has nothing that makes volumes for claims; one lies ready."""
    if not cluster.own:
        yield
        return
    folder = tmp_path_factory.mktemp("volume")
    let_in(folder)
    name = f"volume-{secrets.token_hex(3)}"
    cluster.apply(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": name},
            "spec": {
                "capacity": {"storage": "8Gi"},
                "accessModes": ["ReadWriteOnce"],
                "persistentVolumeReclaimPolicy": "Retain",
                "hostPath": {"path": str(folder), "type": "Directory"},
            },
        }
    )
    yield
    cluster.kubectl("delete", "persistentvolume", name, "--wait=false")


def let_in(folder: Path) -> None:
    """Whoever a pod is."""
    folder.chmod(0o777)
    for parent in folder.parents[:-2]:
        parent.chmod(parent.stat().st_mode | 0o011)
