"""How a question was read, as parts that a person can check and change.

Invariant: frozen, plain JSON. Every word of the question is in the words of a part, in `aside`, or in `unread`. The
plan of every choice is valid for the dataset; running one is running that plan, checked like any other.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from sandtable.capsule.trust import Mark
from sandtable.quoting import in_markdown, inert

PlanPartKind = Literal["measure", "by", "where", "when", "order", "limit"]
Source = Literal["words", "likely", "kept", "chosen", "default"]
"""Where a part comes from: words of the question that name it; words that name nothing in the data, read so by the
built-in reader; the answer before; a person's choice; or nothing that was said."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Words(_Frozen):
    """Words of the question, by the characters they are at."""

    text: str
    start: int
    end: int
    """Not included."""


class Choice(_Frozen):
    """Another plan that differs in one part."""

    label: str
    """The part as it is in this plan."""
    message: str
    """What a client sends as the message, together with the plan."""
    plan: dict[str, Any]


class ReadPart(_Frozen):
    kind: PlanPartKind
    label: str
    source: Source
    words: tuple[Words, ...] = ()
    """Empty unless `source` is `words` or `likely`; empty, too, for a likely part that a follow-up keeps."""
    choices: tuple[Choice, ...] = ()

    @property
    def text(self) -> str:
        """The part as it stands in a line."""
        return f"by {self.label}" if self.kind == "by" else self.label


class ReadAs(_Frozen):
    question: str = ""
    """The text that the words are places in; empty where a person chose the plan."""
    parts: tuple[ReadPart, ...]
    """In the order measure, by, where, when, order, limit."""
    aside: tuple[Words, ...] = ()
    """Words that mean nothing for the query."""
    unread: tuple[Words, ...] = ()
    """Words that mean something, and that no part of the plan means."""

    joins: tuple[str, ...] = ()
    """By which columns tables were brought together, such as `orders.customer_id = customers.customer_id`."""

    trust: tuple[Mark, ...] = ()
    """Derived from the plan and its proposer (`capsule.trust`), never claimed by a model."""

    @property
    def line(self) -> str:
        """The parts on one line of Markdown."""
        return " · ".join(
            f"{part.text} (likely{_quoted(part.words)})" if part.source == "likely" else part.text
            for part in self.parts
        )

    @property
    def joined(self) -> str:
        """How tables were brought together, as a line of Markdown."""
        return in_markdown(f"Joined by: {', '.join(self.joins)}") if self.joins else ""

    @property
    def likely(self) -> tuple[ReadPart, ...]:
        """The parts that are to be checked before the answer is used."""
        return tuple(part for part in self.parts if part.source == "likely")


def _quoted(words: tuple[Words, ...]) -> str:
    return ": " + ", ".join(f"“{inert(each.text)}”" for each in words) if words else ""


class Aligned(_Frozen):
    """Which words of the question each part of a plan came from, as the planner's conscience found it."""

    question: str
    parts: tuple[tuple[tuple[str | int, ...], tuple[Words, ...]], ...] = ()
    """The place of each part in the plan, and its words."""
    likely: tuple[tuple[tuple[str | int, ...], tuple[Words, ...]], ...] = ()
    """The place of each part that the built-in reader read from words which name nothing in the data, and these."""
    aside: tuple[Words, ...] = ()
    unread: tuple[Words, ...] = ()


class Offer(_Frozen):
    """One of the readings that a question back offers: a plan, or SQL where a model proposed SQL."""

    label: str
    """What it computes; of a query with another value, its condition."""
    message: str
    """What a client sends as the message, together with the plan if there is one."""
    plan: dict[str, Any] | None = None
    sql: str | None = None
    """In place of a plan. It is taken by its message alone."""


class Offered(Offer):
    """A reading that a question back offered, with all that its run needs once it is chosen."""

    alignment: Aligned | None = None
    """None where a person handed in the plan that it differs from."""
    used: tuple[str, ...] = ()
    confidence: float | None = None
    proposer: str | None = None
    """Who proposed the query that it differs from in a value, empty for a person; None for a reading of the built-in
    reader."""
