"""By which columns a plan brings tables together."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.catalog.registry import load_catalog, registry_folder
from sandtable.engines.duckdb.types import column_type
from sandtable.wording.parts import joins_of

SHOP = load_catalog(registry_folder(), column_type).get("ecommerce")
COUNT = {"agg": "count", "as": "n"}


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        ({"table": "orders", "select": [COUNT]}, ()),
        (
            {
                "table": "order_items",
                "select": [{"column": "orders.country"}, COUNT],
                "group_by": ["orders.country"],
            },
            ("order_items.order_id = orders.order_id",),
        ),
        (
            {"table": "orders", "select": [COUNT], "filters": [{"exists": {"table": "order_items"}}]},
            ("orders.order_id = order_items.order_id",),
        ),
        ({"table": "nowhere", "select": [COUNT]}, ()),
        ({"no": "plan"}, ()),
    ],
)
def test_joins(plan: dict[str, Any], expected: tuple[str, ...]) -> None:
    assert joins_of({"dataset_id": "ecommerce", **plan}, SHOP) == expected
