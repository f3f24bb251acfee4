"""The totals of an evaluation: outcomes, accuracy, coverage, precision, reliability and latency.

Invariant: every judged item is in the totals once, and once in the group of its expectation, kind, source and of
each of its tags.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from sandtable.cli.evaluation.outcome import PASSED, Judged, Outcome

COSTS = (0, 5, 10)
"""Penalties for a wrong answer, in units of a right one."""
SHARES = tuple(tenth / 10 for tenth in range(1, 11))


@dataclass(slots=True)
class Totals:
    questions: int = 0
    answered: int = 0
    abstained: int = 0
    failed: int = 0
    outcomes: Counter[Outcome] = field(default_factory=Counter)

    def count(self, one: Judged) -> None:
        self.questions += 1
        self.answered += one.status == "answered"
        self.abstained += one.status == "abstained"
        self.failed += one.status == "failed"
        if one.outcome is not None:
            self.outcomes[one.outcome] += 1

    @property
    def graded(self) -> int:
        return self.outcomes.total()

    @property
    def correct(self) -> int:
        return sum(count for outcome, count in self.outcomes.items() if outcome in PASSED)

    @property
    def accuracy(self) -> float | None:
        """The share of right outcomes among all lines with an expected outcome."""
        return _share(self.correct, self.graded)

    @property
    def coverage(self) -> float | None:
        return _share(self.answered, self.questions)

    @property
    def precision(self) -> float | None:
        """The share of right ones among right and wrong answers."""
        right, wrong = self.outcomes["right"], self.outcomes["wrong"]
        return _share(right, right + wrong)

    def reliability(self, cost: int) -> float | None:
        """RS(c): the mean of 1 for right and rightly declined, -c for wrong, 0 for the rest."""
        return _share(self.correct - cost * self.outcomes["wrong"], self.graded)

    def as_json(self) -> dict[str, Any]:
        return {
            "questions": self.questions,
            "answered": self.answered,
            "abstained": self.abstained,
            "failed": self.failed,
            "graded": self.graded,
            "correct": self.correct,
            "outcomes": {outcome: self.outcomes[outcome] for outcome in get_args(Outcome)},
            "accuracy": rounded(self.accuracy),
            "coverage": rounded(self.coverage),
            "precision": rounded(self.precision),
            "reliability": {str(cost): rounded(self.reliability(cost)) for cost in COSTS},
        }


@dataclass(frozen=True, slots=True)
class Point:
    """Precision among the most confident answers."""

    share: float
    """The share of these among all answers with a confidence."""
    coverage: float
    """The share of these among all graded items."""
    precision: float

    def as_json(self) -> dict[str, float]:
        return {
            "share": self.share,
            "coverage": round(self.coverage, 4),
            "precision": round(self.precision, 4),
        }


class Score:
    def __init__(self) -> None:
        self.totals = Totals()
        self.groups: dict[str, dict[str, Totals]] = {name: {} for name in ("expect", "kind", "source", "tag")}
        self.took_ms: list[float] = []
        self._confidences: list[tuple[float, bool]] = []

    def count(self, one: Judged) -> None:
        self.totals.count(one)
        named = {
            "expect": (one.item.expect,),
            "kind": (one.kind,),
            "source": (one.source,),
            "tag": one.item.tags,
        }
        for group, names in named.items():
            for name in dict.fromkeys(names):
                self.groups[group].setdefault(name, Totals()).count(one)
        if one.ms is not None:
            self.took_ms.append(one.ms)
        if one.outcome in ("right", "wrong") and one.turn.confidence is not None:
            self._confidences.append((one.turn.confidence, one.outcome == "right"))

    @property
    def curve(self) -> list[Point]:
        """Empty if no answer has a confidence."""
        return precision_at_coverage(self._confidences, self.totals.graded)

    def as_json(self) -> dict[str, Any]:
        return {
            **self.totals.as_json(),
            "precision_at_coverage": [point.as_json() for point in self.curve],
            "by": {
                group: {name: totals.as_json() for name, totals in sorted(found.items())}
                for group, found in self.groups.items()
            },
            "p50_ms": rounded(percentile(self.took_ms, 50), 1),
            "p95_ms": rounded(percentile(self.took_ms, 95), 1),
        }


def precision_at_coverage(
    confidences: Iterable[tuple[float, bool]], graded: int, shares: Sequence[float] = SHARES
) -> list[Point]:
    """Takes confidence and correctness of each answer. Answers of equal confidence count with their mean."""
    surest = sorted(confidences, key=lambda one: -one[0])
    if not surest:
        return []
    by_confidence: dict[float, list[bool]] = {}
    for confidence, right in surest:
        by_confidence.setdefault(confidence, []).append(right)
    points: list[Point] = []
    for share in shares:
        kept = max(1, round(share * len(surest)))
        points.append(Point(share, kept / max(1, graded), _expected_right(by_confidence, kept) / kept))
    return points


def _expected_right(by_confidence: dict[float, list[bool]], kept: int) -> float:
    """How many of the `kept` most confident are right, on average over the orders of equally confident ones."""
    right, left = 0.0, kept
    for group in by_confidence.values():
        taken = min(left, len(group))
        right += taken * sum(group) / len(group)
        left -= taken
    return right


def compared(first: Mapping[str, bool], second: Mapping[str, bool]) -> dict[str, int]:
    """For questions that both were asked, by id: how many each of the two passed, alone and together."""
    pairs = Counter((first[name], second[name]) for name in first.keys() & second.keys())
    return {
        "both": pairs[True, True],
        "only the first": pairs[True, False],
        "only the second": pairs[False, True],
        "neither": pairs[False, False],
    }


def percentile(values: Sequence[float], percent: float) -> float | None:
    """The smallest value that at least `percent` of the values do not exceed."""
    if not values:
        return None
    ordered = sorted(values)
    return ordered[max(0, math.ceil(percent / 100 * len(ordered)) - 1)]


def _share(part: float, whole: int) -> float | None:
    return part / whole if whole else None


def rounded(value: float | None, digits: int = 4) -> float | None:
    return None if value is None else round(value, digits)
