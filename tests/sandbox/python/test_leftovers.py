"""Nothing is left of twenty sessions: no process, no descriptor; and nothing of an executor that is closed."""

from __future__ import annotations

import asyncio
import gc
import os
import signal

import pytest

from sandtable.sandbox.local.executor import LocalExecutor
from tests.sandbox.local.processes import descriptors, family, gone
from tests.sandbox.python.conftest import Bench

pytestmark = pytest.mark.asyncio(loop_scope="session")

_ENDINGS = ("x = 1", "nope", "import os\nos._exit(1)", "import ctypes\nctypes.string_at(0)")


async def _use(bench: Bench, index: int) -> None:
    session = await bench.open(check=False)
    await session.cell(_ENDINGS[index % len(_ENDINGS)])
    if index % 5 == 0:
        await session.cell("while True: pass", timeout_ms=20)
    await session.aclose()


async def test_twenty_sessions_leave_nothing(bench: Bench) -> None:
    hello = await bench.executor.start("py")
    await asyncio.gather(*(_use(bench, index) for index in range(4)))
    await bench.executor.settle()
    gc.collect()
    before, processes = descriptors(), family(hello.pid)
    for _ in range(4):
        await asyncio.gather(*(_use(bench, index) for index in range(5)))
    await bench.executor.settle()
    gc.collect()
    await asyncio.sleep(0.2)
    after = descriptors()
    assert len(after) <= len(before), {key: value for key, value in after.items() if key not in before}
    assert len(family(hello.pid)) <= len(processes)
    assert not bench.executor._sessions


async def test_closing_the_executor_ends_its_sessions(bench: Bench) -> None:
    # Another one, which serves all the tests of this file, still fills its shelves otherwise.
    await bench.executor.settle()
    before = len(descriptors())
    executor = LocalExecutor(bench.store.root, standby=1)
    own = Bench(executor, bench.store)
    hello = await executor.start("py")
    sessions = [await own.open() for _ in range(2)]
    running = asyncio.create_task(sessions[0].cell("while True: pass"))
    await asyncio.sleep(0.2)
    there = family(hello.pid)
    assert len(there) >= 3
    await executor.aclose()
    assert not await gone(there)
    assert (await running).status == "failed"
    assert not any(session.alive for session in sessions)
    gc.collect()
    assert len(descriptors()) <= before + 1


async def test_a_lost_template_ends_sessions_and_another_is_started(bench: Bench) -> None:
    executor = LocalExecutor(bench.store.root, standby=0)
    own = Bench(executor, bench.store)
    try:
        hello = await executor.start("py")
        session = await own.open()
        await session.cell("x = 1")
        there = family(hello.pid)
        os.kill(hello.pid, signal.SIGKILL)
        assert not await gone(there), "its sessions outlived it"
        result = await session.cell("x")
        assert result.error is not None
        assert not session.alive
        again = await own.open()
        assert (await again.cell("1 + 1")).stdout == "2\n"
    finally:
        await executor.aclose()
