"""Titles say what a plan computed: every kind of plan has one, and nothing in it is the author's own word."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sandtable.catalog.model import Dataset
from sandtable.chart.rules import SECOND_MAKER
from sandtable.plan.resolve import resolve_plan
from sandtable.plan.resolved import ResolvedPlan
from sandtable.plan.validate import parse_plan
from sandtable.runs.draw import draw
from sandtable.sandbox.job import JobResult, ResultColumn
from sandtable.wording.titles import LONGEST, chart_words, title_of
from tests.wording.running import CATALOG

CORPUS = Path(__file__).parent / "corpus" / "chart_words.jsonl"
SHOP = CATALOG.get("ecommerce")
DOCS = (Path(__file__).parents[2] / "docs" / "plan.md").read_text()
EXAMPLES: list[dict[str, Any]] = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", DOCS, re.S)]
NO_NAMES = frozenset("dataset_id table bucket elapsed unit step period agg metric op value".split())
"""Fields of a plan whose text names no output column."""
REVENUE = {"metric": "revenue"}
REGION = {"column": "orders.region"}
IN_2025 = {"from": "2025-01-01", "to": "2025-12-31"}
IN_2024 = {"from": "2024-01-01", "to": "2024-12-31"}


def plan(*select: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"dataset_id": "ecommerce", "table": "order_items", "select": list(select), **more}


def named(value: Any, name: str) -> Any:
    """The plan with every name that its author chose for an output made of `name`, and so wherever it is used."""
    chosen = {n: f"{name}{at}" for at, n in enumerate(sorted(set(_chosen(value))))}
    return _renamed(value, chosen)


def _chosen(value: Any) -> list[str]:
    if isinstance(value, list):
        return [name for part in value for name in _chosen(part)]
    if not isinstance(value, dict):
        return []
    own = [value["as"]] if isinstance(value.get("as"), str) else []
    return own + [name for part in value.values() for name in _chosen(part)]


def _renamed(value: Any, chosen: dict[str, str]) -> Any:
    if isinstance(value, list):
        return [_renamed(part, chosen) for part in value]
    if isinstance(value, dict):
        return {key: part if key in NO_NAMES else _renamed(part, chosen) for key, part in value.items()}
    return chosen.get(value, value) if isinstance(value, str) else value


SHORT: dict[str, tuple[dict[str, Any], int, str]] = {
    "a total": (plan(REVENUE), 1, "Revenue"),
    "groups and a year": (plan(REGION, REVENUE, time=IN_2025), 5, "Revenue by region, 2025"),
    "a relative time": (
        plan(REGION, REVENUE, time={"period": "last_month"}),
        5,
        "Revenue by region, last month (November 2025)",
    ),
    "days": (
        plan(REVENUE, time={"last": 90, "unit": "day"}),
        1,
        "Revenue, last 90 days (3 October to 31 December 2025)",
    ),
    "a window among the filters": (plan(REGION, REVENUE, filters=[{"time": IN_2025}]), 5, "Revenue by region, 2025"),
    "a condition": (
        plan(REGION, REVENUE, filters=[{"column": "category", "op": "=", "value": "Toys"}], time=IN_2025),
        5,
        "Revenue by region, 2025, where category is Toys",
    ),
    "two periods": (
        plan(
            REGION,
            {"metric": "revenue", "where": [{"time": IN_2024}], "as": "a"},
            {"metric": "revenue", "where": [{"time": IN_2025}], "as": "b"},
        ),
        5,
        "Revenue in 2024 and in 2025 by region",
    ),
    "the change of two periods": (
        plan(
            REGION,
            {"metric": "revenue", "where": [{"time": IN_2024}], "as": "a"},
            {"metric": "revenue", "where": [{"time": IN_2025}], "as": "b"},
            derive=[
                {"change": "b", "from": "a", "as": "c"},
                {"change": "b", "from": "a", "kind": "percent", "as": "d"},
            ],
        ),
        5,
        "Change in revenue from 2024 to 2025 by region",
    ),
    "shares": (
        plan(REGION, REVENUE, derive=[{"share_of_total": "revenue", "as": "s"}]),
        5,
        "Revenue and share of revenue by region",
    ),
    "a course": (
        plan({"bucket": "month", "as": "m"}, REVENUE, derive=[{"running_total": "revenue", "along": "m"}]),
        12,
        "Revenue and running total of revenue by month",
    ),
    "the first of many": (
        plan({"column": "category"}, REVENUE, order_by=[{"expr": "revenue", "dir": "desc"}], limit=3),
        3,
        "Revenue by category, the 3 highest",
    ),
    "the lowest": (
        plan({"column": "category"}, REVENUE, order_by=[{"expr": "revenue"}], limit=1, ties=True),
        2,
        "Revenue by category, the lowest",
    ),
    "a limit that cut nothing": (
        plan({"column": "category"}, REVENUE, order_by=[{"expr": "revenue"}], limit=100),
        10,
        "Revenue by category",
    ),
    "top of each group": (
        plan(REGION, {"column": "category"}, REVENUE, top_per_group={"n": 2, "by": ["region"], "order_by": "revenue"}),
        10,
        "Revenue by region and category, the top 2 by revenue for each region",
    ),
    "different values": (plan({"column": "category"}, group_by=["category"]), 10, "The different values of category"),
    "rows": (
        {"dataset_id": "ecommerce", "table": "orders", "select": [{"column": "*"}], "time": IN_2025, "limit": 10},
        10,
        "All columns of orders, 2025, at most 10 rows",
    ),
    "latest rows": (
        {
            "dataset_id": "ecommerce",
            "table": "orders",
            "select": [{"column": "order_id"}],
            "order_by": [{"expr": "order_date", "dir": "desc"}],
            "limit": 5,
        },
        5,
        "Order ID of orders, the 5 latest by order date",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("given", "rows", "title"), SHORT.values(), ids=SHORT)
def test_a_title_says_what_was_computed(given: dict[str, Any], rows: int, title: str) -> None:
    assert title_of(given, SHOP, rows) == title


DOCUMENTED = [
    "Return rate and 1 more by category, where region is Europe or North America, the 10 highest by return rate",
    "Total of quantity times unit price and 1 more by month",
    'Order item ID and 2 more of order items, where (return reason contains "size" or (quantity is above 2 units and'
    " returne…",
    "Number of order items and 1 more by category, where day of the week is Saturday or Sunday",
    "Product name and 3 more of products, where list price is above 1.5 times average list price of the same category,"
    " the 2…",
    "Number of different customer IDs where month is the month o… and 1 more by month, this year (2025)",
    "Number of orders by region, last 3 months (Q2 2025)",
    "Change in sum of order totals from 2024 to 2025 by region",
    "Average time from order date to delivered date in days and 1 more by region, where delivered date is known",
    "Product name and stock on hand of products, without order items in June 2025, at most 20 rows",
    "Number of orders and 1 more by region, with order items where category is Electronics and with order items where"
    " catego…",
    "Revenue and 1 more by region and category, only where share of revenue is above 10 %, the top 2 by revenue for"
    " each reg…",
    "Whether return rate this year (2025) is above return rate last year (2024)",
    'Day and 2 more of "days", the highest by run of rows where number of orders is above the average number of'
    ' orders, "day…',
    "Order item ID and 2 more of order items, only where z-score of quantity is above 2 or z-score of quantity is"
    " below −2…",
    "Change in return rate from 2024 to 2025 by category, region and channel",
    'Number of "top customers" and 1 more by customer tier, "top customers": sum of order totals by customer ID and'
    " customer…",
    'Number of "customers" where number of orders is 1 and 2 more, "customers": number of orders by customer ID, where'
    " custo…",
]


def test_every_kind_of_plan_that_is_documented_has_its_title() -> None:
    assert [title_of(example, SHOP, example.get("limit") or 0) for example in EXAMPLES] == DOCUMENTED


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_the_names_that_an_author_gives_are_not_in_titles(example: dict[str, Any]) -> None:
    """`"as": "profit"` makes no profit of a count."""
    other, rows = named(example, "profit"), example.get("limit") or 0
    assert title_of(other, SHOP, rows) == title_of(example, SHOP, rows)
    assert chart_words(other, SHOP, [], rows) == chart_words(example, SHOP, [], rows)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("Toys and Games", '"Toys and Games"'),
        ("x, 2019", '"x, 2019"'),
        ("[a](http://b)", "`[a](http://b)`"),
        ("<b>\n\u202eevil", "`<b> evil`"),
        ("", '""'),
    ],
)
def test_a_value_stands_as_data(value: str, shown: str) -> None:
    given = plan(REVENUE, filters=[{"column": "category", "op": "=", "value": value}])
    assert title_of(given, SHOP, 1) == f"Revenue, where category is {shown}"


def test_a_title_has_some_length_and_no_more() -> None:
    names = ["long " * 30 + str(n) for n in range(50)]
    wide = title_of(plan(REVENUE, filters=[{"column": "category", "op": "in", "value": names}]), SHOP, 1)
    assert len(wide) <= LONGEST and wide.endswith("…")
    above = [[{"column": "unit_price", "op": ">", "value": n}] for n in range(60)]
    counts = [{"agg": "count", "as": f"n{n}", "where": where} for n, where in enumerate(above)]
    many = title_of(plan(*counts, time=IN_2025), SHOP, 1)
    assert many == (
        "Number of order items where unit price is above €0, number of order items where unit price is above €1"
        " and 58 more, 2025"
    )


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"table": 3},
        plan({"column": "nothing"}),
        {**plan(REVENUE), "table": "elsewhere"},
        {"steps": ["a"]},
    ],
    ids=["empty", "no plan", "no column", "no table", "an analysis"],
)
def test_what_does_not_fit_has_no_title(given: dict[str, Any]) -> None:
    assert title_of(given, SHOP, 1) == ""
    assert chart_words(given, SHOP, [], 1).scope == ""


def corrected(dataset: Dataset) -> Dataset:
    """The same version with other units, descriptions and formats."""
    tables = [
        table.model_copy(
            update={
                "description": "One row per thing.",
                "columns": tuple(column.model_copy(update={"unit": "kg"}) for column in table.columns),
            }
        )
        for table in dataset.tables
    ]
    metrics = [metric.model_copy(update={"format": "currency"}) for metric in dataset.metrics]
    return dataset.model_copy(update={"tables": tuple(tables), "metrics": tuple(metrics)})


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_the_words_of_a_chart_depend_on_nothing_that_is_corrected_later(example: dict[str, Any]) -> None:
    made = chart_words(example, SHOP, [], 10)
    assert chart_words(example, corrected(SHOP), [], 10) == made


def test_the_words_of_charts_are_those_of_the_capsules_that_hold_them() -> None:
    """If this breaks, figures in capsules would be drawn with other titles: raise `MAKER` in `chart/rules.py`, keep
    the words of `SECOND_MAKER` and later for their figures, and write the corpus again with
    `python -m tests.wording.test_titles`."""
    assert [json.loads(line) for line in CORPUS.read_text().splitlines()] == sealed_words()


def sealed_words() -> list[list[Any]]:
    return [words_of(given) for given in (*EXAMPLES, *(given for given, _, _ in SHORT.values()))]


def words_of(given: dict[str, Any]) -> list[Any]:
    resolved = resolve_plan(parse_plan(given), SHOP)
    assert isinstance(resolved, ResolvedPlan)
    names = [output.name for output in (*resolved.outputs, *resolved.shown)]
    said = chart_words(given, SHOP, names, given.get("limit") or 0)
    return [SECOND_MAKER, list(said.columns), said.head, said.scope]


def titled(given: dict[str, Any], columns: list[tuple[str, str]], rows: list[tuple[Any, ...]]) -> str:
    result = JobResult(
        job_id="j",
        status="succeeded",
        columns=tuple(ResultColumn(name=name, type=kind) for name, kind in columns),
        rows=tuple(rows),
        row_count=len(rows),
    )
    figure = draw(result, "whatever", given, 200, SHOP)
    assert figure is not None
    return figure["layout"]["title"]["text"]


TEXT, NUMBER = "VARCHAR", "DOUBLE"
CHARTS: dict[str, tuple[dict[str, Any], list[tuple[str, str]], list[tuple[Any, ...]], str]] = {
    "measure, groups, time, conditions": (
        plan(
            REGION,
            {"agg": "avg", "column": "discount_rate", "as": "profit"},
            time={"period": "last_month"},
            filters=[{"column": "category", "op": "=", "value": "R&D <b>"}],
        ),
        [("region", TEXT), ("profit", NUMBER)],
        [("Asia", 0.1), ("Europe", 0.2)],
        "Average discount rate by region, last month (November 2025), where category is `R&amp;D &lt;b&gt;`",
    ),
    "two periods": (
        SHORT["the change of two periods"][0],
        [("region", TEXT), ("a", NUMBER), ("b", NUMBER), ("c", NUMBER), ("d", NUMBER)],
        [("Asia", 1, 2, 1, 1.0), ("Europe", 2, 3, 1, 0.5)],
        "Revenue in 2024 and revenue in 2025 by region",
    ),
    "why": (
        {
            "dataset_id": "ecommerce",
            "table": "order_items",
            "why": {"of": {"agg": "count"}, "before": IN_2024, "after": IN_2025, "by": ["category"]},
            "filters": [{"column": "returned", "op": "=", "value": True}],
        },
        [("dimension", TEXT), ("member", TEXT), ("before", NUMBER), ("after", NUMBER), ("contribution", NUMBER),
         ("share_of_change", NUMBER)],
        [("category", "Toys", 1, 3, 2, 0.5), ("category", "Books", 2, 4, 2, 0.5)],
        "Change in number of order items from 2024 to 2025 by category, where returned is yes",
    ),
    "some of the groups": (
        plan({"column": "category"}, REVENUE, order_by=[{"expr": "revenue", "dir": "desc"}], limit=2),
        [("category", TEXT), ("revenue", NUMBER)],
        [("Toys", 3), ("Books", 2)],
        "Revenue by category, the 2 highest",
    ),
    "points": (
        {"dataset_id": "ecommerce", "table": "inventory", "chart": "scatter", "time": None,
         "select": [{"column": "list_price"}, {"column": "unit_cost"}],
         "filters": [{"column": "category", "op": "=", "value": "Toys"}]},
        [("list_price", NUMBER), ("unit_cost", NUMBER)],
        [(1, 2), (2, 3), (3, 5), (4, 5)],
        "Unit cost versus list price, where category is Toys",
    ),
    "rows of a table without a plural": (
        {"dataset_id": "ecommerce", "table": "inventory", "select": [{"column": "supplier"}, {"agg": "count"}]},
        [("supplier", TEXT), ("count", "BIGINT")],
        [("A", 3), ("B", 2)],
        "Number of inventory rows by supplier",
    ),
    "columns that are not the plan's": (
        plan(REGION, REVENUE, time=IN_2025),
        [("region", TEXT), ("income", NUMBER)],
        [("Asia", 3), ("Europe", 2)],
        "Income by region, 2025",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("given", "columns", "rows", "title"), CHARTS.values(), ids=CHARTS)
def test_a_chart_is_titled_by_what_was_computed(
    given: dict[str, Any], columns: list[tuple[str, str]], rows: list[tuple[Any, ...]], title: str
) -> None:
    assert titled(given, columns, rows) == title


if __name__ == "__main__":
    CORPUS.write_text("".join(json.dumps(words, ensure_ascii=False) + "\n" for words in sealed_words()))
