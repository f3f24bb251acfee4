"""What could be asked next: questions that the built-in planner is known to understand."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import islice
from typing import Any

from sandtable.agent.means import Means
from sandtable.agent.state import State, turn_of
from sandtable.catalog.model import ColumnType, Dataset, Table
from sandtable.catalog.profile import Profile
from sandtable.errors import SandtableError
from sandtable.planner.outcome import EarlierTurn
from sandtable.quoting import inert

MOST = 2
MOST_TRIED = 4
FEW_VALUES = 60


async def next_questions(means: Means, state: State, dataset: Dataset) -> list[str]:
    turn = turn_of(state)
    plan = turn.get("plan")
    if plan is None:
        return list(dataset.prompts[:2])
    try:
        profile = await means.datasets.profile(dataset)
    except SandtableError:
        # An answer without suggestions is still an answer.
        return []
    before = EarlierTurn(question=turn.get("question", ""), plan=plan)
    kept: list[str] = []
    for question in islice(candidates(plan, dataset, profile), MOST_TRIED):
        if len(kept) == MOST:
            break
        # Each try takes a few milliseconds; others may want the loop in between.
        await asyncio.sleep(0)
        if means.understands(question, dataset, before):
            kept.append(question)
    return kept


def candidates(plan: dict[str, Any], dataset: Dataset, profile: Profile) -> Iterator[str]:
    """The likeliest first: over time, for one of the values just seen, by another column, the top few."""
    table = dataset.table(str(plan.get("table", "")))
    if table is None:
        return
    keys = [name for name in map(_named, plan.get("group_by") or plan.get("select") or ()) if name]
    bucketed = any("bucket" in item for item in _items(plan))
    aggregated = any("agg" in item or "metric" in item for item in _items(plan))
    if aggregated and not bucketed and table.time_column:
        yield "Same by month"
    filtered = str(plan.get("filters") or "")
    for name in keys:
        value = _frequent(name, table, dataset, profile)
        if value and value not in filtered:
            yield f"Now only for {value}"
            break
    if aggregated:
        for column in _others(table, keys, profile):
            yield f"Same by {column.replace('_', ' ')}"
    if aggregated and keys and not plan.get("limit") and not bucketed:
        yield "Only the top 5"


def _items(plan: dict[str, Any]) -> list[dict[str, Any]]:
    both = (*(plan.get("select") or ()), *(plan.get("group_by") or ()))
    return [item for item in both if isinstance(item, dict)]


def _named(item: Any) -> str | None:
    if isinstance(item, str):
        return item
    return (
        item.get("column") if isinstance(item, dict) and "agg" not in item and "bucket" not in item else None
    )


def _frequent(name: str, table: Table, dataset: Dataset, profile: Profile) -> str | None:
    """A text value that is common in the column; not the rarest, not an identifier."""
    table_name, _, column_name = name.rpartition(".")
    owner = dataset.table(table_name) if table_name else table
    column = owner.column(column_name) if owner else None
    if owner is None or column is None or column.type is not ColumnType.TEXT:
        return None
    seen = profile.table(owner.name)
    values = seen.column(column.name) if seen else None
    if values is None or not 2 <= values.distinct <= FEW_VALUES or not values.values:
        return None
    value = values.values[0].value
    return value if isinstance(value, str) and len(value) <= 40 and inert(value) == value else None


def _others(table: Table, keys: list[str], profile: Profile) -> Iterator[str]:
    seen = profile.table(table.name)
    bare = {key.rpartition(".")[2].lower() for key in keys}
    for column in table.columns:
        values = seen.column(column.name) if seen else None
        few = values is not None and 2 <= values.distinct <= 25
        if column.type is ColumnType.TEXT and few and column.name.lower() not in bare:
            yield column.name
