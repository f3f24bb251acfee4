"""The list that resolving a plan writes its problems and warnings to, so that all are reported at once.

Invariant: no more than MOST_PROBLEMS; a plan with more of them is not checked further.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sandtable.plan.problems import MOST_PROBLEMS, PlanProblem
from sandtable.plan.scope import Unresolved


class TooManyProblems(Exception):
    """Raised by `Findings.add` when its list is full."""


@dataclass(slots=True)
class Findings:
    problems: list[PlanProblem] = field(default_factory=list[PlanProblem])
    warnings: list[str] = field(default_factory=list[str])
    lost: set[str] = field(default_factory=set[str])
    """Outputs that failed to resolve: references to them are not reported as further problems."""

    def add(self, place: str, message: str, suggestion: str = "") -> None:
        problem = PlanProblem(place, message, suggestion)
        if problem not in self.problems:
            self.problems.append(problem)
        if len(self.problems) >= MOST_PROBLEMS:
            raise TooManyProblems

    def unresolved(self, place: str, reason: Unresolved) -> None:
        self.add(place, reason.message, reason.suggestion)

    def warn(self, message: str) -> None:
        if message not in self.warnings:
            self.warnings.append(message)
