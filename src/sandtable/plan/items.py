"""Expressions of a plan: columns, aggregates, metrics, time buckets, time spans, tests, arithmetic over those.

This module also completes the models of `plan.filters`: filters hold expressions, and expressions hold filters.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from sandtable.plan import filters
from sandtable.plan.filters import Filters
from sandtable.plan.shapes import MAX_ITEMS, Alias, Number, PlanModel, Reference, by_shape
from sandtable.plan.windows import AsOf

AggName = Literal[
    "sum", "avg", "min", "max", "count", "count_distinct", "median", "stddev", "quantile", "correlation"
]
BucketUnit = Literal[
    "hour", "day", "week", "month", "quarter", "year", "fiscal_quarter", "fiscal_year",
    "day_of_week", "month_of_year", "hour_of_day", "day_name", "month_name", "hour_name",
]  # fmt: skip
ElapsedUnit = Literal["second", "minute", "hour", "day", "week", "month", "quarter", "year"]
ArithmeticOp = Literal["+", "-", "*", "/"]

_AS = Field(default=None, alias="as", description="Name of the output column; made up when absent.")
_UNIT = Field(
    default=None,
    min_length=1,
    max_length=32,
    description="Give the value in this unit, such as hours for a column in minutes.",
    examples=["hours"],
)
_WITHIN = Field(
    default=None,
    max_length=MAX_ITEMS,
    description="Makes the aggregate a value of each row: over all rows of the table that have the same values "
    "in these columns; [] is the whole table. Filters of the plan do not apply to it, its own `where` does.",
)


class ColumnItem(PlanModel):
    """A column as it is. `*` stands for every column of the table (only without aggregates)."""

    shape: ClassVar[str] = "<column>"

    column: Reference = Field(
        description="A column of the table, or `table.column` of a related table.",
        examples=["category", "orders.region"],
    )
    unit: str | None = _UNIT
    as_: Alias | None = _AS


class AggItem(PlanModel):
    """An aggregate over the rows of each group. `count` without a column counts rows."""

    shape: ClassVar[str] = "<agg>"

    agg: AggName
    column: Reference | None = Field(default=None, description='What to aggregate; "*" or absent: rows.')
    of: RowExpression | None = Field(
        default=None,
        description="Aggregate arithmetic over columns instead of one column, such as "
        '{"op": "*", "left": {"column": "quantity"}, "right": {"column": "unit_price"}}.',
    )
    as_: Alias | None = _AS
    where: Filters = Field(default=(), description="Aggregate only the rows that pass these filters.")
    q: Annotated[float, Field(ge=0, le=1, strict=False)] | None = Field(
        default=None, description="For `quantile`: which one, 0 to 1 (0.95 is the 95th percentile)."
    )
    distinct: bool = Field(default=False, description="Count or add each different value once.")
    with_: Reference | None = Field(
        default=None, alias="with", description="For `correlation`: the other column."
    )
    within: tuple[Reference, ...] | None = _WITHIN
    unit: str | None = _UNIT

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        reason = _misfit(self)
        if reason:
            raise PydanticCustomError("plan_agg", "{reason}", {"reason": reason})
        return self

    @property
    def counts_rows(self) -> bool:
        return self.agg == "count" and self.of is None and self.column in (None, "*")


def _misfit(item: AggItem) -> str | None:
    if item.column is not None and item.of is not None:
        return "give either `column` or `of`, not both"
    if item.of is not None and has_aggregate(item.of):
        return "an aggregate cannot be inside another one; group in `define` first, or give the inner one `within`"
    if item.counts_rows:
        return (
            "counting different rows needs a column; use count_distinct with one" if item.distinct else None
        )
    if item.of is None and item.column in (None, "*"):
        return f"{item.agg} needs a column"
    if item.agg == "quantile" and item.q is None:
        return "quantile needs `q`, such as 0.95"
    if item.agg != "quantile" and item.q is not None:
        return f"`q` belongs to quantile, not to {item.agg}"
    if (item.agg == "correlation") != (item.with_ is not None):
        return (
            "correlation needs `with`, the other column"
            if item.with_ is None
            else "`with` is for correlation"
        )
    if item.distinct and item.agg not in ("count", "count_distinct", "sum", "avg"):
        return f"`distinct` works with count, sum and avg, not with {item.agg}"
    return None


class MetricItem(PlanModel):
    """A metric that the dataset declares, such as `return_rate`."""

    shape: ClassVar[str] = "<metric>"

    metric: Reference
    where: Filters = Field(default=(), description="Compute it over the rows that pass these filters.")
    within: tuple[Reference, ...] | None = _WITHIN
    unit: str | None = _UNIT
    as_: Alias | None = _AS


class BucketItem(PlanModel):
    """Time cut into periods. `day_of_week` is 1 (Monday) to 7, `month_of_year` 1 to 12; `day_name`, `month_name`
    and `hour_name` are the same as text ("Monday", "January", "09:00"), sorted as the calendar has them. Weeks and
    fiscal years begin as the dataset's catalog says."""

    shape: ClassVar[str] = "<bucket>"

    bucket: BucketUnit
    column: Reference | None = Field(
        default=None, description="A date or timestamp; the table's own when absent."
    )
    of: RowExpression | None = Field(default=None, description="An expression instead of a column.")
    as_: Alias | None = _AS

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if self.column is not None and self.of is not None:
            raise PydanticCustomError("plan_bucket", "give either `column` or `of`, not both")
        return self


