"""Tables in memory: their catalog and profile, as ingestion would make them, and plans executed on them by DuckDB."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from sandtable.catalog.model import Column, ColumnType, Dataset, Relationship, Table
from sandtable.catalog.profile import Cell, ColumnProfile, Profile, TableProfile, ValueCount
from sandtable.plan.validate import parse_plan
from sandtable.sql.compile import compile_plan

TYPES = {
    "VARCHAR": ColumnType.TEXT,
    "BIGINT": ColumnType.INTEGER,
    "DOUBLE": ColumnType.FLOAT,
    "DATE": ColumnType.DATE,
    "TIMESTAMP": ColumnType.TIMESTAMP,
    "BOOLEAN": ColumnType.BOOLEAN,
}
MOST_ROWS = 10_000


@dataclass(frozen=True, slots=True)
class Relation:
    """Dates and moments are their ISO text."""

    name: str
    columns: tuple[str, ...]
    types: tuple[str, ...]
    """Of `TYPES`."""
    rows: tuple[tuple[Cell, ...], ...]


def catalog_of(
    name: str, relations: Sequence[Relation], relationships: Sequence[Relationship] = ()
) -> tuple[Dataset, Profile]:
    digest = hashlib.sha256(repr((name, relations)).encode()).hexdigest()
    tables = tuple(_table(relation, digest) for relation in relations)
    version = f"sha256:{digest}"
    dataset = Dataset(id=name, tables=tables, relationships=tuple(relationships), version=version)
    return dataset, profile_of(version, relations)


def profile_of(version: str, relations: Sequence[Relation]) -> Profile:
    return Profile(version=version, tables=tuple(_profile(relation) for relation in relations))


def _table(relation: Relation, digest: str) -> Table:
    columns = tuple(
        Column(name=name, type=TYPES[kind], sql_type=kind)
        for name, kind in zip(relation.columns, relation.types, strict=True)
    )
    time = next((c.name for c in columns if c.type == ColumnType.DATE), None)
    return Table(
        name=relation.name,
        file=f"{relation.name}.csv",
        sha256=digest,
        rows=len(relation.rows),
        columns=columns,
        time_column=time,
    )


def _profile(relation: Relation) -> TableProfile:
    cells = list(zip(*relation.rows, strict=True)) or [()] * len(relation.columns)
    columns = tuple(_column(name, column) for name, column in zip(relation.columns, cells, strict=True))
    return TableProfile(name=relation.name, rows=len(relation.rows), columns=columns)


def _column(name: str, cells: Sequence[Cell]) -> ColumnProfile:
    counted = Counter(cell for cell in cells if cell is not None)
    ordered: list[Any] = sorted(counted)  # pyright: ignore[reportArgumentType] - one type per column
    values = sorted(counted.items(), key=lambda pair: (-pair[1], str(pair[0])))
    return ColumnProfile(
        name=name,
        nulls=len(cells) - counted.total(),
        distinct=len(counted),
        minimum=ordered[0] if ordered else None,
        maximum=ordered[-1] if ordered else None,
        values=tuple(ValueCount(value=cell, count=count) for cell, count in values),
        complete=True,
    )


class Database:
    """One in-memory database with these relations."""

    def __init__(self, relations: Sequence[Relation]) -> None:
        self._connection = duckdb.connect(config={"threads": 1})
        for relation in relations:
            kinds = zip(relation.columns, relation.types, strict=True)
            columns = ", ".join(f"{_quoted(name)} {kind}" for name, kind in kinds)
            self._connection.execute(f"CREATE TABLE {_quoted(relation.name)} ({columns})")
            marks = ", ".join("?" for _ in relation.columns)
            if relation.rows:
                self._connection.executemany(
                    f"INSERT INTO {_quoted(relation.name)} VALUES ({marks})",
                    [list(row) for row in relation.rows],
                )

    def close(self) -> None:
        self._connection.close()

    def run(self, plan: dict[str, Any], dataset: Dataset) -> list[list[Cell]] | None:
        """The rows of the plan's SQL; None where the engine cannot execute it."""
        compiled = compile_plan(parse_plan({**plan, "dataset_id": dataset.id}), dataset, max_rows=MOST_ROWS)
        try:
            rows = self._connection.execute(compiled.sql).fetchall()
        except duckdb.Error:
            return None
        return [[_cell(cell) for cell in row] for row in rows]


def _cell(cell: Any) -> Cell:
    if hasattr(cell, "isoformat"):
        return cell.isoformat()
    return cell if isinstance(cell, str | int | float | bool) or cell is None else float(cell)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
