from __future__ import annotations

import asyncio
import threading

import pytest

from sandtable.stopping import in_thread, stopped


async def test_a_task_that_loses_its_first_cancellation_is_stopped() -> None:
    lost = 0

    async def deaf() -> None:
        nonlocal lost
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                lost += 1
                if lost == 3:
                    raise

    async def broken() -> None:
        raise ValueError

    tasks = [asyncio.create_task(deaf()), asyncio.create_task(broken())]
    await asyncio.sleep(0)
    await stopped(*tasks)
    assert tasks[0].cancelled() and lost == 3
    await stopped()


async def test_a_cancelled_caller_waits_for_its_thread() -> None:
    began, may_end, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        began.set()
        may_end.wait(10)
        ended.set()

    calling = asyncio.create_task(in_thread(work))
    await asyncio.to_thread(began.wait, 10)
    for _ in range(2):
        calling.cancel()
        await asyncio.sleep(0.02)
        assert not calling.done()
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await calling
    assert ended.is_set()


async def test_what_a_thread_returns_or_raises_reaches_its_caller() -> None:
    assert await in_thread(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        await in_thread(divmod, 1, 0)
