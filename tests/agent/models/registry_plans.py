"""The prompts of the built-in datasets: a plan as a good model would write it, and the answer by other means.

The SQL is written by hand over the CSV files and never sees the compiler: the two must agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Prompt:
    dataset: str
    text: str
    plan: dict[str, Any]
    sql: str
    """Over views with the tables' names."""


def _by(expr: str, direction: str = "asc") -> list[dict[str, str]]:
    return [{"expr": expr, "dir": direction}]


ECOMMERCE = (
    Prompt(
        "ecommerce",
        "Return rate and average discount by category, highest return rate first",
        {
            "table": "order_items",
            "select": [{"column": "category"}, {"metric": "return_rate"}, {"metric": "average_discount"}],
            "order_by": _by("return_rate", "desc"),
        },
        "SELECT category, avg(returned::INT), avg(discount_rate) FROM order_items GROUP BY 1",
    ),
    Prompt(
        "ecommerce",
        "Monthly revenue in 2025",
        {
            "table": "order_items",
            "select": [{"bucket": "month", "column": "order_date", "as": "month"}, {"metric": "revenue"}],
            "time": {"from": "2025-01-01", "to": "2025-12-31"},
            "order_by": _by("month"),
        },
        "SELECT date_trunc('month', order_date)::DATE, sum(line_total) FROM order_items "
        "WHERE year(order_date) = 2025 GROUP BY 1",
    ),
    Prompt(
        "ecommerce",
        "Top 10 products by revenue in the last 90 days",
        {
            "table": "order_items",
            "select": [{"column": "sku"}, {"column": "inventory.product_name"}, {"metric": "revenue"}],
            "time": {"last": 90, "unit": "day"},
            "order_by": _by("revenue", "desc"),
            "limit": 10,
        },
        "SELECT sku, product_name, sum(line_total) FROM order_items JOIN inventory USING (sku) "
        "WHERE order_date BETWEEN DATE '2025-10-03' AND DATE '2025-12-31' GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 10",
    ),
    Prompt(
        "ecommerce",
        "Revenue by region and channel",
        {
            "table": "order_items",
            "select": [{"column": "orders.region"}, {"column": "orders.channel"}, {"metric": "revenue"}],
        },
        "SELECT region, channel, sum(line_total) FROM order_items JOIN orders USING (order_id) GROUP BY 1, 2",
    ),
    Prompt(
        "ecommerce",
        "Which products had a return rate above 25% since June 2025, with at least 30 lines sold?",
        {
            "table": "order_items",
            "select": [
                {"column": "sku"},
                {"column": "inventory.product_name"},
                {"metric": "return_rate"},
                {"agg": "count", "as": "lines"},
            ],
            "time": {"from": "2025-06-01"},
            "having": [
                {"column": "return_rate", "op": ">", "value": 0.25},
                {"column": "lines", "op": ">=", "value": 30},
            ],
            "order_by": _by("return_rate", "desc"),
        },
        "SELECT sku, product_name, avg(returned::INT), count(*) FROM order_items JOIN inventory USING (sku) "
        "WHERE order_date >= DATE '2025-06-01' GROUP BY 1, 2 HAVING avg(returned::INT) > 0.25 AND count(*) >= 30",
    ),
    Prompt(
        "ecommerce",
        "How many products are out of stock, by category?",
        {
            "table": "inventory",
            "select": [{"column": "category"}, {"agg": "count", "as": "products"}],
            "filters": [{"column": "stock_on_hand", "op": "=", "value": 0}],
            "order_by": _by("products", "desc"),
        },
        "SELECT category, count(*) FROM inventory WHERE stock_on_hand = 0 GROUP BY 1",
    ),
)

