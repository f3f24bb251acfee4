"""Every plan in docs/plan.md compiles and answers, over the built-in dataset that it names."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from sandtable.catalog.registry import load_catalog, registry_folder
from sandtable.engines.duckdb.types import column_type
from sandtable.plan.validate import parse_plan
from sandtable.sql.compile import compile_plan

TEXT = (Path(__file__).parents[2] / "docs" / "plan.md").read_text(encoding="utf-8")
PLANS = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL)]
CATALOG = load_catalog(registry_folder(), column_type)


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    made = tmp_path_factory.mktemp("datasets")
    generator = registry_folder() / "generate"
    command = [sys.executable, "-I", "-B", str(generator), "--out", str(made), "--only", "ecommerce"]
    subprocess.run(command, check=True, capture_output=True)
    with duckdb.connect() as connection:
        for table in CATALOG.get("ecommerce").tables:
            types = {column.name: column.sql_type for column in table.columns}
            path = str(made / "ecommerce" / table.file)
            connection.read_csv(path, columns=types, header=True).create(table.name)
        yield connection


@pytest.mark.parametrize("plan", PLANS, ids=range(len(PLANS)))
def test_documented_plans_run(connection: duckdb.DuckDBPyConnection, plan: dict[str, object]) -> None:
    dataset = CATALOG.get(str(plan["dataset_id"]))
    assert connection.execute(compile_plan(parse_plan(plan), dataset).sql).fetchall()


def test_there_are_documented_plans() -> None:
    assert len(PLANS) >= 5
