"""The stock chat UI's charts: the figure that is given, with its own labels, order and colours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest
from playwright.sync_api import Browser, Route

from sandtable.chart.figure import charts_of
from sandtable.chart.shape import Words
from sandtable.drawing import FOLDER
from sandtable.plan.validate import parse_plan

pytestmark = [pytest.mark.needs("chromium")]

HOST = "http://figures.test"
DRAW = """async (figure) => {
  const { drawing } = await import("/chart.js");
  const made = (type, props, ...children) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", type);
    for (const [name, value] of Object.entries(props || {})) element.setAttribute(name, String(value));
    const kept = children.flat(9).filter((one) => one || one === 0);
    element.append(...kept.map((one) => one.nodeType ? one : String(one)));
    return element;
  };
  const drawn = drawing(made, figure);
  if (!drawn) return null;
  const of = (name) => [...new Set([...drawn.querySelectorAll(`[${name}]`)].map((one) => one.getAttribute(name)))];
  return {
    svgs: drawn.querySelectorAll("svg").length,
    texts: [...drawn.querySelectorAll("text")].map((one) => one.textContent),
    colours: [...new Set([...of("fill"), ...of("stroke")])].filter((one) => one !== "none"),
    path: drawn.querySelector("path")?.getAttribute("d") ?? "",
  };
}"""

MONTHS = [f"2024-{month:02d}-01" for month in (1, 2, 4)]
MONTHLY = parse_plan(
    {
        "dataset_id": "shop",
        "table": "orders",
        **{"select": [{"bucket": "month", "column": "day"}, {"agg": "count"}]},
    }
)
PERIODS = parse_plan(
    {
        "dataset_id": "shop",
        "table": "orders",
        **{"select": [{"bucket": "month_of_year", "column": "day"}, {"agg": "count"}]},
    }
)

Drawn = Callable[[dict[str, Any]], Any]


@pytest.fixture
def drawn(browser: Browser) -> Iterator[Drawn]:
    page = browser.new_page()

    def answer(route: Route) -> None:
        name = route.request.url.rpartition("/")[2]
        if name:
            route.fulfill(path=FOLDER / name, content_type="text/javascript")
        else:
            route.fulfill(body="<!doctype html>", content_type="text/html")

    page.route(f"{HOST}/**", answer)
    page.goto(f"{HOST}/")
    yield lambda figure: page.evaluate(DRAW, figure)
    page.close()


def test_a_line_has_the_months_and_gaps_of_the_figure(drawn: Drawn) -> None:
    figure = charts_of([("d", "DATE"), ("n", "BIGINT")], [[m, 5] for m in MONTHS], plan=MONTHLY)["line"]
    seen = drawn(figure)
    assert seen["texts"][-3:] == ["Jan 2024", "Feb 2024", "Apr 2024"]
    assert seen["colours"] == [figure["data"][0]["marker"]["color"]]
    # March is missing: the pen is lifted.
    assert seen["path"].count("M") == 2 and "NaN" not in seen["path"]


def test_periods_and_names_are_called_as_the_axis_calls_them(drawn: Drawn) -> None:
    periods = charts_of([("m", "BIGINT"), ("n", "BIGINT")], [[n, n] for n in (1, 2, 3)], plan=PERIODS)
    assert drawn(periods["line"])["texts"][-3:] == ["Jan", "Feb", "Mar"]
    named = charts_of([("c", "VARCHAR"), ("n", "BIGINT")], [["a <b>", 2], ["c & d", 1]])
    assert {"a <b>", "c & d"} <= set(drawn(named["horizontal_bar"])["texts"])


def test_slices_have_their_colours_and_shares_are_per_cent(drawn: Drawn) -> None:
    pie = charts_of([("c", "VARCHAR"), ("share", "DOUBLE")], [["a", 0.75], ["b", 0.25]])["pie"]
    seen = drawn(pie)
    assert seen["texts"] == ["a: 75 %", "b: 25 %"]
    assert seen["colours"] == pie["data"][0]["marker"]["colors"]


@pytest.mark.parametrize("figure", [{}, {"data": []}, {"data": [{"type": "sankey"}]}], ids=str)
def test_what_cannot_be_drawn_is_left_out(drawn: Drawn, figure: dict[str, Any]) -> None:
    assert drawn(figure) is None


def test_amounts_have_the_signs_of_their_unit(drawn: Drawn) -> None:
    words = Words(units=("", "EUR"))
    figure = charts_of([("c", "VARCHAR"), ("n", "DOUBLE")], [["a", 2000.5], ["b", 3000]], words=words)[
        "column"
    ]
    assert {"€0", "€1K", "€2K", "€3K"} <= set(drawn(figure)["texts"])


def test_each_panel_is_a_drawing_with_its_heading(drawn: Drawn) -> None:
    rows = [[month, 5000.5, n] for n, month in enumerate(MONTHS)]
    columns = [("d", "DATE"), ("revenue", "DOUBLE"), ("orders", "BIGINT")]
    seen = drawn(charts_of(columns, rows, words=Words(units=("", "EUR", "")))["line"])
    assert seen["svgs"] == 2
    assert "€5K" in seen["texts"] and "2" in seen["texts"]


def test_stacks_of_one_height_reach_a_hundred(drawn: Drawn) -> None:
    rows = [[c, r, n + 1] for n, (c, r) in enumerate(product("abc", "xy"))]
    made = charts_of([("c", "VARCHAR"), ("r", "VARCHAR"), ("n", "BIGINT")], rows)["stacked_share"]
    seen = drawn(made)
    assert {"0%", "100%"} <= set(seen["texts"]) and "120%" not in seen["texts"]
