"""Every prompt that the registry offers, answered and compared with SQL written for it by hand."""

from __future__ import annotations

import pytest

from sandtable.planner.outcome import Understood
from sandtable.planner.planner import plan_question
from tests.planner.ground import World, same_answer

_DAY_MAXIMA = """
    SELECT device_id, date_trunc('day', recorded_at)::DATE AS day, max(temperature_c) AS top
    FROM readings GROUP BY 1, 2
"""
_ANSWERS: dict[str, tuple[str, bool]] = {
    # prompt → reference SQL, and whether the order of the rows was asked for
    "Return rate and average discount by category, highest return rate first": (
        "SELECT category, avg(returned::INT) r, avg(discount_rate) FROM order_items GROUP BY 1 ORDER BY r DESC",
        True,
    ),
    "Monthly revenue in 2025": (
        "SELECT date_trunc('month', order_date)::DATE m, sum(line_total) FROM order_items "
        "WHERE year(order_date) = 2025 GROUP BY 1 ORDER BY 1",
        True,
    ),
    "Top 10 products by revenue in the last 90 days": (
        "SELECT v.product_name, sum(i.line_total) r FROM order_items i JOIN inventory v USING (sku) "
        "WHERE i.order_date > DATE '2025-12-31' - 90 GROUP BY 1 ORDER BY r DESC LIMIT 10",
        True,
    ),
    "Revenue by region and channel": (
        "SELECT o.region, o.channel, sum(i.line_total) FROM order_items i JOIN orders o USING (order_id) GROUP BY 1, 2",
        False,
    ),
    "Which products had a return rate above 25% since June 2025, with at least 30 lines sold?": (
        "SELECT v.product_name, avg(i.returned::INT), count(*) FROM order_items i JOIN inventory v USING (sku) "
        "WHERE i.order_date >= '2025-06-01' GROUP BY 1 HAVING avg(i.returned::INT) > 0.25 AND count(*) >= 30",
        False,
    ),
    "How many products are out of stock, by category?": (
        "SELECT category, count(*) FROM inventory WHERE stock_on_hand = 0 GROUP BY 1",
        False,
    ),
    "SLA breach rate by priority and region": (
        "SELECT priority, region, avg(sla_breached::INT) FROM tickets GROUP BY 1, 2",
        False,
    ),
    "Average CSAT by channel": ("SELECT channel, avg(csat) FROM tickets GROUP BY 1", False),
    "Tickets per week in the last 3 months": (
        "SELECT date_trunc('week', created_at)::DATE, count(*) FROM tickets "
        "WHERE created_at > TIMESTAMP '2025-12-31 23:59:59' - INTERVAL 3 MONTH GROUP BY 1 ORDER BY 1",
        True,
    ),
    "Median resolution minutes by category for urgent tickets": (
        "SELECT category, median(resolution_minutes) FROM tickets WHERE priority = 'urgent' GROUP BY 1",
        False,
    ),
    "Which 5 agents have the lowest average CSAT?": (
        "SELECT agent, avg(csat) a FROM tickets WHERE agent IS NOT NULL GROUP BY 1 ORDER BY a LIMIT 5",
        True,
    ),
    "Average CSAT by whether the SLA was breached": (
        "SELECT sla_breached, avg(csat) FROM tickets GROUP BY 1",
        False,
    ),
    "Average temperature by site": ("SELECT site, avg(temperature_c) FROM readings GROUP BY 1", False),
    "Top 10 devices by peak vibration": (
        "SELECT device_id, max(vibration_mm_s) v FROM readings GROUP BY 1 ORDER BY v DESC LIMIT 10",
        True,
    ),
    "Daily average temperature of each site in the last 14 days": (
        "SELECT date_trunc('day', recorded_at)::DATE, site, avg(temperature_c) FROM readings "
        "WHERE recorded_at > TIMESTAMP '2025-12-31 23:59:59' - INTERVAL 14 DAY GROUP BY 1, 2",
        False,
    ),
    "Which device and day had the most unusual maximum temperature, by z-score?": (
        f"SELECT device_id, day, top FROM ({_DAY_MAXIMA}) ORDER BY (top - avg(top) OVER ()) DESC LIMIT 1",
        False,
    ),
    "Anomaly rate by device, highest first": (
        "SELECT device_id, avg((coalesce(temperature_c > 40, false) OR coalesce(humidity_pct > 90, false) "
        "OR coalesce(vibration_mm_s > 7.1, false))::INT) a FROM readings GROUP BY 1",
        False,
    ),
    "Lowest battery by device": ("SELECT device_id, min(battery_pct) FROM readings GROUP BY 1", False),
}


def test_every_prompt_has_a_reference(worlds: dict[str, World]) -> None:
    prompts = {prompt for world in worlds.values() for prompt in world.dataset.prompts}
    assert prompts == set(_ANSWERS)


@pytest.mark.parametrize("prompt", _ANSWERS, ids=lambda p: p[:40])
def test_prompt_is_answered_correctly(worlds: dict[str, World], prompt: str) -> None:
    world = next(w for w in worlds.values() if prompt in w.dataset.prompts)
    sql, ordered = _ANSWERS[prompt]
    outcome = plan_question(prompt, world.index)
    assert isinstance(outcome, Understood), outcome
    assert outcome.confidence >= 0.9
    assert same_answer(world.run_plan(outcome.plan), world.run_sql(sql), ordered=ordered), outcome.plan
