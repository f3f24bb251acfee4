"""Cells of a result as a chart needs them: numbers to place, labels to show.

Invariant: whether a number arrives as `1`, `1.0` or `"1"` changes nothing but its spelling, so a figure
made from stored rows is the figure made from fresh ones.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sandtable.engines.duckdb.types import facts
from sandtable.engines.types import Axis

_NUMERAL = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,4})?")
_WORDS = frozenset(("NaN", "Infinity", "-Infinity", "nan", "inf", "-inf"))
_MOMENT = re.compile(
    r"[0-9]{4}-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01])"
    r"(T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)?)?)?"
)
_WHOLE = 2.0**53

EMPTY = "(empty)"
"""How a null is labelled: the row is in the table, so it is in the chart."""


def number(cell: Any) -> float | None:
    """The cell's place on an axis; None for null, infinities and what is not a number."""
    if isinstance(cell, bool):
        return None
    if isinstance(cell, str):
        if not _NUMERAL.fullmatch(cell):
            return None
    elif not isinstance(cell, int | float):
        return None
    try:
        value = float(cell)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None


def drawn(cell: Any) -> Any:
    """The cell itself where it can be placed, else a gap."""
    return None if number(cell) is None else cell


def label(cell: Any) -> str:
    if cell is None:
        return EMPTY
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, int | float):
        return _numeral(cell)
    return str(cell)


def _numeral(cell: int | float) -> str:
    whole = isinstance(cell, float) and cell.is_integer() and abs(cell) <= _WHOLE
    return str(int(cell)) if whole else repr(cell)


@dataclass(frozen=True)
class Column:
    name: str
    sql_type: str
    index: int
    cells: Sequence[Any]

    @cached_property
    def family(self) -> Axis:
        """The family of the type, if the cells agree with it."""
        stated = facts(self.sql_type).axis
        fits = {"number": _is_numeric, "moment": _is_label, "text": _is_label}.get(stated)
        return stated if fits is not None and all(map(fits, self.cells)) else "other"

    @cached_property
    def labels(self) -> tuple[str, ...]:
        return tuple(map(label, self.cells))

    @cached_property
    def distinct(self) -> tuple[str, ...]:
        """In the order of the rows."""
        return tuple(dict.fromkeys(self.labels))

    @cached_property
    def numbers(self) -> tuple[float, ...]:
        """Of the cells that can be placed."""
        return tuple(value for cell in self.cells if (value := number(cell)) is not None)

    @cached_property
    def moments(self) -> bool:
        """Every cell is a date or timestamp that a time axis understands (or a month, such as `2024-05`)."""
        return bool(self.cells) and all(
            isinstance(cell, str) and _MOMENT.fullmatch(cell) is not None for cell in self.cells
        )

    @property
    def complete(self) -> bool:
        """Every cell can be placed on an axis of numbers."""
        return len(self.numbers) == len(self.cells)

    @property
    def whole(self) -> bool:
        return all(value.is_integer() for value in self.numbers)


def _is_numeric(cell: Any) -> bool:
    return cell is None or number(cell) is not None or _is_special(cell)


def _is_special(cell: Any) -> bool:
    return cell in _WORDS if isinstance(cell, str) else isinstance(cell, float)


def _is_label(cell: Any) -> bool:
    # An integer that no double holds travels as text; Python refuses to format the longest ones.
    return cell is None or isinstance(cell, str | bool | float) or number(cell) is not None
