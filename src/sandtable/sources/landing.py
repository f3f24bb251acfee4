"""What chosen tables of a database become in a dataset: names, types, keys and notes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sandtable.catalog.live import Read
from sandtable.catalog.names import nearest
from sandtable.catalog.reading.filenames import ColumnReference, CopiedFrom, table_name
from sandtable.catalog.recipe import DatabaseKind
from sandtable.engines.landing import Measure, Measured
from sandtable.errors import InvalidInput
from sandtable.quoting import quote
from sandtable.sources.answers import FoundTable

MOST_TABLES = 100
"""Of a snapshot."""
_MOST_NAMED = 20

_NOT_OF_ONE_MOMENT = (
    "Its storage engine has no transactions: rows that were changed during the snapshot may be as before"
    " or as after."
)

Place = tuple[str, str]
"""Schema and table in the database."""


@dataclass(frozen=True, slots=True)
class LandedColumn:
    source: str
    """Its name in the database."""
    name: str
    sql_type: str
    read: Read


@dataclass(frozen=True, slots=True)
class LandedTable:
    found: FoundTable
    name: str
    columns: tuple[LandedColumn, ...]
    notes: tuple[str, ...]

    def name_of(self, column: str) -> str | None:
        return next((each.name for each in self.columns if each.source == column), None)


def chosen_tables(found: Sequence[FoundTable], wanted: Sequence[str]) -> list[FoundTable]:
    """By name, or by schema and name. Raises InvalidInput."""
    chosen: dict[Place, FoundTable] = {}
    for name in wanted:
        fitting = [t for t in found if t.shown == name] or [t for t in found if t.name == name]
        if len(fitting) != 1:
            raise _not_one(name, fitting, found)
        chosen[fitting[0].place] = fitting[0]
    if len(chosen) > MOST_TABLES:
        raise InvalidInput(
            f"{len(chosen)} tables are chosen; a snapshot may have {MOST_TABLES}",
            suggestion="Choose fewer tables.",
        )
    return list(chosen.values())


def _not_one(name: str, fitting: Sequence[FoundTable], found: Sequence[FoundTable]) -> InvalidInput:
    if fitting:
        return InvalidInput(
            f"several schemas have a table {quote(name)}",
            suggestion=f"Name one of {', '.join(quote(t.shown) for t in fitting)}.",
        )
    alike = nearest(name, [t.name for t in found])
    hint = f"; did you mean {quote(alike)}?" if alike else ""
    listed = ", ".join(quote(t.shown) for t in found[:_MOST_NAMED])
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    return InvalidInput(
        f"the account can read no table {quote(name)}{hint}",
        suggestion=f"It can read {listed}{more}." if found else "It can read no table: GRANT SELECT on some.",
        table=name,
        nearest=alike,
    )


def to_measure(table: FoundTable) -> list[tuple[str, Measure]]:
    """Columns whose values must be counted before their types are known."""
    return [(each.name, kind) for each in table.columns if (kind := each.measure) is not None]


def table_names(tables: Sequence[FoundTable]) -> dict[Place, str]:
    """Unique in the dataset regardless of case, with the schema in front where two schemas have the same name."""
    names = [table_name(t.name).lower() for t in tables]
    taken: set[str] = set()
    found: dict[Place, str] = {}
    for table, plain in zip(tables, names, strict=True):
        several = names.count(plain) > 1
        wanted = table_name(f"{table.db_schema}_{table.name}" if several else table.name)
        found[table.place] = _free(wanted, taken)
    return found


def landed(table: FoundTable, name: str, measured: Mapping[str, Measured] | None) -> LandedTable:
    """`measured` is None where the rows stay in the database. Raises InvalidInput for a table of which nothing can be
    read."""
    columns: list[LandedColumn] = []
    notes: list[str] = [] if table.of_one_moment else [_NOT_OF_ONE_MOMENT]
    taken: set[str] = set()
    for position, column in enumerate(table.columns, 1):
        landing = column.live_landing() if measured is None else column.landing(measured.get(column.name))
        if landing.note:
            notes.append(f"Column {column.name}: {landing.note}.")
        if not landing.sql_type:
            continue
        wanted = column.name if column.name.strip() else f"column_{position}"
        given = _free(wanted, taken)
        if given != column.name:
            notes.append(f"Column {quote(column.name)} is called {given}.")
        columns.append(LandedColumn(column.name, given, landing.sql_type, landing.read))
    if not columns:
        raise InvalidInput(
            f"no column of {quote(table.shown)} can be read: {' '.join(notes)}",
            suggestion="Leave this table out, or make a view with other columns.",
        )
    return LandedTable(table, name, tuple(columns), tuple(notes))


def origin_of(
    table: LandedTable,
    source: str,
    rows: int,
    every: Iterable[LandedTable],
    kind: DatabaseKind = "postgresql",
) -> CopiedFrom:
    """What the dataset keeps about where a table is from. Keys to tables that were not chosen are left out."""
    others = {other.found.place: other for other in every}
    key = [table.name_of(column) for column in table.found.key]
    refers: list[ColumnReference] = []
    for reference in table.found.refers:
        other = others.get((reference.db_schema, reference.table))
        if other is None or len(reference.columns) != 1 or len(reference.to) != 1:
            continue
        column, to = table.name_of(reference.columns[0]), other.name_of(reference.to[0])
        if column and to:
            refers.append(ColumnReference(column=column, to_table=other.name, to_column=to))
    return CopiedFrom(
        kind=kind,
        source=source,
        db_schema=table.found.db_schema,
        db_table=table.found.name,
        columns=tuple((column.name, column.sql_type) for column in table.columns),
        rows=rows,
        key=tuple(name for name in key if name) if all(key) else (),
        refers=tuple(refers),
        notes=(*table.notes, *_said_of_several(table, refers)),
    )


def _said_of_several(table: LandedTable, refers: Sequence[ColumnReference]) -> Iterator[str]:
    """Two tables have one join: the first column's, as `catalog.links` chooses."""
    order = [column.name for column in table.columns]
    for other in dict.fromkeys(reference.to_table for reference in refers):
        columns = sorted((r.column for r in refers if r.to_table == other), key=order.index)
        if len(columns) > 1:
            yield f"Columns {' and '.join(columns)} refer to {other}: it is joined by {columns[0]}."


def _free(wanted: str, taken: set[str]) -> str:
    name, number = wanted, 1
    while name.lower() in taken:
        number += 1
        name = f"{wanted[:200]}_{number}"
    taken.add(name.lower())
    return name
