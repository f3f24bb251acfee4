"""What SQL restricts its rows by, read by the engine's parser in this process: for tests without a sandbox."""

from __future__ import annotations

from functools import cache

import duckdb

from sandtable.catalog.model import Dataset
from sandtable.engines.duckdb.rules import RULES
from sandtable.policy.conditions import SqlConditions, conditions_of
from sandtable_runner.parse import parse, prepare


@cache
def _parser() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect(config={"threads": 1})
    prepare(con)
    return con


async def read_sql(dataset: Dataset, sql: str) -> SqlConditions:
    return conditions_of(sql, parse(_parser(), sql, None), dataset, RULES.functions)
