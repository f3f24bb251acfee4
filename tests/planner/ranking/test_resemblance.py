"""A word that no part of a plan means may resemble something in the data that the plan leaves aside."""

from __future__ import annotations

import pytest

from sandtable.planner.ranking.resemblance import resembles_unused
from tests.planner.ground import World

ALL = {"dataset_id": "ecommerce", "table": "orders", "select": [{"agg": "count", "as": "count"}]}
CANCELLED = {**ALL, "filters": [{"column": "status", "op": "=", "value": "cancelled"}]}
RETURNS = {
    "dataset_id": "ecommerce",
    "table": "order_items",
    "select": [{"metric": "return_rate", "as": "return_rate"}],
}


@pytest.mark.parametrize(
    ("word", "plan", "resembles"),
    [
        pytest.param("cancelled", ALL, True, id="a value"),
        pytest.param("cancelled", CANCELLED, False, id="a value that the plan has"),
        pytest.param("cancellations", ALL, True, id="the root of a value"),
        pytest.param("german", ALL, True, id="people of a country"),
        pytest.param("delivery", ALL, True, id="the root of a column"),
        pytest.param("return", RETURNS, False, id="a metric that the plan computes"),
        pytest.param("takings", ALL, False, id="nothing"),
        pytest.param("the", ALL, False, id="no word of content"),
    ],
)
def test_what_a_word_resembles(
    worlds: dict[str, World], word: str, plan: dict[str, object], resembles: bool
) -> None:
    assert resembles_unused(word, plan, worlds["ecommerce"].index) is resembles
