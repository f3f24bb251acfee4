"""The document in which people describe a dataset: one per dataset, independent of the data's version.

A field that is None says nothing: what is known of the data themselves holds. Invariant: `version` depends on what the
document says about tables, columns, joins, metrics and the calendar, and on nothing else.
"""

from __future__ import annotations

from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field

from sandtable.catalog.model import Meaning, Metric, WeekStart
from sandtable.catalog.version import canonical_digest

Aggregate = Literal["sum", "average", "none"]
Month = Literal[
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
]  # fmt: skip
MONTHS: tuple[Month, ...] = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_MOST_SYNONYMS = 50
_MOST_UNUSED = 2000
Synonyms = tuple[str, ...]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ColumnSemantics(_Frozen):
    description: str | None = Field(default=None, max_length=4000)
    synonyms: Synonyms | None = Field(default=None, max_length=_MOST_SYNONYMS)
    """Other words for it, as people write them in questions."""
    unit: str | None = Field(default=None, max_length=40)
    aggregate: Aggregate | None = None
    """How its numbers are put together where a question does not say: `none` for identifiers."""
    better: Literal["high", "low"] | None = None
    """Which end of its values is the good one."""
    meaning: Meaning | None = None
    masked: bool | None = None
    """Whether no value of it is given to a model. It can be filtered, joined and grouped by."""


class TableSemantics(_Frozen):
    description: str | None = Field(default=None, max_length=4000)
    synonyms: Synonyms | None = Field(default=None, max_length=_MOST_SYNONYMS)
    time_column: str | None = None
    """The column that time windows use when a question names none."""
    key: tuple[str, ...] | None = Field(default=None, max_length=32)
    """The columns that together identify a row."""
    columns: dict[str, ColumnSemantics] = Field(default_factory=dict[str, ColumnSemantics])


class JoinSemantics(_Frozen):
    """Many rows of one table refer to one row of another."""

    many: str = Field(max_length=600)
    """Such as `orders.customer_id`."""
    one: str = Field(max_length=600)
    """Such as `customers.id`: unique there."""


class MetricSemantics(_Frozen):
    table: str
    description: str = Field(default="", max_length=4000)
    synonyms: Synonyms = Field(default=(), max_length=_MOST_SYNONYMS)
    numerator: dict[str, Any]
    """An aggregate of the plan language, such as `{"agg": "sum", "column": "amount"}`."""
    denominator: dict[str, Any] | None = None
    format: Literal["number", "percent", "currency", "duration"] = "number"
    better: Literal["high", "low"] | None = None

    @classmethod
    def of(cls, metric: Metric) -> MetricSemantics:
        return cls.model_validate(metric.model_dump(exclude={"name"}))


class UnusedSemantics(_Frozen):
    """A part of an imported model that cannot be used here. It is kept, and exported again."""

    kind: str = Field(max_length=100)
    """Such as `metric` or `dimension`."""
    name: str = Field(max_length=600)
    reason: str = Field(max_length=2000)
    content: dict[str, Any] = Field(default_factory=dict[str, Any])
    """As it was in the imported model."""


class Semantics(_Frozen):
    format: Literal[1] = 1
    dataset: str = Field(default="", max_length=128)
    """The id of the dataset, for people who read the file. The document may be used for another one."""
    title: str | None = Field(default=None, max_length=400)
    description: str | None = Field(default=None, max_length=8000)
    week_start: WeekStart | None = None
    fiscal_year_start: Month | None = None
    tables: dict[str, TableSemantics] = Field(default_factory=dict[str, TableSemantics])
    joins: tuple[JoinSemantics, ...] | None = Field(default=None, max_length=500)
    """All of them; None for those that the data prove."""
    metrics: dict[str, MetricSemantics] | None = None
    """All of them, by name."""
    questions: tuple[str, ...] | None = Field(default=None, max_length=50)
    """Questions to begin with; None for those that are proposed."""
    unused: tuple[UnusedSemantics, ...] = Field(default=(), max_length=_MOST_UNUSED)

    @property
    def version(self) -> str:
        """Digest of what matters for an answer. Questions to begin with and unused parts do not."""
        said = self.model_dump(
            mode="json", exclude_none=True, exclude={"format", "dataset", "questions", "unused"}
        )
        return f"sha256:{canonical_digest(_without_empty(said))}"


def _without_empty(said: Any) -> Any:
    """An empty description and one that is absent say the same."""
    if not isinstance(said, dict):
        return said
    found = {name: _without_empty(each) for name, each in cast(dict[str, Any], said).items()}
    return {name: each for name, each in found.items() if each not in ("", [], {}, False, None)}
