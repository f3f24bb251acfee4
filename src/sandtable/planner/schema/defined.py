"""Tables that the conversation has named: they can be queried like those of the dataset.

Invariant: a plan that reads one carries the definitions it needs; other plans carry none.
"""

from __future__ import annotations

from dataclasses import replace

from sandtable.catalog.model import ColumnType
from sandtable.errors import InvalidInput
from sandtable.plan.validate import check_plan, parse_plan, require_plan
from sandtable.planner.language.words import fold, split_name, stem
from sandtable.planner.schema.entries import ColumnEntry, Json, TableEntry
from sandtable.planner.schema.index import SchemaIndex, ValueHit, value_keys


def with_defined(index: SchemaIndex, defined: tuple[Json, ...], question: str) -> SchemaIndex:
    """The index with those named tables that the question refers to."""
    line = "".join(c for c in fold(question) if c.isalnum())
    spoken = [d for d in defined if _squeezed(str(d["name"])) in line]
    tables = [t for t in (_entry(index, defined, d) for d in spoken) if t is not None]
    if not tables:
        return index
    values = dict(index.values)
    for table in tables:
        for key, hit in _hits(table):
            values[key] = (*values.get(key, ()), hit)
    return SchemaIndex(index.dataset, index.profile, (*index.tables, *tables), index.metrics, values)


def carrying(plan: Json, defined: tuple[Json, ...]) -> Json:
    """The plan with the definitions up to the one it reads."""
    names = [str(d["name"]).lower() for d in defined]
    table = str(plan["table"]).lower()
    if table not in names or "define" in plan:
        return plan
    return {**plan, "define": list(defined[: names.index(table) + 1])}


def valid_plan(plan: Json, index: SchemaIndex) -> bool:
    """Whether the plan can be run on the dataset, with its named tables."""
    if index.dataset.table(str(plan["table"])) is None and "define" not in plan:
        # A named table: its definition is added, and the whole plan checked, when the plan is returned.
        return index.table(str(plan["table"])) is not None
    try:
        return not check_plan(parse_plan(plan), index.dataset)
    except InvalidInput:
        return False


def _squeezed(name: str) -> str:
    return "".join(c for c in fold(name) if c.isalnum())


def _entry(index: SchemaIndex, defined: tuple[Json, ...], definition: Json) -> TableEntry | None:
    name = str(definition["name"])
    body: Json = {"dataset_id": index.dataset.id, "table": name, "select": [{"column": "*"}]}
    try:
        resolved = require_plan(parse_plan(carrying(body, defined)), index.dataset)
    except InvalidInput:
        return None
    sources = _sources(index, definition["plan"])
    columns = tuple(
        _column(name, place, output.name, output.expr.type, sources.get(output.name.lower()))
        for place, output in enumerate(resolved.outputs)
    )
    words = split_name(name)
    return TableEntry(name, words, tuple(stem(w) for w in words), frozenset(), columns, None, None)


def _column(table: str, place: int, name: str, type_: ColumnType, source: ColumnEntry | None) -> ColumnEntry:
    words = split_name(name) or (name.lower(),)
    stems = tuple(stem(w) for w in words)
    if source is not None:
        return replace(source, table=table, name=name, position=place, words=words, stems=stems)
    return ColumnEntry(table, name, type_, place, words, stems, "", frozenset(), "", True, None)


def _sources(index: SchemaIndex, plan: Json) -> dict[str, ColumnEntry]:
    """Output columns that are a column of the dataset as it is: they hold its values."""
    found: dict[str, ColumnEntry] = {}
    for item in plan.get("select", ()):
        if set(item) - {"column", "as"}:
            continue
        table, dot, column = str(item["column"]).rpartition(".")
        entry = index.column(table if dot else str(plan["table"]), column)
        if entry is not None:
            found[str(item.get("as", entry.name)).lower()] = entry
    return found


def _hits(table: TableEntry) -> list[tuple[str, ValueHit]]:
    return [pair for column in table.columns for pair in value_keys(column)]
