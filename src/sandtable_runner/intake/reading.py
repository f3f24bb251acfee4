"""One way to read the text of a column, and what it is in SQL.

Invariant: `fits` is true for a cell exactly when `value` gives what the cell means. A bare cast is never trusted:
DuckDB reads '1.5' as the integer 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Reading:
    """As in a recipe: `read_as`, `format` and `unit` of a column, and the words of a boolean."""

    read_as: str
    format: str = ""
    unit: str = ""
    true: tuple[str, ...] = ()
    false: tuple[str, ...] = ()

    @classmethod
    def of(cls, column: dict[str, Any]) -> Reading:
        return cls(
            column["read_as"],
            column.get("format", ""),
            column.get("unit", ""),
            tuple(column.get("true", ())),
            tuple(column.get("false", ())),
        )

    def entries(self) -> dict[str, Any]:
        return {
            "read_as": self.read_as,
            "format": self.format,
            "unit": self.unit,
            "true": list(self.true),
            "false": list(self.false),
        }


TEXT = Reading("text")


@dataclass(frozen=True, slots=True)
class InSql:
    """A reading as SQL over a cell, an expression of type VARCHAR."""

    sql_type: str
    quick: tuple[tuple[str, str], ...]
    """Condition and value, for cells in the most common form. They hold for a subset of the cells that `fits` holds
    for, with the same values, and need no regular expression."""
    fits: str
    value: str
