from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.catalog.model import Column, ColumnType, Table
from sandtable.catalog.recipe import ColumnReading, Recipe, TextReading
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


_READ = ColumnReading(header="x", name="x", read_as="date", reason="all 12 rows")


@pytest.mark.parametrize(
    "recipe",
    [
        pytest.param(Recipe(columns=(_READ,)), id="csv"),
        pytest.param(Recipe(text=TextReading(delimiter=";"), columns=(_READ,)), id="delimiter"),
        pytest.param(Recipe(text=TextReading(kind="parquet")), id="parquet"),
    ],
)
def test_a_plain_recipe_leaves_the_version_as_it_was(recipe: Recipe) -> None:
    assert dataset_version([table().model_copy(update={"recipe": recipe})]) == dataset_version([table()])


@pytest.mark.parametrize(
    "recipe",
    [
        pytest.param(Recipe(columns=(_READ.model_copy(update={"format": "%d/%m/%Y"}),)), id="format"),
        pytest.param(Recipe(columns=(_READ.model_copy(update={"empty": ("", "N/A")}),)), id="empty words"),
        pytest.param(Recipe(columns=(_READ.model_copy(update={"header": "X day"}),)), id="header"),
        pytest.param(Recipe(columns=(_READ.model_copy(update={"misfits": "empty"}),)), id="misfits"),
        pytest.param(Recipe(text=TextReading(encoding="cp1252"), columns=(_READ,)), id="encoding"),
        pytest.param(Recipe(text=TextReading(kind="xlsx", sheet="a"), columns=(_READ,)), id="sheet"),
    ],
)
def test_any_other_recipe_is_part_of_the_version(recipe: Recipe) -> None:
    read = dataset_version([table().model_copy(update={"recipe": recipe})])
    assert read != dataset_version([table()])
    said = recipe.model_copy(
        update={"columns": tuple(c.model_copy(update={"reason": "chosen"}) for c in recipe.columns)}
    )
    assert dataset_version([table().model_copy(update={"recipe": said})]) == read


def test_the_version_of_a_recipe_is_stable_for_ever() -> None:
    recipe = Recipe(columns=(_READ.model_copy(update={"format": "%d/%m/%Y"}),))
    expected = "sha256:c4b427d8c0ae4824dca42f7c04695aaac538d215ccb755d88dc08c89b50e8967"
    assert dataset_version([table().model_copy(update={"recipe": recipe})]) == expected
