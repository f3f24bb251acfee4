"""Values of a connected PostgreSQL have the types, the JSON and the digest of the same values in DuckDB."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from sandtable.capsule.result_digest import result_digest
from sandtable_runner import engine
from sandtable_runner.modes import run_sql
from tests.sources.conftest import Database
from tests.sources.executing import Live, error_of, opened

pytestmark = pytest.mark.needs("postgres", "userns")

# DuckDB's type, PostgreSQL's, and literals that both read as the same value.
_BOTH: list[tuple[str, str, list[str]]] = [
    ("BOOLEAN", "boolean", ["true", "false"]),
    ("SMALLINT", "int2", ["-32768", "32767"]),
    ("INTEGER", "int4", ["-2147483648", "2147483647"]),
    ("BIGINT", "int8", ["9007199254740992", "9007199254740993", "-9223372036854775808"]),
    ("HUGEINT", "numeric", ["0", "170141183460469231731687303715884105727"]),
    ("DECIMAL(10,2)", "numeric(10,2)", ["0.1", "-12345678.99", "0"]),
    ("DECIMAL(38,10)", "numeric(38,10)", ["1234567890123456789012345678.0000000001", "5"]),
    ("DOUBLE", "float8", ["0.1", "-0", "1e-300", "nan", "infinity", "-infinity", "123456789.123456789"]),
    ("FLOAT", "float4", ["0.1", "3.14159274", "1e30", "nan"]),
    ("VARCHAR", "text", ["", "ä€𝄞\n\t\"'\\", "NULL"]),
    ("DATE", "date", ["2024-02-29", "0001-01-01", "9999-12-31", "10000-01-01"]),
    ("TIMESTAMP", "timestamp", ["2024-01-02 03:04:05", "2024-01-02 03:04:05.000001", "1969-12-31 23:59:59.5"]),
    ("TIMESTAMP WITH TIME ZONE", "timestamptz", ["2024-07-02 03:04:05.5+02", "2024-01-02 03:04:05+00"]),
    ("TIME", "time", ["00:00:00", "23:59:59.999999", "24:00:00"]),
    ("TIME WITH TIME ZONE", "timetz", ["12:00:00.5+02", "12:00:00-03:30", "00:00:00+00"]),
    ("INTERVAL", "interval", ["1 year 2 months -3 days", "0 seconds", "-1 hour", "36 hours 0.5 seconds"]),
    ("UUID", "uuid", ["6ECD8C99-4036-403D-BF84-CF8400F67836"]),
]  # fmt: skip
_LIMITS = {"rows": 200, "cell_bytes": 1 << 16, "result_bytes": 1 << 20}


@pytest.fixture
async def live(database: Database, tmp_path: Path) -> AsyncIterator[Live]:
    made = opened(tmp_path, database.url("reader"))
    yield made
    await made.executor.aclose()


def _values(literals: list[str], sql_type: str) -> str:
    rows = [f"({place}, CAST({engine.literal(each)} AS {sql_type}))" for place, each in enumerate(literals)]
    rows.append(f"({len(rows)}, CAST(NULL AS {sql_type}))")
    return f"SELECT v FROM (VALUES {', '.join(rows)}) AS t(i, v) ORDER BY i"


async def test_values_of_every_type_are_those_of_duckdb(live: Live) -> None:
    duck = engine.connect()
    for duckdb_type, postgres_type, literals in _BOTH:
        expected = run_sql(duck, {"text": _values(literals, duckdb_type), "limits": _LIMITS})
        found = await live.run(_values(literals, postgres_type), [("v", duckdb_type)])
        assert found.status == "succeeded", found.error
        assert [column.model_dump() for column in found.columns] == expected["columns"]
        assert repr([list(row) for row in found.rows]) == repr(expected["rows"]), duckdb_type
        named = [("v", duckdb_type)]
        assert result_digest(named, found.rows) == result_digest(named, expected["rows"])


async def test_a_moment_without_end_changes_its_column_as_in_duckdb(live: Live) -> None:
    duck = engine.connect()
    for sql_type in ("TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "DATE"):
        text = _values(["infinity", "2024-01-02 03:04:05.5", "-infinity"], sql_type)
        if sql_type == "DATE":
            text = _values(["infinity", "2024-01-02", "-infinity"], sql_type)
        expected = run_sql(duck, {"text": text, "limits": _LIMITS})["rows"]
        found = await live.run(text, [("v", sql_type)])
        assert [list(row) for row in found.rows] == expected


async def test_bytes_and_enumerations(live: Live, database: Database) -> None:
    database.execute("CREATE TYPE shop.mood AS ENUM ('fine', 'so so')")
    text = """SELECT '\\x00ff10'::bytea, 'so so'::shop.mood, '{"a": 1}'::jsonb, 'x'::char(3)::text"""
    columns = [("b", "BLOB"), ("m", "VARCHAR"), ("j", "JSON"), ("c", "VARCHAR")]
    found = await live.run(text, columns)
    assert found.rows == (("AP8Q", "so so", '{"a": 1}', "x"),)


async def test_settings_of_the_role_change_no_value(live: Live, database: Database, tmp_path: Path) -> None:
    database.reader("odd", "shop")
    for setting in (
        "timezone = 'Asia/Tokyo'", "datestyle = 'German, DMY'", "intervalstyle = 'sql_standard'",
        "extra_float_digits = -10", "search_path = 'shop'", "bytea_output = 'escape'",
        "standard_conforming_strings = off", "statement_timeout = '1ms'",
    ):  # fmt: skip
        database.execute(f"ALTER ROLE odd SET {setting}")
    odd = opened(tmp_path / "odd", database.url("odd"))
    text = (
        r"SELECT '2024-07-02 12:00+02'::timestamptz, '2 days 3 hours'::interval, 0.1::float8 + 0.2, '\'::text,"
        " '\\x00ff'::bytea, date_trunc('day', '2024-07-02 23:00+00'::timestamptz)::text, pg_sleep(0.01)::text"
    )
    columns = [
        ("t", "TIMESTAMP WITH TIME ZONE"), ("i", "INTERVAL"), ("f", "DOUBLE"), ("s", "VARCHAR"), ("b", "BLOB"),
        ("d", "VARCHAR"), ("z", "VARCHAR"),
    ]  # fmt: skip
    try:
        found = await odd.run(text, columns)
        assert found.status == "succeeded", found.error
        assert found.rows == (await live.run(text, columns)).rows
        assert found.rows[0][:4] == (
            "2024-07-02T10:00:00+00:00",
            "2 days 03:00:00",
            0.30000000000000004,
            "\\",
        )
        assert error_of(await odd.run("SELECT count(*) FROM orders", [("n", "BIGINT")]))[1] == "SchemaChanged"
    finally:
        await odd.executor.aclose()


_MISFITS: list[tuple[str, str, str]] = [
    ("SELECT 1.005::numeric", "DECIMAL(10,2)", "does not fit DECIMAL(10,2): '1.005'"),
    ("SELECT 'NaN'::numeric", "DECIMAL(10,2)", "does not fit DECIMAL(10,2)"),
    ("SELECT 300", "TINYINT", "does not fit TINYINT: '300'"),
    ("SELECT 1.5::float8", "BIGINT", "does not fit BIGINT: '1.5'"),
    ("SELECT 'soon'", "DATE", "does not fit DATE: 'soon'"),
    ("SELECT repeat('9', 1000)::numeric", "DOUBLE", "does not fit DOUBLE"),
]


async def test_a_value_that_its_type_cannot_hold_fails_the_run(live: Live) -> None:
    for text, sql_type, says in _MISFITS:
        found: Any = await live.run(text, [("v", sql_type)])
        code, kind, words = error_of(found)
        assert (code, kind, found.rows) == ("VALIDATION_ERROR", "BadValue", ())
        assert says in words
        assert "refresh" in words
    code, kind, _ = error_of(await live.run("SELECT 1", [("v", "INTEGER[]")]))
    assert (code, kind) == ("VALIDATION_ERROR", "UnknownType")
    for text, sql_type in (("SELECT now()", "DATE"), ("SELECT 1", "BOOLEAN"), ("SELECT true", "INTEGER")):
        code, kind, _ = error_of(await live.run(text, [("v", sql_type)]))
        assert (code, kind) == ("VALIDATION_ERROR", "SchemaChanged")
    assert (await live.run("SELECT NULL", [("v", "DATE")])).rows == ((None,),)
    # The same worker goes on.
    assert (await live.run("SELECT 1")).rows == ((1,),)
