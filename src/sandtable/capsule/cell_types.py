"""DuckDB type names as a small tree, so that a float is known as one wherever it is nested.

Canonical JSON writes the double 1.0 as `1`; only the column's type can say what a `1` is.
Total: a name that is not understood is `Scalar("any")`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Family = Literal["bool", "int", "float", "decimal", "time", "text", "any"]

_FAMILIES: dict[str, Family] = {
    "BOOLEAN": "bool",
    **dict.fromkeys(
        ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER",
         "UBIGINT", "UHUGEINT", "BIGNUM", "VARINT"),
        "int",
    ),
    **dict.fromkeys(("DOUBLE", "FLOAT", "REAL"), "float"),
    "DECIMAL": "decimal",
    **dict.fromkeys(("DATE", "TIME", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS",
                     "TIMESTAMPTZ", "TIMETZ", "TIME_NS", "INTERVAL"), "time"),
    **dict.fromkeys(("VARCHAR", "TEXT", "CHAR", "STRING", "UUID", "BLOB", "BIT", "JSON", "ENUM"), "text"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scalar:
    family: Family


@dataclass(frozen=True, slots=True)
class ListOf:
    item: CellType


@dataclass(frozen=True, slots=True)
class Struct:
    fields: tuple[tuple[str, CellType], ...]


@dataclass(frozen=True, slots=True)
class MapOf:
    key: CellType
    value: CellType


@dataclass(frozen=True, slots=True)
class TupleOf:
    items: tuple[CellType, ...]


CellType = Scalar | ListOf | Struct | MapOf | TupleOf

_ANY = Scalar("any")
_TOKEN = re.compile(r"""\s*("(?:[^"]|"")*"|'(?:[^']|'')*'|\[\d*\]|[(),]|[^\s"'()\[\],]+)""")


@lru_cache(maxsize=1024)
def parse_type(name: str) -> CellType:
    tokens = _tokens(name)
    try:
        made, end = _parse(tokens, 0)
    except (IndexError, RecursionError):
        return _ANY
    return made if end == len(tokens) else _ANY


def _tokens(name: str) -> list[str]:
    """None of a name that holds anything else. Each is looked for where the last one ended and nowhere else, so that
    a name from a sandbox cannot make this take long."""
    found: list[str] = []
    at = 0
    while (token := _TOKEN.match(name, at)) is not None:
        found.append(token[1])
        at = token.end()
    return [] if name[at:].strip() else found


def _parse(tokens: list[str], at: int) -> tuple[CellType, int]:
    head = tokens[at].upper()
    at += 1
    if head == "STRUCT":
        made, at = _struct(tokens, at)
    elif head == "TUPLE":
        made, at = _tuple(tokens, at)
    elif head == "MAP":
        made, at = _map(tokens, at)
    else:
        at = _skip_rest(tokens, at)
        made = Scalar(_FAMILIES.get(head, "any"))
    while at < len(tokens) and tokens[at].startswith("["):
        made = ListOf(made)
        at += 1
    return made, at


def _struct(tokens: list[str], at: int) -> tuple[Struct, int]:
    fields: list[tuple[str, CellType]] = []
    while tokens[at] in ("(", ","):
        field = tokens[at + 1]
        if field.startswith('"'):
            field = field[1:-1].replace('""', '"')
        made, at = _parse(tokens, at + 2)
        fields.append((field, made))
    return Struct(tuple(fields)), at + 1


def _tuple(tokens: list[str], at: int) -> tuple[TupleOf, int]:
    items: list[CellType] = []
    while tokens[at] in ("(", ","):
        made, at = _parse(tokens, at + 1)
        items.append(made)
    return TupleOf(tuple(items)), at + 1


def _map(tokens: list[str], at: int) -> tuple[MapOf, int]:
    key, at = _parse(tokens, at + 1)
    value, at = _parse(tokens, at + 1)
    return MapOf(key, value), at + 1


def _skip_rest(tokens: list[str], at: int) -> int:
    """Past `(10,2)`, `('a','b')` and `WITH TIME ZONE`."""
    while at < len(tokens) and tokens[at] not in (",", ")") and not tokens[at].startswith("["):
        if tokens[at] == "(":
            at = _closing(tokens, at)
        at += 1
    return at


def _closing(tokens: list[str], at: int) -> int:
    depth = 0
    while True:
        depth += {"(": 1, ")": -1}.get(tokens[at], 0)
        if depth == 0:
            return at
        at += 1
