"""The planner's outcome for a question: a plan that it is sure of, or what is missing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sandtable.planner.conscience.account import Account


@dataclass(frozen=True, slots=True)
class EarlierTurn:
    """The previous turn of the conversation: a follow-up changes its plan."""

    question: str
    plan: dict[str, Any]
    """Empty when that question was not answered: then a message that points back leads to a clarifying question."""


@dataclass(frozen=True, slots=True)
class Understood:
    plan: dict[str, Any]
    """A QueryPlan in JSON form that `plan.check_plan` accepts."""
    confidence: float
    """How likely the plan is what was meant, from 0 to 1."""
    used: tuple[str, ...] = ()
    """The readings a person may want to check, such as `"germany" read as country = Germany`."""
    follow_up: bool = False
    """Whether it builds on the previous turn."""
    account: Account | None = None
    """Which words each part of the plan came from."""


@dataclass(frozen=True, slots=True)
class Unsure:
    """No plan: the reason and a suggestion, both in whole sentences."""

    reason: str
    unknown: tuple[str, ...] = ()
    """Words of the question that nothing in the data explains."""
    suggestions: tuple[str, ...] = field(default=())
    """Questions it could answer, the nearest first."""
    guess: Understood | None = None
    """The best plan found, below the threshold; used for measuring only, never for answering."""
    choices: tuple[Understood, ...] = ()
    """Readings that were weighed and that a person may choose, those that may be answered first; each with its account.
    Words that such a plan leaves out are unbound in it."""


Outcome = Understood | Unsure
