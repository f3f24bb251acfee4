"""Columns that hold fractions, printed in percent as in the answer's sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sandtable.catalog.model import Dataset
from sandtable.plan.definitions import with_defined
from sandtable.plan.model import QueryPlan
from sandtable.plan.reading import read_plan
from sandtable.plan.resolve import resolve_plan
from sandtable.plan.resolved import ResolvedPlan
from sandtable.plan.result_columns import ColumnMeaning, describe_by_plan, describe_resolved
from sandtable.plan.units import FRACTION
from sandtable.wording.figures import number_of, shown


def fraction_columns(
    plan: dict[str, Any] | None, names: Sequence[str], dataset: Dataset | None = None
) -> frozenset[int]:
    """The indexes of the columns where 0.25 means 25 %: shares, relative changes, and metrics that the dataset declares
    as percentages. Empty without a plan."""
    parsed = read_plan(plan) if plan is not None else None
    described = _described(parsed, names, dataset) if isinstance(parsed, QueryPlan) else None
    return frozenset(place for place, column in enumerate(described or ()) if column.is_fraction)


def _described(
    plan: QueryPlan, names: Sequence[str], dataset: Dataset | None
) -> tuple[ColumnMeaning, ...] | None:
    """By the dataset if the result is what the plan gives over it, by the plan alone otherwise."""
    resolved = resolve_plan(plan, dataset) if dataset is not None else None
    if dataset is not None and isinstance(resolved, ResolvedPlan):
        described = describe_resolved(plan, resolved, with_defined(resolved, dataset))
        if [column.name.lower() for column in described] == [name.lower() for name in names]:
            return described
    return describe_by_plan(plan, names)


def in_percent(row: Sequence[Any], fractions: frozenset[int]) -> list[Any]:
    """The row with the numbers of these columns as text: 0.156 is `15.6 %`."""
    return [_percent(value) if place in fractions else value for place, value in enumerate(row)]


def _percent(value: Any) -> Any:
    number = number_of(value)
    return shown(number, FRACTION) if number is not None else value
