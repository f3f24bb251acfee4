from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.catalog.filenames import NamedFile, dataset_id, name_files, table_name
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
    ],
)
def test_names(file: str, table: str, identity: str) -> None:
    (named,) = name_files([Path("folder") / file])
    assert (named.table, dataset_id(named)) == (table, identity)


def test_two_files_of_one_name_are_refused() -> None:
    with pytest.raises(
        InvalidInput, match=r"2024/sales\.csv and 2025/Sales\.parquet would both become"
    ) as caught:
        name_files([Path("2024/sales.csv"), Path("2025/Sales.parquet")])
    assert caught.value.details["files"] == ["2024/sales.csv", "2025/Sales.parquet"]


@pytest.mark.parametrize("file", ["data.xlsx", "data", ".csv", "data.csv.zip"])
def test_unknown_extension_names_the_known(file: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        name_files([Path(file)])
    assert file in caught.value.message
    assert ".csv, .tsv, .txt, .parquet" in caught.value.suggestion


def test_no_file_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no data file given"):
        name_files([])


@given(st.text(max_size=300))
def test_any_stem_gives_a_name_that_fits_file_systems_and_the_model(stem: str) -> None:
    name = table_name(stem)
    assert name and "/" not in name and "\0" not in name and not name[0].isdigit()
    assert len(f"{name}.parquet".encode("utf-8", "surrogatepass")) <= 255
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}", dataset_id(NamedFile(name, Path("x.csv"))))
