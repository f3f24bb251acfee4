"""Retry calls after a failure: the pauses between the attempts, and when the last failure is raised.

Invariant: no attempt begins later than the budget after the first one began. The clock, the sleep and the random
numbers can be replaced, so that schedules are tested without waiting.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")
E = TypeVar("E", bound=Exception)

_RANDOM = random.SystemRandom()


@dataclass(frozen=True, slots=True)
class Backoff:
    pauses_s: tuple[float, ...]
    """After the first failure, the second, and so on. The last one repeats."""
    budget_s: float = math.inf
    """Seconds from the start of the first attempt to the start of the last."""
    jitter: float = 0.0
    """The share of each pause that is random: with 0.8, a pause of 1 s lasts between 0.2 and 1 s."""

    def __post_init__(self) -> None:
        if not self.pauses_s or not 0 <= self.jitter <= 1:
            raise ValueError("a backoff needs a pause, and a jitter between 0 and 1")

    def pause_s(self, failures: int, draw: Callable[[], float] = _RANDOM.random) -> float:
        """The pause after so many failures in a row; 0 after none. `draw` returns a number from 0 to 1."""
        if failures <= 0:
            return 0.0
        longest = self.pauses_s[min(failures, len(self.pauses_s)) - 1]
        return longest * (1 - self.jitter * draw())


async def retried(
    call: Callable[[], Awaitable[T]],
    *,
    on: type[E] | tuple[type[E], ...],
    backoff: Backoff | Callable[[E], Backoff],
    between: Callable[[E], Awaitable[None]] | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    clock: Callable[[], float] = time.monotonic,
    draw: Callable[[], float] = _RANDOM.random,
) -> T:
    """Return what `call` returns. Repeat it after an exception of `on`; raise the last one when the budget is spent.

    `backoff` may depend on the exception. `between` is awaited before each pause, and ends the retrying by raising.
    """
    began, failures = clock(), 0
    while True:
        try:
            return await call()
        except on as error:
            failures += 1
            schedule = backoff(error) if callable(backoff) else backoff
            pause_s = schedule.pause_s(failures, draw)
            if clock() + pause_s - began > schedule.budget_s:
                raise
            if between is not None:
                await between(error)
        await sleep(pause_s)
