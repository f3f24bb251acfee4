"""What a column of a database becomes: the words that all databases' tables of types share.

Invariant: a value is copied as it is, or its column says in a note how it is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sandtable.catalog.live import Read

Measure = Literal["number", "moment", "time", "boolean"]
"""What of a column's values must be known before it gets its type: see `Measured`."""

MOST_DIGITS = 38
_FEW_DIGITS = 18
"""Such a decimal is one machine word."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Counted over all rows."""

    special: int = 0
    """NaN and infinities of numbers and times; times and dates that are none of a day or of the calendar; numbers of a
    truth value that are neither 0 nor 1."""
    distant: int = 0
    """Times before the year 1 and after 9999."""
    scale: int = 0
    """The most digits after the point."""
    whole_digits: int = 0

    @classmethod
    def of(cls, kind: Measure, counts: tuple[int, int, int]) -> Measured:
        """As the worker counts them."""
        special, second, third = counts
        return cls(special, 0, second, third) if kind == "number" else cls(special, second)


@dataclass(frozen=True, slots=True)
class Landing:
    """What a column becomes."""

    sql_type: str
    """DuckDB's type; empty for a column that is left out."""
    read: Read = "plain"
    note: str = ""


def left_out(shown: str, why: str) -> Landing:
    return Landing("", note=f"left out: {shown} is {why}")


def text_because(why: str, read: Read = "plain") -> Landing:
    return Landing("VARCHAR", read, f"kept as text: {why}")


def decimal_of(measured: Measured, read: Read = "plain") -> Landing:
    """Of numbers that do not say how many digits they have."""
    scale, digits = measured.scale, measured.scale + max(measured.whole_digits, 1)
    if digits > MOST_DIGITS:
        return text_because(f"it has numbers of {digits} digits", read)
    return Landing(f"DECIMAL({_FEW_DIGITS if digits <= _FEW_DIGITS else MOST_DIGITS},{scale})")


def cells(count: int) -> str:
    return f"{count:,} of its cells are" if count > 1 else "one of its cells is"
