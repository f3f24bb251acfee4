"""A cluster for the tests: the one `make test-kubernetes` made, or any that KUBECONFIG names."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator

import pytest

from tests.kubernetes import manifests
from tests.kubernetes.cluster.cluster import Cluster, running
from tests.kubernetes.cluster.place import OUTSIDE_IP
from tests.kubernetes.target import Target, named_images

# Read at once: no test sees a setting of the person who runs it.
_OWN = os.environ.get("SANDTABLE_TEST_CLUSTER", "")
_IMAGES = os.environ.get("SANDTABLE_TEST_IMAGES", "")
_OUTSIDE = os.environ.get("SANDTABLE_TEST_OUTSIDE", "")


@pytest.fixture(scope="session", autouse=True)
def _no_live_network() -> Iterator[None]:
    """Pods and services have addresses of their own; from the network of a cluster of ours no way leads on."""
    yield


@pytest.fixture(scope="session")
def cluster() -> Target:
    own = running(_OWN) if _OWN else None
    outside = OUTSIDE_IP if own else _OUTSIDE
    return Target(os.environ["KUBECONFIG"], named_images(_IMAGES), outside or None, own)


@pytest.fixture
def own_cluster(cluster: Target) -> Cluster:
    if not cluster.own:
        pytest.skip("the daemons of somebody's cluster are left alone")
    return cluster.own


@pytest.fixture
def outside(cluster: Target) -> str:
    if not cluster.outside:
        pytest.skip("SANDTABLE_TEST_OUTSIDE names no address beyond the cluster")
    return cluster.outside


@pytest.fixture
def namespace(cluster: Target) -> Iterator[str]:
    """A namespace of the test's own that takes restricted pods only."""
    name = f"test-{secrets.token_hex(4)}"
    cluster.apply(manifests.namespace(name))
    cluster.wait_until(
        "the namespace's service account",
        lambda: bool(cluster.kubectl("get", "serviceaccount", "default", "-n", name, "--ignore-not-found")),
    )
    yield name
    cluster.kubectl("delete", "namespace", name, "--wait=false")
