from __future__ import annotations

import asyncio

from sandtable.stopping import stopped


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