SUPPORT = (
    Prompt(
        "support",
        "SLA breach rate by priority and region",
        {
            "table": "tickets",
            "select": [{"column": "priority"}, {"column": "region"}, {"metric": "sla_breach_rate"}],
        },
        "SELECT priority, region, avg(sla_breached::INT) FROM tickets GROUP BY 1, 2",
    ),
    Prompt(
        "support",
        "Average CSAT by channel",
        {"table": "tickets", "select": [{"column": "channel"}, {"metric": "average_csat"}]},
        "SELECT channel, avg(csat) FROM tickets GROUP BY 1",
    ),
    Prompt(
        "support",
        "Tickets per week in the last 3 months",
        {
            "table": "tickets",
            "select": [
                {"bucket": "week", "column": "created_at", "as": "week"},
                {"agg": "count", "as": "tickets"},
            ],
            "time": {"last": 3, "unit": "month"},
            "order_by": _by("week"),
        },
        "SELECT date_trunc('week', created_at), count(*) FROM tickets "
        "WHERE created_at > TIMESTAMP '2025-09-30 23:59:59' GROUP BY 1",
    ),
    Prompt(
        "support",
        "Median resolution minutes by category for urgent tickets",
        {
            "table": "tickets",
            "select": [
                {"column": "category"},
                {"agg": "median", "column": "resolution_minutes", "as": "minutes"},
            ],
            "filters": [{"column": "priority", "op": "=", "value": "urgent"}],
        },
        "SELECT category, median(resolution_minutes) FROM tickets WHERE priority = 'urgent' GROUP BY 1",
    ),
    Prompt(
        "support",
        "Which 5 agents have the lowest average CSAT?",
        {
            "table": "tickets",
            "select": [{"column": "agent"}, {"metric": "average_csat"}],
            "filters": [{"column": "agent", "op": "not_null"}],
            "order_by": _by("average_csat"),
            "limit": 5,
        },
        "SELECT agent, avg(csat) FROM tickets WHERE agent IS NOT NULL GROUP BY 1 ORDER BY 2 LIMIT 5",
    ),
    Prompt(
        "support",
        "Average CSAT by whether the SLA was breached",
        {"table": "tickets", "select": [{"column": "sla_breached"}, {"metric": "average_csat"}]},
        "SELECT sla_breached, avg(csat) FROM tickets GROUP BY 1",
    ),
)

SENSORS = (
    Prompt(
        "sensors",
        "Average temperature by site",
        {"table": "readings", "select": [{"column": "site"}, {"metric": "average_temperature"}]},
        "SELECT site, avg(temperature_c) FROM readings GROUP BY 1",
    ),
    Prompt(
        "sensors",
        "Top 10 devices by peak vibration",
        {
            "table": "readings",
            "select": [{"column": "device_id"}, {"metric": "peak_vibration"}],
            "order_by": _by("peak_vibration", "desc"),
            "limit": 10,
        },
        "SELECT device_id, max(vibration_mm_s) FROM readings GROUP BY 1 ORDER BY 2 DESC LIMIT 10",
    ),
    Prompt(
        "sensors",
        "Daily average temperature of each site in the last 14 days",
        {
            "table": "readings",
            "select": [
                {"bucket": "day", "column": "recorded_at", "as": "day"},
                {"column": "site"},
                {"metric": "average_temperature"},
            ],
            "time": {"last": 14, "unit": "day"},
            "order_by": _by("day"),
        },
        "SELECT date_trunc('day', recorded_at), site, avg(temperature_c) FROM readings "
        "WHERE recorded_at > TIMESTAMP '2025-12-17 23:59:59' GROUP BY 1, 2",
    ),
    Prompt(
        "sensors",
        "Which device and day had the most unusual maximum temperature, by z-score?",
        {
            "table": "readings",
            "select": [
                {"column": "device_id"},
                {"bucket": "day", "column": "recorded_at", "as": "day"},
                {"agg": "max", "column": "temperature_c", "as": "peak"},
            ],
            "derive": [{"zscore": "peak", "as": "z"}],
            "order_by": _by("z", "desc"),
            "limit": 1,
        },
        "WITH peaks AS (SELECT device_id, date_trunc('day', recorded_at) AS day, max(temperature_c) AS peak "
        "FROM readings GROUP BY 1, 2) SELECT device_id, day, peak, "
        "(peak - (SELECT avg(peak) FROM peaks)) / (SELECT stddev_samp(peak) FROM peaks) AS z "
        "FROM peaks WHERE peak IS NOT NULL ORDER BY z DESC LIMIT 1",
    ),
    Prompt(
        "sensors",
        "Anomaly rate by device, highest first",
        {
            "table": "readings",
            "select": [{"column": "device_id"}, {"metric": "anomaly_rate"}],
            "order_by": _by("anomaly_rate", "desc"),
        },
        "SELECT device_id, count(*) FILTER (temperature_c > 40 OR humidity_pct > 90 OR vibration_mm_s > 7.1) "
        "/ count(*) FROM readings GROUP BY 1",
    ),
    Prompt(
        "sensors",
        "Lowest battery by device",
        {
            "table": "readings",
            "select": [{"column": "device_id"}, {"agg": "min", "column": "battery_pct", "as": "lowest"}],
            "order_by": _by("lowest"),
        },
        "SELECT device_id, min(battery_pct) FROM readings GROUP BY 1",
    ),
)

PROMPTS = ECOMMERCE + SUPPORT + SENSORS
