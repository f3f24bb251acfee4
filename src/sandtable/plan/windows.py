"""Time windows: `last n units`, `from`/`to`, named periods. Never anchored at the clock."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from sandtable.plan.shapes import PlanModel, Reference, by_shape

WindowUnit = Literal["minute", "hour", "day", "week", "month", "quarter", "year"]
PeriodName = Literal[
    "today", "yesterday", "this_week", "last_week", "this_month", "last_month",
    "this_quarter", "last_quarter", "this_year", "last_year", "ytd",
    "this_fiscal_quarter", "last_fiscal_quarter", "this_fiscal_year", "last_fiscal_year", "fiscal_ytd",
]  # fmt: skip

_COLUMN = Field(
    default=None, description="A date or timestamp column; the table's own time column when absent."
)
_AS_OF = Field(
    default=None,
    description="Where 'now' is, as a date or timestamp; the dataset's `as_of` when absent. Never the clock.",
    examples=["2024-06-30"],
)
_Moment = Annotated[str, Field(min_length=1, max_length=64)]
AsOf = _Moment


class LastWindow(PlanModel):
    """The last n units up to and including `as_of`; a bare date counts to the end of that day."""

    shape: ClassVar[str] = "<last>"

    column: Reference | None = _COLUMN
    last: int = Field(ge=1, le=100_000)
    unit: WindowUnit
    as_of: _Moment | None = _AS_OF


class RangeWindow(PlanModel):
    """`from` is included; `to` is excluded when a timestamp, and means through that day when a date."""

    shape: ClassVar[str] = "<range>"

    column: Reference | None = _COLUMN
    from_: _Moment | None = Field(default=None, alias="from", examples=["2024-01-01"])
    to: _Moment | None = Field(default=None, examples=["2024-03-31"])

    @model_validator(mode="after")
    def _has_an_end(self) -> Self:
        if self.from_ is None and self.to is None:
            raise PydanticCustomError("plan_time", "a time range needs `from`, `to` or both")
        return self


class PeriodWindow(PlanModel):
    """A whole period around `as_of`; `ytd` is 1 January through `as_of`. Weeks and fiscal years begin as the dataset's
    catalog says; `fiscal_ytd` is the first day of the fiscal year through `as_of`."""

    shape: ClassVar[str] = "<period>"

    column: Reference | None = _COLUMN
    period: PeriodName
    as_of: _Moment | None = _AS_OF


TimeWindow = Annotated[
    Annotated[LastWindow, Tag("<last>")]
    | Annotated[RangeWindow, Tag("<range>")]
    | Annotated[PeriodWindow, Tag("<period>")],
    by_shape(
        "a time window",
        {"last": "<last>", "unit": "<last>", "period": "<period>", "from": "<range>", "to": "<range>"},
        '{"last": 30, "unit": "day"}, {"from": "2024-01-01", "to": "2024-03-31"} or {"period": "last_month"}',
    ),
]
