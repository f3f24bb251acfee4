"""The seam between the two stages: a table of a source file as text, before any cell is interpreted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class TextTable:
    name: str
    """Of the sheet or member; empty for the only table of a file."""
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
