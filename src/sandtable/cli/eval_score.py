"""What an evaluation comes to: accuracy, coverage, precision, and how long answers took."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Score:
    questions: int = 0
    answered: int = 0
    abstained: int = 0
    failed: int = 0
    graded: int = 0
    correct: int = 0
    answered_graded: int = 0
    answered_correct: int = 0
    took_ms: list[float] = field(default_factory=list)

    def count(self, line: dict[str, Any]) -> None:
        status, correct = line["status"], line["correct"]
        self.questions += 1
        self.answered += status == "answered"
        self.abstained += status == "abstained"
        self.failed += status == "failed"
        self.graded += correct is not None
        self.correct += correct is True
        self.answered_graded += status == "answered" and correct is not None
        self.answered_correct += status == "answered" and correct is True
        if line["ms"] is not None:
            self.took_ms.append(line["ms"])

    @property
    def accuracy(self) -> float | None:
        """Of all lines that say what the answer should be."""
        return _share(self.correct, self.graded)

    @property
    def coverage(self) -> float | None:
        return _share(self.answered, self.questions)

    @property
    def precision(self) -> float | None:
        """Of those that were answered."""
        return _share(self.answered_correct, self.answered_graded)

    def as_json(self) -> dict[str, Any]:
        return {
            "questions": self.questions,
            "answered": self.answered,
            "abstained": self.abstained,
            "failed": self.failed,
            "graded": self.graded,
            "correct": self.correct,
            "accuracy": _rounded(self.accuracy),
            "coverage": _rounded(self.coverage),
            "precision": _rounded(self.precision),
            "p50_ms": _rounded(percentile(self.took_ms, 50), 1),
            "p95_ms": _rounded(percentile(self.took_ms, 95), 1),
        }


def percentile(values: Sequence[float], percent: float) -> float | None:
    """The least value that so many percent do not exceed."""
    if not values:
        return None
    return sorted(values)[max(0, math.ceil(percent / 100 * len(values)) - 1)]


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _rounded(value: float | None, digits: int = 4) -> float | None:
    return None if value is None else round(value, digits)
