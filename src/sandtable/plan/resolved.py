"""A plan after every name found its column and every value its type: what the compiler reads.

Invariant: nothing here is ambiguous. Tables and columns carry the catalog's spelling, outputs have
their final names, time windows are constant bounds. Equal expressions are equal objects.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal as OneOf

from sandtable.catalog.model import ColumnType, Table
from sandtable.plan.items import AggName, ArithmeticOp, BucketUnit

LiteralValue = str | int | float | bool | dt.date | dt.datetime | dt.time
Comparator = OneOf["=", "!=", "<", "<=", ">", ">="]
DerivedKind = OneOf["share_of_total", "rank", "change", "running_total", "zscore"]


@dataclass(frozen=True, slots=True)
class ColumnRef:
    table: str
    column: str
    type: ColumnType
    sql_type: str


@dataclass(frozen=True, slots=True)
class OutputRef:
    """An output column, by its position-independent name."""

    name: str
    type: ColumnType


@dataclass(frozen=True, slots=True)
class Value:
    value: LiteralValue
    type: ColumnType


@dataclass(frozen=True, slots=True)
class Bucket:
    unit: BucketUnit
    source: ColumnRef
    type: ColumnType


@dataclass(frozen=True, slots=True)
class Aggregate:
    function: AggName
    operand: Expr | None
    type: ColumnType
    where: Condition | None = None
    q: float | None = None
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class Arithmetic:
    op: ArithmeticOp
    left: Expr
    right: Expr
    type: ColumnType


@dataclass(frozen=True, slots=True)
class DayOf:
    """The calendar day of a timestamp, for comparing it with a bare date."""

    source: Expr
    type: ColumnType = ColumnType.DATE


_ZONED = re.compile(r"TIMESTAMPTZ|WITH TIME ZONE", re.IGNORECASE)

Expr = ColumnRef | OutputRef | Value | Bucket | Aggregate | Arithmetic | DayOf


@dataclass(frozen=True, slots=True)
class Compare:
    left: Expr
    op: Comparator
    right: Expr


@dataclass(frozen=True, slots=True)
class IsIn:
    left: Expr
    values: tuple[Value, ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class Between:
    left: Expr
    low: Value
    high: Value


@dataclass(frozen=True, slots=True)
class TextMatch:
    left: Expr
    kind: OneOf["contains", "startswith", "endswith"]
    text: str


@dataclass(frozen=True, slots=True)
class IsNull:
    left: Expr
    negated: bool


@dataclass(frozen=True, slots=True)
class Every:
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Some:
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Negation:
    part: Condition


Condition = Compare | IsIn | Between | TextMatch | IsNull | Every | Some | Negation


@dataclass(frozen=True, slots=True)
class Join:
    """`table` is joined where its `column` equals `to_table.to_column`, a table already there."""

    table: str
    column: str
    to_table: str
    to_column: str
    fans_out: bool


@dataclass(frozen=True, slots=True)
class Output:
    name: str
    expr: Expr
    key: bool
    """One of the columns that identify a grouped row."""
    format: str = "number"


@dataclass(frozen=True, slots=True)
class Derived:
    name: str
    kind: DerivedKind
    source: str
    within: tuple[str, ...]
    type: ColumnType
    layer: int
    """1 when it reads outputs only; one more than the deepest derived column it reads otherwise."""
    along: str | None = None
    descending: bool = False
    percent: bool = False


@dataclass(frozen=True, slots=True)
class Top:
    n: int
    by: tuple[str, ...]
    order_by: str
    descending: bool


@dataclass(frozen=True, slots=True)
class OrderTerm:
    target: OutputRef | ColumnRef
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class ResolvedPlan:
    table: str
    joins: tuple[Join, ...]
    where: Condition | None
    grouped: bool
    outputs: tuple[Output, ...]
    derived: tuple[Derived, ...]
    having: Condition | None
    top: Top | None
    order: tuple[OrderTerm, ...]
    limit: int | None
    warnings: tuple[str, ...]
    defined: tuple[Defined, ...] = ()
    """The named tables that this plan reads, directly or through each other, in the order of their making."""

    @property
    def key_names(self) -> tuple[str, ...]:
        """The outputs that tell any two rows apart: group keys, or everything when rows are plain.

        None when everything is aggregated into one row."""
        return tuple(output.name for output in self.outputs if output.key or not self.grouped)


@dataclass(frozen=True, slots=True)
class Defined:
    """A table that a plan makes for itself: its columns, and the plan they come from."""

    table: Table
    plan: ResolvedPlan


def is_aggregate(expr: Expr) -> bool:
    match expr:
        case Aggregate():
            return True
        case Arithmetic(left=left, right=right):
            return is_aggregate(left) or is_aggregate(right)
        case _:
            return False


def row_parts(expr: Expr) -> Iterator[ColumnRef | Bucket]:
    """The columns and buckets an expression reads outside of any aggregate."""
    match expr:
        case ColumnRef() | Bucket():
            yield expr
        case Arithmetic(left=left, right=right):
            yield from row_parts(left)
            yield from row_parts(right)
        case DayOf(source=source):
            yield from row_parts(source)
        case _:
            return


def zoned_type(expr: Expr) -> str | None:
    """DuckDB's type of a moment that has a time zone: as it is in its table, or the first or last of several."""
    source = expr.operand if isinstance(expr, Aggregate) and expr.function in ("min", "max") else expr
    if not isinstance(source, ColumnRef) or source.type is not ColumnType.TIMESTAMP:
        return None
    return source.sql_type if _ZONED.search(source.sql_type) else None
