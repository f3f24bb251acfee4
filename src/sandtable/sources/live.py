"""Chosen tables of a database as a dataset whose rows stay there: names, types, keys and joins. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sandtable.catalog.live import LiveDatabase, RemoteColumn, RemoteTable
from sandtable.catalog.model import Column, ColumnType, Dataset, Relationship, Table
from sandtable.catalog.version import canonical_digest
from sandtable.engines.duckdb.types import column_type
from sandtable.errors import InvalidInput
from sandtable.quoting import quote
from sandtable.sources.answers import FoundTable
from sandtable.sources.landing import LandedTable, chosen_tables, landed, table_names
from sandtable.sources.records import Source

PUSHED = frozenset({"postgresql"})
"""Kinds of databases that plans are compiled for."""
_FORMAT = 1
_TEMPORAL = (ColumnType.DATE, ColumnType.TIMESTAMP)


def require_pushed(source: Source) -> None:
    """Raises InvalidInput for a kind of database that no plan is compiled for."""
    if source.kind not in PUSHED:
        raise InvalidInput(
            f"{quote(source.name)} is a MariaDB or MySQL, whose rows cannot stay there yet",
            suggestion=f"Copy its tables: sandtable data snapshot {source.name} --table …",
            source=source.name,
        )


def live_dataset(source: Source, found: Sequence[FoundTable], wanted: Sequence[str], title: str) -> Dataset:
    """Of the `wanted` tables, as the database has them now. Raises InvalidInput."""
    require_pushed(source)
    chosen = chosen_tables(found, wanted)
    names = table_names(chosen)
    plans = [landed(table, names[table.place], None) for table in chosen]
    remote = tuple(map(_remote, plans))
    tables = tuple(_table(plan, each) for plan, each in zip(plans, remote, strict=True))
    return Dataset(
        id=source.name,
        title=title or source.name,
        description=" ".join(note for plan in plans for note in _notes(plan)),
        tables=tables,
        relationships=tuple(_relationships(plans)),
        version=f"sha256:{canonical_digest(_subject(source, tables))}",
        live=LiveDatabase(source.kind, source.name, remote),
    )


def _remote(plan: LandedTable) -> RemoteTable:
    types = {column.name: column.shown for column in plan.found.columns}
    columns = tuple(RemoteColumn(c.name, c.source, types[c.source], c.read) for c in plan.columns)
    return RemoteTable(plan.name, plan.found.db_schema, plan.found.name, columns)


def _table(plan: LandedTable, remote: RemoteTable) -> Table:
    filled = {column.name for column in plan.found.columns if column.not_null}
    columns = tuple(
        Column(
            name=c.name,
            type=column_type(c.sql_type),
            sql_type=c.sql_type,
            nullable=c.source not in filled,
        )
        for c in plan.columns
    )
    key = [plan.name_of(column) for column in plan.found.key]
    return Table(
        name=plan.name,
        file=plan.found.shown,
        sha256=canonical_digest(_place(plan, remote)),
        columns=columns,
        time_column=next((c.name for c in columns if c.type in _TEMPORAL), None),
        key=tuple(name for name in key if name) if all(key) else (),
    )


def _place(plan: LandedTable, remote: RemoteTable) -> Mapping[str, object]:
    """What the compiled queries depend on."""
    return {
        "schema": remote.db_schema,
        "table": remote.db_table,
        "columns": [
            [there.name, there.source, there.type, there.read, here.sql_type]
            for there, here in zip(remote.columns, plan.columns, strict=True)
        ],
    }


def _subject(source: Source, tables: Sequence[Table]) -> Mapping[str, object]:
    return {
        "live": _FORMAT,
        "engine": source.kind,
        "source": source.name,
        "tables": {table.name: table.sha256 for table in tables},
    }


def _notes(plan: LandedTable) -> Iterator[str]:
    for note in plan.notes:
        yield f"Table {plan.name}: {note[0].lower()}{note[1:]}"


def _relationships(plans: Sequence[LandedTable]) -> Iterator[Relationship]:
    """The foreign keys of one column to the whole key of another chosen table; one for each pair of tables."""
    by_place = {plan.found.place: plan for plan in plans}
    joined: set[frozenset[str]] = set()
    for plan in plans:
        for reference in plan.found.refers:
            other = by_place.get((reference.db_schema, reference.table))
            if other is None or len(reference.columns) != 1 or reference.to != other.found.key:
                continue
            column, to = plan.name_of(reference.columns[0]), other.name_of(reference.to[0])
            pair = frozenset((plan.name, other.name))
            if column and to and len(pair) == 2 and pair not in joined:
                joined.add(pair)
                yield Relationship(
                    many_table=plan.name, many_column=column, one_table=other.name, one_column=to
                )
