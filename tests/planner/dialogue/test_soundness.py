"""A follow-up whose plan answers something else is asked about."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.planner.dialogue.soundness import misses_the_point
from tests.planner.ground import World

BY: dict[str, Any] = {"column": "category"}
MONTH: dict[str, Any] = {"bucket": "month", "column": "order_date", "as": "month"}
RETURNS: dict[str, Any] = {"metric": "return_rate", "as": "return_rate"}
PRICES: dict[str, Any] = {"agg": "sum", "column": "unit_price", "as": "total_unit_price"}
UNITS: dict[str, Any] = {"agg": "sum", "column": "quantity", "as": "total_quantity"}
WORST: dict[str, Any] = {"order_by": [{"expr": "return_rate", "dir": "desc"}], "limit": 1}
SHARE: dict[str, Any] = {"derive": [{"share_of_total": "total_quantity", "as": "share"}]}
BOOKS: dict[str, Any] = {"filters": [{"column": "category", "op": "=", "value": "Books"}]}


def plan_of(*items: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return {"dataset_id": "ecommerce", "table": "order_items", "select": list(items), **rest}


@pytest.mark.parametrize(
    ("message", "before", "plan", "missed"),
    [
        pytest.param(
            "break it down by month",
            plan_of(BY, RETURNS, **WORST),
            plan_of(BY, MONTH, RETURNS),
            True,
            id="the first of them, broken down for all",
        ),
        pytest.param(
            "break it down by month",
            plan_of(BY, RETURNS),
            plan_of(BY, MONTH, RETURNS),
            False,
            id="all of them, broken down",
        ),
        pytest.param(
            "which had the most",
            plan_of(BY, RETURNS),
            plan_of(RETURNS, **WORST),
            True,
            id="an order of nothing",
        ),
        pytest.param(
            "as percentages",
            plan_of(BY, UNITS, **BOOKS),
            plan_of(BY, UNITS, **BOOKS, **SHARE),
            True,
            id="a share of itself",
        ),
        pytest.param(
            "as percentages", plan_of(BY, UNITS), plan_of(BY, UNITS, **SHARE), False, id="a share of all"
        ),
        pytest.param(
            "how many units is that", plan_of(BY, RETURNS), plan_of(BY, PRICES), True, id="prices added up"
        ),
        pytest.param(
            "the total of unit prices",
            plan_of(BY, RETURNS),
            plan_of(BY, PRICES),
            False,
            id="added up on purpose",
        ),
        pytest.param("how many units is that", plan_of(BY, RETURNS), plan_of(BY, UNITS), False, id="units"),
    ],
)
def test_what_misses_the_point(
    worlds: dict[str, World], message: str, before: dict[str, Any], plan: dict[str, Any], missed: bool
) -> None:
    assert (misses_the_point(message, plan, before, worlds["ecommerce"].index) is not None) is missed
