"""Tables that the conversation named are asked about like any other."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.planner.outcome import EarlierTurn, Understood
from sandtable.planner.planner import plan_question
from tests.planner.ground import World, same_answer

_TOP: dict[str, Any] = {
    "name": "top_customers",
    "plan": {
        "table": "orders",
        "select": [
            {"column": "customer_id"},
            {"column": "customer_tier"},
            {"agg": "sum", "column": "order_total", "as": "spent"},
        ],
        "filters": [{"column": "customer_id", "op": "not_null"}],
        "order_by": [{"expr": "spent", "dir": "desc"}],
        "limit": 10,
    },
}
_CTE = (
    "WITH t AS (SELECT customer_id, customer_tier, sum(order_total) spent FROM orders "
    "WHERE customer_id IS NOT NULL GROUP BY 1, 2 ORDER BY spent DESC, 1, 2 LIMIT 10) "
)
_CASES = [
    (
        "How many top customers are there per customer tier?",
        "SELECT customer_tier, count(*) FROM t GROUP BY 1",
    ),
    ("What is the average spent of top_customers?", "SELECT avg(spent) FROM t"),
    (
        "list the customer id of the top customers with tier Gold",
        "SELECT customer_id FROM t WHERE customer_tier = 'Gold'",
    ),
]


@pytest.mark.parametrize(("question", "sql"), _CASES, ids=[q[:30] for q, _ in _CASES])
def test_a_named_table_is_asked_about(worlds: dict[str, World], question: str, sql: str) -> None:
    world = worlds["ecommerce"]
    outcome = plan_question(question, world.index, defined=(_TOP,))
    assert isinstance(outcome, Understood), outcome
    assert outcome.plan["table"] == "top_customers" and outcome.plan["define"] == [_TOP]
    assert same_answer(world.run_plan(outcome.plan), world.run_sql(_CTE + sql)), outcome.plan


def test_a_follow_up_keeps_the_definition(worlds: dict[str, World]) -> None:
    world = worlds["ecommerce"]
    first = plan_question("average spent of top customers by customer tier", world.index, defined=(_TOP,))
    assert isinstance(first, Understood), first
    after = plan_question("only gold", world.index, EarlierTurn("…", first.plan), defined=(_TOP,))
    assert isinstance(after, Understood) and after.follow_up, after
    assert after.plan["define"] == [_TOP]
    world.run_plan(after.plan)


def test_other_questions_carry_no_definition(worlds: dict[str, World]) -> None:
    outcome = plan_question("revenue by region", worlds["ecommerce"].index, defined=(_TOP,))
    assert isinstance(outcome, Understood) and "define" not in outcome.plan
