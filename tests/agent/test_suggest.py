"""What could be asked next follows from the plan and the schema."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.agent.suggest import candidates
from tests.agent.house import COUNT, PROFILE, SHOP

BY_REGION = {"table": "orders", "select": [{"column": "region"}, {"metric": "revenue"}]}
BY_MONTH = {"table": "orders", "select": [{"bucket": "month", "column": "day"}, {"metric": "revenue"}]}
ONLY_NORTH = {**BY_REGION, "filters": [{"column": "region", "op": "=", "value": "North"}]}


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        pytest.param(COUNT, ["Same by month", "Same by region"], id="one number"),
        pytest.param(BY_REGION, ["Same by month", "Now only for North", "Only the top 5"], id="by region"),
        pytest.param(BY_MONTH, ["Same by region"], id="by month"),
        pytest.param(ONLY_NORTH, ["Same by month", "Only the top 5"], id="already filtered"),
        pytest.param({**BY_REGION, "limit": 5}, ["Same by month", "Now only for North"], id="already cut"),
        pytest.param(
            {"table": "orders", "select": [{"column": "region"}]}, ["Now only for North"], id="rows"
        ),
        pytest.param({"table": "mine", "select": [{"agg": "count"}]}, [], id="a named table"),
    ],
)
def test_the_likeliest_next_questions(plan: dict[str, Any], expected: list[str]) -> None:
    assert list(candidates(plan, SHOP, PROFILE)) == expected
