"""When a caller that was turned away should come back."""

from __future__ import annotations

import asyncio

import pytest

from sandtable.errors import QueueFull
from sandtable.runs.fair_queue import FairQueue
from sandtable.runs.pace import MOST_S, RETRY_AFTER, Pace


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def paced(clock: Clock, *gaps: float) -> Pace:
    pace = Pace(clock)
    for gap in gaps:
        pace.ended()
        clock.now += gap
    return pace


@pytest.mark.parametrize(
    ("gaps", "count", "seconds"),
    [
        ((), 1, None),
        ((1, 1), 1, None),
        ((2, 2, 2), 1, 2),
        ((2, 2, 2), 5, 10),
        ((0.01,) * 40, 1, 1),
        ((0.1,) * 40, 100, 10),
        ((30, 30, 30), 10, MOST_S),
        ((1, 1, 28), 1, 10),
    ],
    ids=["nothing", "too little", "one", "five", "at least one", "many", "at most", "stands still"],
)
def test_seconds(gaps: tuple[float, ...], count: int, seconds: int | None) -> None:
    assert paced(Clock(), *gaps).seconds_for(count) == seconds


def test_the_last_ones_count() -> None:
    clock = Clock()
    pace = paced(clock, *[10] * 40, *[1] * 32)
    assert pace.seconds_for(1) == 1


async def test_a_full_queue_says_when_to_come_back() -> None:
    queue = FairQueue("checks", 1, 2, 1.0)
    for _ in range(3):
        async with queue.place("ann"):
            await asyncio.sleep(0)
    async with queue.place("ann"):
        waiting = [asyncio.create_task(queue.acquire("bob")) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(QueueFull) as refused:
            await queue.acquire("cem")
        assert refused.value.details == {RETRY_AFTER: 1}
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
