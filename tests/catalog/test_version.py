from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.catalog.model import Column, ColumnType, Table
from sandtable.catalog.version import dataset_version


def table(name: str = "a", sha: str = "0", sql_type: str = "VARCHAR", column: str = "x") -> Table:
    columns = (Column(name=column, type=ColumnType.OTHER, sql_type=sql_type),)
    return Table(name=name, file=f"{name}.csv", sha256=sha * 64, columns=columns)


def test_version_is_stable_for_ever() -> None:
    expected = "sha256:dcf0002bde2cee3c8a8e480c927332de60feef1b09b516e8c0709f04f405a10a"
    assert dataset_version([table()]) == expected


@given(st.permutations(["a", "b", "c", "d"]))
def test_order_of_tables_does_not_matter(order: list[str]) -> None:
    assert dataset_version(map(table, order)) == dataset_version(map(table, "abcd"))


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(table(name="b"), id="table name"),
        pytest.param(table(sha="1"), id="bytes"),
        pytest.param(table(sql_type="DATE"), id="type"),
        pytest.param(table(column="y"), id="column name"),
    ],
)
def test_bytes_and_schema_change_the_version(other: Table) -> None:
    assert dataset_version([other]) != dataset_version([table()])


def test_column_order_changes_the_version() -> None:
    columns = [Column(name=n, type=ColumnType.TEXT, sql_type="VARCHAR") for n in "xy"]
    one, two = (table().model_copy(update={"columns": tuple(c)}) for c in (columns, columns[::-1]))
    assert dataset_version([one]) != dataset_version([two])


def test_what_people_write_does_not_change_the_version() -> None:
    described = table().model_copy(update={"description": "About x", "rows": 7, "file": "other.csv"})
    assert dataset_version([described]) == dataset_version([table()])
