"""Columns that a plan computes as fractions, printed in percent as in the answer's sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sandtable.plan.model import QueryPlan
from sandtable.plan.reading import read_plan
from sandtable.plan.result_columns import describe_by_plan
from sandtable.plan.units import FRACTION
from sandtable.wording.figures import number_of, shown


def fraction_columns(plan: dict[str, Any] | None, names: Sequence[str]) -> frozenset[int]:
    """The indexes of the columns where 0.25 means 25 %: shares, relative changes. Empty without a plan."""
    parsed = read_plan(plan) if plan is not None else None
    described = describe_by_plan(parsed, names) if isinstance(parsed, QueryPlan) else None
    return frozenset(place for place, column in enumerate(described or ()) if column.is_fraction)


def in_percent(row: Sequence[Any], fractions: frozenset[int]) -> list[Any]:
    """The row with the numbers of these columns as text: 0.156 is `15.6 %`."""
    return [_percent(value) if place in fractions else value for place, value in enumerate(row)]


def _percent(value: Any) -> Any:
    number = number_of(value)
    return shown(number, FRACTION) if number is not None else value
