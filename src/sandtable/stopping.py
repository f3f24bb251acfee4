"""A cancellation is not lost.

Before Python 3.12 `asyncio.wait_for` loses a cancellation that comes in the same moment as what it waits for, and the
Postgres driver waits with it: a task that was cancelled once may go on as if nothing had happened.
"""

from __future__ import annotations

import asyncio
from typing import Any

_AGAIN_S = 0.2


def cancellations() -> int:
    """How often the present task was asked to end, whether or not it heard of it."""
    task = asyncio.current_task()
    return 0 if task is None else task.cancelling()


async def stopped(*tasks: asyncio.Task[Any]) -> None:
    """They have ended when this returns, whatever they raised."""
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=_AGAIN_S)
    for task in tasks:
        if not task.cancelled():
            task.exception()
