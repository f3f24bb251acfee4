"""What is computed over the finished rows: shares, ranks, changes, running totals, z-scores, top n."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, Tag

from sandtable.plan.shapes import MAX_ITEMS, MAX_ROWS, Alias, PlanModel, Reference, by_shape

Direction = Literal["asc", "desc"]
_Names = Annotated[tuple[Reference, ...], Field(max_length=MAX_ITEMS)]

_WITHIN = Field(default=None, description="Output columns to start afresh within; over all rows when absent.")
_WITHIN_SERIES = Field(
    default=None,
    description="Output columns that tell the series apart; every group column except `along` when absent.",
)
_AS = Field(default=None, alias="as", description="Name of the derived column; made up when absent.")
_ALONG = Field(description="The output column to walk along in ascending order, usually a time bucket.")


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
    """The difference from the previous row; `percent` divides it by the previous value (0.25 is +25 %)."""

    shape: ClassVar[str] = "<change>"

    change: Reference
    along: Reference = _ALONG
    kind: Literal["absolute", "percent"] = "absolute"
    as_: Alias | None = _AS
    within: _Names | None = _WITHIN_SERIES


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


Derivation = Annotated[
    Annotated[ShareOfTotal, Tag("<share_of_total>")]
    | Annotated[Rank, Tag("<rank>")]
    | Annotated[Change, Tag("<change>")]
    | Annotated[RunningTotal, Tag("<running_total>")]
    | Annotated[ZScore, Tag("<zscore>")],
    by_shape(
        "a derived column",
        {key: f"<{key}>" for key in ("share_of_total", "rank", "change", "running_total", "zscore")},
        '{"share_of_total": "revenue"}, {"rank": "revenue"}, {"zscore": "revenue"}, '
        '{"change": "revenue", "along": "month"} or {"running_total": "revenue", "along": "month"}',
    ),
]


class TopPerGroup(PlanModel):
    """Keep the first n rows of each group."""

    n: int = Field(ge=1, le=MAX_ROWS)
    by: tuple[Reference, ...] = Field(
        min_length=1, max_length=MAX_ITEMS, description="Output columns that form the groups."
    )
    order_by: Reference = Field(description="The output column that decides who is first.")
    dir: Direction = "desc"
