"""The columns of a result with their kinds and units, as interfaces get them."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from sandtable.engines.duckdb.types import TABLE
from sandtable.runs.described import (
    DescribedArtifact,
    DescribedColumn,
    DescribedTable,
    described,
    described_artifacts,
)
from sandtable.sandbox.artifact import MarkdownArtifact, TableArtifact
from sandtable.sandbox.job import ResultColumn

ARTIFACT: TypeAdapter[DescribedArtifact] = TypeAdapter(DescribedArtifact)
SHARE: dict[str, Any] = {
    "dataset_id": "shop",
    "table": "orders",
    "select": [{"column": "region"}, {"agg": "count", "as": "orders"}],
    "group_by": ["region"],
    "derive": [{"share_of_total": "orders", "as": "share"}],
}
COLUMNS = [
    ResultColumn(name="region", type="VARCHAR"),
    ResultColumn(name="orders", type="BIGINT"),
    ResultColumn(name="share", type="DOUBLE"),
]


def test_the_kind_follows_from_the_type_and_the_unit_from_the_plan() -> None:
    found = described(COLUMNS, SHARE)
    assert [(column.kind, column.unit) for column in found] == [
        ("text", ""),
        ("integer", ""),
        ("float", "fraction"),
    ]
    assert [column.is_fraction for column in found] == [False, False, True]


def test_columns_of_sql_have_a_kind_only() -> None:
    found = described([*COLUMNS, ResultColumn(name="days", type="DATE[]")])
    assert [(column.kind, column.unit) for column in found] == [
        ("text", ""),
        ("integer", ""),
        ("float", ""),
        ("other", ""),
    ]


@pytest.mark.parametrize("name", sorted(TABLE))
def test_a_column_without_a_kind_gets_that_of_its_type(name: str) -> None:
    read = DescribedColumn.model_validate_json(f'{{"name": "c", "type": "{name}"}}')
    assert (read.kind, read.unit) == (TABLE[name].logical, "")


@pytest.mark.parametrize("given", ['{"name": "c"}', '{"name": "c", "type": 1}', '"c"'])
def test_what_is_no_column_is_refused(given: str) -> None:
    with pytest.raises(ValidationError):
        DescribedColumn.model_validate_json(given)


def test_tables_that_code_shows_are_described_and_other_artifacts_are_kept() -> None:
    table = TableArtifact(id="table-1", columns=tuple(COLUMNS), rows=(), row_count=0, truncated=False)
    note = MarkdownArtifact(id="markdown-1", text="Hm.")
    first, second = described_artifacts([table, note])
    assert isinstance(first, DescribedTable) and second is note
    assert [column.kind for column in first.columns] == ["text", "integer", "float"]
    assert ARTIFACT.validate_json(first.model_dump_json()) == first
    assert ARTIFACT.validate_json(table.model_dump_json()) == first, "as an earlier version wrote it"
