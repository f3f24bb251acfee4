"""Filters: leaf comparisons, and their nesting by `any`, `all` and `not`."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from sandtable.plan.shapes import MAX_ITEMS, FilterValue, PlanModel, Reference, by_shape

FilterOp = Literal[
    "=", "!=", "<", "<=", ">", ">=", "in", "not_in", "between",
    "contains", "startswith", "endswith", "is_null", "not_null",
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
    value, op = leaf.value, leaf.op
    if op in NULL_OPS:
        return f"{op} takes no value" if value is not None or leaf.other_column is not None else None
    if leaf.other_column is not None:
        if op not in COMPARISONS:
            return f"{op} cannot compare two columns; use one of = != < <= > >="
        return "give either `value` or `other_column`, not both" if value is not None else None
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
    | Annotated[AnyOf, Tag("<any>")]
    | Annotated[AllOf, Tag("<all>")]
    | Annotated[Not, Tag("<not>")],
    by_shape(
        "a filter",
        {
            "any": "<any>", "all": "<all>", "not": "<not>",
            "column": "<filter>", "op": "<filter>", "value": "<filter>",
        },
        '{"column": "status", "op": "=", "value": "paid"}, {"any": […]}, {"all": […]} or {"not": …}',
    ),
]  # fmt: skip

Filters = Annotated[tuple[Filter, ...], Field(max_length=MAX_ITEMS)]

for _model in (AnyOf, AllOf, Not):
    _model.model_rebuild()


def depth(condition: Filter) -> int:
    """How deep filters nest; a leaf is 1."""
    match condition:
        case AnyOf(any=parts) | AllOf(all=parts):
            return 1 + max(depth(part) for part in parts)
        case Not(not_=part):
            return 1 + depth(part)
        case Comparison():
            return 1
