"""Profile a table the way the server does: Parquet in a store, a job in a sandbox, a Profile out."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb

from sandtable.catalog.model import Column, ColumnType, Dataset, Table
from sandtable.catalog.profile import ColumnProfile, Profile
from sandtable.catalog.stored.integrity import OpenData, Whole
from sandtable.sandbox.executor import Executor
from sandtable.sandbox.profile import profile_of
from sandtable_runner import engine
from sandtable_runner.encode import encode


@dataclass(frozen=True, slots=True)
class Shelf:
    executor: Executor
    root: Path

    def put(self, **queries: str) -> Dataset:
        """A dataset of one table for each query."""
        digest = sha256(repr(queries).encode()).hexdigest()
        folder = self.root / "versions" / digest
        folder.mkdir(parents=True, exist_ok=True)
        tables: list[Table] = []
        with duckdb.connect() as connection:
            for name, query in queries.items():
                connection.execute(f"COPY ({query}) TO '{folder}/{name}.parquet' (FORMAT parquet)")
                described = connection.execute(f"DESCRIBE FROM '{folder}/{name}.parquet'").fetchall()
                columns = tuple(Column(name=d[0], type=ColumnType.OTHER, sql_type=d[1]) for d in described)
                tables.append(Table(name=name, file=f"{name}.csv", sha256="0" * 64, columns=columns))
        return Dataset(id="looked_at", tables=tuple(tables), version=f"sha256:{digest}")

    async def look(self, dataset: Dataset) -> Profile:
        return await profile_of(self.executor, OpenData(dataset, Whole(dataset.version)))

    async def column(self, values: str) -> ColumnProfile:
        """Of a table with one column `x`, made by `SELECT … AS x FROM …`."""
        return (await self.look(self.put(t=values))).tables[0].columns[0]

    def ask(self, dataset: Dataset, table: str, query: str) -> list[list[Any]]:
        """The same data, read by an engine of our own."""
        path = self.root / "versions" / dataset.version.removeprefix("sha256:") / f"{table}.parquet"
        with engine.connect() as connection:
            rows = connection.execute(query.replace("$t", f"read_parquet('{path}')")).fetchall()
        return [[encode(cell) for cell in row] for row in rows]
