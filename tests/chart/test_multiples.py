"""Comparisons, stacks and small multiples: what stands side by side, on one scale, or in panels of its own."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from sandtable.chart.figure import chart_of, charts_of, kind_of
from sandtable.chart.shape import Words
from sandtable.plan.validate import parse_plan
from tests.chart.test_choice import BY_MONTH, CATEGORY, COUNT, MONTH, MONTHS, REGION, REVENUE, grouped, pairs

Q3 = [{"column": "sold_on", "op": "<", "value": "2024-10-01"}]
Q4 = [{"column": "sold_on", "op": ">=", "value": "2024-10-01"}]


def compared(rows: int, **more: Any) -> dict[str, Any]:
    plan = grouped(
        {"column": "category"},
        {"metric": "revenue", "as": "q3", "where": Q3},
        {"metric": "revenue", "as": "q4", "where": Q4},
        **more,
    )
    cells = [(f"c{n}", 10, 900 + n, 0.5) for n in range(rows)]
    columns = [CATEGORY, ("q3", "DOUBLE"), ("q4", "DOUBLE"), ("change", "DOUBLE")]
    wide = 4 if "derive" in more else 3
    made = chart_of(
        columns[:wide], [row[:wide] for row in cells], question="compare q3 vs q4", plan=parse_plan(plan)
    )
    assert made is not None
    return made


CHANGE = [{"change": "q4", "from": "q3", "kind": "percent", "as": "change"}]


@pytest.mark.parametrize("rows", [2, 9, 20])
@pytest.mark.parametrize("more", [{}, {"derive": CHANGE}], ids=["two periods", "with their change"])
def test_two_periods_stand_side_by_side_whatever_their_size(rows: int, more: dict[str, Any]) -> None:
    made = compared(rows, **more)
    assert [trace["type"] for trace in made["data"]] == ["bar", "bar"]
    assert made["layout"]["barmode"] == "group"
    assert [trace["name"] for trace in made["data"]] == ["Q3", "Q4"]


def test_measures_of_different_things_are_no_comparison() -> None:
    plan = grouped(
        {"column": "category"}, {"metric": "revenue"}, {"agg": "avg", "column": "price", "as": "price"}
    )
    made = chart_of(
        [CATEGORY, REVENUE, ("price", "DOUBLE")], [("a", 900, 1), ("b", 800, 2)], plan=parse_plan(plan)
    )
    assert made is not None and len(made["data"]) == 1


def test_stacks_of_one_height_are_asked_for() -> None:
    plan = grouped({"column": "category"}, {"column": "region"}, {"agg": "count"}, chart="stacked_bar")
    columns, rows = [CATEGORY, REGION, COUNT], pairs("abc", "xy")
    asked = chart_of(columns, rows, question="as a 100 % stacked bar chart", plan=parse_plan(plan))
    plain = chart_of(columns, rows, question="as a stacked bar chart", plan=parse_plan(plan))
    assert asked is not None and plain is not None
    assert (asked["layout"]["barnorm"], kind_of(asked)) == ("percent", "stacked_share")
    assert ("barnorm" in plain["layout"], kind_of(plain)) == (False, "stacked_bar")
    assert asked["layout"]["yaxis"]["ticksuffix"] == "%"
    assert [trace["y"] for trace in asked["data"]] == [trace["y"] for trace in plain["data"]]
    assert charts_of(columns, rows)["stacked_share"]["data"] == asked["data"]


def test_a_statement_can_be_asked_for_as_stacks() -> None:
    made = chart_of([CATEGORY, REGION, COUNT], pairs("abc", "xy"), question="as a stacked bar chart")
    assert kind_of(made) == "stacked_bar"


def test_measures_of_different_size_have_panels() -> None:
    plan = grouped(*BY_MONTH, {"agg": "count", "as": "orders"})
    rows = [(month, 10_000 + n, n + 1) for n, month in enumerate(MONTHS)]
    words = Words(units=("", "EUR", ""))
    made = chart_of([MONTH, REVENUE, ("orders", "BIGINT")], rows, plan=parse_plan(plan), words=words)
    assert made is not None
    layout = made["layout"]
    assert [trace["yaxis"] for trace in made["data"]] == ["y", "y2"]
    assert [note["text"] for note in layout["annotations"]] == ["Revenue (EUR)", "Orders"]
    assert (layout["yaxis"]["tickprefix"], "tickprefix" in layout["yaxis2"]) == ("€", False)
    assert layout["xaxis"]["anchor"] == "y2"
    (_, top), (low, bottom) = layout["yaxis"]["domain"], layout["yaxis2"]["domain"]
    assert 0 <= low < bottom < layout["yaxis"]["domain"][0] < top <= 1


def test_many_groups_have_a_panel_each_on_one_scale() -> None:
    made = chart_of([MONTH, REGION, REVENUE], pairs(MONTHS, "abcdefgh"))
    assert made is not None
    assert [note["text"] for note in made["layout"]["annotations"]] == list("abcdefgh")
    assert made["layout"]["yaxis8"]["matches"] == "y" and "matches" not in made["layout"]["yaxis"]


def test_three_keys_have_panels_with_lines() -> None:
    rows = [(month, r, c, n) for n, (month, r, c) in enumerate(product(MONTHS[:4], "xy", "abc"))]
    made = chart_of([MONTH, REGION, CATEGORY, COUNT], rows)
    assert made is not None
    assert [(trace["yaxis"], trace["name"], trace["showlegend"]) for trace in made["data"]] == [
        (axis, name, axis == "y") for axis in ("y", "y2") for name in "abc"
    ]
    assert [note["text"] for note in made["layout"]["annotations"]] == ["x", "y"]
    placed = sorted(value for trace in made["data"] for value in trace["y"])
    assert placed == list(range(24))


def test_the_heading_of_a_panel_is_no_markup() -> None:
    made = chart_of([MONTH, REGION, REVENUE], pairs(MONTHS, ["<b>", *"bcdefgh"]))
    assert made is not None
    assert made["layout"]["annotations"][0]["text"] == "&lt;b&gt;"


def test_too_many_panels_are_not_drawn() -> None:
    rows = [(month, r, c, 1) for month, r, c in product(MONTHS[:3], "abcdefg", "hijklmn")]
    assert chart_of([MONTH, REGION, CATEGORY, COUNT], rows) is None


def test_three_keys_that_do_not_tell_rows_apart_have_no_panels() -> None:
    rows = [(month, r, c, 1) for month, r, c in product(MONTHS[:2], "xy", "ab")] * 2
    assert chart_of([MONTH, REGION, CATEGORY, COUNT], rows) is None
