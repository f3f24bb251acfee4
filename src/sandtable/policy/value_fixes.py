"""Edits of a query whose value is in no row of its column: another value, or the same one in another column.

Not judged here: the gate approves an edited text like any other before it is offered.
"""

from __future__ import annotations

from collections.abc import Sequence

from sandtable.policy.comparisons import Comparison, Span
from sandtable.policy.names import fold
from sandtable.policy.tokens import Edit, edited, literal, spelled, tokens_of

Way = tuple[Comparison, str, tuple[str, str] | None]
"""A comparison, its new value, and the table and column it is compared with from now on; None: as before."""


def with_values(text: str, ways: Sequence[Way]) -> str | None:
    """The text with all of these changes; None where one of them has no certain place in it."""
    edits: list[Edit] = []
    for comparison, value, column in ways:
        span = _string(text, comparison.literal)
        if span is None:
            return None
        edits.append(Edit(span.start, span.end, literal(value)))
        if column is None:
            continue
        name, new = comparison.name, _reference(comparison, *column)
        if name is None or new is None or not comparison.alone:
            return None
        edits.append(Edit(name.start, name.end, new))
    return edited(text, dict.fromkeys(edits))


def _string(text: str, span: Span | None) -> Span | None:
    """The place, if a string stands there and nothing else."""
    tokens = tokens_of(text[span.start : span.end]) if span is not None else []
    return span if [token.kind for token in tokens] == ["string"] else None


def _reference(comparison: Comparison, table: str, column: str) -> str | None:
    """How the SELECT of the comparison names a column of a table; None where it does not read that table once."""
    named = [alias for alias, read in comparison.beside if fold(read) == fold(table)]
    if len(named) != 1:
        return None
    return spelled(column) if len(comparison.beside) == 1 else f"{spelled(named[0])}.{spelled(column)}"
