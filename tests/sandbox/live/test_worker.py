"""A worker is sealed, reaches one address, and is gone with its caller."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from sandtable.errors import SandboxUnavailable
from sandtable.sandbox.live import selftest
from sandtable.sandbox.live import worker as live
from sandtable.sandbox.live.relay import Target
from sandtable.sandbox.live.worker import LiveWorker, WorkerLimits, WorkerLost
from tests.sandbox import as_user

pytestmark = pytest.mark.needs("userns")

NOWHERE = Target("127.0.0.1", 9)


@pytest.mark.parametrize(
    "uid",
    [None, pytest.param(as_user.ORDINARY_UID, marks=pytest.mark.needs("root"))],
    ids=["as-this-user", "as-ordinary-user"],
)
def test_a_driver_reaches_the_declared_address_and_nothing_else(uid: int | None) -> None:
    done = as_user.run("tests.sandbox.live.probing", uid=uid)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["escaped"], found["unavailable"]) == ([], "")
    assert found["attempts"] > 150


async def test_the_self_test_finds_a_hole(monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket that only workers may make counts as one where it is not expected."""
    monkeypatch.setattr(selftest, "_OF_A_TCP_SOCKET", selftest._OF_A_TCP_SOCKET - {"internet socket"})
    assert (await selftest.examine_worker()).escaped == ("internet socket",)


def test_without_isolation_no_worker_starts() -> None:
    """In a user namespace whose network namespaces are used up."""
    script = (
        f"echo 0 > /proc/sys/user/max_net_namespaces; exec {sys.executable} -m tests.sandbox.live.probing"
    )
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "sh", "-c", script],
        cwd=as_user.REPOSITORY,
        env={**os.environ, "PYTHONPATH": f"{as_user.REPOSITORY / 'src'}:{as_user.REPOSITORY}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    found = json.loads(done.stdout)
    assert found["attempts"] == 0
    assert "cannot isolate" in found["unavailable"]


async def test_a_worker_that_does_not_start_is_reported_so() -> None:
    with pytest.raises(SandboxUnavailable, match="did not start"):
        await LiveWorker.start("no such kind", NOWHERE)


async def test_a_worker_that_does_not_answer_in_time_is_killed() -> None:
    worker = await LiveWorker.start("probe", NOWHERE)
    try:
        with pytest.raises(TimeoutError):
            await worker.ask("probe", {"others": []}, within_s=0.001)
        await _gone(worker.pid)
    finally:
        await worker.aclose()


async def test_a_cancelled_caller_takes_its_worker_along() -> None:
    worker = await LiveWorker.start("probe", NOWHERE)
    try:
        asking = asyncio.create_task(worker.ask("probe", {"others": []}, within_s=30))
        await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await _gone(worker.pid)
    finally:
        await worker.aclose()


async def test_a_start_that_is_cancelled_leaves_no_process_and_no_socket(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Wherever it is cancelled: sockets that nothing closes would fail the test."""
    launched: list[subprocess.Popen[bytes]] = []
    launch = live._launch

    def caught(*arguments: Any) -> Any:
        made = launch(*arguments)
        launched.append(made[0])
        return made

    monkeypatch.setattr(live, "_launch", caught)
    for seconds in (0, 0.05, 0.15, 0.3):
        starting = asyncio.create_task(LiveWorker.start("probe", NOWHERE))
        await asyncio.sleep(seconds)
        starting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await (await starting).aclose()
    assert launched
    for process in launched:
        await _gone(process.pid)
    gc.collect()


async def test_a_worker_that_crashes_is_reported_as_lost() -> None:
    worker = await LiveWorker.start("probe", NOWHERE)
    try:
        with pytest.raises(WorkerLost):
            await worker.ask("probe", {"no others": []}, within_s=30)
        with pytest.raises(WorkerLost):
            await worker.ask("probe", {"others": []}, within_s=30)
    finally:
        await worker.aclose()


async def test_it_has_no_privilege_and_limits() -> None:
    worker = await LiveWorker.start("probe", NOWHERE, WorkerLimits(cpu_s=1))
    try:
        limits = Path(f"/proc/{_child_of(worker.pid)}/limits").read_text()
        assert "Max cpu time              1" in limits
        status = Path(f"/proc/{_child_of(worker.pid)}/status").read_text()
        assert "Seccomp:\t2" in status
        assert "NoNewPrivs:\t1" in status
        assert "CapEff:\t0000000000000000" in status
        assert Path(f"/proc/{worker.pid}/cmdline").read_bytes().count(b"password") == 0
    finally:
        await worker.aclose()


def _child_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


async def _gone(pid: int) -> None:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return
        if state == "Z":
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"process {pid} is still there")
