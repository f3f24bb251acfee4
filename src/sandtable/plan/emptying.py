"""Which condition empties a result: one further plan that counts the rows which each condition leaves.

The conditions are taken in the order of the plan: filters, the time window, then those of the only aggregate. What
groups must pass (`having`) comes after all of them and is not counted.
Invariant: pure. The plan of counts fits the dataset, and it has one row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from sandtable.catalog.model import Dataset
from sandtable.plan import items as i
from sandtable.plan.definitions import with_defined
from sandtable.plan.literals import Plan
from sandtable.plan.model import QueryPlan
from sandtable.plan.reading import read_plan
from sandtable.plan.resolve import resolve_plan
from sandtable.plan.resolved import ColumnRef, ResolvedPlan
from sandtable.plan.scope import Scope

MOST_CONDITIONS = 30
_ALL, _FIRST, _LAST = "all_rows", "first_moment", "last_moment"


@dataclass(frozen=True, slots=True)
class Funnel:
    plan: Plan
    """Counts the rows before and after each condition."""
    conditions: tuple[Plan, ...]
    """Filters, a time window among them as `{"time": …}`."""
    dated: int | None = None
    """The condition that is the time window whose column's first and last moment the plan gives, too."""


@dataclass(frozen=True, slots=True)
class Emptied:
    """What the counts say."""

    rows: int
    """Of the table."""
    before: int
    """Rows that all conditions before this one leave."""
    by: int | None
    """The first condition that leaves none; None when all of them leave rows."""
    first: Any = None
    last: Any = None
    """The ends of the data in time, where the condition is a time window."""


def is_empty(plan: Mapping[str, Any], rows: Sequence[Sequence[Any]], dataset: Dataset) -> bool:
    """Whether a plan found nothing: no row, or one row of aggregates over no rows."""
    if not rows:
        return True
    parsed = read_plan(dict(plan))
    if len(rows) != 1 or not isinstance(parsed, QueryPlan) or not parsed.grouped or parsed.derive:
        return False
    resolved = resolve_plan(parsed, dataset)
    if not isinstance(resolved, ResolvedPlan) or resolved.key_names:
        return False
    return len(rows[0]) == len(parsed.select) and all(
        cell is None or (cell == 0 and _counts(item))
        for cell, item in zip(rows[0], parsed.select, strict=True)
    )


def _counts(item: i.AnyItem) -> bool:
    return isinstance(item, i.AggItem) and item.agg in ("count", "count_distinct")


def funnel_of(plan: Mapping[str, Any], dataset: Dataset) -> Funnel | None:
    """None for a plan without conditions on rows, and for one whose conditions cannot be counted one by one."""
    parsed = read_plan(dict(plan))
    resolved = resolve_plan(parsed, dataset) if isinstance(parsed, QueryPlan) else None
    if not isinstance(parsed, QueryPlan) or not isinstance(resolved, ResolvedPlan) or parsed.why is not None:
        return None
    conditions = _conditions(plan)
    if not 0 < len(conditions) <= MOST_CONDITIONS:
        return None
    counts: list[Plan] = [{"agg": "count", "as": _ALL}]
    counts += [
        {"agg": "count", "where": list(conditions[: number + 1]), "as": f"left_{number + 1}"}
        for number in range(len(conditions))
    ]
    dated, column = _time_column(conditions, parsed, resolved, dataset)
    if column is not None:
        counts += [
            {"agg": "min", "column": column, "as": _FIRST}, {"agg": "max", "column": column, "as": _LAST}
        ]  # fmt: skip
    kept = {field: plan[field] for field in ("dataset_id", "define", "table") if field in plan}
    made: Plan = {**kept, "select": counts}
    read = read_plan(made)
    if not isinstance(read, QueryPlan) or not isinstance(resolve_plan(read, dataset), ResolvedPlan):
        return None
    return Funnel(made, conditions, dated if column is not None else None)


def emptied(funnel: Funnel, row: Mapping[str, Any]) -> Emptied:
    """`row` is the row of the plan of counts."""
    left = [int(row[f"left_{number}"] or 0) for number in range(1, len(funnel.conditions) + 1)]
    found = first_empty(int(row[_ALL] or 0), left)
    if found.by is None or found.by != funnel.dated:
        return found
    return replace(found, first=row.get(_FIRST), last=row.get(_LAST))


def first_empty(rows: int, left: Sequence[int]) -> Emptied:
    """`left`: the rows that each prefix of at least one condition leaves."""
    by = next((number for number, count in enumerate(left) if count == 0), None)
    return Emptied(rows, left[-1] if by is None else left[by - 1] if by else rows, by)


def _conditions(plan: Mapping[str, Any]) -> tuple[Plan, ...]:
    found = [*_flat(plan.get("filters") or ())]
    if plan.get("time"):
        found.append({"time": plan["time"]})
    select: Sequence[Any] = plan.get("select") or ()
    if len(select) == 1 and not plan.get("group_by") and "within" not in select[0]:
        found += _flat(select[0].get("where") or ())
    return tuple(found)


def _flat(filters: Sequence[Any]) -> list[Plan]:
    """All of several conditions are several conditions."""
    made: list[Plan] = []
    for each in cast("Sequence[Plan]", filters):
        made += _flat(each["all"]) if "all" in each else [each]
    return made


def _time_column(
    conditions: Sequence[Plan], parsed: QueryPlan, resolved: ResolvedPlan, dataset: Dataset
) -> tuple[int, str | None]:
    """The first time window among the conditions, and its column as the plan would name it."""
    place = next((number for number, each in enumerate(conditions) if "time" in each), -1)
    known = with_defined(resolved, dataset)
    home = known.table(parsed.table)
    if place < 0 or home is None:
        return place, None
    defined = frozenset(item.table.name for item in resolved.defined)
    scope = Scope(known, home, aggregating=True, defined=defined)
    named = conditions[place]["time"].get("column")
    found = scope.column(named) if named else scope.time_column()
    if not isinstance(found, ColumnRef):
        return place, None
    return place, found.column if found.table == home.name else f"{found.table}.{found.column}"
