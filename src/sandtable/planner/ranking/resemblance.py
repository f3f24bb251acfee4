"""Whether an unbound word resembles something in the data that the plan does not use."""

from __future__ import annotations

import json
from functools import lru_cache

from sandtable.planner.conscience.naming import names_column
from sandtable.planner.language.demonyms import COUNTRIES
from sandtable.planner.language.vocabulary import FILLER
from sandtable.planner.language.words import stem
from sandtable.planner.schema.columns import is_unique
from sandtable.planner.schema.entries import ColumnEntry, Json, TableEntry
from sandtable.planner.schema.index import SchemaIndex

_NAMED = 0.7
_ROOT = 5
"""Letters that two words of one root share at least: survivors, survived."""


def resembles_unused(word: str, plan: Json, index: SchemaIndex) -> bool:
    plain = word.lower().strip("'’.,?!")
    if len(plain) < 3 or plain in FILLER:
        return False
    said = json.dumps(plan, default=str).lower()
    hits = [*index.find_value(plain), *index.find_value(COUNTRIES.get(plain, plain))]
    hits += index.values_of_root(plain)
    if hits:
        return not any(json.dumps(str(hit.value)).lower() in said for hit in hits)
    root = stem(plain)
    columns = [
        c
        for table in index.tables
        for c in table.columns
        if _is_like(root, c) and not _is_of_row(c, table, plan)
    ]
    if columns:
        return not any(f'"{c.name.lower()}"' in said or f'.{c.name.lower()}"' in said for c in columns)
    metrics = [m for m in index.metrics if root in m.stems]
    return bool(metrics) and not any(f'"{m.metric.name.lower()}"' in said for m in metrics)


def _is_of_row(column: ColumnEntry, table: TableEntry, plan: Json) -> bool:
    """`devices` where every row has its own `device_no`: another word for the rows that the plan reads."""
    return table.name == plan.get("table") and is_unique(column, table)


def _is_like(root: str, column: ColumnEntry) -> bool:
    return names_column(root, column) >= _NAMED or any(_same_root(root, each) for each in column.stems)


@lru_cache(maxsize=20_000)
def _same_root(one: str, other: str) -> bool:
    shared = next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    return shared >= _ROOT and shared >= min(len(one), len(other)) - 1
