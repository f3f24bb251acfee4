"""Filters: leaf comparisons, and their nesting by `any`, `all` and `not`.

Invariant: importing `plan.items` completes these models; a filter may hold expressions, which are defined there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

from pydantic import Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from sandtable.plan.shapes import MAX_ITEMS, FilterValue, PlanModel, Reference, Scalar, by_shape
from sandtable.plan.windows import TimeWindow

if TYPE_CHECKING:
    from sandtable.plan.items import RowExpression

FilterOp = Literal[
    "=", "!=", "<", "<=", ">", ">=", "in", "not_in", "between",
    "contains", "startswith", "endswith", "has", "is_null", "not_null",
]  # fmt: skip

COMPARISONS = frozenset({"=", "!=", "<", "<=", ">", ">="})
NULL_OPS = frozenset({"is_null", "not_null"})
LIST_OPS = frozenset({"in", "not_in", "between"})
TEXT_OPS = frozenset({"contains", "startswith", "endswith"})


class Comparison(PlanModel):
    """One condition on one column. Text search (`contains`, `startswith`, `endswith`) ignores case."""

    shape: ClassVar[str] = "<filter>"

    column: Reference = Field(
        description="A column of the plan's table, `table.column` of a related table, "
        "or (in `having`) the name of an output column.",
        examples=["category", "orders.region"],
    )
    op: FilterOp = Field(description="How to compare.")
    value: FilterValue | None = Field(
        default=None,
        description="What to compare with: one value; a list for `in` and `not_in`; [low, high] for "
        "`between` (both ends included); absent for `is_null` and `not_null`. Dates are written "
        '"2024-03-31", timestamps "2024-03-31T18:00:00". A date compared with a timestamp column '
        "means that whole day.",
    )
    other_column: Reference | None = Field(
        default=None, description="Compare with another column instead of a value (= != < <= > >= only)."
    )

    @model_validator(mode="after")
    def _operands_fit(self) -> Self:
        reason = _misfit(self)
        if reason:
            raise PydanticCustomError("plan_filter", "{reason}", {"reason": reason})
        return self


def _misfit(leaf: Comparison) -> str | None:
    if leaf.op in NULL_OPS:
        given = leaf.value is not None or leaf.other_column is not None
        return f"{leaf.op} takes no value" if given else None
    if leaf.other_column is not None:
        if leaf.op not in COMPARISONS:
            return f"{leaf.op} cannot compare two columns; use one of = != < <= > >="
        return "give either `value` or `other_column`, not both" if leaf.value is not None else None
    return _value_misfit(leaf.op, leaf.value)


def _value_misfit(op: FilterOp, value: Scalar | tuple[Scalar, ...] | None) -> str | None:
    if value is None:
        return f"{op} needs a `value`; to find empty cells use is_null"
    if op == "between":
        return (
            None if isinstance(value, tuple) and len(value) == 2 else "between needs two values: [low, high]"
        )
    if op in LIST_OPS:
        return None if isinstance(value, tuple) and value else f"{op} needs a list with at least one value"
    return (
        f"{op} takes one value, not a list; use `in` to match any of several"
        if isinstance(value, tuple)
        else None
    )


class Relation(PlanModel):
    """One condition with an expression on a side: `of` instead of `column`, `than` instead of `value`.

    An aggregate in it is over all rows of the table, or with `within` over those of the row's own group.
    """

    shape: ClassVar[str] = "<relation>"

    column: Reference | None = Field(default=None, description="The left side, when it is a column.")
    of: RowExpression | None = Field(
        default=None,
        description='The left side, such as {"elapsed": "day", "from": "order_date", "to": "delivered_date"}.',
    )
    op: FilterOp = Field(description="How to compare.")
    value: FilterValue | None = Field(default=None, description="What to compare with, as in other filters.")
    than: RowExpression | None = Field(
        default=None,
        description="The right side (= != < <= > >= only), such as "
        '{"agg": "avg", "column": "price", "within": ["category"]}.',
    )

    @model_validator(mode="after")
    def _sides_fit(self) -> Self:
        reason = _relation_misfit(self)
        if reason:
            raise PydanticCustomError("plan_filter", "{reason}", {"reason": reason})
        return self


def _relation_misfit(leaf: Relation) -> str | None:
    if (leaf.column is None) == (leaf.of is None):
        return "give `column` or `of` as the left side, and not both"
    if leaf.op in NULL_OPS:
        return f"{leaf.op} takes no value" if leaf.value is not None or leaf.than is not None else None
    if leaf.than is not None:
        if leaf.op not in COMPARISONS:
            return f"{leaf.op} cannot compare two expressions; use one of = != < <= > >="
        return "give either `value` or `than`, not both" if leaf.value is not None else None
    return _value_misfit(leaf.op, leaf.value)


class InWindow(PlanModel):
    """True when the row lies in the time window."""

    shape: ClassVar[str] = "<time>"

    time: TimeWindow


class RelatedRows(PlanModel):
    """Rows of another table that belong to a row, by the relationships that the dataset declares."""

    table: Reference = Field(description="The other table.", examples=["orders"])
    where: tuple[Filter, ...] = Field(
        default=(),
        max_length=MAX_ITEMS,
        description="Only its rows that pass all of these count; names are columns of that table.",
    )
    at_least: int = Field(default=1, ge=1, le=1_000_000, description="How many such rows there must be.")
    via: Reference | None = Field(
        default=None,
        description="The column of the other table that refers to the row; needed only when several do.",
        examples=["ship_to"],
    )


class Exists(PlanModel):
    """True when another table has rows for this row. In `not`: when it has none, or fewer than `at_least`."""

    shape: ClassVar[str] = "<exists>"

    exists: RelatedRows


class AnyOf(PlanModel):
    """True when at least one of the filters is."""

    shape: ClassVar[str] = "<any>"

    any: tuple[Filter, ...] = Field(min_length=1, max_length=MAX_ITEMS)


class AllOf(PlanModel):
    """True when every one of the filters is."""

    shape: ClassVar[str] = "<all>"

    all: tuple[Filter, ...] = Field(min_length=1, max_length=MAX_ITEMS)


class Not(PlanModel):
    """True when the filter is false."""

    shape: ClassVar[str] = "<not>"

    not_: Filter = Field(alias="not")


Filter = Annotated[
    Annotated[Comparison, Tag("<filter>")]
    | Annotated[Relation, Tag("<relation>")]
    | Annotated[InWindow, Tag("<time>")]
    | Annotated[Exists, Tag("<exists>")]
    | Annotated[AnyOf, Tag("<any>")]
    | Annotated[AllOf, Tag("<all>")]
    | Annotated[Not, Tag("<not>")],
    by_shape(
        "a filter",
        {
            "any": "<any>", "all": "<all>", "not": "<not>", "time": "<time>", "exists": "<exists>",
            "of": "<relation>", "than": "<relation>",
            "column": "<filter>", "op": "<filter>", "value": "<filter>",
        },
        '{"column": "status", "op": "=", "value": "paid"}, {"time": …}, {"exists": …}, {"any": […]}, {"all": […]} '
        'or {"not": …}',
    ),
]  # fmt: skip

Filters = Annotated[tuple[Filter, ...], Field(max_length=MAX_ITEMS)]