class ElapsedItem(PlanModel):
    """The time from one moment to another, in a unit. An end that is absent is `as_of`: an age has only `from`.

    Months, quarters and years are complete ones; shorter units have fractions where the moments have a time.
    """

    shape: ClassVar[str] = "<elapsed>"

    elapsed: ElapsedUnit
    from_: MomentOperand | None = Field(default=None, alias="from", examples=["order_date"])
    to: MomentOperand | None = Field(default=None, examples=["delivered_date"])
    as_of: AsOf | None = None
    as_: Alias | None = _AS

    @model_validator(mode="after")
    def _has_an_end(self) -> Self:
        if self.from_ is None and self.to is None:
            raise PydanticCustomError("plan_elapsed", "elapsed time needs `from`, `to` or both")
        return self


class HoldsItem(PlanModel):
    """Whether all of the conditions hold: true or false for each row."""

    shape: ClassVar[str] = "<holds>"

    holds: Filters = Field(min_length=1)
    as_: Alias | None = _AS


class ElementsItem(PlanModel):
    """What the lists in a column hold: each element, with one row for each of them, or how many there are.

    A list is a cell of a list type, or text whose elements are separated by commas, semicolons or bars.
    """

    shape: ClassVar[str] = "<elements>"

    elements: Reference = Field(description="The column with the lists.", examples=["tags"])
    take: Literal["each", "count"] = "each"
    as_: Alias | None = _AS


class ValueOperand(PlanModel):
    """A number inside arithmetic."""

    shape: ClassVar[str] = "<value>"

    value: Number


class ArithmeticItem(PlanModel):
    """left op right. Dividing by zero gives null. `as` on an operand is ignored."""

    shape: ClassVar[str] = "<arithmetic>"

    op: ArithmeticOp
    left: Operand
    right: Operand
    unit: str | None = _UNIT
    as_: Alias | None = _AS


_RULES = {
    "agg": "<agg>", "metric": "<metric>", "bucket": "<bucket>", "elapsed": "<elapsed>", "holds": "<holds>",
    "elements": "<elements>",
    "op": "<arithmetic>", "left": "<arithmetic>",
}  # fmt: skip
_SHAPES = (
    '{"column": "region"}, {"agg": "sum", "column": "amount"}, {"metric": "…"}, {"bucket": "month"}, '
    '{"elapsed": "day", "from": "…", "to": "…"} or {"op": "/", "left": …, "right": …}'
)

