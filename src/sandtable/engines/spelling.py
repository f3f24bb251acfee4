"""What engines write differently, as a value: the compiler asks it for every such node.

Invariant: pure. A spelling makes nodes of the nodes that it gets, from a closed set of functions; it adds no text of
anyone else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from sqlglot import exp

from sandtable.engines.nodes import Constant

Over = Callable[[exp.Expr], exp.Expr]
"""Adds the condition and the window to the call of an aggregate function."""
MatchKind = Literal["contains", "startswith", "endswith"]


@dataclass(frozen=True, slots=True)
class Operand:
    node: exp.Expr
    type: Callable[[], str]
    """DuckDB's type of it: computed when it is asked for."""


class Spelling(Protocol):
    qualifies: bool
    """Whether QUALIFY can choose rows by the value of a window function."""
    windows_any: bool
    """Whether aggregates of different values, medians and quantiles can be computed over a window."""

    def text(self, value: str) -> exp.Expr: ...

    def label(self, value: str) -> exp.Expr:
        """A text that becomes a cell, by which rows are sorted."""
        ...

    def value(self, value: Constant) -> exp.Expr: ...

    def as_text(self, operand: Operand) -> exp.Expr:
        """As DuckDB writes a value of this type."""
        ...

    def quotient(self, left: exp.Expr, right: exp.Expr) -> exp.Expr:
        """Of double precision; null where the right side is zero."""
        ...

    def aggregate(
        self, function: str, operand: Operand, over: Over, *, distinct: bool = False, q: float = 0
    ) -> exp.Expr:
        """`function` is a name of the plan language, apart from `count`, `count_distinct` and `correlation`."""
        ...

    def correlation(self, left: exp.Expr, right: exp.Expr, over: Over) -> exp.Expr:
        """Null where one side does not vary."""
        ...

    def period(self, unit: str, moment: exp.Expr, shift: int) -> exp.Expr:
        """The first moment of an hour, week, month, quarter or year. `shift` is by how many days a week begins before
        Monday, or by how many months a year begins after January."""
        ...

    def part(self, unit: str, moment: exp.Expr) -> exp.Expr:
        """A number of the calendar or the clock, or a name: the buckets that are no periods."""
        ...

    def place(self, names: Sequence[str], node: exp.Expr) -> exp.Expr:
        """Which of the names it is, from 1 on; null for others."""
        ...

    def complete(self, unit: str, start: exp.Expr, end: exp.Expr) -> exp.Expr:
        """How many complete months, quarters or years lie between two moments."""
        ...

    def between_days(self, unit: str, start: exp.Expr, end: exp.Expr) -> exp.Expr:
        """The time between two dates in seconds, minutes, hours or days."""
        ...

    def exactly(self, unit: str, start: Operand, end: Operand) -> exp.Expr:
        """The time between two moments, with its fraction; weeks are the longest unit."""
        ...

    def crossed(self, unit: str, start: exp.Expr, end: exp.Expr) -> exp.Expr:
        """How many beginnings of a period lie between two moments."""
        ...

    def found(self, kind: MatchKind, node: exp.Expr, text: str) -> exp.Expr:
        """Whether a text holds another one, regardless of case."""
        ...

    def folded(self, node: exp.Expr) -> exp.Expr:
        """A text without its case."""
        ...

    def listed(self, node: exp.Expr) -> exp.Expr:
        """The elements of a text, which commas, semicolons or bars separate; an empty one has none."""
        ...

    def holds(self, elements: exp.Expr, value: exp.Expr) -> exp.Expr: ...

    def each(self, elements: exp.Expr) -> exp.Expr:
        """One row for each."""
        ...

    def count(self, elements: exp.Expr) -> exp.Expr: ...
