"""What a plan selects: columns, aggregates, metrics, time buckets, arithmetic over those."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from sandtable.plan.filters import Filters
from sandtable.plan.shapes import Alias, Number, PlanModel, Reference, by_shape

AggName = Literal["sum", "avg", "min", "max", "count", "count_distinct", "median", "stddev", "quantile"]
BucketUnit = Literal[
    "hour", "day", "week", "month", "quarter", "year", "day_of_week", "month_of_year", "hour_of_day"
]
ArithmeticOp = Literal["+", "-", "*", "/"]

_AS = Field(default=None, alias="as", description="Name of the output column; made up when absent.")


class ColumnItem(PlanModel):
    """A column as it is. `*` stands for every column of the table (only without aggregates)."""

    shape: ClassVar[str] = "<column>"

    column: Reference = Field(
        description="A column of the table, or `table.column` of a related table.",
        examples=["category", "orders.region"],
    )
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
    if item.distinct and item.agg not in ("count", "count_distinct", "sum", "avg"):
        return f"`distinct` works with count, sum and avg, not with {item.agg}"
    return None


class MetricItem(PlanModel):
    """A metric that the dataset declares, such as `return_rate`."""

    shape: ClassVar[str] = "<metric>"

    metric: Reference
    as_: Alias | None = _AS


class BucketItem(PlanModel):
    """Time cut into periods. `day_of_week` is 1 (Monday) to 7, `month_of_year` 1 to 12."""

    shape: ClassVar[str] = "<bucket>"

    bucket: BucketUnit
    column: Reference | None = Field(
        default=None, description="A date or timestamp; the table's own when absent."
    )
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
    as_: Alias | None = _AS


_RULES = {
    "agg": "<agg>", "metric": "<metric>", "bucket": "<bucket>", "op": "<arithmetic>", "left": "<arithmetic>",
}  # fmt: skip
_SHAPES = (
    '{"column": "region"}, {"agg": "sum", "column": "amount"}, {"metric": "…"}, '
    '{"bucket": "month"} or {"op": "/", "left": …, "right": …}'
)

_Column = Annotated[ColumnItem, Tag("<column>")]
_Agg = Annotated[AggItem, Tag("<agg>")]
_Metric = Annotated[MetricItem, Tag("<metric>")]
_Bucket = Annotated[BucketItem, Tag("<bucket>")]
_Arithmetic = Annotated[ArithmeticItem, Tag("<arithmetic>")]
_Value = Annotated[ValueOperand, Tag("<value>")]

SelectItem = Annotated[
    _Column | _Agg | _Metric | _Bucket | _Arithmetic,
    by_shape("a select item", {**_RULES, "column": "<column>"}, _SHAPES),
]
Operand = Annotated[
    _Column | _Agg | _Metric | _Bucket | _Arithmetic | _Value,
    by_shape(
        "an operand", {**_RULES, "column": "<column>", "value": "<value>"}, '{"value": 100}, ' + _SHAPES
    ),
]
RowExpression = Annotated[
    _Column | _Arithmetic | _Value,
    by_shape(
        "a row expression",
        {"op": "<arithmetic>", "left": "<arithmetic>", "column": "<column>", "value": "<value>"},
        '{"op": "*", "left": {"column": "quantity"}, "right": {"column": "unit_price"}}',
    ),
]
AnyItem = ColumnItem | AggItem | MetricItem | BucketItem | ArithmeticItem | ValueOperand

for _model in (AggItem, ArithmeticItem):
    _model.model_rebuild()


def depth(item: AnyItem) -> int:
    """How deep arithmetic nests; a plain item is 1."""
    match item:
        case ArithmeticItem(left=left, right=right):
            return 1 + max(depth(left), depth(right))
        case AggItem(of=inner) if inner is not None:
            return 1 + depth(inner)
        case _:
            return 1
