"""Plans of any shape over one sheet, through the product's own compiler and engine."""

from __future__ import annotations

from typing import Any

import duckdb

from evals.wikisql_data import TABLE, Answer, Sheet, catalog_of, squeezed
from sandtable.plan.validate import parse_plan
from sandtable.sql.compile import compile_plan


class Engine:
    """One database, one table at a time."""

    def __init__(self) -> None:
        self._connection = duckdb.connect(config={"threads": 1})
        self._loaded = ""

    def run(self, plan: dict[str, Any], sheet: Sheet) -> Answer:
        """Every cell of the result, as `run_plan` gives it."""
        dataset, _ = catalog_of(sheet)
        if self._loaded != sheet.id:
            self._load(sheet, [column.sql_type for column in dataset.tables[0].columns])
        compiled = compile_plan(parse_plan({**plan, "dataset_id": dataset.id}), dataset)
        rows = self._connection.execute(compiled.sql).fetchall()
        return frozenset(squeezed(cell) for row in rows for cell in row if cell is not None)

    def _load(self, sheet: Sheet, types: list[str]) -> None:
        columns = ", ".join(f"{_quoted(n)} {t}" for n, t in zip(sheet.header, types, strict=True))
        self._connection.execute(f"CREATE OR REPLACE TABLE {TABLE} ({columns})")
        marks = ", ".join("?" for _ in sheet.header)
        insert = f"INSERT INTO {TABLE} VALUES ({marks})"
        if sheet.rows:
            self._connection.executemany(insert, [list(row) for row in sheet.rows])
        self._loaded = sheet.id


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
