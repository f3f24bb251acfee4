"""Two servers on one external Postgres, installed by the chart: one state, one key, no gap when the release changes."""

from __future__ import annotations

import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.kubernetes.cluster.place import NODE_IP
from tests.kubernetes.install.conftest import Named
from tests.kubernetes.install.database import database_at
from tests.kubernetes.install.release import Release
from tests.kubernetes.install.test_install import COUNT, product
from tests.kubernetes.target import Target

pytestmark = pytest.mark.needs("cluster", "helm", "postgres")


@pytest.fixture(scope="module")
def url(cluster: Target) -> Iterator[str]:
    if not cluster.own:
        pytest.skip("an external database is started on the node of a cluster of ours only")
    with database_at(NODE_IP) as url:
        yield url


def _secret(release: Release, name: str, **entries: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": release.name}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": entries}


def _values(cluster: Target, url: str, **more: dict[str, Any]) -> dict[str, Any]:
    port = int(url.rpartition("/")[0].rpartition(":")[2])
    sections: dict[str, Any] = {
        "database": {"existingSecret": "database"},
        "signingKey": {"existingSecret": "signing"},
        "networkPolicy": {"database": {"to": [{"ipBlock": {"cidr": f"{NODE_IP}/32"}}], "ports": [port]}},
    }
    return product(cluster, **{"server": {"replicas": 2, "drainSeconds": 5}, **sections, **more})


@pytest.fixture(scope="module")
def release(cluster: Target, new_release: Named, url: str) -> Release:
    release = new_release()
    key = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    cluster.apply(
        _secret(release, "database", url=url), _secret(release, "signing", **{"signing.pem": key.decode()})
    )
    release.install(_values(cluster, url))
    return release


def _pods(cluster: Target, release: Release) -> list[str]:
    selector = "app.kubernetes.io/component=server"
    found = cluster.get("pods", "-n", release.name, "-l", selector, "--field-selector=status.phase=Running")
    return sorted(
        pod["metadata"]["name"] for pod in found["items"] if "deletionTimestamp" not in pod["metadata"]
    )


def test_what_one_server_did_the_other_knows(cluster: Target, release: Release) -> None:
    first, second = _pods(cluster, release)
    with release.door(f"pod/{first}", 8000) as door:
        run = door.run(COUNT)
        key = door.get("/keys")
    with release.door(f"pod/{second}", 8000) as door:
        assert door.get(f"/runs/{run['run_id']}")["rows"] == run["rows"]
        assert door.get("/keys") == key
        assert door.verifies(run)


def test_nothing_is_lost_when_every_pod_is_new(cluster: Target, release: Release, url: str) -> None:
    before = _pods(cluster, release)
    with release.door() as door:
        run = door.run(COUNT)
    address = cluster.get("service", release.name, "-n", release.name)["spec"]["clusterIP"]
    with _visitor(address, release.name) as turned_away:
        release.upgrade(_values(cluster, url, limits={"timeoutSeconds": 25}))
    assert turned_away == []
    between = _pods(cluster, release)
    assert not set(before) & set(between)
    with release.door() as door:
        assert door.get(f"/runs/{run['run_id']}")["rows"] == run["rows"]
        assert door.verifies(run)
        later = door.run(COUNT)
    release.rollback(1)
    assert not set(between) & set(_pods(cluster, release))
    with release.door() as door:
        for one in (run, later):
            assert door.get(f"/runs/{one['run_id']}")["rows"] == run["rows"]
            assert door.verifies(one)


@contextmanager
def _visitor(address: str, name: str) -> Iterator[list[str]]:
    """Asks the service again and again meanwhile; what failed."""
    turned_away: list[str] = []
    request = urllib.request.Request(f"http://{address}/healthz", headers={"Host": name})
    gone = threading.Event()

    def visit() -> None:
        while not gone.wait(0.1):
            try:
                urllib.request.urlopen(request, timeout=10).close()
            except OSError as error:
                turned_away.append(str(error))

    visiting = threading.Thread(target=visit)
    visiting.start()
    try:
        yield turned_away
    finally:
        gone.set()
        visiting.join()


def test_its_own_tests_pass(release: Release) -> None:
    assert "its capsule verifies" in release.test()
