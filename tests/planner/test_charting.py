"""What a message says about the chart, and what is left of the question."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from sandtable.planner.charting import is_about_chart, wish_alone, wish_in, without_wish
from sandtable.planner.outcome import Understood
from sandtable.planner.planner import plan_question
from tests.planner.ground import World, csv_world


@pytest.mark.parametrize(
    ("question", "kind", "rest"),
    [
        ("revenue by month as a line chart", "line", "revenue by month"),
        ("line chart of revenue by month", "line", "revenue by month"),
        ("Please draw a bar chart of revenue by region", "bar", "Please revenue by region"),
        ("Bar chart: revenue by region", "bar", "revenue by region"),
        ("Revenue by region, pie chart please", "pie", "Revenue by region please"),
        ("revenue by region in a bar-chart", "bar", "revenue by region"),
        ("revenue by month and region as stacked bars", "stacked_bar", "revenue by month and region"),
        (
            "revenue by month and region as a 100% stacked bar chart",
            "stacked_bar",
            "revenue by month and region",
        ),
        (
            "revenue by month and region as 100 percent stacked bars",
            "stacked_bar",
            "revenue by month and region",
        ),
        ("show me a horizontal bar chart of sales by store", "horizontal_bar", "sales by store"),
        ("sales by store as columns?", "column", "sales by store ?"),
        ("orders by status as a donut", "pie", "orders by status"),
        ("revenue by category as a table", "none", "revenue by category"),
        ("revenue by category without a chart", "none", "revenue by category"),
        ("orders by day and hour as a heat map", "heatmap", "orders by day and hour"),
        ("scatter plot of price and weight", "scatter", "scatter plot of price and weight"),
        ("histogram of the weights", "histogram", "histogram of the weights"),
        ("price and weight as a scatter plot", "scatter", "price and weight"),
    ],
)
def test_a_wish_inside_a_question(question: str, kind: str, rest: str) -> None:
    wish = wish_in(question)
    assert wish is not None and wish.kind == kind
    assert without_wish(question, wish) == rest


@pytest.mark.parametrize(
    "question",
    [
        "revenue by product line",
        "how many bars are in Berlin?",
        "sales per column",
        "treat it as a line item",
        "orders with three lines",
        "which pie sells best?",
        "plot revenue by month",
        "how many tables does the restaurant have?",
        "area per country",
    ],
)
def test_other_words_are_no_wish(question: str) -> None:
    assert wish_in(question) is None and not is_about_chart(question)


@pytest.mark.parametrize(
    ("message", "kind", "unknown"),
    [
        ("as a stacked bar", "stacked_bar", ""),
        ("as 100 % stacked bars", "stacked_bar", ""),
        ("pie", "pie", ""),
        ("And as bars?", "bar", ""),
        ("Can you turn it into a pie chart?", "pie", ""),
        ("a line chart would be better", "line", ""),
        ("I'd like a bar chart instead", "bar", ""),
        ("ok, horizontal bars please", "horizontal_bar", ""),
        ("make it a scatter plot", "scatter", ""),
        ("how about a heatmap?", "heatmap", ""),
        ("only the table", "none", ""),
        ("chart please", None, ""),
        ("log scale", None, "logarithmic scale"),
        ("on a logarithmic scale", None, "logarithmic scale"),
        ("as an area chart", None, "area chart"),
        ("as a treemap", None, "treemap chart"),
    ],
)
def test_a_message_about_the_chart_alone(message: str, kind: str | None, unknown: str) -> None:
    wish = wish_alone(message)
    assert wish is not None
    assert (wish.kind, wish.unknown) == (kind, unknown)
    assert is_about_chart(message)


@pytest.fixture(scope="module")
def bakery(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A table in which the names of charts are values."""
    path: Path = tmp_path_factory.mktemp("bakery") / "sales.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["sale_id", "pastry", "amount"])
        writer.writerows([f"B{n:03d}", ("pie", "donut", "bar")[n % 3], 2 + n % 7] for n in range(60))
    return csv_world("sales", path)


def test_a_value_of_the_data_is_no_wish(bakery: World) -> None:
    assert wish_alone("pie", bakery.index) is None
    assert wish_alone("as a pie", bakery.index) is not None
    asked = plan_question("total amount by pastry as a pie chart", bakery.index)
    assert isinstance(asked, Understood) and asked.plan["chart"] == "pie"
    assert "filters" not in asked.plan


def test_a_first_question_keeps_its_wish_and_a_wish_alone_is_asked_about(worlds: dict[str, World]) -> None:
    index = worlds["ecommerce"].index
    plain = plan_question("revenue by month", index)
    asked = plan_question("revenue by month as a line chart", index)
    assert isinstance(plain, Understood) and isinstance(asked, Understood)
    assert asked.plan == {**plain.plan, "chart": "line"}
    assert not isinstance(plan_question("as a pie", index), Understood)
