"""The companion plan: the same measures over everything, where that is a yardstick."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.plan.validate import check_plan, parse_plan
from sandtable.wording import wants_overall
from tests.wording.running import CATALOG

RATE = {"metric": "return_rate"}
CATEGORY = {"column": "category"}


def plan(**fields: Any) -> dict[str, Any]:
    return {"dataset_id": "ecommerce", "table": "order_items", "select": [CATEGORY, RATE], **fields}


WANTED: dict[str, tuple[str, dict[str, Any]]] = {
    "a superlative": ("Which category has the highest return rate?", plan(limit=1)),
    "a rate": ("Return rate by category", plan()),
    "ordered by the measure": (
        "Returns by category",
        plan(order_by=[{"expr": "return_rate", "dir": "desc"}]),
    ),
    "an average": (
        "Which category has the highest average price?",
        plan(select=[CATEGORY, {"agg": "avg", "column": "unit_price"}]),
    ),
    "a quotient": (
        "Which category has the best revenue per order?",
        plan(
            select=[
                CATEGORY,
                {"op": "/", "left": {"metric": "revenue"}, "right": {"agg": "count"}, "as": "per"},
            ]
        ),
    ),
    "a group that is not selected": ("highest return rate?", plan(select=[RATE], group_by=["category"])),
    "a named table": (
        "Which region has the highest rate?",
        plan(
            define=[
                {
                    "name": "big",
                    "plan": {"table": "orders", "select": [{"column": "region"}, {"column": "item_count"}]},
                }
            ],
            table="big",
            select=[{"column": "region"}, {"agg": "avg", "column": "item_count"}],
        ),
    ),
}
UNWANTED: dict[str, tuple[str, dict[str, Any]]] = {
    "a total": ("Which category has the highest revenue?", plan(select=[CATEGORY, {"metric": "revenue"}])),
    "a count": ("Which category has the most?", plan(select=[CATEGORY, {"agg": "count"}])),
    "no groups": ("What is the return rate?", plan(select=[RATE])),
    "a series": ("Highest return rate by month", plan(select=[{"bucket": "month"}, RATE])),
    "plain rows": ("Which is highest?", plan(select=[CATEGORY, {"column": "unit_price"}])),
    "no superlative": (
        "Average price by category",
        plan(select=[CATEGORY, {"agg": "avg", "column": "unit_price"}]),
    ),
    "groups picked by a filter": (
        "Which has the higher return rate?",
        plan(filters=[{"any": [{"column": "category", "op": "=", "value": v} for v in ("Books", "Toys")]}]),
    ),
    "top per group": (
        "highest return rate per region",
        plan(top_per_group={"n": 1, "by": ["category"], "order_by": "return_rate"}),
    ),
    "not a plan": ("highest", {"select": "x", "group_by": 3}),
}


@pytest.mark.parametrize(("question", "asked"), WANTED.values(), ids=WANTED)
def test_wanted(question: str, asked: dict[str, Any]) -> None:
    companion = wants_overall(question, asked)
    assert companion is not None
    assert not {"group_by", "order_by", "limit", "having", "derive"} & set(companion)
    assert check_plan(parse_plan(companion), CATALOG.get("ecommerce")) == []
    assert all(item in asked["select"] for item in companion["select"])


@pytest.mark.parametrize(("question", "asked"), UNWANTED.values(), ids=UNWANTED)
def test_unwanted(question: str, asked: dict[str, Any]) -> None:
    assert wants_overall(question, asked) is None


def test_filters_and_time_stay() -> None:
    asked = plan(
        filters=[{"column": "orders.region", "op": "=", "value": "Europe"}],
        time={"period": "last_year"},
        having=[{"column": "return_rate", "op": ">", "value": 0.1}],
        limit=3,
    )
    assert wants_overall("Which categories have the highest return rate?", asked) == {
        "dataset_id": "ecommerce",
        "table": "order_items",
        "filters": asked["filters"],
        "time": asked["time"],
        "select": [RATE],
    }
