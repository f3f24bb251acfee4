"""What is computed over the finished rows: shares, ranks, changes, neighbours, runs, expressions, top n."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from sandtable.plan.filters import Filters
from sandtable.plan.items import AggItem, ArithmeticItem, ElapsedItem, HoldsItem
from sandtable.plan.shapes import MAX_ITEMS, MAX_ROWS, Alias, PlanModel, Reference, by_shape

Direction = Literal["asc", "desc"]
_Names = Annotated[tuple[Reference, ...], Field(max_length=MAX_ITEMS)]

_WITHIN = Field(
    default=None,
    description="Output columns; the computation starts again in each group of them. Over all rows when absent.",
)
_WITHIN_SERIES = Field(
    default=None,
    description="Output columns that distinguish the series; every group column except `along` when absent.",
)
_AS = Field(default=None, alias="as", description="Name of the derived column; made up when absent.")
_ALONG = Field(description="The output column that orders the rows, ascending; usually a time bucket.")


class ShareOfTotal(PlanModel):
    """The value divided by the sum of all values: a fraction, 0.25 is 25 %."""

    shape: ClassVar[str] = "<share_of_total>"

    share_of_total: Reference
    as_: Alias | None = _AS
    within: _Names | None = _WITHIN


class Rank(PlanModel):
    """1 for the largest value (`desc`, the default) or the smallest (`asc`); equal values share a rank."""

    shape: ClassVar[str] = "<rank>"

    rank: Reference
    dir: Direction = "desc"
    as_: Alias | None = _AS
    within: _Names | None = _WITHIN


class Change(PlanModel):
    """The difference from the previous row along a column, or from another column of the same row.

    `percent` divides it by the earlier value (0.25 is +25 %).
    """

    shape: ClassVar[str] = "<change>"

    change: Reference
    along: Reference | None = Field(default=None, description=_ALONG.description)
    from_: Reference | None = Field(
        default=None,
        alias="from",
        description="The output column with the earlier value, instead of `along`.",
    )
    kind: Literal["absolute", "percent"] = "absolute"
    as_: Alias | None = _AS
    within: _Names | None = _WITHIN_SERIES

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.along is None) == (self.from_ is None):
            reason = "give `along` to compare with the previous row, or `from` to compare with another column"
            raise PydanticCustomError("plan_derive", "{reason}", {"reason": reason})
        return self


class RunningTotal(PlanModel):
    """The sum of this and all earlier rows."""

    shape: ClassVar[str] = "<running_total>"

    running_total: Reference
    along: Reference = _ALONG
    as_: Alias | None = _AS
    within: _Names | None = _WITHIN_SERIES


class ZScore(PlanModel):
    """How many standard deviations the value lies from the mean; works on plain rows too."""

    shape: ClassVar[str] = "<zscore>"

    zscore: Reference
    as_: Alias | None = _AS
    within: _Names | None = _WITHIN


class Previous(PlanModel):
    """The value in the previous row."""

    shape: ClassVar[str] = "<previous>"

    previous: Reference
    along: Reference = _ALONG
    as_: Alias | None = _AS
    within: _Names | None = _WITHIN_SERIES


class Next(PlanModel):
    """The value in the next row."""

    shape: ClassVar[str] = "<next>"

    next: Reference
    along: Reference = _ALONG
    as_: Alias | None = _AS
    within: _Names | None = _WITHIN_SERIES


class Position(PlanModel):
    """1 for the first row in the order of a column (`asc`, the default), 2 for the second; never shared."""

    shape: ClassVar[str] = "<position>"

    position: Reference
    dir: Direction = "asc"
    as_: Alias | None = _AS
    within: _Names | None = _WITHIN


class Run(PlanModel):
    """For how many rows in a row, up to this one, the conditions hold; 0 where they do not."""

    shape: ClassVar[str] = "<run>"

    run: Filters = Field(min_length=1, description="Conditions on output columns.")
    along: Reference = _ALONG
    step: Literal["hour", "day", "week", "month", "quarter", "year"] | None = Field(
        default=None,
        description="Rows follow each other only when `along` grows by exactly one of these: consecutive days.",
    )
    as_: Alias | None = _AS
    within: _Names | None = _WITHIN_SERIES


Derivation = Annotated[
    Annotated[ShareOfTotal, Tag("<share_of_total>")]
    | Annotated[Rank, Tag("<rank>")]
    | Annotated[Change, Tag("<change>")]
    | Annotated[RunningTotal, Tag("<running_total>")]
    | Annotated[ZScore, Tag("<zscore>")]
    | Annotated[Previous, Tag("<previous>")]
    | Annotated[Next, Tag("<next>")]
    | Annotated[Position, Tag("<position>")]
    | Annotated[Run, Tag("<run>")]
    | Annotated[AggItem, Tag("<agg>")]
    | Annotated[ElapsedItem, Tag("<elapsed>")]
    | Annotated[HoldsItem, Tag("<holds>")]
    | Annotated[ArithmeticItem, Tag("<arithmetic>")],
    by_shape(
        "a derived column",
        {
            key: f"<{key}>"
            for key in (
                "share_of_total", "rank", "change", "running_total", "zscore", "previous", "next", "position",
                "run", "agg", "elapsed", "holds",
            )
        }
        | {"op": "<arithmetic>", "left": "<arithmetic>"},
        '{"share_of_total": "revenue"}, {"rank": "revenue"}, {"zscore": "revenue"}, '
        '{"change": "revenue", "along": "month"} or {"running_total": "revenue", "along": "month"}',
    ),
]  # fmt: skip
Windowed = ShareOfTotal | Rank | Change | RunningTotal | ZScore | Previous | Next | Position
"""Derived columns that are about one output column."""
Expression = AggItem | ElapsedItem | HoldsItem | ArithmeticItem
"""Derived columns that are expressions over output columns."""


def source_of(item: Derivation) -> str:
    """The output column that a derived column is about; empty for runs and expressions."""
    match item:
        case ShareOfTotal(share_of_total=name) | Rank(rank=name) | Change(change=name):
            return name
        case RunningTotal(running_total=name) | ZScore(zscore=name) | Position(position=name):
            return name
        case Previous(previous=name) | Next(next=name):
            return name
        case _:
            return ""


class TopPerGroup(PlanModel):
    """Keep the first n rows of each group."""

    n: int = Field(ge=1, le=MAX_ROWS)
    by: tuple[Reference, ...] = Field(
        min_length=1, max_length=MAX_ITEMS, description="Output columns that form the groups."
    )
    order_by: Reference = Field(description="The output column by which rows are put in order.")
    dir: Direction = "desc"
    ties: bool = Field(default=False, description="Keep rows that equal the last one kept, too.")
