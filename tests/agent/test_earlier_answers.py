"""Answers that earlier versions kept: their tables get kinds and units on the server."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.agent.earlier_answers import present_ui, present_values

PLAN: dict[str, Any] = {
    "dataset_id": "shop",
    "table": "orders",
    "select": [{"column": "region"}, {"agg": "count", "as": "orders"}],
    "group_by": ["region"],
    "derive": [{"share_of_total": "orders", "as": "share"}],
}
OLD = [
    {"name": "region", "type": "VARCHAR"},
    {"name": "orders", "type": "BIGINT"},
    {"name": "share", "type": "DOUBLE"},
]
KINDS = ["text", "integer", "float"]
PRESENT = [
    {**column, "kind": kind, "unit": unit}
    for column, kind, unit in zip(OLD, KINDS, ["", "", "fraction"], strict=True)
]


def answer(columns: list[dict[str, str]], **props: Any) -> dict[str, Any]:
    return {"type": "ui", "name": "answer", "props": {"columns": columns, "rows": [["x", 1, 1.0]], **props}}


@pytest.mark.parametrize(
    "columns",
    [OLD, [{**column, "kind": kind} for column, kind in zip(OLD, KINDS, strict=True)]],
    ids=["no kind", "no unit"],
)
def test_the_columns_of_an_answer_get_what_they_lack(columns: list[dict[str, str]]) -> None:
    assert present_ui(answer(columns, plan=PLAN)) == answer(PRESENT, plan=PLAN)
    without = present_ui(answer(columns))
    assert [column["unit"] for column in without["props"]["columns"]] == ["", "", ""]


def test_the_steps_of_an_analysis_say_no_unit() -> None:
    made = present_ui(answer(OLD, plan={"steps": ["Count."]}))
    assert [column["kind"] for column in made["props"]["columns"]] == KINDS


def test_tables_that_code_showed_get_kinds() -> None:
    table = {"id": "table-1", "kind": "table", "columns": OLD, "rows": []}
    note = {"id": "markdown-1", "kind": "markdown", "text": "Hm."}
    made = present_ui(answer(PRESENT, artifacts=[note, table]))
    first, second = made["props"]["artifacts"]
    assert first is note
    assert [column["kind"] for column in second["columns"]] == KINDS


def test_what_is_in_the_present_form_stays_the_same_object() -> None:
    ui = [
        answer(PRESENT, artifacts=[]),
        {"type": "ui", "name": "progress", "props": {"columns": OLD}},
        [0, 3],
    ]
    values = {"ui": ui, "messages": []}
    assert present_values(values) is values
    old = {"ui": [*ui, answer(OLD)], "messages": []}
    made = present_values(old)
    assert all(one is other for one, other in zip(made["ui"], ui, strict=False))
    assert made["ui"][-1] != old["ui"][-1] and made["messages"] is old["messages"]
    assert present_values({"dataset_id": "shop"}) == {"dataset_id": "shop"}
