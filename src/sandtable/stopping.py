"""Cancel asyncio tasks so that no cancellation is lost, and no work in a thread goes on unnoticed.

Before Python 3.12 `asyncio.wait_for` loses a cancellation that arrives together with the result it waits for, and the
Postgres driver uses `wait_for`: a task that was cancelled once may continue.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

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


async def in_thread(call: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    """As `asyncio.to_thread`, but a caller that is cancelled waits until the thread has ended."""
    working = asyncio.create_task(asyncio.to_thread(call, *args, **named))
    cancelled: asyncio.CancelledError | None = None
    while not working.done():
        try:
            await asyncio.wait({working})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        working.exception()
        raise cancelled
    return working.result()
