"""Files whose ending says nothing, Parquet, and what is loaded before a sandbox is sealed."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runner.intake.databases import sqlite
from tests.runner.intake.desk import Desk
from tests.runner.intake.workbooks import Sheet, ods, xlsx, zipped

_CSV = b"id,name\n1,a\n"
_KINDS: dict[str, tuple[bytes, str, str]] = {
    "text": (_CSV, "csv", ""),
    "JSON": (b'[{"id": 1, "name": "a"}]', "json", ""),
    "workbook": (xlsx(Sheet("One", [["id", "name"], [1, "a"]])), "xlsx", ""),
    "OpenDocument": (ods(Sheet("One", [["id", "name"], [1, "a"]])), "ods", ""),
    "SQLite": (sqlite("CREATE TABLE t (id TEXT, name TEXT)", {"t": [("1", "a")]}), "sqlite", ""),
    "gzip": (gzip.compress(_CSV), "csv", "gz"),
    "zip": (zipped({"a.csv": _CSV}), "csv", "zip"),
}


@pytest.mark.parametrize(("content", "kind", "compression"), _KINDS.values(), ids=list(_KINDS))
def test_a_file_without_an_ending_is_known_by_its_bytes(
    desk: Desk, content: bytes, kind: str, compression: str
) -> None:
    table = desk.table(content, "download")
    assert (table.reading["kind"], table.reading["compression"]) == (kind, compression)
    assert table.headers == ("id", "name")
    assert desk.rows(table) == [("1", "a")]


def _parquet(desk: Desk, query: str) -> bytes:
    path = desk.folder / "made.parquet"
    desk.connection.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
    return path.read_bytes()


def test_parquet_keeps_its_names_and_types(desk: Desk) -> None:
    table = desk.table(_parquet(desk, "SELECT 1 AS id, {'a': [2]} AS thing"), "orders.parquet")
    assert table.headers == ("id", "thing")
    assert table.reading["kind"] == "parquet"
    assert desk.connection.execute(f"SELECT id, thing FROM {table.relation}").fetchall() == [(1, {"a": [2]})]


def test_bad_parquet_is_refused(desk: Desk) -> None:
    good = _parquet(desk, "SELECT 1 AS id, 2 AS xd")
    assert "'ID'" in desk.refusal(good.replace(b"xd", b"ID"), "orders.parquet").message
    assert "cannot be read" in desk.refusal(good[:-1], "orders.parquet").message
    assert "not a Parquet" in desk.refusal(_CSV, "orders.parquet").message


_SEALED = """
import sys
from pathlib import Path
from sandtable_runner import engine
from sandtable_runner.intake.opening import open_tables
connection = engine.connect()
sys.path.clear(); sys.meta_path.clear()
for path in sorted(Path(sys.argv[1]).iterdir()):
    tables = open_tables(connection, path, "", Path(sys.argv[2]), None, ())
    print(path.name, len(connection.execute(f"SELECT * FROM {tables[0].relation}").fetchall()))
"""


def test_no_module_is_loaded_once_the_sandbox_is_sealed(tmp_path: Path) -> None:
    files = {
        "a.csv": _CSV,
        "b.csv": "id,name\n1,Müller\n".encode("cp1252"),
        "c.csv": "id,name\n1,東京の日本語\n".encode("cp932"),
        "d.csv": "id,name\n1,ä\n".encode("utf-16"),
        "e.csv": "id,name\n1,Привет мир\n".encode("cp1251"),
        "f.csv.gz": gzip.compress(_CSV),
        "g.zip": zipped({"ä.csv": _CSV}),
        "h.xlsx": xlsx(Sheet("One", [["id", "name"], [1, "a"]])),
        "i.ods": ods(Sheet("One", [["id", "name"], [1, "a"]])),
        "j.json": b'[{"id": 1}]',
        "l.db": sqlite("CREATE TABLE t (id INT, name TEXT)", {"t": [(1, "ä")]}),
        "m.db": sqlite("CREATE TABLE t (n TEXT)", {"t": [(b"",)]}),
        "k.csv": "id,name\n1,中文数据\n".encode("gb18030"),
    }
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    for name, content in files.items():
        (tmp_path / "in" / name).write_bytes(content)
    command = [sys.executable, "-c", _SEALED, str(tmp_path / "in"), str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [word for name in sorted(files) for word in (name, "1")]
