"""The same rows as each kind of chart that can show them."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.chart.figure import KINDS, chart_of, charts_of, kind_of
from sandtable.chart.wishes import why_not
from sandtable.plan.validate import parse_plan
from tests.chart.test_choice import (
    BY_CATEGORY,
    BY_MONTH,
    CATEGORY,
    COST,
    COUNT,
    MONTH,
    MONTHS,
    PRICE,
    REGION,
    REVENUE,
    TIMED,
    Columns,
    Rows,
    counted,
    grouped,
    pairs,
)

BARS = ("column", "horizontal_bar")
FITTING: list[tuple[str, Columns, Rows, dict[str, Any] | None, tuple[str, ...]]] = [
    ("categories", [CATEGORY, REVENUE], counted(3), grouped(*BY_CATEGORY), (*BARS, "line", "pie")),
    ("more categories than slices", [CATEGORY, REVENUE], counted(9), grouped(*BY_CATEGORY), (*BARS, "line")),
    ("months", [MONTH, REVENUE], TIMED, grouped(*BY_MONTH), (*BARS, "line", "area")),
    ("pairs", [CATEGORY, REGION, COUNT], pairs("abc", "xy"), None, (*BARS, "stacked_bar", "stacked_share", "heatmap")),
    ("months and regions", [MONTH, REGION, COUNT], pairs(MONTHS[:3], "ab"), None,
     (*BARS, "stacked_bar", "stacked_share", "line", "heatmap")),
    ("two numbers", [COST, PRICE], [(n, n * 2) for n in range(10)], None, ("scatter", "histogram")),
    ("one row", [CATEGORY, REVENUE], counted(1), None, ()),
    ("text", [CATEGORY, REGION], [("a", "b"), ("c", "d")], None, ()),
]  # fmt: skip


@pytest.mark.parametrize(
    ("columns", "rows", "plan", "expected"), [pytest.param(*case, id=name) for name, *case in FITTING]
)
def test_each_kind_that_fits_is_drawn_as_it_is_called(
    columns: Columns, rows: Rows, plan: dict[str, Any] | None, expected: tuple[str, ...]
) -> None:
    drawn = charts_of(columns, rows, plan=parse_plan(plan) if plan is not None else None)
    assert tuple(drawn) == expected
    for kind, figure in drawn.items():
        # An area is a line that is filled.
        assert kind_of(figure) == ("line" if kind == "area" else kind)
        assert ("fill" in figure["data"][0]) == (kind == "area")


def test_a_wish_for_no_chart_is_no_word_about_the_kinds() -> None:
    rows, plan = counted(3), parse_plan(grouped(*BY_CATEGORY, chart="none"))
    assert chart_of([CATEGORY, REVENUE], rows, plan=plan) is None
    assert "pie" in charts_of([CATEGORY, REVENUE], rows, plan=plan)


def test_the_kind_that_was_drawn_is_among_them_and_the_same() -> None:
    rows = pairs("abc", "xy")
    own = chart_of([CATEGORY, REGION, COUNT], rows)
    kind = kind_of(own)
    assert kind is not None
    assert charts_of([CATEGORY, REGION, COUNT], rows)[kind] == own


@pytest.mark.parametrize("kind", KINDS)
def test_why_a_kind_does_not_fit_can_be_said_of_each(kind: str) -> None:
    assert why_not(kind).startswith("these rows cannot be shown as ")
