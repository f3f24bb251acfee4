"""DuckDB type names as a small tree, so that a float is known as one wherever it is nested.

Canonical JSON writes the double 1.0 as `1`; only the column's type can say what a `1` is.
Total: a name that is not understood is `Scalar("any")`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from sandtable.engines.duckdb.types import TABLE
from sandtable.engines.types import DigestFamily


@dataclass(frozen=True, slots=True)
class Scalar:
    family: DigestFamily


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
    """Empty for a name with characters that are in no token. Each match starts where the last one ended, so that the
    time is linear: names come from a sandbox."""
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
        made = Scalar(TABLE[head].digest if head in TABLE else "any")
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
