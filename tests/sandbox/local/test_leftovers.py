"""Nothing is left: no process, no descriptor, no file, whichever way the server ends."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import signal
import sys
from pathlib import Path

import pytest

from sandtable.sandbox.local.executor import LocalExecutor
from tests.sandbox.local.processes import descriptors, family, gone, living
from tests.sandbox.stores import Store, sql_job

_SLOW = "SELECT count(*) FROM range(10000000) AS a, range(10000000) AS b WHERE a.range + b.range = 7"
_KINDS = {
    "good": ("SELECT count(*) FROM orders", {}),
    "mistaken": ("SELECT nope FROM orders", {}),
    "too slow": (_SLOW, {"wall_ms": 30}),
    "too large": (
        "SELECT list(x) FROM range(100000000) AS t(x)",
        {"memory_mb": 64, "tmp_mb": 1, "wall_ms": 2000},
    ),
}


async def _batch(executor: LocalExecutor, store: Store, name: str, count: int) -> None:
    kinds = list(_KINDS.values())
    jobs = [
        sql_job(store, f"{name}-{i}", kinds[i % len(kinds)][0], **kinds[i % len(kinds)][1])
        for i in range(count)
    ]
    for job in jobs:
        await executor.submit(job)
    for index, job in enumerate(jobs):
        if index % 5 == 0:
            await executor.cancel(job.id)
    await asyncio.gather(*(executor.result(job.id) for job in jobs))
    await executor.settle()


async def test_a_hundred_jobs_leak_no_descriptor(executor: LocalExecutor, store: Store) -> None:
    await _batch(executor, store, "first", 20)
    gc.collect()
    await asyncio.sleep(0.1)
    before = descriptors()
    await _batch(executor, store, "second", 100)
    gc.collect()
    await asyncio.sleep(0.1)
    after = descriptors()
    assert len(after) <= len(before), {key: value for key, value in after.items() if key not in before}


async def test_a_hundred_jobs_leave_no_process(executor: LocalExecutor, store: Store) -> None:
    hello = await executor.start()
    await _batch(executor, store, "first", 20)
    await asyncio.sleep(0.1)
    before = family(hello.pid)
    await _batch(executor, store, "second", 100)
    await asyncio.sleep(0.1)
    assert len(family(hello.pid)) <= len(before) + 2


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "busy"])
async def test_close_ends_everything(store: Store, isolation: str, busy: bool) -> None:
    before = len(descriptors())
    executor = LocalExecutor(store.root, isolation=isolation)
    hello = await executor.start()
    await _batch(executor, store, "warm", 4)
    for index in range(3 if busy else 0):
        await executor.submit(sql_job(store, f"slow-{index}", _SLOW))
    await asyncio.sleep(0.1)
    there = family(hello.pid)
    assert len(there) > 1
    await executor.aclose()
    assert not await gone(there, 1.0)
    gc.collect()
    assert len(descriptors()) <= before + 1, "descriptors stayed open"
    for index in range(3 if busy else 0):
        assert (await executor.result(f"slow-{index}")).status == "cancelled"


_SERVER = """
import asyncio, sys
from pathlib import Path
from sandtable.sandbox.local.executor import LocalExecutor
from tests.sandbox.stores import Store, sql_job

async def main():
    executor = LocalExecutor(Path(sys.argv[1]), isolation=sys.argv[2])
    hello = await executor.start()
    store = Store(Path(sys.argv[1]))
    await executor.submit(sql_job(store, "quick", "SELECT 1"))
    await executor.result("quick")
    await executor.settle()
    for index in range(3):
        await executor.submit(sql_job(store, f"slow-{index}", sys.argv[3], cpu_s=60, wall_ms=60_000))
    await asyncio.sleep(0.2)
    print(hello.pid, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


def _environment() -> dict[str, str]:
    repository = Path(__file__).resolve().parents[3]
    return {"PYTHONPATH": f"{repository / 'src'}{os.pathsep}{repository}", "PATH": "/usr/bin:/bin"}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=lambda number: number.name)
async def test_a_killed_server_leaves_no_orphan(store: Store, isolation: str, number: signal.Signals) -> None:
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _SERVER, str(store.root), isolation, _SLOW,
        stdout=asyncio.subprocess.PIPE, env=_environment(),
    )  # fmt: skip
    assert server.stdout is not None
    async with asyncio.timeout(20):
        template = int(await server.stdout.readline())
    there = family(template)
    assert len(there) >= 4, "three jobs should be running"
    server.send_signal(number)
    await server.wait()
    left = await gone(there)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left, "orphans"
    assert not living(there)


_STARTING = """
import asyncio, sys
from pathlib import Path
from sandtable.sandbox.local.executor import LocalExecutor
asyncio.run(LocalExecutor(Path(sys.argv[1])).start(sys.argv[2]))
"""


async def _loading(server: int, library: str) -> int:
    """The template of that server, as soon as it has begun to load this library."""
    async with asyncio.timeout(60):
        while True:
            for pid in family(server) - {server}:
                with contextlib.suppress(OSError):
                    if library in Path(f"/proc/{pid}/maps").read_text():
                        return pid
            await asyncio.sleep(0.02)


@pytest.mark.parametrize(("kind", "library"), [("sql", "duckdb"), ("py", "/numpy/")], ids=["sql", "py"])
async def test_a_template_that_still_loads_dies_with_its_server(
    store: Store, kind: str, library: str
) -> None:
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _STARTING, str(store.root), kind, env=_environment()
    )
    template = await _loading(server.pid, library)
    # It cannot go on loading and then notice by itself.
    os.kill(template, signal.SIGSTOP)
    there = family(server.pid)
    server.kill()
    await server.wait()
    left = await gone(there, 10)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left, "the template outlived its server"


async def test_a_template_whose_server_is_gone_loads_nothing(store: Store) -> None:
    """Killed between the template's start and its first instruction: its parent is another process by then."""
    config = json.dumps({"server": os.getppid(), "kind": "sql", "nice": 0, "control_fd": 0})
    template = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "sandtable_runner", config, env=_environment(), stderr=asyncio.subprocess.PIPE
    )
    _, complaint = await template.communicate()
    assert (template.returncode, complaint) == (0, b"")


async def test_jobs_leave_no_file(executor: LocalExecutor, store: Store) -> None:
    before = sorted(store.root.rglob("*"))
    text = "SELECT max(n) FROM (SELECT row_number() OVER (ORDER BY hash(x)) AS n FROM range(2000000) AS t(x))"
    await executor.submit(sql_job(store, "spill", text, memory_mb=64, tmp_mb=256))
    await executor.result("spill")
    assert sorted(store.root.rglob("*")) == before
