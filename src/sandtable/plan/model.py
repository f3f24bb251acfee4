"""The QueryPlan: what is asked, as a closed JSON language.

Invariant: frozen, and every unknown field is an error. A QueryPlan is well formed in itself;
`plan.validate.check_plan` checks whether its names and types fit a dataset.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, JsonValue, Tag, model_validator
from pydantic_core import PydanticCustomError

from sandtable.plan.derivations import Derivation, Direction, TopPerGroup
from sandtable.plan.filters import Filters
from sandtable.plan.items import BucketItem, Operand, SelectItem, has_aggregate
from sandtable.plan.shapes import (
    MAX_DEFINITIONS,
    MAX_ITEMS,
    MAX_ROWS,
    PlanModel,
    Reference,
    TableName,
    by_shape,
)
from sandtable.plan.windows import TimeWindow

MOST_DIMENSIONS = 12
BESIDE_WHY = ("select", "group_by", "derive", "time", "top_per_group")

EXAMPLES: list[JsonValue] = [
    {
        "dataset_id": "ecommerce",
        "table": "order_items",
        "select": [
            {"column": "category"},
            {"metric": "return_rate"},
            {"agg": "avg", "column": "discount_rate", "as": "avg_discount"},
        ],
        "group_by": ["category"],
        "order_by": [{"expr": "return_rate", "dir": "desc"}],
        "limit": 10,
        "notes": "Return rate and average discount per category, worst first.",
    },
    {
        "dataset_id": "ecommerce",
        "table": "order_items",
        "select": [
            {"bucket": "month", "as": "month"},
            {"agg": "sum", "column": "line_total", "as": "revenue"},
        ],
        "filters": [{"column": "orders.status", "op": "!=", "value": "cancelled"}],
        "time": {"last": 12, "unit": "month"},
        "derive": [{"change": "revenue", "along": "month", "kind": "percent", "as": "growth"}],
        "order_by": [{"expr": "month", "dir": "asc"}],
    },
    {
        "dataset_id": "support",
        "table": "tickets",
        "select": [
            {"column": "priority"},
            {"metric": "sla_breach_rate"},
            {"agg": "quantile", "q": 0.95, "column": "first_response_minutes", "as": "p95_minutes"},
        ],
        "time": {"period": "last_month"},
        "having": [{"column": "sla_breach_rate", "op": ">", "value": 0.05}],
    },
    {
        "dataset_id": "ecommerce",
        "define": [
            {
                "name": "top_customers",
                "plan": {
                    "table": "orders",
                    "select": [
                        {"column": "customer_id"},
                        {"column": "region"},
                        {"agg": "sum", "column": "order_total", "as": "spent"},
                    ],
                    "filters": [{"column": "customer_id", "op": "not_null"}],
                    "order_by": [{"expr": "spent", "dir": "desc"}],
                    "limit": 10,
                },
            }
        ],
        "table": "top_customers",
        "select": [{"column": "region"}, {"agg": "count", "as": "customers"}],
    },
]
"""Plans over the built-in datasets, shown in the schema."""


class OrderBy(PlanModel):
    """Sort by an output column, or (without aggregates) by any column."""

    expr: Reference = Field(description="Name of an output column, or a column.")
    dir: Direction = "asc"
    nulls: Literal["first", "last"] | None = Field(
        default=None, description="Where nulls go; last when absent."
    )


GroupKey = Annotated[
    Annotated[Reference, Tag("<name>")] | Annotated[BucketItem, Tag("<bucket>")],
    by_shape(
        "a group key",
        {"bucket": "<bucket>"},
        '"region" or {"bucket": "month", "column": "order_date"}',
        text="<name>",
    ),
]


class Why(PlanModel):
    """Why a measure changed from one period to another: what each member of each dimension contributed.

    The rows have the columns dimension, member, before, after, contribution (for a ratio also rate_effect and
    mix_effect) and share_of_change. The contributions of each dimension add up to the whole change.
    """

    of: Operand = Field(
        description="A sum, a count, an average, a metric of these, or one of them divided by another.",
        examples=[{"metric": "revenue"}],
    )
    before: TimeWindow
    after: TimeWindow
    by: tuple[Reference, ...] = Field(
        min_length=1,
        max_length=MOST_DIMENSIONS,
        description="The dimensions: columns whose values are members.",
    )


class PlanBody(PlanModel):
    """Which rows, grouped how, computing what, in which order: a plan apart from its dataset."""

    table: Reference = Field(
        description="The table whose rows are read. Columns of related tables are reached as `table.column`; "
        "choose the most detailed table (the 'many' side) when several are involved."
    )
    select: tuple[SelectItem, ...] = Field(
        default=(),
        max_length=MAX_ITEMS,
        description="The output columns, in order; at least one unless `why` is given.",
    )
    why: Why | None = Field(
        default=None,
        description="Take the change of a measure apart, instead of `select` and what follows from it.",
    )
    filters: Filters = Field(default=(), description="Only rows that pass all of these are read.")
    time: TimeWindow | None = Field(default=None, description="Only rows inside this time window are read.")
    group_by: tuple[GroupKey, ...] = Field(
        default=(),
        max_length=MAX_ITEMS,
        description="Columns, names of select items, or time buckets. When absent beside aggregates, "
        "every plain select item is a group key.",
    )
    derive: tuple[Derivation, ...] = Field(
        default=(), max_length=MAX_ITEMS, description="Columns computed over the (grouped) rows, in order."
    )
    having: Filters = Field(
        default=(),
        description="Only output rows that pass all of these are kept; applied after `derive`, so it may "
        "name derived columns and does not change shares or ranks.",
    )
    top_per_group: TopPerGroup | None = Field(default=None, description="Keep the first n rows per group.")
    order_by: tuple[OrderBy, ...] = Field(default=(), max_length=MAX_ITEMS)
    limit: int | None = Field(
        default=None,
        ge=1,
        le=MAX_ROWS,
        description="Most rows to return; when absent, 200 for a plan and all rows for a named table.",
    )
    ties: bool = Field(
        default=False,
        description="Beyond `limit`, keep the rows that equal the last one in every `order_by` term.",
    )
    notes: str | None = Field(default=None, max_length=2000, description="A short explanation, for people.")

    @model_validator(mode="after")
    def _has_columns(self) -> Self:
        if self.why is None and not self.select:
            given = "select" in self.model_fields_set
            raise PydanticCustomError("plan_columns", "is empty" if given else "is missing")
        beside = [name for name in BESIDE_WHY if getattr(self, name)] if self.why is not None else []
        if beside:
            message = "`why` makes its own columns, so {fields} cannot stand beside it"
            raise PydanticCustomError(
                "plan_why", message, {"fields": " and ".join(f"`{name}`" for name in beside)}
            )
        return self

    @property
    def grouped(self) -> bool:
        """Whether its rows are groups of rows of the table."""
        return bool(self.group_by) or any(has_aggregate(item) for item in self.select)


class Definition(PlanModel):
    """A plan whose output rows later plans may read like a table."""

    name: TableName = Field(description="What later definitions and the plan itself write as `table`.")
    plan: PlanBody


class _Addressed(PlanModel):
    dataset_id: str = Field(min_length=1, max_length=128, description="The dataset the plan is about.")
    define: tuple[Definition, ...] = Field(
        default=(),
        max_length=MAX_DEFINITIONS,
        description="Tables made from other plans, in order; each may read those before it.",
    )


ChartKind = Literal[
    "bar", "column", "horizontal_bar", "stacked_bar", "line", "scatter", "histogram", "pie", "heatmap", "none"
]


class QueryPlan(PlanBody, _Addressed):
    """One question over one dataset: which rows, grouped how, computing what, in which order."""

    model_config = ConfigDict(json_schema_extra={"examples": EXAMPLES})

    chart: ChartKind | None = Field(
        default=None,
        description="The kind of chart that the question asks for; when absent, the one that fits the rows. "
        "It changes no row.",
    )

    def to_json(self) -> dict[str, Any]:
        """The plan as plain JSON: the author's fields only. `parse_plan` gives the same plan back."""
        return self.model_dump(mode="json", by_alias=True, exclude_defaults=True)
