"""The gate's verdict: Approved or Refused, as values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sandtable.errors import ErrorCode

NOT_FROM_DATA = "Not from the data"
"""The beginning of a warning that a result or a column does not come from the data."""


@dataclass(frozen=True, slots=True)
class Fix:
    """One way to mend what was refused or failed: replaces all that was handed in. Either a text or a plan."""

    title: str
    """What it does, in a few words: ``Use `category` ``."""
    text: str | None = None
    """The corrected SQL."""
    plan: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Approved:
    sql: str
    """Canonical text, from DuckDB's own parser: this is what runs, never the input text."""
    tables: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    serial: tuple[str, ...] = ()
    """Constructs whose value depends on row order: such a query runs on one thread."""
    volatile: tuple[str, ...] = ()
    """Constructs such as `random()` whose value differs from run to run: not cached, not re-runnable."""
    not_from_data: str = ""
    """Why the result as a whole is not from the dataset's tables; empty when it is, as far as the text shows."""


@dataclass(frozen=True, slots=True)
class Refused:
    code: ErrorCode
    construct: str
    """The refused construct as the author wrote it, or its name: `read_csv`, `INSERT`, `orders_backup`."""
    message: str
    suggestion: str = ""
    position: int | None = None
    """Character offset into the input text, when the construct has a place in it."""
    length: int = 0
    details: dict[str, object] = field(default_factory=dict[str, object])
    fixes: tuple[Fix, ...] = ()
    """Filled in by the caller that had the gate approve them; the gate itself only refuses."""


Verdict = Approved | Refused
