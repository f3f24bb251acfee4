"""Any plan gives the same rows in PostgreSQL as in DuckDB."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, assume, given, settings

from tests.plan.shop import SHOP
from tests.plan.strategies import plans
from tests.sql.live.twins import Twin, landed

LIVE, _ = landed(SHOP, "the shop")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(plan=plans(LIVE))
def test_any_plan(plan: dict[str, Any], shop: Twin) -> None:
    assume("\\u0000" not in json.dumps(plan))
    shop.check(plan)
