"""Retrying with a clock that only moves when something sleeps."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable

import pytest

from sandtable.retrying import Backoff, retried


class _Busy(Exception):
    pass


class _Full(_Busy):
    pass


class _Time:
    """A clock, a sleep, and a call that fails a given number of times; an attempt takes `attempt_s`."""

    def __init__(self, failures: float, *, attempt_s: float = 0.0, error: type[Exception] = _Busy) -> None:
        self.now = 100.0
        self.pauses: list[float] = []
        self.attempts = 0
        self._failures, self._attempt_s, self._error = failures, attempt_s, error

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds

    async def call(self) -> str:
        self.attempts += 1
        self.now += self._attempt_s
        if self.attempts <= self._failures:
            raise self._error(f"attempt {self.attempts}")
        return "done"

    async def run(
        self,
        backoff: Backoff | Callable[[_Busy], Backoff],
        between: Callable[[_Busy], Awaitable[None]] | None = None,
    ) -> str:
        return await retried(
            self.call, on=_Busy, backoff=backoff, between=between,
            sleep=self.sleep, clock=self.clock, draw=lambda: 0.5,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("failures", "pauses"),
    [(0, []), (1, [0.1]), (2, [0.1, 1.0]), (4, [0.1, 1.0, 1.0, 1.0])],
)
async def test_pauses_grow_and_the_last_one_repeats(failures: int, pauses: list[float]) -> None:
    time = _Time(failures)
    assert await time.run(Backoff((0.1, 1.0))) == "done"
    assert time.pauses == pauses


@pytest.mark.parametrize(
    ("budget_s", "attempt_s", "attempts"),
    [(0.0, 0.0, 1), (3.0, 0.0, 4), (3.5, 0.0, 4), (3.0, 0.6, 2), (10.0, 4.0, 3)],
    ids=[
        "no budget",
        "ends with the budget",
        "between two pauses",
        "slow attempts",
        "attempts longer than a pause",
    ],
)
async def test_no_attempt_begins_after_the_budget(budget_s: float, attempt_s: float, attempts: int) -> None:
    time = _Time(math.inf, attempt_s=attempt_s)
    with pytest.raises(_Busy, match=f"attempt {attempts}$"):
        await time.run(Backoff((1.0,), budget_s))
    assert time.attempts == attempts
    assert sum(time.pauses) + (attempts - 1) * attempt_s <= budget_s


async def test_what_is_not_named_is_raised_at_once() -> None:
    time = _Time(1, error=KeyError)
    with pytest.raises(KeyError):
        await time.run(Backoff((1.0,)))
    assert time.pauses == []


async def test_the_schedule_may_depend_on_the_failure() -> None:
    patient, short = Backoff((1.0,), 5.0), Backoff((1.0,), 2.0)

    def chosen(error: _Busy) -> Backoff:
        return patient if isinstance(error, _Full) else short

    for error, attempts in ((_Full, 6), (_Busy, 3)):
        time = _Time(math.inf, error=error)
        with pytest.raises(error):
            await time.run(chosen)
        assert time.attempts == attempts


async def test_a_step_between_attempts_sees_each_failure_and_can_end_them() -> None:
    seen: list[str] = []

    async def between(error: _Busy) -> None:
        seen.append(str(error))
        if len(seen) == 2:
            raise error

    time = _Time(math.inf)
    with pytest.raises(_Busy, match="attempt 2"):
        await time.run(Backoff((1.0,)), between)
    assert seen == ["attempt 1", "attempt 2"]
    assert time.pauses == [1.0]


@pytest.mark.parametrize(("drawn", "pause_s"), [(0.0, 2.0), (0.5, 1.2), (1.0, 0.4)])
def test_jitter_shortens_a_pause(drawn: float, pause_s: float) -> None:
    assert Backoff((2.0,), jitter=0.8).pause_s(1, lambda: drawn) == pytest.approx(pause_s)


def test_no_failure_is_no_pause() -> None:
    assert Backoff((2.0,)).pause_s(0) == 0.0


@pytest.mark.parametrize(("pauses_s", "jitter"), [((), 0.0), ((1.0,), 1.5), ((1.0,), -0.1)])
def test_a_schedule_that_makes_no_sense(pauses_s: tuple[float, ...], jitter: float) -> None:
    with pytest.raises(ValueError, match="backoff"):
        Backoff(pauses_s, jitter=jitter)
