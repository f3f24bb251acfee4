"""A run's rows as CSV and JSON: whole, and safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sandtable.capsule.query import SqlQuery
from sandtable.catalog.stored.store import DataStore
from sandtable.errors import NotFound
from sandtable.runs.export import Format, csv_of, export_run, json_of
from sandtable.runs.model import Run, RunRequest
from sandtable.sandbox.fake import FakeExecutor
from sandtable.sandbox.job import Limits


def run_with(
    columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[Any]], changes: dict[str, Any] | None = None
) -> Run:
    return Run.model_validate(
        {
            "id": "run_1",
            "status": "succeeded",
            "request": RunRequest(dataset_id="shop", query=SqlQuery("SELECT 1")),
            "dataset_version": "sha256:" + "a" * 64,
            "limits": Limits(),
            "created_at": "2025-01-01T00:00:00Z",
            "columns": [{"name": name, "type": kind} for name, kind in columns],
            "rows": rows,
            "row_count": len(rows),
        }
        | (changes or {})
    )


def only(kind: str, value: Any) -> str:
    """The one cell of a result as it stands in the file."""
    lines = csv_of(run_with([("a", "INTEGER"), ("x", kind)], [[1, value]])).decode().split("\r\n", 1)
    return lines[1].removeprefix("1,").removesuffix("\r\n")


@pytest.mark.parametrize(
    ("kind", "value", "written"),
    [
        ("VARCHAR", "=1+1", "'=1+1"),
        ("VARCHAR", "+1", "'+1"),
        ("VARCHAR", "-1", "'-1"),
        ("VARCHAR", "@sum(a)", "'@sum(a)"),
        ("VARCHAR", "\t=1", "'\t=1"),
        ("VARCHAR", "\r=1", '"\'\r=1"'),
        ("VARCHAR", '=HYPERLINK("http://x","y")', '"\'=HYPERLINK(""http://x"",""y"")"'),
        ("VARCHAR", "a=1", "a=1"),
        ("BLOB", "+AAA", "'+AAA"),
        ("INTERVAL", "-3 days", "'-3 days"),
        ("BIGINT", -1, "-1"),
        ("BIGINT", "-9223372036854775808", "-9223372036854775808"),
        ("HUGEINT", "-170141183460469231731687303715884105728", "-170141183460469231731687303715884105728"),
        ("UINTEGER", 7, "7"),
        ("DOUBLE", -0.5, "-0.5"),
        ("DOUBLE", "-Infinity", "-Infinity"),
        ("DECIMAL(38,10)", "-12345678901234567890.5", "-12345678901234567890.5"),
        ("DATE", "-infinity", "-infinity"),
        ("TIMESTAMP WITH TIME ZONE", "2024-01-01T00:00:00+00:00", "2024-01-01T00:00:00+00:00"),
        ("VARCHAR", None, ""),
        ("VARCHAR", "", '""'),
        ("BOOLEAN", True, "true"),
        ("INTEGER[]", [1, None], '"[1,null]"'),
        ("STRUCT(a VARCHAR)", {"a": "ü"}, '"{""a"":""ü""}"'),
        ("VARCHAR", 'a,"b"\nc', '"a,""b""\nc"'),
        ("VARCHAR", "größe 🦆", "größe 🦆"),
    ],
)
def test_a_cell_is_written_so(kind: str, value: Any, written: str) -> None:
    assert only(kind, value) == written


def test_a_header_is_no_formula_either() -> None:
    assert (
        csv_of(run_with([("=cmd()", "INTEGER"), ("a", "INTEGER"), ("a", "INTEGER")], []))
        == b"'=cmd(),a,a\r\n"
    )


def test_other_readers_read_the_same(tmp_path: Path) -> None:
    texts = ["plain", "", 'quo"te', "com,ma", "new\r\nline", "日本 🦆", " space ", "tab\there"]
    run = run_with(
        [("id", "INTEGER"), ("t", "VARCHAR"), ("f", "DOUBLE")], [[i, t, i / 3] for i, t in enumerate(texts)]
    )
    rows = list(csv.reader(io.StringIO(csv_of(run).decode(), newline="")))
    assert rows == [
        ["id", "t", "f"],
        *([str(i), t, repr(i / 3) if i else "0.0"] for i, t in enumerate(texts)),
    ]
    file = tmp_path / "r.csv"
    file.write_bytes(csv_of(run))
    read = duckdb.execute(f"SELECT * FROM read_csv('{file}', allow_quoted_nulls = false)").fetchall()
    assert [tuple(row) for row in run.rows or ()] == read


def test_a_lone_null_is_still_a_row() -> None:
    assert csv_of(run_with([("x", "VARCHAR")], [[None], ["a"]])) == b'x\r\n""\r\na\r\n'


def test_json_has_columns_with_types_and_rows() -> None:
    run = run_with(
        [("a", "BIGINT"), ("a", "VARCHAR")], [[1, "ü"], ["9007199254740993", None]], {"truncated": True}
    )
    assert json.loads(json_of(run)) == {
        "run_id": "run_1",
        "dataset_id": "shop",
        "dataset_version": run.dataset_version,
        "columns": [{"name": "a", "type": "BIGINT"}, {"name": "a", "type": "VARCHAR"}],
        "rows": [[1, "ü"], ["9007199254740993", None]],
        "row_count": 2,
        "truncated": True,
    }


@pytest.mark.parametrize("kind", ["csv", "json", "parquet"])
@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"status": "running", "rows": None}, "no result yet: it is running"),
        ({"status": "failed", "rows": None}, "no result: it is failed"),
        ({"status": "rejected", "rows": None}, "no result: it is rejected"),
        ({"request": RunRequest(dataset_id="shop", query=SqlQuery("SELECT 1", dry_run=True))}, "dry run"),
    ],
    ids=["running", "failed", "rejected", "dry run"],
)
async def test_a_run_without_a_result_says_so(
    tmp_path: Path, kind: Format, changes: dict[str, Any], says: str
) -> None:
    executor = FakeExecutor()
    with pytest.raises(NotFound, match=says) as caught:
        await export_run(run_with([("x", "INTEGER")], [], changes), kind, executor, DataStore(tmp_path))
    assert caught.value.suggestion and not executor.jobs
