"""Conditions of a board in the plans of its questions. Pure.

Invariant: a condition is in the plan that is returned, or is reported as not applied, never neither. In a plan with
definitions it stands in every part that reads a table of the dataset, and in every aggregate over all rows (`within`),
which the filters of a plan do not reach: so it decides which rows are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandtable.boards.model import Condition
from sandtable.catalog.model import Dataset
from sandtable.plan.model import QueryPlan
from sandtable.plan.reading import read_plan
from sandtable.plan.resolve import resolve_plan
from sandtable.plan.resolved import ResolvedPlan
from sandtable.quoting import quote

Plan = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NotApplied:
    """A condition that a tile is not filtered by."""

    column: str
    reason: str


def filtered(
    plan: Plan, conditions: Sequence[Condition], dataset: Dataset
) -> tuple[dict[str, Any], tuple[NotApplied, ...]]:
    """The plan with every condition that fits it."""
    made, left = dict(plan), list[NotApplied]()
    for condition in conditions:
        ways = list(_ways(made, condition, dataset))
        fitting = [way for way in ways if not _problem(way, dataset)]
        if len(fitting) == 1 or (fitting and fitting[0] is ways[0]):
            made = fitting[0]
            continue
        left.append(NotApplied(condition.column, _reason(condition, dataset, ways, fitting)))
    return made, tuple(left)


def not_planned(conditions: Sequence[Condition], what: str) -> tuple[NotApplied, ...]:
    """All of them, for a question that is SQL or Python."""
    reason = f"the question is {what}; filters are added to plans only"
    return tuple(NotApplied(condition.column, reason) for condition in conditions)


def _ways(plan: Plan, condition: Condition, dataset: Dataset) -> Iterator[dict[str, Any]]:
    """The plan with the condition, for every column that may be meant; the column as it is written comes first."""
    yield _with(plan, condition.in_plan(condition.column), dataset)
    if "." in condition.column:
        return
    wanted = condition.column.lower()
    for table in dataset.tables:
        if any(column.name.lower() == wanted for column in table.columns):
            yield _with(plan, condition.in_plan(f"{table.name}.{condition.column}"), dataset)


def _with(plan: Plan, condition: dict[str, Any], dataset: Dataset) -> dict[str, Any]:
    made = dict(plan)
    if _reads_data(made, dataset):
        made = _narrowed(made, condition)
    if made.get("define"):
        made["define"] = [
            {**each, "plan": _narrowed(each["plan"], condition)}
            if _reads_data(each["plan"], dataset)
            else each
            for each in made["define"]
        ]
    return made


def _narrowed(body: Plan, condition: dict[str, Any]) -> dict[str, Any]:
    own = {name: part if name == "define" else _reached(part, condition) for name, part in body.items()}
    return {**own, "filters": [*(own.get("filters") or ()), condition]}


def _reached(part: Any, condition: dict[str, Any]) -> Any:
    """A part of a plan, with the condition in its aggregates over all rows."""
    if isinstance(part, list | tuple):
        return [_reached(each, condition) for each in part]
    if not isinstance(part, Mapping):
        return part
    made = {name: _reached(each, condition) for name, each in part.items()}
    if made.get("within") is not None:
        made["where"] = [*(made.get("where") or ()), condition]
    return made


def _reads_data(body: Plan, dataset: Dataset) -> bool:
    return dataset.table(str(body.get("table", ""))) is not None


def _problem(plan: Plan, dataset: Dataset) -> str:
    """Why the plan does not fit; empty when it does."""
    parsed = read_plan(plan)
    if not isinstance(parsed, QueryPlan):
        return parsed[0].message
    resolved = resolve_plan(parsed, dataset)
    return "" if isinstance(resolved, ResolvedPlan) else resolved[0].message


def _reason(condition: Condition, dataset: Dataset, ways: Sequence[Plan], fitting: Sequence[Plan]) -> str:
    if fitting:
        return f"several tables have a column {quote(condition.column)}; name it as table.column"
    if len(ways) == 1 and not _is_known(condition.column, dataset):
        return f"the dataset {quote(dataset.id)} has no column {quote(condition.column)}"
    return _problem(ways[-1], dataset)


def _is_known(name: str, dataset: Dataset) -> bool:
    table, _, column = name.rpartition(".")
    return any(
        each.name.lower() == column.lower()
        for found in dataset.tables
        if not table or found.name.lower() == table.lower()
        for each in found.columns
    )
