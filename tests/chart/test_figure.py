"""What is in a figure, and how it is worded."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sandtable.chart.figure import MOST_BYTES, chart_of
from sandtable.plan.validate import parse_plan

Columns = list[tuple[str, str]]
Rows = list[tuple[Any, ...]]

CATEGORY = ("category", "VARCHAR")
REGION = ("region", "VARCHAR")
MONTH = ("month", "DATE")
REVENUE = ("revenue", "DECIMAL(38,2)")
COUNT = ("count", "BIGINT")
MONTHS = [f"2024-{n:02d}-01" for n in range(1, 13)]

BY_MONTH = ({"bucket": "month", "as": "month"}, {"metric": "revenue"})
BY_DAY_AND_HOUR = ({"bucket": "day_of_week"}, {"bucket": "hour_of_day"}, {"agg": "count"})


def grouped(*select: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"dataset_id": "shop", "table": "order_items", "select": list(select), **more}


def counted(n: int) -> Rows:
    return [(f"c{i}", i + 1) for i in range(n)]


def drawn(
    columns: Columns, rows: Rows, *, plan: dict[str, Any] | None = None, question: str = ""
) -> dict[str, Any]:
    parsed = parse_plan(plan) if plan is not None else None
    made = chart_of(columns, rows, question=question, plan=parsed)
    assert made is not None
    return made


def test_bars_stand_as_the_rows_do() -> None:
    made = drawn([CATEGORY, COUNT], [("b", 1), ("c", 9), ("a", 5)])
    [trace] = made["data"]
    assert (trace["x"], trace["y"]) == (["b", "c", "a"], [1, 9, 5])
    assert made["layout"]["xaxis"]["categoryarray"] == ["b", "c", "a"]


@pytest.mark.parametrize(
    "rows",
    [pytest.param(counted(11), id="many"), pytest.param([("a", 1), ("a rather long label", 2)], id="long")],
)
def test_bars_lie_when_labels_need_room(rows: Rows) -> None:
    made = drawn([CATEGORY, COUNT], rows)
    [trace] = made["data"]
    assert trace["orientation"] == "h"
    assert (trace["y"], trace["x"]) == ([row[0] for row in rows], [row[1] for row in rows])
    assert made["layout"]["yaxis"]["autorange"] == "reversed"


def test_a_number_is_one_label_however_it_is_spelled() -> None:
    plan = grouped({"column": "size"}, {"agg": "count"})
    columns = [("size", "DOUBLE"), COUNT]
    [fresh] = drawn(columns, [(1.0, 5), (2.5, 6)], plan=plan)["data"]
    [stored] = drawn(columns, [(1, 5), (2.5, 6)], plan=plan)["data"]
    assert fresh["x"] == stored["x"] == ["1", "2.5"]


def test_a_null_has_its_bar() -> None:
    [trace] = drawn([CATEGORY, COUNT], [("a", 1), (None, 2)])["data"]
    assert (trace["x"], trace["y"]) == (["a", "(empty)"], [1, 2])


def test_a_value_that_has_no_place_is_a_gap() -> None:
    cells = [1.5, None, "NaN", "Infinity", "123456789012345678901.25"]
    [trace] = drawn([CATEGORY, ("v", "DOUBLE")], list(zip("abcde", cells, strict=True)))["data"]
    assert trace["y"] == [1.5, None, None, None, "123456789012345678901.25"]


def test_a_missing_month_breaks_the_line() -> None:
    rows = [("2024-04-01", 4), ("2024-01-01", 1), ("2024-02-01", 2)]
    [trace] = drawn([MONTH, REVENUE], rows, plan=grouped(*BY_MONTH))["data"]
    assert trace["x"] == ["2024-01-01", "2024-02-01", None, "2024-04-01"]
    assert trace["y"] == [1, 2, None, 4]
    assert trace["connectgaps"] is False


@pytest.mark.parametrize(
    ("unit", "cells", "gaps"),
    [
        ("day", ["2024-02-28", "2024-02-29", "2024-03-01"], 0),
        ("day", ["2024-02-28", "2024-03-01"], 1),
        ("week", ["2024-12-23", "2024-12-30", "2025-01-06"], 0),
        ("week", ["2024-12-23", "2025-01-06"], 1),
        ("quarter", ["2024-10-01", "2025-01-01"], 0),
        ("quarter", ["2024-07-01", "2025-01-01"], 1),
        ("year", ["2023-01-01", "2024-01-01"], 0),
        ("hour", ["2024-01-01T23:00:00", "2024-01-02T00:00:00"], 0),
        ("hour", ["2024-01-01T22:00:00", "2024-01-02T00:00:00"], 1),
        ("day", ["2024-02-28", "2024-02-31"], 0),
    ],
)  # fmt: skip
def test_neighbours_follow_the_bucket(unit: str, cells: list[str], gaps: int) -> None:
    plan = grouped({"bucket": unit, "as": "t"}, {"agg": "count"})
    [trace] = drawn([("t", "TIMESTAMP"), COUNT], [(cell, 1) for cell in cells], plan=plan)["data"]
    assert trace["x"].count(None) == gaps


def test_a_missing_year_breaks_the_line() -> None:
    [trace] = drawn([("year", "BIGINT"), COUNT], [(2020, 1), (2022, 3)])["data"]
    assert trace["x"] == [2020, None, 2022]


def test_each_group_has_its_line() -> None:
    rows = [
        ("2024-01-01", "x", 1),
        ("2024-01-01", "y", 2),
        ("2024-02-01", "y", 3),
        ("2024-03-01", "x", 4),
        ("2024-03-01", "y", 5),
    ]
    made = drawn([MONTH, REGION, REVENUE], rows)
    assert [trace["name"] for trace in made["data"]] == ["x", "y"]
    assert made["data"][0]["y"] == [1, None, 4]
    assert made["data"][1]["y"] == [2, 3, 5]
    assert made["layout"]["showlegend"] is True


def test_of_years_and_months_each_year_is_a_line() -> None:
    plan = grouped({"bucket": "year"}, {"bucket": "month_of_year"}, {"agg": "count"})
    rows = [(f"{year}-01-01", month, month) for year in (2023, 2024) for month in range(1, 13)]
    made = drawn([("y", "DATE"), ("month_of_year", "BIGINT"), COUNT], rows, plan=plan)
    assert [trace["name"] for trace in made["data"]] == ["2023", "2024"]
    assert made["layout"]["xaxis"]["ticktext"][:2] == ["Jan", "Feb"]


@pytest.mark.parametrize(
    ("other", "value"),
    [("count", 5), ("cost_usd", 5), ("return_rate", 0.5), ("total", 500), ("other_minutes", 0)],
    ids=["a count", "another unit", "a fraction", "another size", "nothing"],
)
def test_what_is_not_alike_shares_no_axis(other: str, value: float) -> None:
    columns = [CATEGORY, ("wait_minutes", "DOUBLE"), (other, "DOUBLE")]
    made = drawn(columns, [("a", 5, value), ("b", 6, value)])
    assert [trace["y"] for trace in made["data"]] == [[5, 6]]


def test_measures_of_like_size_stand_side_by_side() -> None:
    columns = [CATEGORY, ("return_rate", "DOUBLE"), ("discount_rate", "DOUBLE"), ("revenue", "DOUBLE")]
    made = drawn(columns, [("a", 0.2, 0.1, 5000), ("b", 0.1, 0.2, 7000)])
    assert [trace["name"] for trace in made["data"]] == ["Return rate", "Discount rate"]
    assert made["layout"]["barmode"] == "group"
    assert made["layout"]["yaxis"]["tickformat"] == ".0%"


def test_weekdays_have_names() -> None:
    rows = [(day, hour, 1) for day in (7, 1) for hour in (0, 1)]
    columns = [("d", "BIGINT"), ("h", "BIGINT"), COUNT]
    [trace] = drawn(columns, rows, plan=grouped(*BY_DAY_AND_HOUR))["data"]
    assert (trace["type"], sorted((trace["x"], trace["y"]))) == (
        "heatmap",
        [["00:00", "01:00"], ["Monday", "Sunday"]],
    )


def test_a_pair_without_a_row_is_a_gap_in_the_map() -> None:
    rows = [(c, r, 1) for c in "abcdefghij" for r in "qrstuvwxyz" if (c, r) != ("b", "r")]
    made = drawn([CATEGORY, REGION, COUNT], rows)
    assert made["data"][0]["z"][1][1] is None
    assert sum(cell == 1 for line in made["data"][0]["z"] for cell in line) == 99


def test_the_measure_that_was_asked_about_is_drawn() -> None:
    columns = [MONTH, REVENUE, ("growth", "DOUBLE")]
    rows = [("2024-01-01", 100, None), ("2024-02-01", 150, 0.5)]
    derive = [{"change": "revenue", "along": "month", "kind": "percent", "as": "growth"}]
    plan = grouped(*BY_MONTH, derive=derive)
    assert drawn(columns, rows, plan=plan)["data"][0]["y"] == [100, 150]
    asked = drawn(columns, rows, plan=plan, question="revenue growth by month")
    assert asked["data"][0]["y"] == [None, 0.5]
    assert asked["layout"]["yaxis"]["tickformat"] == ".0%"


COUNTED = grouped({"column": "category"}, {"agg": "count"})


@pytest.mark.parametrize(
    ("key", "measure", "plan", "heading", "axis"),
    [
        ("category", "count", COUNTED, "Number of order items by category", "Number of order items"),
        ("category", "n", None, "Count by category", "Count"),
        ("category", "avg_wait_minutes", None, "Average wait by category", "Average wait (minutes)"),
        ("category", "minutes", None, "Minutes by category", "Minutes"),
        ("site", "max_speed_mm_s", None, "Highest speed by site", "Highest speed (mm/s)"),
        (
            "sku",
            "p95_unit_price",
            None,
            "95th percentile of unit price by SKU",
            "95th percentile of unit price",
        ),
        ("sla_met", "Umsatz (EUR)", None, "Umsatz (EUR) by SLA met", "Umsatz (EUR)"),
    ],
)
def test_titles_are_plain_words_with_units(
    key: str, measure: str, plan: dict[str, Any] | None, heading: str, axis: str
) -> None:
    layout = drawn([(key, "VARCHAR"), (measure, "DOUBLE")], [("a", 2.5), ("b", 3.5)], plan=plan)["layout"]
    assert (layout["title"]["text"], layout["yaxis"]["title"]["text"]) == (heading, axis)


@pytest.mark.parametrize(
    ("name", "values", "percent"),
    [("return_rate", (0.1, 0.2), True), ("heart_rate", (61, 75), False), ("share", (0.4, 0.6), True),
     ("rated", (0.1, 0.2), False), ("tax_percent", (7, 19), False)],
)  # fmt: skip
def test_only_fractions_are_shown_as_per_cent(name: str, values: tuple[float, float], percent: bool) -> None:
    made = drawn([CATEGORY, (name, "DOUBLE")], list(zip("ab", values, strict=True)))
    assert ("tickformat" in made["layout"]["yaxis"]) is percent
    assert made["data"][0]["y"] == list(values)


HOSTILE = [
    "<b>bold</b>",
    "<a href='http://evil.test/'>x</a>",
    "<img src=x onerror=alert(1)>",
    "R&amp;D",
    "x" * 300,
]
SHOWN = ("ticktext", "text", "name", "labels", "customdata")


def shown_texts(value: Any, under: str = "") -> list[str]:
    """Everything in a figure that Plotly would render, as far as it comes from data or names."""
    if isinstance(value, dict):
        return [text for key, part in value.items() for text in shown_texts(part, key)]
    if isinstance(value, list):
        return [text for part in value for text in shown_texts(part, under)]
    return [value] if isinstance(value, str) and under in SHOWN else []


@pytest.mark.parametrize(
    ("columns", "rows", "question"),
    [
        pytest.param([("<i>k</i>", "VARCHAR"), ("<i>v</i>", "DOUBLE")], [(h, 1.5) for h in HOSTILE], "", id="bars"),
        pytest.param([CATEGORY, COUNT], [(h, 1) for h in HOSTILE], "as a pie chart", id="pie"),
        pytest.param([MONTH, CATEGORY, COUNT], [(m, h, 1) for m in MONTHS for h in HOSTILE[:4]], "", id="lines"),
        pytest.param([REGION, CATEGORY, COUNT], [(r, h, 1) for r in "ab" for h in HOSTILE], "", id="groups"),
        pytest.param([REGION, CATEGORY, COUNT], [(r, h, 1) for r in "abcdefghijk" for h in HOSTILE], "", id="map"),
        pytest.param([CATEGORY, ("a", "DOUBLE"), ("b", "DOUBLE")], [(h, 1, 2) for h in HOSTILE], "a vs b", id="points"),
    ],
)  # fmt: skip
def test_markup_in_names_and_cells_is_only_text(columns: Columns, rows: Rows, question: str) -> None:
    made = drawn(columns, rows, question=question)
    texts = shown_texts(made)
    assert any("&lt;b&gt;" in text for text in texts)
    assert not [text for text in texts if "<" in text or ">" in text]
    assert not [text for text in texts if "&amp;D" in text], "an entity in a cell is text too"
    for axis in ("xaxis", "yaxis"):
        labels = made["layout"].get(axis, {})
        if any("<" in str(label) for label in labels.get("categoryarray", ())):
            assert len(labels["ticktext"]) == len(labels["tickvals"])


def test_a_long_label_is_short_on_the_axis_and_whole_in_the_data() -> None:
    made = drawn([CATEGORY, COUNT], [("x" * 300, 1), ("b", 2)])
    assert made["data"][0]["y"] == ["x" * 300, "b"]
    assert made["layout"]["yaxis"]["ticktext"] == ["x" * 23 + "…", "b"]


def test_a_figure_is_bounded() -> None:
    rows = [("x" * 60_000 + str(n), n) for n in range(10)]
    assert chart_of([CATEGORY, COUNT], rows) is None
    points = [(i / 7, i / 3) for i in range(4000)]
    assert len(json.dumps(chart_of([("a", "DOUBLE"), ("b", "DOUBLE")], points))) <= MOST_BYTES


def test_figures_suit_light_and_dark_pages() -> None:
    layout = drawn([CATEGORY, COUNT], counted(3))["layout"]
    assert layout["paper_bgcolor"] == layout["plot_bgcolor"] == "rgba(0,0,0,0)"
    assert "template" not in layout


def test_a_part_of_the_rows_is_neither_a_distribution_nor_a_whole() -> None:
    assert chart_of([("price", "DOUBLE")], [(i,) for i in range(20)], truncated=True) is None
    pie = chart_of([CATEGORY, COUNT], counted(3), question="as a pie chart", truncated=True)
    assert pie is not None and pie["data"][0]["type"] == "bar"
