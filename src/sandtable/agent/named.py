"""Tables named in a conversation, added to those of the dataset, so that the planner can use them.

Invariant: pure. What a named table holds is known as far as its columns are columns of the dataset: their
values are among those of the original.
"""

from __future__ import annotations

import re
from typing import Any

from sandtable.catalog.model import Dataset
from sandtable.catalog.profile import ColumnProfile, Profile, TableProfile
from sandtable.plan.model import QueryPlan
from sandtable.plan.reading import read_plan
from sandtable.plan.resolve import resolve_plan
from sandtable.plan.resolved import ColumnRef, Defined, ResolvedPlan

Definitions = tuple[dict[str, Any], ...]


def mentions(text: str, name: str) -> bool:
    """`top_customers`, `top customers`, in any case."""
    words = re.escape(name).replace("_", r"[_\s-]+")
    return re.search(rf"(?<!\w){words}(?!\w)", text, re.IGNORECASE) is not None


def with_named(dataset: Dataset, profile: Profile, defined: Definitions) -> tuple[Dataset, Profile]:
    """Both with a table for each definition that still fits the dataset."""
    tables, seen = dataset.tables, profile
    for place in range(len(defined)):
        made = _table(dataset, defined[: place + 1])
        if made is not None:
            tables = (*tables, made.table)
            seen = seen.model_copy(update={"tables": (*seen.tables, _seen(made, seen))})
    return dataset.model_copy(update={"tables": tables}), seen


def complete(plan: dict[str, Any], dataset_id: str, defined: tuple[dict[str, Any], ...]) -> dict[str, Any]:
    """The plan with the dataset it is about, and with the named tables that it reads."""
    whole = {"dataset_id": dataset_id, **plan}
    if whole.get("define") or not defined:
        return whole
    by_name = {d["name"].lower(): d for d in defined}
    read: list[dict[str, Any]] = []
    name = str(plan.get("table", "")).lower()
    while name in by_name:
        made = by_name.pop(name)
        read.insert(0, made)
        name = str(made["plan"].get("table", "")).lower()
    return {**whole, "define": read} if read else whole


def _table(dataset: Dataset, defined: Definitions) -> Defined | None:
    name = defined[-1]["name"]
    count = {"dataset_id": dataset.id, "define": list(defined), "table": name, "select": [{"agg": "count"}]}
    plan = read_plan(count)
    resolved = resolve_plan(plan, dataset) if isinstance(plan, QueryPlan) else None
    return resolved.defined[-1] if isinstance(resolved, ResolvedPlan) and resolved.defined else None


def _seen(item: Defined, profile: Profile) -> TableProfile:
    columns: list[ColumnProfile] = []
    for output in item.plan.outputs:
        expr = output.expr
        table = profile.table(expr.table) if isinstance(expr, ColumnRef) else None
        original = table.column(expr.column) if table and isinstance(expr, ColumnRef) else None
        if original is not None:
            columns.append(original.model_copy(update={"name": output.name}))
    return TableProfile(name=item.table.name, rows=0, columns=tuple(columns))
