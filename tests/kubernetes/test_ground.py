"""A cluster's namespaces come and go without a trace on the machine."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kubernetes.cluster import ground
from tests.kubernetes.cluster.cluster import Cluster, down
from tests.kubernetes.cluster.inside import Inside, begin, find, waited
from tests.kubernetes.cluster.place import Place

pytestmark = [pytest.mark.needs("cluster"), pytest.mark.usefixtures("own_cluster")]

PLACE = Place("test-ground")


@pytest.fixture
def inside() -> Iterator[Inside]:
    down(PLACE)
    for folder in (PLACE.folder, PLACE.pids, PLACE.logs):
        folder.mkdir()
    inside = begin(PLACE)
    ground.prepare(inside)
    yield inside
    down(PLACE)


def _traces() -> list[str]:
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    # Cgroups of other clusters may go meanwhile, which `glob` takes for an error.
    cgroups = [folder for folder, _, _ in os.walk("/sys/fs/cgroup") if Path(folder).name == PLACE.cgroup]
    return [line for line in mounts if PLACE.name in line] + cgroups + [*map(str, PLACE.folder.glob("*"))]


def test_the_kernel_settings_of_the_machine_stay(inside: Inside) -> None:
    for name, value in ground.KERNEL_SETTINGS.items():
        assert inside.run("cat", f"/proc/sys/{name}").strip() == value
    before = Path("/proc/sys/vm/overcommit_memory").read_text()
    inside.run("sh", "-c", "echo 2 >/proc/sys/vm/overcommit_memory")
    assert Path("/proc/sys/vm/overcommit_memory").read_text() == before


def test_a_daemon_is_ended_by_its_number(inside: Inside) -> None:
    inside.start("sleeper", ["sleep", "600"])
    number = inside.number("sleeper")
    assert inside.succeeds("sh", "-c", f"kill -0 {number}")
    inside.end("sleeper")
    assert not inside.succeeds("sh", "-c", f"kill -0 {number}")


def test_down_leaves_nothing(inside: Inside) -> None:
    inside.start("sleeper", ["sleep", "600"])
    inside.run("mount", "-t", "tmpfs", "more", "/var/lib")
    assert _traces()
    down(PLACE)
    assert _traces() == []
    assert not Path(f"/proc/{inside.pid}").exists()


def test_what_a_killed_run_left_is_taken_away(inside: Inside, own_cluster: Cluster) -> None:
    os.kill(inside.pid, signal.SIGKILL)
    assert waited(lambda: find(PLACE) is None, 10)
    assert _traces()
    down(PLACE)
    assert _traces() == []
    assert find(own_cluster.inside.place), "the cluster beside it is untouched"


def test_a_number_that_went_to_another_process_is_not_taken_for_the_cluster(inside: Inside) -> None:
    PLACE.first_process.write_text(f"{os.getpid()} 1")
    assert find(PLACE) is None
    PLACE.first_process.write_text(f"{inside.pid} {_born(inside.pid)}")
    assert find(PLACE) == inside


def _born(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
