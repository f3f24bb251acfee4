"""Results as Parquet, read back by the engine: what a query gave is what the file holds."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from sandtable_runner import engine
from sandtable_runner.export import unlike
from sandtable_runner.modes import run_export, run_sql

CONNECTION = engine.connect()
LIMITS = {"rows": 20_000, "cell_bytes": 64 << 10, "result_bytes": 32 << 20}


def exported(tmp_path: Path, columns: list[dict[str, str]], rows: list[list[Any]], **limits: int) -> Path:
    job = {
        "options": {"columns": columns, "rows": rows},
        "out": str(tmp_path),
        "limits": {**LIMITS, **limits},
    }
    connection = CONNECTION.cursor()
    outcome = run_export(connection, json.loads(json.dumps(job)))
    assert outcome["status"] == "succeeded", outcome
    file = tmp_path / "answer.parquet"
    file.write_bytes(base64.b64decode(outcome["output"]["parquet"]))
    return file


def through(tmp_path: Path, query: str) -> tuple[Path, dict[str, Any]]:
    """Run, keep as JSON as the store does, export."""
    result = run_sql(CONNECTION, {"text": query, "limits": LIMITS})
    assert result["status"] == "succeeded", result
    result = json.loads(json.dumps(result))
    return exported(tmp_path, result["columns"], result["rows"]), result


def types_in(file: Path) -> list[str]:
    described = CONNECTION.execute(f"DESCRIBE SELECT * FROM read_parquet('{file}')").fetchall()
    return [row[1] for row in described]


def differing(file: Path, query: str) -> list[Any]:
    """Rows of the one that are not in the other, in both directions."""
    read = f"SELECT * FROM read_parquet('{file}')"
    return CONNECTION.execute(
        f"(({query}) EXCEPT ALL ({read})) UNION ALL (({read}) EXCEPT ALL ({query}))"
    ).fetchall()


KEPT = {
    "booleans": ("SELECT unnest([true, false, NULL]) AS x", "BOOLEAN"),
    "text": ("SELECT unnest(['', 'ü', '日本', '🦆', 'a\nb', '\"', NULL]) AS x", "VARCHAR"),
    "text that looks like JSON": ("""SELECT '{"a": 1}' AS x""", "VARCHAR"),
    "tiny": ("SELECT (-128)::TINYINT AS x", "TINYINT"),
    "unsigned": ("SELECT 18446744073709551615::UBIGINT AS x", "UBIGINT"),
    "long integers": ("SELECT unnest([9223372036854775807, -9223372036854775807, 9007199254740993]) AS x", "BIGINT"),
    "decimals": ("SELECT unnest([0.10, -12345678.90, NULL])::DECIMAL(12, 2) AS x", "DECIMAL(12,2)"),
    "long decimals": ("SELECT 12345678901234567890123.4567890123::DECIMAL(38, 10) AS x", "DECIMAL(38,10)"),
    "small decimals": ("SELECT 0.0000001::DECIMAL(10, 8) AS x", "DECIMAL(10,8)"),
    "doubles": ("SELECT unnest([0.1, 1e300, 5e-324, 'NaN', 'Infinity', '-Infinity', NULL]::DOUBLE[]) AS x", "DOUBLE"),
    "floats": ("SELECT unnest([0.1, 3.4e38, 'NaN']::FLOAT[]) AS x", "FLOAT"),
    "dates": ("SELECT unnest(['2024-02-29', '0001-01-01', '9999-12-31', NULL]::DATE[]) AS x", "DATE"),
    "infinite dates": ("SELECT unnest(['infinity', '-infinity']::DATE[]) AS x", "DATE"),
    "times": ("SELECT TIME '23:59:59.999999' AS x", "TIME"),
    "moments": ("SELECT unnest(['2024-01-02 03:04:05.678901', 'infinity', NULL]::TIMESTAMP[]) AS x", "TIMESTAMP"),
    "nanoseconds": ("SELECT '2024-01-02 03:04:05.123456789'::TIMESTAMP_NS AS x", "TIMESTAMP_NS"),
    "moments with a zone": (
        "SELECT '2024-01-02 03:04:05+02'::TIMESTAMPTZ AS x", "TIMESTAMP WITH TIME ZONE"
    ),
    "blobs": (r"SELECT '\x00\xFF\x0A'::BLOB AS x", "BLOB"),
    "uuids": ("SELECT '123e4567-e89b-12d3-a456-426614174000'::UUID AS x", "UUID"),
    "lists": ("SELECT unnest([[1, NULL, 3], [], NULL]) AS x", "INTEGER[]"),
    "lists of text": ("""SELECT ['a,b', 'c"d', NULL, '[1]'] AS x""", "VARCHAR[]"),
    "lists of decimals": ("SELECT [1.10, 123456789012345678.25]::DECIMAL(20, 2)[] AS x", "DECIMAL(20,2)[]"),
    "lists of doubles": ("SELECT ['NaN', 'Infinity', '0.1']::DOUBLE[] AS x", "DOUBLE[]"),
    "structs": (
        "SELECT {'a': 1, 'b c': {'d': DATE '2024-01-01', 'e': ['x']}} AS x",
        'STRUCT(a INTEGER, "b c" STRUCT(d DATE, e VARCHAR[]))',
    ),
    "maps": ("SELECT MAP {'k': 1.5, 'l': 2.5} AS x", "MAP(VARCHAR, DECIMAL(2,1))"),
    "no rows": ("SELECT 1 AS x, 'a' AS y WHERE false", "INTEGER"),
}  # fmt: skip


@pytest.mark.parametrize(("query", "kind"), KEPT.values(), ids=KEPT.keys())
def test_values_come_back_with_their_type(tmp_path: Path, query: str, kind: str) -> None:
    file, _ = through(tmp_path, query)
    assert types_in(file)[0] == kind
    assert differing(file, query) == []


NARROWED = {
    "sums of integers": ("SELECT sum(i) AS x FROM range(10) AS r(i)", "BIGINT", 45),
    "huge integers": ("SELECT 12345678901234567890123456789::HUGEINT AS x", "DECIMAL(38,0)", None),
    "the hugest": (
        "SELECT 170141183460469231731687303715884105727 AS x",
        "VARCHAR",
        "170141183460469231731687303715884105727",
    ),
    "intervals": ("SELECT INTERVAL '-1 month 3 days 00:00:00.000001' AS x", "VARCHAR", None),
    "enums": ("SELECT 'a'::ENUM('a', 'b') AS x", "VARCHAR", "a"),
    "blobs in lists": (r"SELECT ['\xFF'::BLOB] AS x", "VARCHAR", '["/w=="]'),
    "maps of numbers": ("SELECT MAP {1: 'a'} AS x", "VARCHAR", '[[1,"a"]]'),
    "bits": ("SELECT '0101'::BIT AS x", "VARCHAR", "0101"),
}


@pytest.mark.parametrize(("query", "kind", "value"), NARROWED.values(), ids=NARROWED.keys())
def test_what_parquet_cannot_hold_is_kept_in_another_type(
    tmp_path: Path, query: str, kind: str, value: Any
) -> None:
    file, result = through(tmp_path, query)
    assert types_in(file) == [kind]
    [(found,)] = CONNECTION.execute(f"SELECT x FROM read_parquet('{file}')").fetchall()
    told = result["rows"][0][0]
    assert (found if isinstance(found, int | str) else str(found)) == (told if value is None else value)


def test_a_type_that_does_not_fit_the_values_leaves_them_as_text(tmp_path: Path) -> None:
    columns = [{"name": "x", "type": "INTEGER"}, {"name": "y", "type": "NOT A TYPE"}]
    file = exported(tmp_path, columns, [["no number", 1], [2, None]])
    assert types_in(file) == ["VARCHAR", "VARCHAR"]
    assert CONNECTION.execute(f"FROM read_parquet('{file}')").fetchall() == [("no number", "1"), ("2", None)]


def test_two_columns_may_have_one_name(tmp_path: Path) -> None:
    names = ["a", "a", "A", "a_1", 'größe 🦆 "x"']
    file = exported(tmp_path, [{"name": name, "type": "BIGINT"} for name in names], [[1, 2, 3, 4, 5]])
    cursor = CONNECTION.execute(f"FROM read_parquet('{file}')")
    assert [entry[0] for entry in cursor.description or []] == ["a", "a_2", "A_3", "a_1", 'größe 🦆 "x"']
    assert cursor.fetchall() == [(1, 2, 3, 4, 5)]


def test_names_that_differ_stay() -> None:
    assert unlike(["b", "a", "", "A"]) == ["b", "a", "column_3", "A_1"]


def test_ten_thousand_rows_of_twenty_columns(tmp_path: Path) -> None:
    items = ", ".join(
        f"i * {n} AS n{n}, 'text ' || i || ' ü' AS t{n}, (i * {n})::DECIMAL(18, 2) AS d{n}, i / 7 AS f{n}"
        for n in range(5)
    )
    query = f"SELECT {items} FROM range(10000) AS r(i)"
    file, result = through(tmp_path, query)
    assert (len(result["columns"]), len(result["rows"])) == (20, 10_000)
    assert (
        CONNECTION.execute(f"FROM read_parquet('{file}')").fetchall() == CONNECTION.execute(query).fetchall()
    )


def test_a_file_over_the_limit_is_not_answered(tmp_path: Path) -> None:
    job = {
        "options": {"columns": [{"name": "x", "type": "VARCHAR"}], "rows": [["a"]]},
        "out": str(tmp_path),
        "limits": {**LIMITS, "result_bytes": 64},
    }
    outcome = run_export(CONNECTION.cursor(), job)
    assert outcome["error"]["type"] == "ResultTooLarge"
