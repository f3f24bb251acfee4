"""Built-in datasets in an engine, and plans run there: columns with their types, rows as they are on the wire."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb

from sandtable.catalog.model import Dataset
from sandtable.catalog.registry import load_catalog, registry_folder
from sandtable.engines.duckdb.types import column_type
from sandtable.plan.validate import parse_plan
from sandtable.sql.compile import compile_plan
from sandtable.wording import answer_of, wants_overall
from sandtable_runner.encode import encode

CATALOG = load_catalog(registry_folder(), column_type)

Table = tuple[list[tuple[str, str]], list[list[Any]]]


def generate(folder: Path) -> None:
    command = [sys.executable, "-I", "-B", str(registry_folder() / "generate"), "--out", str(folder)]
    subprocess.run(command, check=True, capture_output=True)


def connect(folder: Path, dataset: Dataset) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"threads": 1})
    for table in dataset.tables:
        types = {column.name: column.sql_type for column in table.columns}
        path = str(folder / dataset.id / table.file)
        connection.read_csv(path, columns=types, header=True).create(table.name)
    return connection


def run_sql(connection: duckdb.DuckDBPyConnection, sql: str) -> Table:
    result = connection.execute(sql)
    columns = [(str(column[0]), str(column[1])) for column in result.description]
    return columns, [[encode(cell) for cell in row] for row in result.fetchall()]


def run_plan(connection: duckdb.DuckDBPyConnection, plan: dict[str, Any], dataset: Dataset) -> Table:
    return run_sql(connection, compile_plan(parse_plan(plan), dataset).sql)


def answered(
    connection: duckdb.DuckDBPyConnection, question: str, plan: dict[str, Any], dataset: Dataset
) -> tuple[str, Table, dict[str, Any] | None]:
    """The answer to a plan, with its companion's, and what both were made from."""
    columns, rows = run_plan(connection, plan, dataset)
    companion = wants_overall(question, plan)
    overall = None
    if companion is not None:
        names, (only,) = run_plan(connection, companion, dataset)
        overall = {name: cell for (name, _), cell in zip(names, only, strict=True)}
    text = answer_of(question, plan, columns, rows, dataset, row_count=len(rows), overall=overall)
    return text, (columns, rows), overall
