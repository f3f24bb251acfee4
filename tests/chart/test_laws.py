"""What holds for every figure, whatever the rows, the names, the question and the plan."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandtable.capsule.canonical import canonical, loads
from sandtable.chart.cells import label
from sandtable.chart.figure import MOST_BYTES, chart_of, charts_of
from sandtable.chart.rules import without_words
from sandtable.chart.shape import Words
from sandtable.plan.validate import parse_plan

TYPES = (
    "VARCHAR BOOLEAN BIGINT HUGEINT DOUBLE DECIMAL(18,3) DATE TIMESTAMP INTERVAL BLOB VARCHAR[] ENUM('a','b') STRANGE"
).split()
TYPED: dict[str, st.SearchStrategy[Any]] = {
    "VARCHAR": st.sampled_from(["a", "b", "<b>", "", "2024-01", "NaN", "7"]) | st.text(max_size=30),
    "BOOLEAN": st.booleans(),
    "BIGINT": st.integers(-5, 5) | st.integers(1990, 2030) | st.integers(-(2**53), 2**53),
    "HUGEINT": st.integers(-(2**70), 2**70).map(str),
    "DOUBLE": st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(["NaN", "Infinity", 0.25]),
    "DECIMAL(18,3)": st.decimals(allow_nan=False, allow_infinity=False, places=3).map(str)
    | st.integers(0, 9),
    "DATE": st.dates().map(str) | st.sampled_from(["2024-01-01", "2024-02-01", "infinity"]),
    "TIMESTAMP": st.datetimes().map(lambda moment: moment.isoformat()),
}
NAMES = st.sampled_from(
    [
        "month",
        "year",
        "revenue",
        "count",
        "return_rate",
        "order_id",
        "share",
        "wait_minutes",
        "<b>x</b>",
        "p95_x",
        "_",
    ]
) | st.text(max_size=12)
ANY_CELL = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
QUESTIONS = st.sampled_from(
    [
        "",
        "share by region",
        "as a pie chart",
        "a versus b",
        "distribution",
        "line chart",
        "heatmap",
        "bar chart",
        "growth",
    ]
) | st.text(max_size=30)
ITEMS = st.sampled_from(
    [{"column": "a"}, {"column": "*"}, {"metric": "return_rate"}, {"agg": "count"},
     {"agg": "sum", "column": "t.b", "as": "s"}, {"agg": "avg", "column": "a", "within": []},
     {"bucket": "month"}, {"bucket": "hour_of_day"}, {"bucket": "day_of_week"}, {"bucket": "week"},
     {"op": "/", "left": {"agg": "count"}, "right": {"value": 2}}, {"elapsed": "day", "from": "a", "as": "age"}]
)  # fmt: skip
PERIODS = {"before": {"to": "2024-03-31"}, "after": {"from": "2024-04-01"}}
ORDER = st.lists(st.just({"expr": "revenue"}), max_size=1)
WHY = st.just({"why": {"of": {"agg": "count"}, **PERIODS, "by": ["a"]}})
SELECT = st.fixed_dictionaries(
    {"select": st.lists(ITEMS, min_size=1, max_size=3)},
    optional={
        "derive": st.lists(
            st.sampled_from(
                [{"rank": "s"}, {"share_of_total": "s"}, {"zscore": "s"}, {"change": "s", "from": "t"}]
            ),
            max_size=1,
        ),
        "group_by": st.lists(st.sampled_from(["a", {"bucket": "month"}]), max_size=2),
        "order_by": ORDER,
        "limit": st.sampled_from([1, 5]),
        "chart": st.sampled_from(
            ["bar", "column", "horizontal_bar", "stacked_bar", "line", "pie", "heatmap", "none"]
        ),
    },
)
PLANS = st.none() | (SELECT | WHY).map(
    lambda given: parse_plan({"dataset_id": "shop", "table": "order_items", **given})
)
"""Of another result as often as not: the chart then knows the columns by their names alone."""


Result = tuple[list[tuple[str, str]], list[list[Any]]]
KEYS = ("VARCHAR", "BOOLEAN", "DATE", "TIMESTAMP", "BIGINT")
MEASURES = ("BIGINT", "HUGEINT", "DOUBLE", "DECIMAL(18,3)")


@st.composite
def anything(draw: st.DrawFn) -> Result:
    types = draw(st.lists(st.sampled_from(TYPES), max_size=4))
    columns = [(draw(NAMES), kind) for kind in types]
    cells = [st.none() | TYPED.get(kind, ANY_CELL) for kind in types]
    if draw(st.integers(0, 9)) == 0:
        cells = [ANY_CELL for _ in types]
    return columns, draw(st.lists(st.tuples(*cells).map(list), max_size=14))


@st.composite
def groups(draw: st.DrawFn) -> Result:
    """Rows that their keys tell apart, as a query with GROUP BY gives them."""
    keys = draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=2))
    measures = draw(st.lists(st.sampled_from(MEASURES), min_size=1, max_size=2))
    found = [draw(st.lists(TYPED[kind], min_size=2, max_size=9, unique=True)) for kind in keys]
    values = st.tuples(*(st.none() | TYPED[kind] for kind in measures))
    rows = [[*pair, *draw(values)] for pair in product(*found)]
    return [(draw(NAMES), kind) for kind in (*keys, *measures)], draw(st.permutations(rows))


results = groups() | anything()


def placed(figure: dict[str, Any]) -> list[Any]:
    """Every value that a figure puts on an axis, a map or a slice."""
    found: list[Any] = []
    for trace in figure["data"]:
        for name in ("x", "y", "values"):
            found += trace.get(name, [])
        found += [cell for line in trace.get("z", []) for cell in line]
    return found


SPOKEN = re.compile(
    r"[A-Z][a-z]{2,5}day|[A-Z][a-z]{2,8}|(?:(?:[A-Z][a-z]{2,8}|Q[1-4]) )?[0-9]{4}|[0-2][0-9]:00"
)


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(results, QUESTIONS, PLANS, st.booleans())
def test_a_figure_is_made_of_cells_and_always_the_same(
    result: Result, question: str, plan: Any, truncated: bool
) -> None:
    columns, rows = result
    made = chart_of(columns, rows, question=question, plan=plan, truncated=truncated)
    if made is None:
        return
    assert set(made) == {"data", "layout"}
    text = canonical(made)
    assert len(text) <= MOST_BYTES
    again = chart_of(
        tuple(columns), tuple(map(tuple, rows)), question=question, plan=plan, truncated=truncated
    )
    assert canonical(again) == text
    assert_made_of_cells(made, rows)


def assert_made_of_cells(made: dict[str, Any], rows: list[list[Any]]) -> None:
    cells = [cell for row in rows for cell in row if not isinstance(cell, list | dict)]
    numbers = [cell for cell in cells if isinstance(cell, int | float)]
    labels = {label(cell) for cell in cells}
    for value in placed(made):
        if isinstance(value, str):
            # A day at midnight is spoken without its hour.
            assert value in labels or SPOKEN.fullmatch(value) or f"{value}T00:00:00" in labels, value
        else:
            assert value is None or value in numbers, value


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(results, QUESTIONS, PLANS, st.booleans())
def test_every_kind_is_made_of_cells(result: Result, question: str, plan: Any, truncated: bool) -> None:
    columns, rows = result
    for made in charts_of(columns, rows, question=question, plan=plan, truncated=truncated).values():
        assert len(canonical(made)) <= MOST_BYTES
        assert_made_of_cells(made, rows)


UNITS = st.sampled_from(["", "EUR", "hours", "days", "fraction", "%", "<b>"])


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(results, QUESTIONS, PLANS, st.lists(UNITS, min_size=4, max_size=4))
def test_words_of_the_catalog_change_words_alone(
    result: Result, question: str, plan: Any, units: list[str]
) -> None:
    """`verify` compares the rest where the catalog is not at hand."""
    columns, rows = result
    said = tuple(f"what column {n} is" for n in range(len(columns)))
    words = Words(said, "", "in 2025", tuple(units[: len(columns)]))
    made = chart_of(columns, rows, question=question, plan=plan, words=words)
    bare = chart_of(columns, rows, question=question, plan=plan)
    assert (made is None) == (bare is None)
    if made is not None and bare is not None:
        assert canonical(without_words(made)) == canonical(without_words(bare))


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(results, QUESTIONS, PLANS)
def test_a_trip_through_the_capsule_changes_no_figure(result: Result, question: str, plan: Any) -> None:
    """Stored rows spell 1.0 as 1 and long integers as text: `verify` draws from them."""
    columns, rows = result
    stored = loads(canonical(rows))
    plain_columns = [tuple(column) for column in loads(canonical(columns))]
    made = chart_of(plain_columns, rows, question=question, plan=plan)
    assert canonical(chart_of(plain_columns, stored, question=question, plan=plan)) == canonical(made)
