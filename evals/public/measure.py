"""What a planner makes of questions with known answers: the planner under test, outcomes and figures.

A planner is one function from a question and an index to ranked plans, `Planner`. The first plan is its best guess;
`sure` says whether the product would answer with it.
"""

from __future__ import annotations

import hashlib
import importlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Protocol, TypeVar

from sandtable.cli.evaluation.score import precision_at_coverage
from sandtable.planner.candidates.network.reader import the_reader
from sandtable.planner.outcome import Understood
from sandtable.planner.planner import plan_question
from sandtable.planner.schema.index import SchemaIndex

COVERAGES = (0.5, 0.6, 0.65, 0.7, 0.8, 0.9, 1.0)
BUILTIN = "evals.public.measure:builtin"
Status = Literal["right", "wrong", "abstained", "failed"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Guess:
    plan: dict[str, Any]
    confidence: float
    sure: bool


Planner = Callable[[str, SchemaIndex], Sequence[Guess]]


def builtin(question: str, index: SchemaIndex) -> Sequence[Guess]:
    """The product's planner. What it would not answer with is less sure than all that it would."""
    outcome = plan_question(question, index, reader=the_reader())
    if isinstance(outcome, Understood):
        return [Guess(outcome.plan, outcome.confidence, True)]
    guess = outcome.guess
    return [] if guess is None else [Guess(guess.plan, 0.5 * guess.confidence, False)]


def planner_of(name: str) -> Planner:
    """`module:function`, so that another process can find it too."""
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)


@dataclass(frozen=True, slots=True)
class Measured:
    id: str
    groups: tuple[str, ...]
    status: Status
    """Of the answer that the product would give; `failed`: the plan could not be executed."""
    guess: bool
    """Whether the best guess is right, answered or not."""
    confidence: float
    seconds: float
    """Of processor time, for planning."""


class Work(Protocol):
    """The questions of one table or database, which one process measures."""

    def measure(self, planner: Planner) -> list[Measured]: ...


def measure_question(
    name: str,
    groups: tuple[str, ...],
    question: str,
    index: SchemaIndex,
    planner: Planner,
    judge: Callable[[dict[str, Any]], bool | None],
) -> Measured:
    """`judge` says whether a plan's result is right, and None where it cannot be executed."""
    began = time.process_time()
    guesses = planner(question, index)
    spent = time.process_time() - began
    if not guesses:
        return Measured(name, groups, "abstained", False, 0.0, spent)
    best = guesses[0]
    right = judge(best.plan)
    status: Status = "right" if right else "failed" if right is None else "wrong"
    return Measured(name, groups, status if best.sure else "abstained", bool(right), best.confidence, spent)


def measure_all(works: Sequence[Work], planner: str, jobs: int) -> list[Measured]:
    one = partial(_measured, planner)
    if jobs == 1:
        return [each for work in works for each in one(work)]
    with ProcessPoolExecutor(jobs) as pool:
        return [each for found in pool.map(one, works, chunksize=1) for each in found]


def _measured(planner: str, work: Work) -> list[Measured]:
    return work.measure(planner_of(planner))


def sample(items: Iterable[T], key: Callable[[T], str], limit: int | None) -> list[T]:
    """All of them in their order, or `limit` of them: always the same ones, from all over."""
    every = list(items)
    if limit is None or limit >= len(every):
        return every
    chosen = sorted(range(len(every)), key=lambda n: _digest(key(every[n])))[:limit]
    return [every[n] for n in sorted(chosen)]


def is_tune(name: str) -> bool:
    """Whether a table or database belongs to the fifth that is tuned on and never trained on."""
    return int(_digest(name)[:8], 16) % 5 == 0


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def figures(measured: Sequence[Measured]) -> dict[str, float]:
    count = Counter(one.status for one in measured)
    whole = max(1, len(measured))
    answered = count["right"] + count["wrong"]
    found: dict[str, float] = {"questions": len(measured)}
    found |= {status: count[status] / whole for status in ("right", "wrong", "abstained", "failed")}
    found |= {"precision": count["right"] / max(1, answered), "coverage": answered / whole}
    found["best guess right"] = sum(one.guess for one in measured) / whole
    # Without a guess the confidence is 0, so these questions come last and count as not right.
    surest = [(one.confidence, one.guess) for one in measured]
    points = precision_at_coverage(surest, whole, COVERAGES)
    found |= {f"guess precision at {point.share:.0%}": point.precision for point in points}
    found["ms per question"] = 1000 * sum(one.seconds for one in measured) / whole
    return {name: round(value, 4) for name, value in found.items()}


def grouped(measured: Sequence[Measured]) -> dict[str, dict[str, float]]:
    names = dict.fromkeys(group for one in measured for group in one.groups)
    return {name: figures([one for one in measured if name in one.groups]) for name in names}
