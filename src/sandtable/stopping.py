"""Cancel asyncio tasks so that no cancellation is lost.

Before Python 3.12 `asyncio.wait_for` loses a cancellation that arrives together with the result it waits for, and the
Postgres driver uses `wait_for`: a task that was cancelled once may continue.
"""

from __future__ import annotations

import asyncio
from typing import Any

_AGAIN_S = 0.2


def cancellations() -> int:
    """How many times the current task was cancelled, lost cancellations included."""
    task = asyncio.current_task()
    return 0 if task is None else task.cancelling()


async def stopped(*tasks: asyncio.Task[Any]) -> None:
    """Cancel the tasks, repeatedly, until all have ended. What they raise is dropped."""
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=_AGAIN_S)
    for task in tasks:
        if not task.cancelled():
            task.exception()
