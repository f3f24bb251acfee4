"""The prompts that the built-in datasets suggest, with the plans that answer them."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def _plan(dataset: str, table: str, select: list[Json], **rest: Any) -> Json:
    return {"dataset_id": dataset, "table": table, "select": select, **rest}


def _by(expr: str, direction: str = "desc") -> list[Json]:
    return [{"expr": expr, "dir": direction}]


_SHOP: dict[str, Json] = {
    "Return rate and average discount by category, highest return rate first": _plan(
        "ecommerce",
        "order_items",
        [{"column": "category"}, {"metric": "return_rate"}, {"metric": "average_discount"}],
        order_by=_by("return_rate"),
    ),
    "Monthly revenue in 2025": _plan(
        "ecommerce",
        "order_items",
        [{"bucket": "month", "as": "month"}, {"metric": "revenue"}],
        time={"from": "2025-01-01", "to": "2025-12-31"},
        order_by=_by("month", "asc"),
    ),
    "Top 10 products by revenue in the last 90 days": _plan(
        "ecommerce",
        "order_items",
        [{"column": "inventory.product_name"}, {"metric": "revenue"}],
        time={"last": 90, "unit": "day"},
        order_by=_by("revenue"),
        limit=10,
    ),
    "Revenue by region and channel": _plan(
        "ecommerce",
        "order_items",
        [{"column": "orders.region"}, {"column": "orders.channel"}, {"metric": "revenue"}],
    ),
    "Which products had a return rate above 25% since June 2025, with at least 30 lines sold?": _plan(
        "ecommerce",
        "order_items",
        [
            {"column": "sku"},
            {"column": "inventory.product_name"},
            {"metric": "return_rate"},
            {"agg": "count", "as": "lines"},
        ],
        time={"from": "2025-06-01"},
        having=[
            {"column": "return_rate", "op": ">", "value": 0.25},
            {"column": "lines", "op": ">=", "value": 30},
        ],
        order_by=_by("return_rate"),
    ),
    "How many products are out of stock, by category?": _plan(
        "ecommerce",
        "inventory",
        [{"column": "category"}, {"agg": "count", "as": "products"}],
        filters=[{"column": "stock_on_hand", "op": "=", "value": 0}],
    ),
}
_SUPPORT: dict[str, Json] = {
    "SLA breach rate by priority and region": _plan(
        "support", "tickets", [{"column": "priority"}, {"column": "region"}, {"metric": "sla_breach_rate"}]
    ),
    "Average CSAT by channel": _plan(
        "support", "tickets", [{"column": "channel"}, {"metric": "average_csat"}]
    ),
    "Tickets per week in the last 3 months": _plan(
        "support",
        "tickets",
        [{"bucket": "week", "as": "week"}, {"agg": "count", "as": "tickets"}],
        time={"last": 3, "unit": "month"},
        order_by=_by("week", "asc"),
    ),
    "Median resolution minutes by category for urgent tickets": _plan(
        "support",
        "tickets",
        [{"column": "category"}, {"agg": "median", "column": "resolution_minutes"}],
        filters=[{"column": "priority", "op": "=", "value": "urgent"}],
    ),
    "Which 5 agents have the lowest average CSAT?": _plan(
        "support",
        "tickets",
        [{"column": "agent"}, {"metric": "average_csat"}],
        order_by=_by("average_csat", "asc"),
        limit=5,
    ),
    "Average CSAT by whether the SLA was breached": _plan(
        "support", "tickets", [{"column": "sla_breached"}, {"metric": "average_csat"}]
    ),
}
_SENSORS: dict[str, Json] = {
    "Average temperature by site": _plan(
        "sensors", "readings", [{"column": "site"}, {"metric": "average_temperature"}]
    ),
    "Top 10 devices by peak vibration": _plan(
        "sensors",
        "readings",
        [{"column": "device_id"}, {"metric": "peak_vibration"}],
        order_by=_by("peak_vibration"),
        limit=10,
    ),
    "Daily average temperature of each site in the last 14 days": _plan(
        "sensors",
        "readings",
        [{"bucket": "day", "as": "day"}, {"column": "site"}, {"metric": "average_temperature"}],
        time={"last": 14, "unit": "day"},
        order_by=_by("day", "asc"),
    ),
    "Which device and day had the most unusual maximum temperature, by z-score?": _plan(
        "sensors",
        "readings",
        [
            {"column": "device_id"},
            {"bucket": "day", "as": "day"},
            {"agg": "max", "column": "temperature_c", "as": "max_temperature"},
        ],
        derive=[{"zscore": "max_temperature", "as": "z"}],
        order_by=_by("z"),
        limit=1,
    ),
    "Anomaly rate by device, highest first": _plan(
        "sensors",
        "readings",
        [{"column": "device_id"}, {"metric": "anomaly_rate"}],
        order_by=_by("anomaly_rate"),
    ),
    "Lowest battery by device": _plan(
        "sensors",
        "readings",
        [{"column": "device_id"}, {"agg": "min", "column": "battery_pct", "as": "lowest_battery"}],
        order_by=_by("lowest_battery", "asc"),
    ),
}
PROMPTS: dict[str, dict[str, Json]] = {"ecommerce": _SHOP, "support": _SUPPORT, "sensors": _SENSORS}
