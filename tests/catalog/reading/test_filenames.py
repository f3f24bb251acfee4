from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.catalog.reading.filenames import (
    NamedFile,
    data_files,
    dataset_id,
    name_files,
    source_format,
    table_name,
)
from sandtable.errors import InvalidInput


@pytest.mark.parametrize(
    ("file", "table", "identity"),
    [
        ("orders.csv", "orders", "orders"),
        ("Sales 2024-Q1.CSV", "Sales_2024_Q1", "Sales_2024_Q1"),
        ("a.b.parquet", "a_b", "a_b"),
        ("2024.tsv", "t_2024", "t_2024"),
        ("ventes été.csv", "ventes_été", "ventes_t"),
        ("売上.csv", "売上", "data"),
        ("---.csv", "data", "data"),
        ('x"; DROP TABLE y.csv', "x_DROP_TABLE_y", "x_DROP_TABLE_y"),
        ("Sales.CSV.GZ", "Sales", "Sales"),
        ("sales.2024.ndjson.zst", "sales_2024", "sales_2024"),
        ("sales.csv.zip", "sales", "sales"),
        ("book.xlsx", "book", "book"),
        ("shop.db", "shop", "shop"),
        ("shop.sqlite3.gz", "shop", "shop"),
    ],
)
def test_names(file: str, table: str, identity: str) -> None:
    (named,) = name_files([Path("folder") / file])
    assert (named.table, dataset_id(named)) == (table, identity)


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("a.tsv", "csv"), ("a.jsonl", "ndjson"), ("a.json.gz", "json"), ("a.txt.zst", "csv"), ("a.ods", "ods"),
        ("a.zip", ""), ("a.parquet", "parquet"), ("a.sqlite", "sqlite"), ("a.DB", "sqlite"), ("a.db.gz", "sqlite"),
    ],
)  # fmt: skip
def test_the_ending_says_the_kind(file: str, kind: str) -> None:
    assert source_format(Path(file)) == kind


def test_a_folder_stands_for_its_data_files(tmp_path: Path) -> None:
    for name in ("b.csv", "a.parquet", "notes.md", ".hidden.csv", "c.db", "c.db-wal", "Thumbs.db"):
        (tmp_path / name).touch()
    (tmp_path / "sub.csv").mkdir()
    taken, left = data_files(tmp_path)
    assert [path.name for path in taken] == ["a.parquet", "b.csv", "c.db"]
    assert left == [
        "Thumbs.db (not a data file)",
        "c.db-wal (not a data file)",
        "notes.md (not a data file)",
        "sub.csv/ (a folder inside is not read: name it to add its files)",
    ]
    with pytest.raises(InvalidInput, match="has no data file"):
        data_files(tmp_path / "sub.csv")


def test_two_files_of_one_name_are_refused() -> None:
    with pytest.raises(
        InvalidInput, match=r"2024/sales\.csv and 2025/Sales\.parquet would both become"
    ) as caught:
        name_files([Path("2024/sales.csv"), Path("2025/Sales.parquet")])
    assert caught.value.details["files"] == ["2024/sales.csv", "2025/Sales.parquet"]


@pytest.mark.parametrize(
    "file", ["data.docx", "data", ".csv", "data.xlsx.gz", "data.gz", "data.xls", "data.db.zst"]
)
def test_unknown_extension_names_the_known(file: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        name_files([Path(file)])
    assert file in caught.value.message
    assert (
        ".csv, .tsv, .txt, .json, .ndjson, .jsonl, .parquet, .xlsx, .ods, .zip, .sqlite"
        in caught.value.suggestion
    )


def test_no_file_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no data file given"):
        name_files([])


@given(st.text(max_size=300))
def test_any_stem_gives_a_name_that_fits_file_systems_and_the_model(stem: str) -> None:
    name = table_name(stem)
    assert name and "/" not in name and "\0" not in name and not name[0].isdigit()
    assert len(f"{name}.parquet".encode("utf-8", "surrogatepass")) <= 255
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}", dataset_id(NamedFile(name, Path("x.csv"))))
