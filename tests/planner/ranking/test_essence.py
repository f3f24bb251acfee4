"""Two plans with one essence answer alike; what changes the rows changes the essence."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.planner.ranking.essence import essence
from tests.planner.ground import World

BASE: dict[str, Any] = {
    "dataset_id": "ecommerce",
    "table": "orders",
    "select": [{"column": "region"}, {"agg": "sum", "column": "order_total", "as": "revenue"}],
    "filters": [
        {"column": "status", "op": "=", "value": "shipped"},
        {"column": "channel", "op": "in", "value": ["a", "b"]},
    ],
    "order_by": [{"expr": "revenue", "dir": "desc"}],
    "limit": 3,
}
ALIKE: dict[str, dict[str, Any]] = {
    "another name": {
        "select": [{"column": "region"}, {"agg": "sum", "column": "order_total", "as": "x"}],
        "order_by": [{"expr": "x", "dir": "desc"}],
    },
    "groups written out": {"group_by": ["region"]},
    "another order of columns and conditions": {
        "select": list(reversed(BASE["select"])),
        "filters": [{"column": "channel", "op": "in", "value": ["b", "a"]}, BASE["filters"][0]],
    },
    "a list of one": {
        "filters": [{"column": "status", "op": "in", "value": ["shipped"]}, BASE["filters"][1]]
    },
    "the table before the name": {
        "select": [
            {"column": "orders.region"},
            {"agg": "sum", "column": "orders.order_total", "as": "revenue"},
        ]
    },
}
OTHER: dict[str, dict[str, Any]] = {
    "another aggregate": {
        "select": [{"column": "region"}, {"agg": "avg", "column": "order_total", "as": "revenue"}]
    },
    "another value": {"filters": [{"column": "status", "op": "=", "value": "returned"}, BASE["filters"][1]]},
    "not": {"filters": [{"column": "status", "op": "!=", "value": "shipped"}, BASE["filters"][1]]},
    "the other end": {"order_by": [{"expr": "revenue", "dir": "asc"}]},
    "fewer": {"limit": 1},
    "a window": {"time": {"period": "last_year"}},
    "a condition of the measure": {
        "select": [
            {"column": "region"},
            {
                "agg": "sum",
                "column": "order_total",
                "where": [{"column": "status", "op": "=", "value": "x"}],
                "as": "revenue",
            },
        ]
    },
    "groups above": {"having": [{"column": "revenue", "op": ">", "value": 3}]},
    "a share": {"derive": [{"share_of_total": "revenue", "as": "share"}]},
}


@pytest.mark.parametrize("change", ALIKE.values(), ids=ALIKE.keys())
def test_how_a_plan_is_written_does_not_count(worlds: dict[str, World], change: dict[str, Any]) -> None:
    index = worlds["ecommerce"].index
    assert essence({**BASE, **change}, index) == essence(BASE, index)


@pytest.mark.parametrize("change", OTHER.values(), ids=OTHER.keys())
def test_what_changes_rows_counts(worlds: dict[str, World], change: dict[str, Any]) -> None:
    index = worlds["ecommerce"].index
    assert essence({**BASE, **change}, index) != essence(BASE, index)


def test_the_main_time_column_may_be_left_out(worlds: dict[str, World]) -> None:
    index = worlds["ecommerce"].index
    named = {**BASE, "time": {"period": "last_year", "column": "order_date"}}
    assert essence({**BASE, "time": {"period": "last_year"}}, index) == essence(named, index)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"op": "=", "value": 5}, {"op": "=", "value": "Friday", "named": True}),
        ({"op": "in", "value": [1, 2, 3, 4, 5]}, {"op": "not_in", "value": [6, 7]}),
        ({"op": "!=", "value": 1}, {"op": "!=", "value": "Monday", "named": True}),
    ],
)
def test_days_of_the_week_are_the_same_by_number_and_by_name(
    worlds: dict[str, World], one: dict[str, Any], other: dict[str, Any]
) -> None:
    index = worlds["ecommerce"].index

    def plan(condition: dict[str, Any]) -> dict[str, Any]:
        bucket = "day_name" if condition.get("named") else "day_of_week"
        of = {"bucket": bucket, "column": "order_date"}
        kept = {key: value for key, value in condition.items() if key != "named"}
        return {**BASE, "filters": [{"of": of, **kept}]}

    assert essence(plan(one), index) == essence(plan(other), index)
    assert essence(plan(one), index) != essence(BASE, index)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (("<=", 2), ("in", [1, 2]), True),
        (("<", 3), ("<=", 2), True),
        ((">", 4), ("=", 5), True),
        (("between", [2, 4]), ("in", [2, 3, 4]), True),
        (("<=", 2), ("in", [1, 3]), False),
        (("<=", 2), ("<=", 3), False),
        ((">=", 4), ("=", 5), False),
        (("!=", 5), ("<=", 4), False),
    ],
)
def test_conditions_that_keep_the_same_scores_are_one(
    worlds: dict[str, World], one: tuple[str, Any], other: tuple[str, Any], same: bool
) -> None:
    def made(op: str, value: Any) -> str:
        condition = {"column": "csat", "op": op, "value": value}
        plan = {
            "dataset_id": "support",
            "table": "tickets",
            "select": [{"agg": "count"}],
            "filters": [condition],
        }
        return essence(plan, worlds["support"].index)

    assert (made(*one) == made(*other)) == same


def test_a_key_and_the_column_that_refers_to_it_are_one(worlds: dict[str, World]) -> None:
    index = worlds["ecommerce"].index

    def made(table: str, name: str) -> str:
        where = [{"column": name, "op": "!=", "value": 3}]
        select = [{"column": name, "as": "key"}, {"agg": "count", "as": "n"}]
        return essence({"dataset_id": "ecommerce", "table": table, "select": select, "filters": where}, index)

    assert made("order_items", "inventory.sku") == made("order_items", "sku")
    assert made("order_items", "inventory.sku") != made("order_items", "order_id")
    assert made("inventory", "sku") != made("order_items", "sku")


def test_a_window_may_be_written_as_a_condition(worlds: dict[str, World]) -> None:
    index = worlds["ecommerce"].index
    window = {"from": "2024-03-01", "to": "2024-03-31"}
    other = {"from": "2024-03-01", "to": "2024-03-30"}
    whole = essence({**BASE, "time": window}, index)
    assert essence({**BASE, "filters": [{"time": window}, *BASE["filters"]]}, index) == whole
    named = {**window, "column": "order_date"}
    assert essence({**BASE, "filters": [*BASE["filters"], {"time": named}]}, index) == whole
    assert essence({**BASE, "filters": [*BASE["filters"], {"time": other}]}, index) != whole
    both = [*BASE["filters"], {"time": window}, {"time": other}]
    assert essence({**BASE, "filters": both}, index) != whole
    assert essence({**BASE, "filters": [*BASE["filters"], {"not": {"time": window}}]}, index) != whole
