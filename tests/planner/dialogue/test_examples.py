"""The ways in which people go on after an answer, over the built-in datasets: one thing changes, the rest is kept."""

from __future__ import annotations

import pytest

from sandtable.planner.outcome import EarlierTurn, Understood
from sandtable.planner.planner import plan_question
from tests.planner.ground import World

EXAMPLES: list[tuple[str, str, str, set[str], str]] = [
    (
        "ecommerce",
        "How many orders in 2025?",
        "of those, how many were cancelled?",
        {"filters"},
        "SELECT count(*) FROM orders WHERE year(order_date) = 2025 AND status = 'cancelled'",
    ),
    (
        "ecommerce",
        "Revenue in 2025",
        "break it down by region",
        {"select", "group_by"},
        "SELECT region, sum(line_total) FROM order_items JOIN orders USING (order_id) "
        "WHERE year(order_items.order_date) = 2025 GROUP BY 1",
    ),
    (
        "ecommerce",
        "Revenue in 2025",
        "and how does that compare to 2024?",
        {"select", "group_by", "order_by", "time", "filters"},
        "SELECT date_trunc('year', order_date)::DATE, sum(line_total) FROM order_items "
        "WHERE year(order_date) IN (2024, 2025) GROUP BY 1",
    ),
    (
        "ecommerce",
        "Revenue by channel",
        "as percentages",
        {"derive"},
        "SELECT channel, sum(line_total), sum(line_total) / sum(sum(line_total)) OVER () "
        "FROM order_items JOIN orders USING (order_id) GROUP BY 1",
    ),
    (
        "ecommerce",
        "Revenue by region and channel in 2025",
        "remove channel",
        {"select", "group_by"},
        "SELECT region, sum(line_total) FROM order_items JOIN orders USING (order_id) "
        "WHERE year(order_items.order_date) = 2025 GROUP BY 1",
    ),
    (
        "ecommerce",
        "Revenue by region and channel in 2025",
        "as a stacked bar",
        {"chart"},
        "SELECT region, channel, sum(line_total) FROM order_items JOIN orders USING (order_id) "
        "WHERE year(order_items.order_date) = 2025 GROUP BY 1, 2",
    ),
    (
        "ecommerce",
        "Revenue by category in 2025",
        "only weekends",
        {"filters"},
        "SELECT category, sum(line_total) FROM order_items "
        "WHERE year(order_date) = 2025 AND isodow(order_date) IN (6, 7) GROUP BY 1",
    ),
    (
        "support",
        "How many tickets per channel?",
        "only weekends",
        {"filters"},
        "SELECT channel, count(*) FROM tickets WHERE isodow(created_at) IN (6, 7) GROUP BY 1",
    ),
    (
        "support",
        "How many tickets per channel?",
        "as percentages",
        {"derive"},
        "SELECT channel, count(*), count(*) / sum(count(*)) OVER () FROM tickets GROUP BY 1",
    ),
]


@pytest.mark.parametrize(
    ("dataset", "first", "message", "changed", "sql"), EXAMPLES, ids=[f"{e[1]} > {e[2]}" for e in EXAMPLES]
)
def test_one_thing_changes_and_the_rest_is_kept(
    worlds: dict[str, World], dataset: str, first: str, message: str, changed: set[str], sql: str
) -> None:
    world = worlds[dataset]
    before = plan_question(first, world.index)
    assert isinstance(before, Understood), before
    after = plan_question(message, world.index, EarlierTurn(first, before.plan))
    assert isinstance(after, Understood) and after.follow_up, after
    fields = before.plan.keys() | after.plan.keys()
    assert {f for f in fields if before.plan.get(f) != after.plan.get(f)} <= changed
    assert sorted(world.run_plan(after.plan), key=str) == sorted(world.run_sql(sql), key=str)


def test_a_question_behind_and_is_about_the_same_rows(worlds: dict[str, World]) -> None:
    world = worlds["ecommerce"]
    before = plan_question("How many orders in 2025?", world.index)
    assert isinstance(before, Understood)
    after = plan_question(
        "And which category has the highest revenue?",
        world.index,
        EarlierTurn("How many orders in 2025?", before.plan),
    )
    assert isinstance(after, Understood), after
    sql = (
        "SELECT category, sum(line_total) FROM order_items WHERE year(order_date) = 2025 "
        "GROUP BY 1 ORDER BY 2 DESC LIMIT 1"
    )
    assert world.run_plan(after.plan) == world.run_sql(sql)
