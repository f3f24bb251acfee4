"""Rounds that take turns, so that a busy moment of the machine falls on every contender alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

Run = Callable[[str], Awaitable[float | None]]
"""Runs one query and answers its milliseconds, or None to have the call itself timed."""


@dataclass(frozen=True, slots=True)
class Contender:
    name: str
    run: Run
    before: Callable[[], Awaitable[None]] | None = None
    """Untimed: wait until everything is warm again."""
    every: int = 1
    """Takes part in every n-th round only: some are a hundred times slower."""


@dataclass(slots=True)
class Timings:
    values: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def p95(self) -> float:
        ordered = sorted(self.values)
        return ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]


Table = dict[str, dict[str, Timings]]
"""Contender → query → timings."""


async def take_turns(contenders: list[Contender], queries: Mapping[str, str], rounds: int) -> Table:
    table: Table = {contender.name: {title: Timings() for title in queries} for contender in contenders}
    for number in range(-1, rounds):
        for title, text in queries.items():
            for contender in contenders:
                if number > 0 and number % contender.every:
                    continue
                took = await _once(contender, text)
                if number >= 0:
                    table[contender.name][title].values.append(took)
    return table


async def _once(contender: Contender, text: str) -> float:
    if contender.before:
        await contender.before()
    started = time.perf_counter()
    told = await contender.run(text)
    return (time.perf_counter() - started) * 1e3 if told is None else told
