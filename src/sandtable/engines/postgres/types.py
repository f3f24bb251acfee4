"""PostgreSQL's types: the only table of them in the house, and what becomes of a column of each.

Invariant: a value is copied as it is, or its column says in a note how it is kept. What is not in the table is text.
"""

from __future__ import annotations

from dataclasses import dataclass

from sandtable.catalog.live import Read
from sandtable.engines.landing import (
    MOST_DIGITS,
    Landing,
    Measure,
    Measured,
    cells,
    decimal_of,
    left_out,
    text_because,
)

_HEADER = 4
"""PostgreSQL adds it to precision and scale, packed in one number."""


@dataclass(frozen=True, slots=True)
class PostgresType:
    name: str
    """Of the base type, such as `int4`."""
    shown: str
    """As a person writes it, such as `character varying(20)`."""
    modifier: int = -1
    kind: str = "b"
    """`e` for an enumeration, `r` and `m` for ranges, `c` for a row."""
    built_in: bool = True
    category: str = ""
    """`A` for an array."""


# Name in `pg_type`, DuckDB's type, how it is read.
_PLAIN: dict[str, tuple[str, Read]] = {
    "int2": ("SMALLINT", "plain"),
    "int4": ("INTEGER", "plain"),
    "int8": ("BIGINT", "plain"),
    "float4": ("FLOAT", "plain"),
    "float8": ("DOUBLE", "plain"),
    "bool": ("BOOLEAN", "plain"),
    "text": ("VARCHAR", "plain"),
    "varchar": ("VARCHAR", "plain"),
    # The blanks that fill a `char(n)` up are no part of its value.
    "bpchar": ("VARCHAR", "text"),
    "char": ("VARCHAR", "plain"),
    "name": ("VARCHAR", "plain"),
    "uuid": ("VARCHAR", "plain"),
    "date": ("DATE", "plain"),
    "timestamp": ("TIMESTAMP", "plain"),
    "timestamptz": ("TIMESTAMP", "utc"),
    "time": ("TIME", "plain"),
    "oid": ("BIGINT", "plain"),
}
_MEASURES: dict[str, Measure] = {
    "numeric": "number",
    "date": "moment",
    "timestamp": "moment",
    "timestamptz": "moment",
    "time": "time",
}
_LEFT_OUT = {"bytea": "binary data"}


def measure_of(column: PostgresType) -> Measure | None:
    return _MEASURES.get(column.name) if column.built_in else None


_LIVE_SCALE = 20
"""The digits after the point of a number whose column does not say how many it has: as many as PostgreSQL gives a
quotient of whole numbers."""


def live_landing_of(column: PostgresType) -> Landing:
    """What a column becomes that is read where it lies: its values are not measured, and change.

    Nothing is rounded. The database computes with its own numbers and moments; a cell of an answer that the type named
    here cannot hold, such as an infinite date, is an error of the run.
    """
    if column.kind == "e":
        return Landing("VARCHAR")
    if not column.built_in or column.kind != "b" or column.category == "A":
        return _as_text(column)
    if why := _LEFT_OUT.get(column.name):
        return left_out(column.shown, why)
    if column.name == "numeric":
        return _live_number(column)
    if column.name == "float4":
        # Numbers of single precision are numbers of double precision, too; what is computed with them is not.
        return Landing("DOUBLE", "double")
    return Landing(*_PLAIN[column.name]) if column.name in _PLAIN else _as_text(column)


def _live_number(column: PostgresType) -> Landing:
    declared = _declared_digits(column.modifier)
    if declared is not None and declared[0] <= MOST_DIGITS:
        return Landing(f"DECIMAL({declared[0]},{declared[1]})")
    scale = _LIVE_SCALE if declared is None else min(declared[1], MOST_DIGITS)
    whole = MOST_DIGITS - scale
    note = f"an answer holds numbers of it with up to {whole} digits before the point and {scale} after it"
    return Landing(f"DECIMAL({MOST_DIGITS},{scale})", note=note)


def landing_of(column: PostgresType, measured: Measured | None = None) -> Landing:
    """`measured` is required where `measure_of` names something."""
    if column.kind == "e":
        return Landing("VARCHAR")
    if not column.built_in or column.kind != "b" or column.category == "A":
        return _as_text(column)
    if why := _LEFT_OUT.get(column.name):
        return left_out(column.shown, why)
    if column.name in _MEASURES:
        if measured is None:
            raise ValueError(f"the values of a column of type {column.name} were not measured")
        return _number(column, measured) if column.name == "numeric" else _moment(column, measured)
    if column.name in _PLAIN:
        return Landing(*_PLAIN[column.name])
    return _as_text(column)


def _as_text(column: PostgresType) -> Landing:
    return text_because(f"it is {column.shown} in the database")


def _moment(column: PostgresType, measured: Measured) -> Landing:
    sql_type, read = _PLAIN[column.name]
    why: list[str] = []
    if measured.special:
        why.append(f"{cells(measured.special)} {'24:00:00' if column.name == 'time' else 'infinite'}")
    if measured.distant:
        why.append(f"{cells(measured.distant)} before the year 1 or after 9999")
    if why:
        return text_because(" and ".join(why))
    return Landing(sql_type, read)


def _number(column: PostgresType, measured: Measured) -> Landing:
    if measured.special:
        return text_because(f"{cells(measured.special)} NaN or infinite")
    declared = _declared_digits(column.modifier)
    if declared is not None and declared[0] <= MOST_DIGITS:
        return Landing(f"DECIMAL({declared[0]},{declared[1]})")
    return decimal_of(measured)


def _declared_digits(modifier: int) -> tuple[int, int] | None:
    """Precision and scale of `numeric(10,2)`; None for `numeric`."""
    if modifier < _HEADER:
        return None
    packed = modifier - _HEADER
    precision, scale = packed >> 16, packed & 0x7FF
    scale = scale - 0x800 if scale & 0x400 else scale
    if scale < 0:
        # `numeric(3,-2)` holds 12300.
        return precision - scale, 0
    return max(precision, scale), scale
