"""The table that a question is read over: one from which all that it names can be reached."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandtable.catalog.model import Column, Dataset, Relationship, Table
from sandtable.engines.duckdb.types import column_type
from sandtable.planner.mentions.finding import look
from sandtable.planner.ranking.tables import best_table
from tests.planner.ground import World, load_world

FILES = {
    "customers": (
        "Customer VARCHAR, Region VARCHAR, Amount BIGINT",
        "ann,north,3\nbob,south,4\ncid,north,5\n",
    ),
    "regions": ("Region VARCHAR, Manager VARCHAR", "north,zoe\nsouth,yan\n"),
}


@pytest.fixture
def shared(tmp_path: Path) -> World:
    """Two sheets of a workbook that share a column: a key of one, and what refers to it in the other."""
    tables: list[Table] = []
    for name, (columns, rows) in FILES.items():
        typed = [column.split() for column in columns.split(", ")]
        header = ",".join(column for column, _ in typed)
        (tmp_path / f"{name}.csv").write_text(f"{header}\n{rows}", "utf-8")
        made = tuple(Column(name=column, type=column_type(kind), sql_type=kind) for column, kind in typed)
        tables.append(Table(name=name, file=f"{name}.csv", sha256="0" * 64, rows=3, columns=made))
    joined = Relationship(
        many_table="customers", many_column="Region", one_table="regions", one_column="Region"
    )
    dataset = Dataset(id="book", tables=tuple(tables), relationships=(joined,), version=f"sha256:{'0' * 64}")
    return load_world(dataset, tmp_path)


@pytest.mark.parametrize(
    ("question", "table"),
    [
        ("total amount by region", "customers"),
        ("amount by region", "customers"),
        ("average amount for each region", "customers"),
        ("how many regions are there", "regions"),
        ("list the managers by region", "regions"),
    ],
)
def test_a_named_column_must_be_reached(shared: World, question: str, table: str) -> None:
    found = best_table(question, shared.index, look(question, shared.index))
    assert found is not None and found.plan is not None and found.plan["table"] == table
