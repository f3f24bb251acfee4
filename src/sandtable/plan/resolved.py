"""A plan with every name resolved to a column and every value to a type: the compiler's input.

Invariant: nothing here is ambiguous. Tables and columns carry the catalog's spelling, outputs have
their final names, time windows are constant bounds. Equal expressions are equal objects.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Literal as OneOf

from sandtable.catalog.model import ColumnType, Table
from sandtable.plan.items import AggName, ArithmeticOp, BucketUnit, ElapsedUnit

LiteralValue = str | int | float | bool | dt.date | dt.datetime | dt.time
Comparator = OneOf["=", "!=", "<", "<=", ">", ">="]
DerivedKind = OneOf[
    "share_of_total", "rank", "change", "running_total", "zscore", "previous", "next", "position",
    "expression", "broken", "block", "run",
]  # fmt: skip


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
    source: Expr
    type: ColumnType
    shift: int = 0
    """By how many days a week begins before Monday, or by how many months a fiscal year begins after January."""


@dataclass(frozen=True, slots=True)
class Aggregate:
    function: AggName
    operand: Expr | None
    type: ColumnType
    where: Condition | None = None
    q: float | None = None
    distinct: bool = False
    other: Expr | None = None
    """The second column of a correlation."""


@dataclass(frozen=True, slots=True)
class Whole:
    """An aggregate as a value of each row: over all rows that are equal in `within`."""

    aggregate: Expr
    within: tuple[Expr, ...]
    type: ColumnType


@dataclass(frozen=True, slots=True)
class Elapsed:
    """The time from one moment to another."""

    unit: ElapsedUnit
    start: Expr
    end: Expr
    type: ColumnType


@dataclass(frozen=True, slots=True)
class Converted:
    """A value in another unit: `computed` is `source` in `unit`."""

    source: Expr
    computed: Expr
    unit: str
    type: ColumnType


@dataclass(frozen=True, slots=True)
class Elements:
    """Each element of a list, which makes one row of each, or how many there are."""

    source: Expr
    each: bool
    type: ColumnType


@dataclass(frozen=True, slots=True)
class Matched:
    """What `near` equals in the rows of another table; null where none of them belongs to the row. `rows` gives each
    of their keys once and none that is null, so that joining repeats no row."""

    near: ColumnRef
    rows: ResolvedPlan
    type: ColumnType


@dataclass(frozen=True, slots=True)
class Test:
    """Whether a condition holds."""

    condition: Condition
    type: ColumnType = ColumnType.BOOLEAN


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


Expr = (
    ColumnRef | OutputRef | Elements | Value | Bucket | Aggregate | Arithmetic | DayOf | Whole | Elapsed | Converted
    | Matched | Test
)  # fmt: skip


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
class Has:
    """A list holds an element; `typed` says that the column has a list type, and is not text."""

    left: Expr
    value: Value
    typed: bool


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


Condition = Compare | IsIn | Between | TextMatch | Has | IsNull | Every | Some | Negation


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
    earlier: str | None = None
    """The column that a change is measured from, when it is not the previous row."""
    expr: Expr | None = None
    """Of an expression; of the condition of a run."""
    step: str | None = None
    """How far apart consecutive rows of a run are."""
    hidden: bool = False
    """Only read by other parts of the plan; not a column of the result."""


@dataclass(frozen=True, slots=True)
class Top:
    n: int
    by: tuple[str, ...]
    order_by: str
    descending: bool
    ties: bool = False


@dataclass(frozen=True, slots=True)
class OrderTerm:
    target: OutputRef | ColumnRef
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class Decomposition:
    """The change of a measure from one period to another, by the members of dimensions. `base` is what a ratio
    divides by."""

    dimensions: tuple[tuple[str, ColumnRef], ...]
    number: Expr
    base: Expr | None
    before: Condition
    after: Condition
    table: str = "changes"
    """The name of the step that computes it, which the outputs refer to."""


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
    """The named tables that this plan reads, directly or through each other, in the order of their definition."""
    ties: bool = False
    """Rows that equal the last one within the limit stay, too."""
    decomposition: Decomposition | None = None
    """Where the rows come from when the plan asks why; `table` is what that reads."""

    @property
    def shown(self) -> tuple[Derived, ...]:
        """The derived columns of the result."""
        return tuple(item for item in self.derived if not item.hidden)

    @property
    def key_names(self) -> tuple[str, ...]:
        """The outputs that tell any two rows apart: group keys, or everything when rows are plain.

        None when everything is aggregated into one row."""
        return tuple(output.name for output in self.outputs if output.key or not self.grouped)


@dataclass(frozen=True, slots=True)
class Defined:
    """A table that a plan defines: its columns, and the plan they come from."""

    table: Table
    plan: ResolvedPlan
