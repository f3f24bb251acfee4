"""Reference lines, and the mark of a figure that shows the first rows of more."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.chart.figure import chart_of, charts_of
from sandtable.chart.rules import SECOND_MAKER
from sandtable.chart.shape import Words
from sandtable.plan.validate import parse_plan
from tests.chart.test_choice import CATEGORY, COUNT, MONTH, MONTHS, REVENUE, counted, grouped

TARGET = ("target", "DECIMAL(18,2)")
MARK = {"text": "The first 3 rows; there may be more"}


def lines(figure: dict[str, Any] | None) -> list[tuple[Any, str]]:
    assert figure is not None
    shapes, notes = figure["layout"].get("shapes", []), figure["layout"].get("annotations", [])
    return [(shape.get("y0"), note["text"]) for shape, note in zip(shapes, notes, strict=True)]


def test_a_target_of_the_rows_is_a_line() -> None:
    rows = [("a", "10.00", "12.50"), ("b", "14.00", "12.50")]
    made = chart_of([CATEGORY, REVENUE, TARGET], rows, words=Words(units=("", "EUR", "EUR")))
    assert made is not None and len(made["data"]) == 1
    assert lines(made) == [("12.50", "Target: €12.50")]
    assert "range" not in made["layout"]["yaxis"]


def test_an_average_over_all_rows_is_a_line() -> None:
    average = {"agg": "avg", "column": "price", "within": [], "as": "whole"}
    plan = grouped(
        {"bucket": "month", "as": "month"}, {"agg": "avg", "column": "price", "as": "price"}, average
    )
    rows = [(month, n + 1.0, 30.0) for n, month in enumerate(MONTHS)]
    columns = [MONTH, ("price", "DOUBLE"), ("whole", "DOUBLE")]
    made = chart_of(columns, rows, plan=parse_plan(plan))
    assert made is not None and len(made["data"]) == 1
    assert [value for value, _ in lines(made)] == [30.0]
    low, high = made["layout"]["yaxis"]["range"]
    assert low < 1 and high > 30


@pytest.mark.parametrize(
    "columns",
    [
        [CATEGORY, REVENUE, ("target", "DECIMAL(18,2)"), ("x", "VARCHAR")],
        [CATEGORY, ("target", "DECIMAL(18,2)")],
        [CATEGORY, REVENUE, ("cost", "DECIMAL(18,2)")],
        [CATEGORY, REVENUE, ("target_rate", "DOUBLE")],
    ],
)
def test_what_is_no_reference_is_no_line(columns: list[tuple[str, str]]) -> None:
    cells = {
        "category": "ab",
        "revenue": (10, 14),
        "target": (12, 13),
        "cost": (5, 5),
        "x": "yz",
        "target_rate": (0.5, 0.5),
    }
    rows = [tuple(cells[name][n] for name, _ in columns) for n in (0, 1)]
    made = chart_of(columns, rows)
    assert made is not None and "shapes" not in made["layout"]


@pytest.mark.parametrize(
    ("question", "value", "text"),
    [
        ("orders by category with a line at 2.5", 2.5, "Reference: 2.50"),
        ("orders by category against a target of 1,200", 1200.0, "Target: 1,200"),
    ],
)
def test_the_question_asks_for_a_line(question: str, value: float, text: str) -> None:
    made = chart_of([CATEGORY, COUNT], counted(3), question=question)
    assert lines(made) == [(value, text)]
    assert chart_of([CATEGORY, COUNT], counted(3), question=question, maker=SECOND_MAKER) == (
        chart_of([CATEGORY, COUNT], counted(3), maker=SECOND_MAKER)
    )


def test_a_percentage_of_the_question_is_one_of_the_axis() -> None:
    rows = [("a", 0.1), ("b", 0.3)]
    made = chart_of([CATEGORY, ("return_rate", "DOUBLE")], rows, question="with a target of 20 %")
    assert lines(made) == [(0.2, "Target: 20.0%")]


def test_lying_bars_have_their_line_across() -> None:
    made = chart_of([CATEGORY, COUNT], counted(20), question="with a line at 5")
    assert made is not None
    [shape] = made["layout"]["shapes"]
    assert (shape["xref"], shape["x0"], shape["yref"]) == ("x", 5.0, "paper")


def test_the_first_rows_of_more_are_marked() -> None:
    made = chart_of([CATEGORY, COUNT], counted(3), truncated=True)
    assert made is not None and made["layout"]["title"]["subtitle"] == MARK
    every = charts_of([CATEGORY, COUNT], counted(3), truncated=True)
    assert [figure["layout"]["title"].get("subtitle") for figure in every.values()] == [MARK] * len(every)


@pytest.mark.parametrize("limit", [2, 3])
def test_rows_that_the_plan_limits_are_not_missing(limit: int) -> None:
    plan = parse_plan(grouped({"column": "category"}, {"agg": "count"}, limit=limit))
    made = chart_of([CATEGORY, COUNT], counted(3), plan=plan, truncated=True)
    assert made is not None and "subtitle" not in made["layout"]["title"]
