"""Walks over the expressions and conditions of a resolved plan: what they are made of and what they read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import cast

from sandtable.catalog.model import ColumnType
from sandtable.engines.duckdb.types import facts
from sandtable.plan.resolved import (
    Aggregate,
    Bucket,
    ColumnRef,
    Condition,
    Converted,
    Elements,
    Expr,
    Matched,
    OutputRef,
    Whole,
)


def walk(node: object) -> Iterator[Expr | Condition]:
    """The expression or condition and everything it is made of, from the outside in, except rows of other tables."""
    if isinstance(node, Matched):
        yield node
        yield node.near
    elif isinstance(node, tuple):
        for part in cast("tuple[object, ...]", node):
            yield from walk(part)
    elif (names := _field_names(type(node))) is not None:
        yield cast("Expr | Condition", node)
        for name in names:
            yield from walk(getattr(node, name))


@cache
def _field_names(kind: type) -> tuple[str, ...] | None:
    """The fields of a dataclass, looked up once for each class; None for another type."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None


def wholes(*nodes: object) -> tuple[Whole, ...]:
    """Every aggregate that is a value of a row, each once."""
    return tuple(dict.fromkeys(part for node in nodes for part in walk(node) if isinstance(part, Whole)))


def matches(*nodes: object) -> tuple[Matched, ...]:
    """Every lookup in another table, each once."""
    return tuple(dict.fromkeys(part for node in nodes for part in walk(node) if isinstance(part, Matched)))


def each_elements(*nodes: object) -> tuple[Elements, ...]:
    """Elements that make rows of their own, each once."""
    found = (part for node in nodes for part in walk(node) if isinstance(part, Elements))
    return tuple(dict.fromkeys(part for part in found if part.each))


def outputs_read(node: object) -> tuple[str, ...]:
    """The output columns that an expression or condition names."""
    return tuple(dict.fromkeys(part.name for part in walk(node) if isinstance(part, OutputRef)))


def columns_read(node: object) -> tuple[ColumnRef, ...]:
    return tuple(dict.fromkeys(part for part in walk(node) if isinstance(part, ColumnRef)))


def is_aggregate(expr: Expr) -> bool:
    """Whether it has a value for a group of rows rather than for each row."""
    return any(isinstance(part, Aggregate) for part in _outside(expr))


def row_parts(expr: Expr) -> Iterator[Expr]:
    """The columns, buckets and values of each row that an expression reads outside of any aggregate."""
    return (
        part for part in _outside(expr) if isinstance(part, ColumnRef | Bucket | Whole | Elements | Matched)
    )


def _outside(node: object) -> Iterator[Expr]:
    """The parts of an expression down to its aggregates and row values, which are not descended into."""
    match node:
        case Bucket(source=Aggregate() as source):
            yield source
        case Aggregate() | Whole() | ColumnRef() | Bucket() | Elements() | Matched():
            yield node
        case Converted(source=source):
            yield from _outside(source)
        case tuple():
            for part in cast("tuple[object, ...]", node):
                yield from _outside(part)
        case _:
            for name in _field_names(type(node)) or ():
                yield from _outside(getattr(node, name))


def zoned_type(expr: Expr) -> str | None:
    """DuckDB's type of a moment that has a time zone: as it is in its table, or the first or last of several."""
    if isinstance(expr, Whole):
        return zoned_type(expr.aggregate)
    source = expr.operand if isinstance(expr, Aggregate) and expr.function in ("min", "max") else expr
    if not isinstance(source, ColumnRef) or source.type is not ColumnType.TIMESTAMP:
        return None
    return source.sql_type if facts(source.sql_type).zoned else None
