"""The seam between the two stages: a table of a source file as text, before any cell is interpreted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sandtable_runner.intake.reading import Reading


@dataclass(frozen=True, slots=True)
class Stored:
    """What a file that has types says of a column."""

    reading: Reading | None = None
    """None where the texts decide."""
    reason: str = ""
    moments: tuple[int, int] | None = None
    """The least and the greatest value of a column of moments that are written as numbers; their unit is asked."""
    key: bool = False
    """Whether its texts identify rows, so that they are no numbers."""


@dataclass(frozen=True, slots=True)
class Keys:
    """What a file declares of a table, with the names that its tables and columns have there."""

    primary: tuple[str, ...] = ()
    references: tuple[tuple[str, str, str], ...] = ()
    """A column, and the table and column that it refers to."""


@dataclass(frozen=True, slots=True)
class TextTable:
    name: str
    """Of the sheet, member or table of a database; empty for the only table of a file."""
    relation: str
    """A SQL table expression. Its columns are `c1` to `cn`, all VARCHAR."""
    headers: tuple[str, ...]
    """As in the file, one for each column; may be empty or occur twice."""
    reading: dict[str, Any]
    """The `text` of the recipe."""
    rows_before: int
    """Data row 1 is this many lines or rows into the file, for messages."""
    notes: tuple[str, ...] = ()
    repairs: tuple[dict[str, str], ...] = ()
    """Offered for this table."""
    stored: tuple[Stored, ...] = ()
    """By column, of a file that has types: there NULL is empty, and an empty text is a text."""
    keys: Keys = Keys()
    alone: bool = False
    """Whether its name is used without that of the file."""
