"""Problems of a plan, worded for the person or model who must repair it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from sandtable.catalog.names import nearest
from sandtable.errors import InvalidInput
from sandtable.quoting import quote

MOST_PROBLEMS = 20
"""Most problems reported for one plan: each costs a search for the name that was meant."""


@dataclass(frozen=True, slots=True)
class PlanProblem:
    field: str
    """Where in the plan, such as `filters[0].value`; empty for the plan as a whole."""
    message: str
    suggestion: str = ""

    def __str__(self) -> str:
        place = f"{self.field}: " if self.field else ""
        return f"{place}{self.message}"


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """`; did you mean `x`?`, or nothing when no candidate is near."""
    found = nearest(name, list(candidates))
    return f"; did you mean {quote(found)}?" if found else ""


def listed(names: Iterable[str], most: int = 12) -> str:
    """Names for a message, truncated when there are many."""
    all_names = [quote(name) for name in names]
    more = len(all_names) - most
    return ", ".join(all_names[:most]) + (f" and {more} more" if more > 0 else "")


def refuse(problems: list[PlanProblem]) -> InvalidInput:
    """All problems as one error: the first in the message, every one in the details."""
    first, rest = problems[0], len(problems) - 1
    more = f" (and {rest} more problem{'s' if rest > 1 else ''})" if rest else ""
    return InvalidInput(
        f"{first}{more}",
        suggestion=first.suggestion or "Correct the fields named in details.errors and send the plan again.",
        errors=[asdict(problem) for problem in problems],
    )
