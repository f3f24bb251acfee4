"""Words that only seem to be bound: what they ask for is not in the plan."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.planner.conscience import account
from tests.planner.ground import World

COUNT: dict[str, Any] = {"agg": "count", "as": "count"}
REVENUE: dict[str, Any] = {"metric": "revenue", "as": "revenue"}


@pytest.mark.parametrize(
    ("question", "table", "rest", "unbound"),
    [
        pytest.param(
            "how many orders were there in each country after 2024",
            "orders",
            {"select": [COUNT], "time": {"from": "2025-01-01"}},
            "each",
            id="a condition is no grouping",
        ),
        pytest.param(
            "how many more orders did Europe have than Latin America",
            "orders",
            {
                "select": [{"column": "region"}, COUNT],
                "filters": [{"column": "region", "op": "in", "value": ["Europe", "Latin America"]}],
            },
            "more",
            id="two numbers are no difference",
        ),
        pytest.param(
            "revenue and orders by category",
            "order_items",
            {"select": [{"column": "category"}, REVENUE, COUNT]},
            "orders",
            id="lines of orders are no orders beside a measure",
        ),
        pytest.param(
            "how many orders per category",
            "order_items",
            {"select": [{"column": "category"}, COUNT]},
            "orders",
            id="lines of orders are no orders",
        ),
        pytest.param(
            "how many order items per category",
            "order_items",
            {"select": [{"column": "category"}, COUNT]},
            None,
            id="lines that are named are",
        ),
        pytest.param(
            "are all orders delivered",
            "orders",
            {"select": [COUNT], "filters": [{"column": "status", "op": "=", "value": "delivered"}]},
            "all",
            id="a count does not say whether it is all",
        ),
        pytest.param(
            "top customers",
            "orders",
            {
                "select": [{"column": "customer_id"}, COUNT],
                "order_by": [{"expr": "count", "dir": "desc"}],
                "limit": 10,
            },
            "top",
            id="by what is not said",
        ),
        pytest.param(
            "top 10 customers by number of orders",
            "orders",
            {
                "select": [{"column": "customer_id"}, COUNT],
                "order_by": [{"expr": "count", "dir": "desc"}],
                "limit": 10,
            },
            None,
            id="by what is said",
        ),
        pytest.param(
            "which customer placed the most orders",
            "orders",
            {
                "select": [{"column": "customer_tier"}, COUNT],
                "order_by": [{"expr": "count", "dir": "desc"}],
                "limit": 1,
            },
            "customer",
            id="a trait of customers is no customer",
        ),
        pytest.param(
            "orders by customer tier",
            "orders",
            {"select": [{"column": "customer_tier"}, COUNT]},
            None,
            id="a trait that is named is meant",
        ),
        pytest.param(
            "how many orders came for the first time in 2025",
            "orders",
            {"select": [COUNT], "time": {"from": "2025-01-01", "to": "2025-12-31"}},
            "first time",
            id="a year is not the first of all times",
        ),
        pytest.param(
            "how are the orders doing",
            "orders",
            {"select": [COUNT]},
            "doing",
            id="how it goes is not by what",
        ),
        pytest.param(
            "orders per weekday in Febuary",
            "orders",
            {"select": [{"bucket": "day_name", "column": "order_date", "as": "day"}, COUNT]},
            "febuary",
            id="a month with a slip is no word beside another",
        ),
        pytest.param(
            "is the largest order from Europe",
            "orders",
            {
                "select": [{"column": "order_id"}, {"column": "order_total"}],
                "filters": [{"column": "region", "op": "=", "value": "Europe"}],
                "order_by": [{"expr": "order_total", "dir": "desc"}],
                "limit": 1,
            },
            "is",
            id="the first of some is no verdict",
        ),
    ],
)
def test_what_is_not_in_the_plan_is_blamed(
    worlds: dict[str, World], question: str, table: str, rest: dict[str, Any], unbound: str | None
) -> None:
    plan = {"dataset_id": "ecommerce", "table": table, **rest}
    left = [each.text.lower() for each in account(question, plan, worlds["ecommerce"].index).unbound]
    assert unbound in left if unbound else left == []


def test_another_word_for_a_person_is_no_column_of_names(worlds: dict[str, World]) -> None:
    plan = {
        "dataset_id": "ecommerce",
        "table": "inventory",
        "select": [{"column": "product_name"}],
        "filters": [{"column": "category", "op": "=", "value": "Toys"}],
    }
    found = account("who is the mayor of Toys?", plan, worlds["ecommerce"].index)
    assert ("role", "mayor") in [(word.kind, word.text) for word in found.unbound]


def test_what_passed_is_compared_in_the_unit_that_is_said(worlds: dict[str, World]) -> None:
    passed = {"elapsed": "hour", "from": "created_at", "to": "resolved_at"}
    question = "how many tickets were resolved more than two days after they were created"
    for hours, fits in ((48, True), (2, False)):
        plan = {
            "dataset_id": "support",
            "table": "tickets",
            "select": [{"agg": "count", "as": "count"}],
            "filters": [{"of": passed, "op": ">", "value": hours}],
        }
        unbound = [each.kind for each in account(question, plan, worlds["support"].index).unbound]
        assert ("comparison" not in unbound and "number" not in unbound) is fits
