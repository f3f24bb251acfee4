"""Which chart is drawn for which result."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.chart.asked import read
from sandtable.chart.figure import chart_of
from sandtable.chart.wishes import kinds_of, shown_instead, unmet_wish
from sandtable.plan.validate import parse_plan

Columns = list[tuple[str, str]]
Rows = list[tuple[Any, ...]]

CATEGORY = ("category", "VARCHAR")
REGION = ("region", "VARCHAR")
MONTH = ("month", "DATE")
REVENUE = ("revenue", "DECIMAL(38,2)")
COUNT = ("count", "BIGINT")

MONTHS = [f"2024-{n:02d}-01" for n in range(1, 13)]
SHARES: Rows = [("web", 0.5), ("store", 0.25), ("phone", 0.25)]


def grouped(*select: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"dataset_id": "shop", "table": "order_items", "select": list(select), **more}


BY_CATEGORY = ({"column": "category"}, {"metric": "revenue"})
BY_MONTH = ({"bucket": "month", "as": "month"}, {"metric": "revenue"})
BY_DAY_AND_HOUR = ({"bucket": "day_of_week"}, {"bucket": "hour_of_day"}, {"agg": "count"})


def chart(columns: Columns, rows: Rows, *, plan: dict[str, Any] | None = None, question: str = "") -> Any:
    parsed = parse_plan(plan) if plan is not None else None
    return chart_of(columns, rows, question=question, plan=parsed)


def kind(figure: dict[str, Any] | None) -> str:
    """The chart as a person would call it."""
    if figure is None:
        return "none"
    first = figure["data"][0]
    if first["type"] == "scatter":
        return "scatter" if first["mode"] == "markers" else "line"
    return first["type"]


def counted(n: int) -> Rows:
    return [(f"c{i}", i + 1) for i in range(n)]


def pairs(ones: Any, others: Any) -> Rows:
    return [(one, other, 1) for one in ones for other in others]


def plain(*names: str, **more: Any) -> dict[str, Any]:
    return {"dataset_id": "shop", "table": "orders", "select": [{"column": name} for name in names], **more}


COST, PRICE = ("cost", "DOUBLE"), ("price", "DOUBLE")
SHARE = ("revenue_share", "DOUBLE")
TOTAL = ("total", "DOUBLE")
YEAR = ("year", "BIGINT")
TIMED: Rows = [(month, n) for n, month in enumerate(MONTHS)]
MOMENTS: Rows = [("2024-01-01T10:00:00", 1), ("2024-01-01T11:00:00", 2)]
TEN: Rows = [(n,) for n in range(10)]
HOURS: Rows = [(day, hour, day + hour) for day in range(1, 8) for hour in range(24)]
WIDE = [f"r{n}" for n in range(61)]
REPEATED: Rows = [("a", "x", 1), ("a", "x", 2), ("b", "x", 1), ("b", "y", 2)]
POINTS: Rows = [("a", 1, 2), ("a", 2, 3), ("b", 3, 5)]
BEST_FIRST = [{"expr": "revenue", "dir": "desc"}]
TOP_MONTHS = grouped(*BY_MONTH, order_by=BEST_FIRST, limit=2)
ORDERS: Columns = [("order_id", "INTEGER"), ("status", "VARCHAR"), ("order_date", "DATE"), TOTAL]
LISTED: Rows = [(n, "ok" if n % 2 else "open", f"2024-01-{n:02d}", n) for n in range(1, 9)]
LIST = ("order_id", "status", "order_date", "total")
TOP_PRICES = plain("price", order_by=[{"expr": "price", "dir": "desc"}], limit=10)

Case = tuple[str, Columns, Rows, str, dict[str, Any] | None, str]
NOTHING: list[Case] = [
    ("no rows", [CATEGORY, COUNT], [], "", None, "none"),
    ("no columns", [], [(), ()], "", None, "none"),
    ("one cell", [COUNT], [(7,)], "", None, "indicator"),
    ("one row", [CATEGORY, COUNT, REVENUE], [("a", 1, 2)], "", None, "none"),
    ("text only", [CATEGORY, REGION], [("a", "b"), ("c", "d")], "", None, "none"),
    ("rows that do not fit", [CATEGORY, COUNT], [("a", 1), ("b",)], "", None, "none"),
    ("too many categories", [CATEGORY, COUNT], counted(41), "", None, "none"),
    ("repeated categories", [CATEGORY, COUNT], [("a", 1), ("a", 2), ("b", 3)], "", None, "none"),
    ("structs", [("s", "STRUCT(a INTEGER)"), COUNT], [({"a": 1}, 1), ({"a": 2}, 2)], "", None, "none"),
    ("lists", [("l", "VARCHAR[]"), COUNT], [(["a"], 1), (["b"], 2)], "", None, "none"),
    ("nothing but nulls", [CATEGORY, COUNT], [("a", None), ("b", None)], "", None, "none"),
    ("two huge categories", [CATEGORY, REGION, COUNT], pairs(WIDE, WIDE), "", None, "none"),
    ("pairs that repeat", [CATEGORY, REGION, COUNT], REPEATED, "", None, "none"),
    (
        "three keys",
        [MONTH, CATEGORY, REGION, COUNT],
        [(m, *p) for m in MONTHS for p in REPEATED],
        "",
        None,
        "none",
    ),
    ("one measure of few rows", [PRICE], TEN[1:], "", None, "none"),
    ("the top is no distribution", [PRICE], TEN, "distribution of price", TOP_PRICES, "none"),
    ("a list of orders", ORDERS, LISTED, "show 8 orders", plain(*LIST), "none"),
    ("no chart, please", [CATEGORY, COUNT], counted(3), "orders by category, without a chart", None, "none"),
]
BARS: list[Case] = [
    ("categories", [CATEGORY, COUNT], counted(5), "orders by category", None, "bar"),
    ("as many as fit", [CATEGORY, COUNT], counted(40), "", None, "bar"),
    ("true and false", [("returned", "BOOLEAN"), COUNT], [(True, 1), (False, 2)], "", None, "bar"),
    ("a null category", [CATEGORY, COUNT], [("a", 1), (None, 2)], "", None, "bar"),
    ("a year that is a measure", [CATEGORY, YEAR], [("a", 5), ("b", 9)], "", None, "bar"),
    ("months with an unknown one", [MONTH, COUNT], [("2024-01-01", 1), (None, 2)], "", None, "bar"),
    ("infinite dates", [MONTH, COUNT], [("infinity", 1), ("2024-01-01", 2)], "", None, "bar"),
    (
        "the best months",
        [MONTH, REVENUE],
        [(MONTHS[5], 9), (MONTHS[2], 8)],
        "top 2 months",
        TOP_MONTHS,
        "bar",
    ),
    ("two categories", [CATEGORY, REGION, COUNT], pairs("abc", "xy"), "", None, "bar"),
    ("a constant column beside", [CATEGORY, REGION, COUNT], pairs("ab", "x"), "", None, "bar"),
    ("top orders", ORDERS, LISTED, "top orders", plain(*LIST, order_by=[{"expr": "total"}]), "bar"),
    ("shares that nobody asked for", [CATEGORY, SHARE], SHARES, "revenue by channel", None, "bar"),
    ("parts that are no whole", [CATEGORY, SHARE], SHARES[:2], "share of revenue", None, "bar"),
    ("a negative part", [CATEGORY, TOTAL], [("a", 3), ("b", -1)], "breakdown by category", None, "bar"),
    ("an average is no part", [CATEGORY, ("avg_price", "DOUBLE")], counted(3), "as a pie chart", None, "bar"),
    ("too many parts", [CATEGORY, COUNT], counted(7), "as a pie chart", None, "bar"),
    ("the top is no whole", [CATEGORY, REVENUE], counted(2), "share", grouped(*BY_CATEGORY, limit=2), "bar"),
    (
        "busiest months",
        [MONTH, REVENUE],
        TIMED,
        "busiest months",
        grouped(*BY_MONTH, order_by=BEST_FIRST),
        "bar",
    ),
    (
        "groups, compared",
        [CATEGORY, COST, PRICE],
        [("a", 1, 2), ("b", 2, 3), ("c", 3, 5)],
        "cost vs price",
        None,
        "bar",
    ),
    ("by name", [MONTH, REVENUE], TIMED, "bar chart of revenue by month", None, "bar"),
    ("a scatter that cannot be", [CATEGORY, COUNT], counted(3), "scatter plot of orders", None, "bar"),
    (
        "a product line is no wish",
        [("product_line", "VARCHAR"), COUNT],
        counted(3),
        "by product line",
        None,
        "bar",
    ),
]
OTHERS: list[Case] = [
    ("months", [MONTH, REVENUE], TIMED, "", None, "line"),
    ("months as text", [("m", "VARCHAR"), COUNT], [("2024-01", 1), ("2024-02", 2)], "", None, "line"),
    ("moments", [("t", "TIMESTAMP"), COUNT], MOMENTS, "", None, "line"),
    ("years", [YEAR, COUNT], [(2022, 1), (2023, 2)], "", None, "line"),
    ("months and regions", [MONTH, REGION, REVENUE], pairs(MONTHS, "ab"), "", None, "line"),
    ("a line by name", [CATEGORY, COUNT], counted(3), "line chart of orders by category", None, "line"),
    ("months and many regions", [MONTH, REGION, REVENUE], pairs(MONTHS, "abcdefgh"), "", None, "line"),
    ("months and more regions", [MONTH, REGION, REVENUE], pairs(MONTHS, "abcdefghijklm"), "", None, "heatmap"),
    ("two large categories", [CATEGORY, REGION, COUNT], pairs("abcdefghi", "rstuvwxyz"), "", None, "heatmap"),
    ("day and hour", [("d", "BIGINT"), ("h", "BIGINT"), COUNT], HOURS, "", grouped(*BY_DAY_AND_HOUR), "heatmap"),
    ("a heat map by name", [CATEGORY, REGION, COUNT], pairs("abc", "xy"), "as a heatmap", None, "heatmap"),
    ("two measures, compared", [COST, PRICE], [(1, 2), (2, 3), (3, 5)], "cost versus price", None, "scatter"),
    ("two measures of many rows", [COST, PRICE], [(n, n * 2) for n in range(10)], "", None, "scatter"),
    ("two measures by group", [CATEGORY, COST, PRICE], POINTS, "correlation of cost and price", None, "scatter"),
    ("one measure of many rows", [PRICE], TEN, "", None, "histogram"),
    ("a distribution", [("id", "BIGINT"), PRICE], [(n, n % 4) for n in range(6)], "distribution", None, "histogram"),
    ("shares", [CATEGORY, SHARE], SHARES, "share of revenue by channel", None, "pie"),
    ("a pie by name", [CATEGORY, COUNT], counted(3), "orders by category as a pie chart", None, "pie"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("columns", "rows", "question", "plan", "expected"),
    [pytest.param(*case, id=name) for name, *case in (*NOTHING, *BARS, *OTHERS)],
)
def test_the_chart_follows_shape_and_question(
    columns: Columns, rows: Rows, question: str, plan: dict[str, Any] | None, expected: str
) -> None:
    assert kind(chart(columns, rows, question=question, plan=plan)) == expected


MONTHLY = grouped(
    {"bucket": "month", "as": "month"}, {"column": "region"}, {"agg": "sum", "column": "a", "as": "s"}
)
AVERAGED = grouped({"column": "category"}, {"column": "region"}, {"agg": "avg", "column": "a", "as": "avg_a"})
COUNTED = grouped({"column": "category"}, {"column": "region"}, {"agg": "count"})
Named = tuple[str, Columns, Rows, dict[str, Any], tuple[str, ...]]
NAMED: list[Named] = [
    ("a pie", [CATEGORY, REVENUE], counted(3), grouped(*BY_CATEGORY), ("pie",)),
    ("a line", [CATEGORY, REVENUE], counted(3), grouped(*BY_CATEGORY), ("line",)),
    ("bar", [CATEGORY, REVENUE], counted(3), grouped(*BY_CATEGORY), ("bar", "column")),
    ("column", [CATEGORY, REVENUE], counted(30), grouped(*BY_CATEGORY), ("bar", "column")),
    ("horizontal_bar", [CATEGORY, REVENUE], counted(3), grouped(*BY_CATEGORY), ("bar", "horizontal_bar")),
    ("horizontal_bar", [MONTH, REVENUE], TIMED, grouped(*BY_MONTH), ("bar", "horizontal_bar")),
    ("stacked_bar", [CATEGORY, REGION, COUNT], pairs("abc", "xy"), COUNTED, ("stacked_bar", "column", "bar")),
    ("stacked_bar", [MONTH, REGION, TOTAL], pairs(MONTHS, "abcdefg"), MONTHLY, ("stacked_bar", "column", "bar")),
    ("heatmap", [CATEGORY, REGION, COUNT], pairs("abc", "xy"), COUNTED, ("heatmap",)),
    ("none", [CATEGORY, REVENUE], counted(3), grouped(*BY_CATEGORY), ()),
    # What cannot be shown so is drawn as it would be without the wish.
    ("pie", [CATEGORY, REVENUE], counted(7), grouped(*BY_CATEGORY), ("bar", "column")),
    ("scatter", [CATEGORY, REVENUE], counted(3), grouped(*BY_CATEGORY), ("bar", "column")),
    ("stacked_bar", [CATEGORY, REVENUE], counted(3), grouped(*BY_CATEGORY), ("bar", "column")),
    ("stacked_bar", [CATEGORY, REGION, ("avg_a", "DOUBLE")], pairs("abc", "xy"), AVERAGED, ("bar", "column")),
    ("stacked_bar", [CATEGORY, REGION, COUNT], [("a", "x", -1), ("b", "y", 2)], COUNTED, ("bar", "column")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("named", "columns", "rows", "plan", "expected"),
    [pytest.param(*case, id=f"{n}-{case[0]}") for n, case in enumerate(NAMED)],
)
def test_the_plan_names_the_chart(
    named: str, columns: Columns, rows: Rows, plan: dict[str, Any], expected: tuple[str, ...]
) -> None:
    wish = named.removeprefix("a ")
    made = chart(columns, rows, question="orders as a heat map", plan={**plan, "chart": wish})
    assert kinds_of(made) == expected


def test_the_parts_of_a_stacked_bar_are_the_rows() -> None:
    rows = pairs(MONTHS[:3], "ab")
    made = chart([MONTH, REGION, TOTAL], rows, plan={**MONTHLY, "chart": "stacked_bar"})
    assert made is not None and made["layout"]["barmode"] == "stack"
    assert [(trace["name"], trace["x"], trace["y"]) for trace in made["data"]] == [
        (name, MONTHS[:3], [1, 1, 1]) for name in "ab"
    ]
    assert made["layout"]["xaxis"]["ticktext"] == ["Jan 2024", "Feb 2024", "Mar 2024"]


@pytest.mark.parametrize(
    ("rows", "wish", "said"),
    [
        (counted(3), "pie", ""),
        (counted(3), "horizontal_bar", ""),
        (counted(7), "pie", "these rows cannot be shown as a pie, for which there must be two to six"),
        (counted(3), "stacked_bar", "these rows cannot be shown as stacked bars, for which there must be two groups"),
        (counted(1), "bar", "these rows cannot be shown as bars"),
        (counted(1), "none", ""),
    ],
)  # fmt: skip
def test_a_wish_that_cannot_be_met_is_said(rows: Rows, wish: str, said: str) -> None:
    plan = {**grouped(*BY_CATEGORY), "chart": wish}
    made = chart([CATEGORY, REVENUE], rows, plan=plan)
    why = unmet_wish("", plan, made)
    assert why.startswith(said) and bool(why) == bool(said)
    instead = "the chart shows them as bars" if len(rows) > 1 else "the chart shows them as a number"
    assert not why or shown_instead(made) == instead


SQL = "SELECT category, count(*) AS lines FROM order_items GROUP BY category"


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        (SQL, None),
        (f"run {SQL}", None),
        (f"```sql\n{SQL}\n```", None),
        ("WITH t AS (SELECT 1) SELECT category, n AS lines FROM t", None),
        ("FROM order_items SELECT category, count(*) AS lines", None),
        ("SELECT DISTINCT category AS lines FROM order_items", None),
        ("```sql\nSELECT 1\n``` as lines", "line"),
        ("Orders by category as lines", "line"),
        ("Select products from the Home category as lines", "line"),
        ("With which products do we earn most? As lines", "line"),
    ],
)
def test_names_in_a_statement_are_no_wish(question: str, wanted: str | None) -> None:
    assert read(question).kind == wanted


PERIODS = grouped(
    {"column": "region"},
    {"agg": "sum", "column": "amount", "where": [{"time": {"period": "last_year"}}], "as": "last_year"},
    {"agg": "sum", "column": "amount", "where": [{"time": {"period": "this_year"}}], "as": "this_year"},
    derive=[{"change": "this_year", "from": "last_year", "as": "change"}],
    order_by=[{"expr": "change", "dir": "desc"}],
)
PERIOD_COLUMNS = [REGION, ("last_year", "DOUBLE"), ("this_year", "DOUBLE"), ("change", "DOUBLE")]


def test_two_periods_stand_side_by_side_even_when_rows_are_ordered_by_their_change() -> None:
    rows = [("North", 10.0, 30.0, 20.0), ("South", 20.0, 25.0, 5.0)]
    made = chart(PERIOD_COLUMNS, rows, plan=PERIODS)
    assert made is not None
    assert [trace["name"] for trace in made["data"]] == ["Last year", "This year"]


def test_names_of_days_keep_the_order_of_the_rows() -> None:
    days = ["Monday", "Tuesday", "Sunday"]
    plan = grouped({"bucket": "day_name", "as": "weekday"}, {"agg": "count"})
    made = chart([("weekday", "VARCHAR"), COUNT], [(day, 3) for day in days], plan=plan)
    assert made is not None
    assert (made["data"][0]["type"], made["data"][0]["x"]) == ("bar", days)


@pytest.mark.parametrize(
    ("item", "unit"),
    [
        ({"agg": "avg", "of": {"elapsed": "day", "from": "a", "to": "b"}, "as": "delivery"}, "days"),
        ({"agg": "avg", "column": "handling", "unit": "hr", "as": "handling"}, "hours"),
        ({"elapsed": "week", "from": {"agg": "max", "column": "a"}, "as": "idle"}, "weeks"),
        ({"agg": "count", "of": {"elapsed": "day", "from": "a"}, "as": "known"}, ""),
    ],
    ids=["elapsed time", "another unit", "since the last", "a count"],
)
def test_the_axis_says_the_unit_that_the_plan_gives(item: dict[str, Any], unit: str) -> None:
    columns = [CATEGORY, (item["as"], "DOUBLE")]
    made = chart(columns, [("a", 2.0), ("b", 3.5)], plan=grouped({"column": "category"}, item))
    assert made is not None
    assert made["layout"]["yaxis"]["title"]["text"].endswith(f"({unit})") == bool(unit)


def test_a_value_of_each_row_is_no_group() -> None:
    plan = {
        "dataset_id": "shop",
        "table": "t",
        "select": [
            {"column": "product_name"},
            {"column": "price"},
            {"agg": "avg", "column": "price", "within": []},
        ],
    }
    columns = [("product_name", "VARCHAR"), ("price", "DOUBLE"), ("average", "DOUBLE")]
    made = chart(columns, [("a", 2.0, 3.0), ("b", 4.0, 3.0)], plan=plan)
    assert made is not None
    assert made["data"][0]["x"] == ["a", "b"]


def test_why_is_drawn_as_contributions_by_member() -> None:
    periods = {"before": {"to": "2024-03-31"}, "after": {"from": "2024-04-01"}}
    why = {"of": {"agg": "count"}, **periods, "by": ["region"]}
    plan = {"dataset_id": "shop", "table": "t", "why": why}
    names = ("dimension", "member", "before", "after", "contribution", "share_of_change")
    columns = [(name, "VARCHAR" if name in ("dimension", "member") else "DOUBLE") for name in names]
    rows = [("(all)", "(all)", 10.0, 8.0, -2.0, 1.0), ("region", "North", 6.0, 3.0, -3.0, 1.5)]
    made = chart(columns, [*rows, ("region", "South", 4.0, 5.0, 1.0, -0.5)], plan=plan)
    assert made is not None
    assert made["layout"]["title"]["text"] == "Contribution by member"
    assert made["data"][0]["y"] == [-2.0, -3.0, 1.0]
