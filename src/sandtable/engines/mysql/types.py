"""The types of MariaDB and MySQL: the only table of them in the house, and what becomes of a column of each.

Invariant: a value is copied as it is, or its column says in a note how it is kept. What is not in the table is left
out, because its text may be no text.
"""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class MysqlType:
    name: str
    """Such as `bigint`."""
    shown: str
    """As a person writes it, such as `bigint(20) unsigned`."""
    precision: int = 0
    scale: int = 0

    @property
    def unsigned(self) -> bool:
        return "unsigned" in self.shown.split()


_TEXT = Landing("VARCHAR", "text")
# Name in `information_schema`, type with a sign, type without one: wider, because the difference of two has a sign.
_WHOLE = {
    "tinyint": ("TINYINT", "SMALLINT"),
    "smallint": ("SMALLINT", "INTEGER"),
    "mediumint": ("INTEGER", "INTEGER"),
    "int": ("INTEGER", "BIGINT"),
    "bigint": ("BIGINT", "UBIGINT"),
}
_PLAIN: dict[str, Landing] = {
    # Written with six digits, as it is.
    "float": Landing("FLOAT", "double"),
    "double": Landing("DOUBLE"),
    "year": Landing("SMALLINT"),
    "date": Landing("DATE"),
    "datetime": Landing("TIMESTAMP"),
    # The session's time zone is UTC.
    "timestamp": Landing("TIMESTAMP"),
    "time": Landing("TIME"),
    "char": _TEXT,
    "varchar": _TEXT,
    "tinytext": _TEXT,
    "text": _TEXT,
    "mediumtext": _TEXT,
    "longtext": _TEXT,
    "enum": _TEXT,
    "set": _TEXT,
    "uuid": _TEXT,
}
_NOTED_TEXT = frozenset({"json", "inet4", "inet6"})
_MOMENTS = frozenset({"date", "datetime", "timestamp"})
_LEFT_OUT = {
    **dict.fromkeys(("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "vector"), "binary data"),
    **dict.fromkeys(
        (
            "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon",
            "geometrycollection", "geomcollection",
        ),
        "geometry; ST_AsText in a view gives its text",
    ),
}  # fmt: skip
_TRUTH = "tinyint(1)"
"""How BOOLEAN is declared."""
_MOST_WHOLE_BITS = 63


def measure_of(column: MysqlType) -> Measure | None:
    if column.name in _MOMENTS:
        return "moment"
    if column.name == "time":
        return "time"
    if column.name == "decimal" and column.precision > MOST_DIGITS:
        return "number"
    return "boolean" if column.shown == _TRUTH else None


def landing_of(column: MysqlType, measured: Measured | None = None) -> Landing:
    """`measured` is required where `measure_of` names something."""
    kind = measure_of(column)
    if kind is not None:
        if measured is None:
            raise ValueError(f"the values of a column of type {column.shown} were not measured")
        return _measured(column, kind, measured)
    if column.name in _WHOLE:
        return Landing(_WHOLE[column.name][column.unsigned])
    if column.name == "decimal":
        return Landing(f"DECIMAL({column.precision},{column.scale})")
    if column.name == "bit":
        return _bits(column)
    if column.name in _NOTED_TEXT:
        return text_because(f"it is {column.shown} in the database", "text")
    if why := _LEFT_OUT.get(column.name):
        return left_out(column.shown, why)
    return _PLAIN.get(column.name) or left_out(column.shown, "of a type that is not known here")


def _measured(column: MysqlType, kind: Measure, measured: Measured) -> Landing:
    match kind:
        case "number":
            return decimal_of(measured)
        case "boolean":
            if not measured.special:
                return Landing("BOOLEAN")
            note = f"kept as whole numbers: {cells(measured.special)} neither 0 nor 1"
            return Landing("TINYINT", note=note)
        case "time":
            if measured.special:
                return text_because(f"{cells(measured.special)} negative or longer than a day")
        case "moment":
            why: list[str] = []
            if measured.special:
                why.append(f"{cells(measured.special)} zero or no day of the calendar")
            if measured.distant:
                why.append(f"{cells(measured.distant)} in the year 0")
            if why:
                return text_because(" and ".join(why))
    return _PLAIN[column.name]


def _bits(column: MysqlType) -> Landing:
    if column.precision == 1:
        return Landing("BOOLEAN", "bits")
    return Landing("BIGINT" if column.precision <= _MOST_WHOLE_BITS else "UBIGINT", "bits")
