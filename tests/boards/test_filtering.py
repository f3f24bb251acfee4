"""Conditions of a board in plans over the built-in datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sandtable.boards.filtering import NotApplied, filtered, not_planned
from sandtable.boards.model import Condition
from sandtable.catalog.registry import load_catalog
from sandtable.engines.duckdb.types import column_type
from sandtable.plan.validate import parse_plan, require_plan

CATALOG = load_catalog(Path(__file__).resolve().parents[2] / "datasets", column_type)
SHOP = CATALOG.get("ecommerce")
REVENUE = {"agg": "sum", "column": "line_total", "as": "revenue"}
ITEMS: dict[str, Any] = {"dataset_id": "ecommerce", "table": "order_items", "select": [REVENUE]}
TOP: dict[str, Any] = {
    "dataset_id": "ecommerce",
    "define": [
        {
            "name": "top_customers",
            "plan": {
                "table": "orders",
                "select": [{"column": "customer_id"}, {"agg": "sum", "column": "order_total", "as": "spent"}],
                "order_by": [{"expr": "spent", "dir": "desc"}],
                "limit": 10,
            },
        }
    ],
    "table": "top_customers",
    "select": [{"agg": "count", "as": "customers"}],
}


def equal(column: str, value: Any = "Electronics") -> Condition:
    return Condition(column=column, op="=", value=value)


def test_a_condition_is_added_to_those_of_the_plan() -> None:
    own = {"column": "quantity", "op": ">", "value": 1}
    made, left = filtered({**ITEMS, "filters": [own]}, [equal("category")], SHOP)
    assert made["filters"] == [own, {"column": "category", "op": "=", "value": "Electronics"}]
    assert left == () and ITEMS.get("filters") is None
    require_plan(parse_plan(made), SHOP)


def test_a_column_of_a_related_table_is_found() -> None:
    made, left = filtered(ITEMS, [equal("region", "North")], SHOP)
    assert [each["column"] for each in made["filters"]] == ["orders.region"] and left == ()
    require_plan(parse_plan(made), SHOP)


def test_rows_that_a_definition_reads_are_filtered_there() -> None:
    made, left = filtered(TOP, [equal("region", "North")], SHOP)
    assert made["define"][0]["plan"]["filters"] == [{"column": "region", "op": "=", "value": "North"}]
    assert "filters" not in made and left == ()


def test_an_aggregate_over_all_rows_is_over_the_filtered_ones() -> None:
    """The filters of a plan do not reach it: a row would be compared with rows that are left out."""
    usual = {"agg": "avg", "column": "line_total", "within": ["category"], "as": "usual"}
    plan = {**ITEMS, "select": [{"column": "line_total"}, usual]}
    made, left = filtered(plan, [equal("region", "Europe")], SHOP)
    condition = {"column": "orders.region", "op": "=", "value": "Europe"}
    assert left == () and made["filters"] == [condition]
    assert [each.get("where") for each in made["select"]] == [None, [condition]]
    require_plan(parse_plan(made), SHOP)


@pytest.mark.parametrize(
    ("condition", "says"),
    [
        pytest.param(equal("priority"), "has no column `priority`", id="no-column"),
        pytest.param(equal("quantity", "many"), "number", id="another-type"),
        pytest.param(equal("support.priority"), "support", id="no-table"),
    ],
)
def test_what_cannot_be_applied_is_said(condition: Condition, says: str) -> None:
    made, left = filtered(ITEMS, [condition, equal("category")], SHOP)
    [missing] = left
    assert missing.column == condition.column and says in missing.reason
    assert [each["column"] for each in made["filters"]] == ["category"]


def test_sql_is_never_filtered_and_says_so() -> None:
    [left] = not_planned([equal("category")], "SQL")
    assert left == NotApplied("category", "the question is SQL; filters are added to plans only")
