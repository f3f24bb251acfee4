from __future__ import annotations

from typing import Any

import pytest

from sandtable.catalog.reading.filenames import ColumnReference
from sandtable.errors import InvalidInput
from sandtable.sources.answers import FoundTable
from sandtable.sources.landing import chosen_tables, landed, origin_of, table_names


def table(schema: str, name: str, *columns: str, **more: Any) -> FoundTable:
    described = [
        {
            "name": column,
            "type": "int4",
            "kind": "b",
            "built_in": True,
            "category": "N",
            "modifier": -1,
            "not_null": False,
            "shown": "integer",
        }
        for column in columns or ("id",)
    ]
    given = {
        "schema": schema,
        "name": name,
        "kind": "r",
        "rows": None,
        "columns": described,
        "key": [],
        "refers": [],
    }
    return FoundTable.model_validate({**given, **more})


def test_tables_are_chosen_by_name_and_by_schema() -> None:
    found = [table("a", "orders"), table("b", "orders"), table("a", "x.y"), table("x", "y")]
    assert [t.shown for t in chosen_tables(found, ["b.orders", "y", "b.orders"])] == ["b.orders", "x.y"]
    with pytest.raises(InvalidInput, match="several schemas"):
        chosen_tables(found, ["orders"])
    with pytest.raises(InvalidInput, match="did you mean `orders`"):
        chosen_tables(found, ["order"])


def test_names_are_unique_regardless_of_case() -> None:
    tables = [table("a", "T"), table("b", "t"), table("a", "1 x"), table("a", "1-x")]
    assert list(table_names(tables).values()) == ["a_T", "b_t", "a_1_x", "a_1_x_2"]


def test_keys_follow_renamed_columns_and_end_at_tables_that_were_not_chosen() -> None:
    other = table("s", "others", "ID", "id", key=["id"])
    refers = [
        {"columns": ["Id"], "schema": "s", "table": "others", "to": ["id"]},
        {"columns": ["id"], "schema": "s", "table": "absent", "to": ["id"]},
        {"columns": ["id", "Id"], "schema": "s", "table": "others", "to": ["ID", "id"]},
    ]
    one = table("s", "one", "id", "Id", key=["id", "Id"], refers=refers)
    every = [landed(each, each.name, {}) for each in (one, other)]
    origin = origin_of(every[0], "src", 3, every)
    assert origin.key == ("id", "Id_2")
    assert origin.refers == (ColumnReference(column="Id_2", to_table="others", to_column="id_2"),)
    assert origin.notes == ("Column `Id` is called Id_2.",)
