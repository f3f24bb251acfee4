"""Single readings, one for each thing that the planner can say: question → the part of the plan it makes."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.planner.outcome import EarlierTurn, Understood, Unsure
from sandtable.planner.planner import plan_question
from tests.planner.ground import World

_CASES: list[tuple[str, str, dict[str, Any]]] = [
    (
        "ecommerce",
        "orders not from Germany by month",
        {"filters": [{"column": "country", "op": "!=", "value": "Germany"}]},
    ),
    (
        "ecommerce",
        "number of orders except shipped and processing",
        {"filters": [{"column": "status", "op": "not_in", "value": ["shipped", "processing"]}]},
    ),
    (
        "ecommerce",
        "how many orders without a coupon code",
        {"filters": [{"column": "coupon_code", "op": "is_null"}]},
    ),
    (
        "ecommerce",
        "returned items by category",
        {"filters": [{"column": "returned", "op": "=", "value": True}]},
    ),
    (
        "ecommerce",
        "how many items were not returned",
        {"filters": [{"column": "returned", "op": "=", "value": False}]},
    ),
    (
        "ecommerce",
        "how many orders with order total between 100 and 200",
        {"filters": [{"column": "order_total", "op": "between", "value": [100, 200]}]},
    ),
    (
        "ecommerce",
        "orders with an order total over 2k",
        {"filters": [{"column": "order_total", "op": ">", "value": 2000}]},
    ),
    (
        "ecommerce",
        "how many items with a discount rate of at least 15%",
        {"filters": [{"column": "discount_rate", "op": ">=", "value": 0.15}]},
    ),
    (
        "ecommerce",
        "orders from Germany or with status cancelled by month",
        {
            "filters": [
                {
                    "any": [
                        {"column": "country", "op": "=", "value": "Germany"},
                        {"column": "status", "op": "=", "value": "cancelled"},
                    ]
                }
            ]
        },
    ),
    (
        "ecommerce",
        "top 2 countries per region by number of orders",
        {"top_per_group": {"n": 2, "by": ["region"], "order_by": "count", "dir": "desc"}},
    ),
    (
        "ecommerce",
        "categories with a return rate above 10%",
        {"having": [{"column": "return_rate", "op": ">", "value": 0.1}]},
    ),
    ("ecommerce", "revenue this year", {"time": {"from": "2025-01-01", "to": "2025-12-31"}}),
    (
        "ecommerce",
        "orders delivered in May 2025",
        {"time": {"column": "delivered_date", "from": "2025-05-01", "to": "2025-05-31"}},
    ),
    ("ecommerce", "revenue by country sorted by country", {"order_by": [{"expr": "country", "dir": "asc"}]}),
    (
        "support",
        "tickets per hour of day",
        {
            "select": [
                {"bucket": "hour_of_day", "column": "created_at", "as": "hour_of_day"},
                {"agg": "count", "as": "count"},
            ]
        },
    ),
    (
        "support",
        "95th percentile of resolution minutes",
        {
            "select": [
                {"agg": "quantile", "column": "resolution_minutes", "as": "p95_resolution_minutes", "q": 0.95}
            ]
        },
    ),
    (
        "sensors",
        "battery below 20% by device",
        {"filters": [{"column": "battery_pct", "op": "<", "value": 20}]},
    ),
]


@pytest.mark.parametrize(("dataset", "question", "part"), _CASES, ids=[q for _, q, _ in _CASES])
def test_a_question_makes_this_part_of_a_plan(
    worlds: dict[str, World], dataset: str, question: str, part: dict[str, Any]
) -> None:
    outcome = plan_question(question, worlds[dataset].index)
    assert isinstance(outcome, Understood), outcome
    assert {key: outcome.plan.get(key) for key in part} == part


def test_readings_are_told(worlds: dict[str, World]) -> None:
    outcome = plan_question("how many orders from germny since June 2025", worlds["ecommerce"].index)
    assert isinstance(outcome, Understood)
    assert '"germny" read as country = Germany' in outcome.used
    assert any("order_date from 2025-06-01" in told for told in outcome.used)


def test_confidence_falls_with_every_guess(worlds: dict[str, World]) -> None:
    index = worlds["ecommerce"].index
    sure = plan_question("how many orders from Germany", index)
    vague = plan_question("top customers", index)
    assert isinstance(sure, Understood) and sure.confidence >= 0.95
    assert not isinstance(vague, Understood) or vague.confidence < 0.8


def test_the_threshold_decides(worlds: dict[str, World]) -> None:
    index = worlds["ecommerce"].index
    loose = plan_question("revenue by region of blorps", index, threshold=0.0)
    assert isinstance(loose, Unsure) and loose.guess is not None
    assert isinstance(plan_question("how many orders from Germany", index, threshold=0.999), Unsure)


def test_a_follow_up_leaves_the_plan_before_untouched(worlds: dict[str, World]) -> None:
    index = worlds["ecommerce"].index
    first = plan_question("revenue by category", index)
    assert isinstance(first, Understood)
    kept = repr(first.plan)
    after = plan_question("only for Germany", index, EarlierTurn("revenue by category", first.plan))
    assert isinstance(after, Understood) and after.follow_up and after.plan != first.plan
    assert repr(first.plan) == kept


def test_a_new_question_is_no_follow_up(worlds: dict[str, World]) -> None:
    index = worlds["ecommerce"].index
    first = plan_question("revenue by category", index)
    assert isinstance(first, Understood)
    after = plan_question(
        "How many products are discontinued?", index, EarlierTurn("revenue by category", first.plan)
    )
    assert isinstance(after, Understood) and not after.follow_up
    assert after.plan["table"] == "inventory"
