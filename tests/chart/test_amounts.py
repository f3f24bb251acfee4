"""How amounts and periods are written in a figure: with their units, and by their names."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.chart.figure import chart_of
from sandtable.chart.shape import Words
from sandtable.plan.validate import parse_plan

CATEGORY = ("category", "VARCHAR")
QUARTERS = [f"202{year}-{month}-01" for year in (3, 4, 5) for month in ("01", "04", "07", "10")]


def drawn(
    cells: list[Any], unit: str, *, name: str = "revenue", kind: str = "DECIMAL(18,2)", question: str = ""
) -> dict[str, Any]:
    rows = [(f"c{n}", cell) for n, cell in enumerate(cells)]
    made = chart_of([CATEGORY, (name, kind)], rows, question=question, words=Words(units=("", unit)))
    assert made is not None
    return made


def along(unit: str, cells: list[Any], kind: str = "DATE") -> dict[str, Any]:
    plan = {
        "dataset_id": "shop",
        "table": "orders",
        "select": [{"bucket": unit, "as": "when"}, {"agg": "count", "as": "orders"}],
    }
    rows = [(cell, n + 1) for n, cell in enumerate(cells)]
    made = chart_of([("when", kind), ("orders", "BIGINT")], rows, plan=parse_plan(plan))
    assert made is not None
    return made


@pytest.mark.parametrize(
    ("unit", "cells", "axis", "hover"),
    [
        ("EUR", ["10.50", "7.25"], {"tickprefix": "€"}, "€%{y:,.2f}"),
        ("EUR", [1200, 7], {"tickprefix": "€"}, "€%{y:,d}"),
        ("EUR", ["10.50", "-7.25"], {"ticksuffix": " €"}, "%{y:,.2f} €"),
        ("USD", ["10.50", "7.25"], {"tickprefix": "$"}, "$%{y:,.2f}"),
        ("CHF", ["10.50", "7.25"], {"ticksuffix": " CHF"}, "%{y:,.2~f} CHF"),
        ("hours", [1.5, 30.25], {"ticksuffix": " h"}, "%{y:,.2~f} h"),
        ("kg", [1.5, 30.25], {"ticksuffix": " kg"}, "%{y:,.2~f} kg"),
        ("%", [46.5, 12], {"ticksuffix": "%"}, "%{y:,.2~f}%"),
        ("fraction", [0.4651, 0.2], {"tickformat": ".0%"}, "%{y:.1%}"),
        ("fraction", [0.004651, 0.002], {"tickformat": ".2%"}, "%{y:.1%}"),
        ("fraction", [1.4651, 0.2], {"tickformat": ".0%"}, "%{y:.1%}"),
        ("days", [3.5, 2], {}, "%{y:,.2~f} days"),
        ("", [3.5, 2], {}, "%{y:,.2~f}"),
        ("<b>%{x}", [3.5, 2], {}, "%{y:,.2~f} &lt;b&gt;% {x}"),
    ],
)
def test_axis_and_hover_text_have_the_unit(
    unit: str, cells: list[Any], axis: dict[str, str], hover: str
) -> None:
    made = drawn(cells, unit)
    parts = {name: part for name, part in made["layout"]["yaxis"].items() if name.startswith("tick")}
    assert parts == axis
    assert made["data"][0]["hovertemplate"] == f"%{{x}}<br>{hover}<extra></extra>"


@pytest.mark.parametrize(
    ("unit", "title"),
    [("EUR", "Revenue (EUR)"), ("days", "Revenue (days)"), ("fraction", "Revenue"), ("", "Revenue")],
)
def test_the_title_of_the_axis_says_the_unit(unit: str, title: str) -> None:
    assert drawn([0.5, 0.25], unit)["layout"]["yaxis"]["title"]["text"] == title


def test_the_unit_of_the_catalog_is_stronger_than_a_name() -> None:
    """A column that is called a rate and is counted in hours is no share."""
    made = drawn([0.5, 0.25], "hours", name="run_rate", kind="DOUBLE")
    assert made["layout"]["yaxis"]["ticksuffix"] == " h"
    assert "tickformat" not in made["layout"]["yaxis"]


def test_a_slice_says_its_unit() -> None:
    [trace] = drawn(["10.50", "7.25"], "EUR", question="share of revenue as a pie chart")["data"]
    assert (trace["type"], trace["texttemplate"]) == ("pie", "%{label}<br>€%{value:,.2f}")


def test_measures_of_several_units_share_no_sign() -> None:
    rows = [("a", 3.5, 4.5), ("b", 2.5, 5.5)]
    made = chart_of(
        [CATEGORY, ("price", "DOUBLE"), ("weight", "DOUBLE")], rows, words=Words(units=("", "EUR", "kg"))
    )
    assert made is not None and len(made["data"]) == 2
    assert not {"tickprefix", "ticksuffix"} & set(made["layout"]["yaxis"])
    assert [trace["hovertemplate"][8:] for trace in made["data"]] == ["€%{y:,.2f}", "%{y:,.2~f} kg"]


def test_rates_of_several_sizes_share_percents() -> None:
    rows = [("a", 0.25, 0.09), ("b", 0.2, 0.03)]
    made = chart_of(
        [CATEGORY, ("return_rate", "DOUBLE"), ("discount", "DOUBLE")],
        rows,
        words=Words(units=("", "fraction", "fraction")),
    )
    assert made is not None and made["layout"]["yaxis"]["tickformat"] == ".0%"


def test_a_few_periods_are_named_one_by_one() -> None:
    axis = along("month", ["2024-01-01", "2024-02-01"])["layout"]["xaxis"]
    assert (axis["tickvals"], axis["ticktext"]) == (["2024-01-01", "2024-02-01"], ["Jan 2024", "Feb 2024"])


def test_quarters_are_named_at_equal_distances() -> None:
    made = along("quarter", QUARTERS)
    axis = made["layout"]["xaxis"]
    assert axis["ticktext"] == ["Q1 2023", "Q3 2023", "Q1 2024", "Q3 2024", "Q1 2025", "Q3 2025"]
    [trace] = made["data"]
    assert trace["customdata"][3] == "Q4 2023"
    assert trace["hovertemplate"] == "%{customdata}<br>%{y:,d}<extra></extra>"


@pytest.mark.parametrize(
    ("unit", "count", "tick", "hover"),
    [
        ("month", 12, "%b\n%Y", "%{x|%B %Y}"),
        ("day", 12, "%d %b\n%Y", "%{x|%d %B %Y}"),
        ("year", 7, "%Y", "%{x|%Y}"),
    ],
)
def test_many_periods_have_a_format(unit: str, count: int, tick: str, hover: str) -> None:
    cells = [f"{2010 + n}-01-01" if unit == "year" else f"2024-{n + 1:02d}-01" for n in range(count)]
    made = along(unit, cells)
    assert made["layout"]["xaxis"]["tickformat"] == tick
    assert made["data"][0]["hovertemplate"].startswith(hover + "<br>")


def test_weekdays_have_whole_names_where_there_is_room() -> None:
    made = along("day_of_week", [1, 2, 3, 4, 5, 6, 7], "BIGINT")
    assert made["layout"]["xaxis"]["ticktext"][:2] == ["Mon", "Tue"]
    assert made["data"][0]["customdata"][:2] == ["Monday", "Tuesday"]
    assert made["data"][0]["hovertemplate"].startswith("%{customdata}<br>")