_Column = Annotated[ColumnItem, Tag("<column>")]
_Agg = Annotated[AggItem, Tag("<agg>")]
_Metric = Annotated[MetricItem, Tag("<metric>")]
_Bucket = Annotated[BucketItem, Tag("<bucket>")]
_Arithmetic = Annotated[ArithmeticItem, Tag("<arithmetic>")]
_Value = Annotated[ValueOperand, Tag("<value>")]
_Elapsed = Annotated[ElapsedItem, Tag("<elapsed>")]
_Holds = Annotated[HoldsItem, Tag("<holds>")]
_Elements = Annotated[ElementsItem, Tag("<elements>")]

SelectItem = Annotated[
    _Column | _Agg | _Metric | _Bucket | _Elapsed | _Holds | _Elements | _Arithmetic,
    by_shape("a select item", {**_RULES, "column": "<column>"}, _SHAPES),
]
Operand = Annotated[
    _Column | _Agg | _Metric | _Bucket | _Elapsed | _Holds | _Elements | _Arithmetic | _Value,
    by_shape(
        "an operand", {**_RULES, "column": "<column>", "value": "<value>"}, '{"value": 100}, ' + _SHAPES
    ),
]
RowExpression = Annotated[
    _Column | _Agg | _Metric | _Bucket | _Elapsed | _Holds | _Elements | _Arithmetic | _Value,
    by_shape(
        "a row expression",
        {**_RULES, "column": "<column>", "value": "<value>"},
        '{"op": "*", "left": {"column": "quantity"}, "right": {"column": "unit_price"}}',
    ),
]
MomentOperand = Annotated[
    Annotated[Reference, Tag("<name>")] | _Agg | _Bucket,
    by_shape(
        "an end of elapsed time",
        {"agg": "<agg>", "bucket": "<bucket>"},
        '"order_date" or {"agg": "max", "column": "order_date"}',
        text="<name>",
    ),
]
AnyItem = (
    ColumnItem
    | AggItem
    | MetricItem
    | BucketItem
    | ElapsedItem
    | HoldsItem
    | ElementsItem
    | ArithmeticItem
    | ValueOperand
)

# The models of `filters` are built when they are first used, and then find this name in their module.
filters.__dict__.update(RowExpression=RowExpression)


def inner_filters(item: AnyItem) -> Filters:
    """The conditions that an expression holds itself."""
    match item:
        case AggItem(where=where) | MetricItem(where=where):
            return where
        case HoldsItem(holds=conditions):
            return conditions
        case _:
            return ()


def inner_items(item: AnyItem) -> tuple[AnyItem, ...]:
    """The expressions that an expression is made of, its conditions apart."""
    match item:
        case ArithmeticItem(left=left, right=right):
            return (left, right)
        case AggItem(of=inner) | BucketItem(of=inner) if inner is not None:
            return (inner,)
        case ElapsedItem(from_=start, to=end):
            return tuple(side for side in (start, end) if side is not None and not isinstance(side, str))
        case _:
            return ()


def has_aggregate(item: AnyItem) -> bool:
    """Whether it has a value for a group of rows, not for each row."""
    if isinstance(item, AggItem | MetricItem):
        return item.within is None
    return any(has_aggregate(part) for part in inner_items(item))


def depth(item: AnyItem) -> int:
    """How deep expressions and the conditions in them nest; a plain item is 1."""
    inside = [depth(part) for part in inner_items(item)]
    conditions = [depth_of_filter(part) for part in inner_filters(item)]
    return max(1 + max(inside, default=0), *conditions, 1)


def depth_of_filter(condition: filters.Filter) -> int:
    """How deep filters and the expressions in them nest; a leaf is 1."""
    match condition:
        case filters.AnyOf(any=parts) | filters.AllOf(all=parts):
            return 1 + max(depth_of_filter(part) for part in parts)
        case filters.Not(not_=part):
            return 1 + depth_of_filter(part)
        case filters.Exists(exists=rows):
            return 1 + max((depth_of_filter(part) for part in rows.where), default=0)
        case filters.Relation(of=left, than=right):
            return max((depth(side) for side in (left, right) if side is not None), default=1)
        case _:
            return 1
