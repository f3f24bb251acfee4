"""What unit a computed value has, and how named tables hand units and types on."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.catalog.registry import load_catalog, registry_folder
from sandtable.engines.duckdb.types import column_type
from sandtable.plan.result_columns import describe
from sandtable.plan.validate import parse_plan, require_plan

SHOP = load_catalog(registry_folder(), column_type).get("ecommerce")

REVENUE = {"metric": "revenue"}
COUNT = {"agg": "count"}
RETURNED = {"agg": "count", "where": [{"column": "returned", "op": "=", "value": True}]}
PRICE, QUANTITY, RATE = {"column": "unit_price"}, {"column": "quantity"}, {"column": "discount_rate"}


def sum_of(op: str, left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    return {"agg": "sum", "of": {"op": op, "left": left, "right": right}}


UNITS: dict[str, tuple[dict[str, Any], str]] = {
    "a column": (PRICE, "EUR"),
    "an average": ({"agg": "avg", "column": "unit_price"}, "EUR"),
    "a count": (COUNT, ""),
    "a count of values": ({"agg": "count_distinct", "column": "unit_price"}, ""),
    "a rate": ({"metric": "return_rate"}, "fraction"),
    "a metric of money": (REVENUE, "EUR"),
    "price times quantity": (sum_of("*", PRICE, QUANTITY), "EUR"),
    "price times discount": (sum_of("*", PRICE, RATE), "EUR"),
    "price times price": (sum_of("*", PRICE, PRICE), ""),
    "price minus price": (sum_of("-", PRICE, {"column": "line_total"}), "EUR"),
    "price plus quantity": (sum_of("+", PRICE, QUANTITY), ""),
    "price times a number": (sum_of("*", PRICE, {"value": 2}), "EUR"),
    "per order": (
        {"op": "/", "left": REVENUE, "right": {"agg": "count_distinct", "column": "order_id"}},
        "EUR",
    ),
    "money by money": ({"op": "/", "left": REVENUE, "right": REVENUE}, ""),
    "some among all": ({"op": "/", "left": RETURNED, "right": COUNT}, "fraction"),
    "some in percent": (
        {"op": "*", "left": {"op": "/", "left": RETURNED, "right": COUNT}, "right": {"value": 100}},
        "%",
    ),
    "different ones among all": (
        {
            "op": "/",
            "left": {"agg": "count_distinct", "column": "order_id", "where": RETURNED["where"]},
            "right": {"agg": "count_distinct", "column": "order_id"},
        },
        "fraction",
    ),
    "a part of an amount": (
        {
            "op": "/",
            "left": {"agg": "sum", "column": "line_total", "where": RETURNED["where"]},
            "right": {"agg": "sum", "column": "line_total"},
        },
        "fraction",
    ),
    "one amount by another": (
        {
            "op": "/",
            "left": {"agg": "sum", "column": "line_total", "where": RETURNED["where"]},
            "right": {"agg": "sum", "column": "unit_price"},
        },
        "",
    ),
    "all by some": ({"op": "/", "left": COUNT, "right": RETURNED}, ""),
}


@pytest.mark.parametrize(("item", "unit"), UNITS.values(), ids=UNITS)
def test_units(item: dict[str, Any], unit: str) -> None:
    plan = parse_plan({"dataset_id": "ecommerce", "table": "order_items", "select": [item]})
    assert [column.unit for column in describe(plan, SHOP)] == [unit]


def test_a_named_table_has_types_and_units() -> None:
    months = {
        "table": "order_items",
        "select": [
            {"bucket": "month", "as": "month"},
            {"column": "orders.region"},
            REVENUE,
            {"agg": "avg", "column": "rating"},
        ],
        "derive": [
            {"share_of_total": "revenue", "as": "share"},
            {"running_total": "revenue", "along": "month", "as": "so_far"},
            {"rank": "revenue", "as": "place"},
        ],
    }
    plan = {
        "dataset_id": "ecommerce",
        "define": [{"name": "Months", "plan": months}],
        "table": "months",
        "select": [COUNT],
    }
    (defined,) = require_plan(parse_plan(plan), SHOP).defined
    assert defined.table.name == "Months"
    assert [(c.name, c.type.value, c.unit) for c in defined.table.columns] == [
        ("month", "date", ""),
        ("region", "text", ""),
        ("revenue", "decimal", "EUR"),
        ("avg_rating", "float", "stars"),
        ("share", "float", "fraction"),
        ("so_far", "decimal", "EUR"),
        ("place", "integer", ""),
    ]
