"""Marks of trust: what is known of an answer without trusting its proposer.

Invariant: derived from the plan and the proposer, which every capsule format since 2 has sealed; a model cannot claim
one. They say how a question became a plan, never that the plan is what was meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from sandtable.catalog.model import Dataset
from sandtable.plan import filters as f
from sandtable.plan import items as i
from sandtable.plan.model import QueryPlan
from sandtable.plan.reading import read_plan

Mark = Literal["defined", "read_literally", "proposed_by_model"]
BUILTIN = "builtin"
READER = "builtin-reader"
"""Proposer of plans with parts that a small network inferred from words which name nothing in the data, and of readings
that a person chose when asked."""
MARK_WORDS: dict[Mark, str] = {
    "defined": "defined: only declared metrics and columns",
    "read_literally": "read literally: every word is bound by the built-in planner",
    "proposed_by_model": "proposed by a model",
}


def marks_of(plan: Mapping[str, Any] | None, dataset: Dataset, proposer: str | None) -> tuple[Mark, ...]:
    """`proposer` is None when a person or a program submitted the query.

    `BUILTIN` is used only for plans whose every part is bound to words of the question by rules, so this name alone
    means `read_literally`. A plan with a likely part has the proposer `READER`, which is a model.
    """
    marks: list[Mark] = []
    if plan is not None and _is_defined(plan, dataset):
        marks.append("defined")
    if proposer is not None:
        marks.append("read_literally" if proposer == BUILTIN else "proposed_by_model")
    return tuple(marks)


def _is_defined(plan: Mapping[str, Any], dataset: Dataset) -> bool:
    """Whether only metrics that the dataset declares are computed."""
    parsed = read_plan(dict(plan))
    if not isinstance(parsed, QueryPlan) or parsed.define or parsed.derive or parsed.why is not None:
        return False
    keys = all(isinstance(key, str | i.BucketItem) for key in parsed.group_by)
    shown = all(_is_declared(item, dataset) for item in parsed.select)
    return keys and shown and all(_is_plain(item) for item in (*parsed.filters, *parsed.having))


def _is_declared(item: i.AnyItem, dataset: Dataset) -> bool:
    match item:
        case i.MetricItem():
            known = dataset.metric(item.metric) is not None
            return known and item.within is None and all(_is_plain(part) for part in item.where)
        case i.ColumnItem():
            return True
        case i.BucketItem():
            return item.of is None
        case _:
            return False


def _is_plain(item: f.Filter) -> bool:
    """Whether it is a condition on columns without an expression."""
    match item:
        case f.Comparison() | f.InWindow():
            return True
        case f.AllOf(all=parts) | f.AnyOf(any=parts):
            return all(_is_plain(part) for part in parts)
        case f.Not(not_=part):
            return _is_plain(part)
        case _:
            return False
