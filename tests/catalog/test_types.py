from __future__ import annotations

import duckdb
import pytest

from sandtable.catalog.model import ColumnType
from sandtable.catalog.types import column_type

CASES = {
    ColumnType.TEXT: ["VARCHAR", "varchar", "UUID", "ENUM('a', 'b[]')"],
    ColumnType.INTEGER: [
        "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT",
        "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT",
    ],
    ColumnType.DECIMAL: ["DECIMAL(10,2)", "DECIMAL(38, 0)", "NUMERIC(4,1)", "DECIMAL"],
    ColumnType.FLOAT: ["DOUBLE", "FLOAT", "REAL"],
    ColumnType.BOOLEAN: ["BOOLEAN"],
    ColumnType.DATE: ["DATE"],
    ColumnType.TIMESTAMP: [
        "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIMESTAMP_NS", "TIMESTAMP_MS", "TIMESTAMP_S", "TIMESTAMPTZ",
    ],
    ColumnType.TIME: ["TIME", "TIME WITH TIME ZONE"],
    ColumnType.OTHER: [
        "INTEGER[]", "DECIMAL(10,2)[]", "VARCHAR[3]", "STRUCT(a INTEGER)", "MAP(VARCHAR, INTEGER)", "BLOB",
        "INTERVAL", "JSON", "BIT", "UNION(n INTEGER)", "GEOMETRY", "", "SOMETHING NEW",
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("sql_type", "expected"),
    [pytest.param(s, t, id=f"{s} is {t}") for t, sqls in CASES.items() for s in sqls],
)
def test_column_type(sql_type: str, expected: ColumnType) -> None:
    assert column_type(sql_type) is expected


@pytest.mark.parametrize("logical", [t for t in CASES if t is not ColumnType.OTHER])
def test_the_engine_spells_its_types_as_we_read_them(logical: ColumnType) -> None:
    with duckdb.connect() as engine:
        for sql_type in CASES[logical]:
            engine.execute(f"CREATE OR REPLACE TABLE t (x {sql_type})")
            spelled = engine.execute(
                "SELECT data_type FROM duckdb_columns() WHERE table_name = 't'"
            ).fetchone()
            assert spelled and column_type(spelled[0]) is logical, spelled
