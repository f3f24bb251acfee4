"""Which condition empties a result: the plan of counts, and what its row says."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.plan.emptying import Emptied, emptied, funnel_of, is_empty
from sandtable.plan.validate import check_plan, parse_plan
from tests.agent.house import SHOP

NORTH = {"column": "region", "op": "=", "value": "North"}
LARGE = {"column": "amount", "op": ">", "value": 5}
MARCH = {"from": "2026-03-01", "to": "2026-03-31"}
COUNT = {"agg": "count", "as": "n"}


def plan(**more: Any) -> dict[str, Any]:
    return {"dataset_id": "shop", "table": "orders", "select": [COUNT], **more}


@pytest.mark.parametrize(
    ("asked", "conditions"),
    [
        pytest.param(
            plan(filters=[NORTH, LARGE], time=MARCH), [NORTH, LARGE, {"time": MARCH}], id="in order"
        ),
        pytest.param(plan(filters=[{"all": [NORTH, LARGE]}]), [NORTH, LARGE], id="all of several"),
        pytest.param(plan(filters=[{"any": [NORTH, LARGE]}]), [{"any": [NORTH, LARGE]}], id="any of several"),
        pytest.param(
            plan(select=[{**COUNT, "where": [NORTH]}], filters=[LARGE]), [LARGE, NORTH], id="aggregate"
        ),
    ],
)
def test_each_condition_is_counted_after_those_before_it(
    asked: dict[str, Any], conditions: list[Any]
) -> None:
    funnel = funnel_of(asked, SHOP)
    assert funnel is not None and list(funnel.conditions) == conditions
    counted = [item.get("where", []) for item in funnel.plan["select"] if item["agg"] == "count"]
    assert counted == [conditions[:number] for number in range(len(conditions) + 1)]
    assert check_plan(parse_plan(funnel.plan), SHOP) == []


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(plan(), id="no condition"),
        pytest.param(plan(filters=[{**NORTH, "column": "rgion"}]), id="a plan that does not fit"),
    ],
)
def test_nothing_is_counted_without_conditions(asked: dict[str, Any]) -> None:
    assert funnel_of(asked, SHOP) is None


def test_the_first_condition_that_leaves_no_rows_is_found() -> None:
    funnel = funnel_of(plan(filters=[NORTH, LARGE], time=MARCH), SHOP)
    assert funnel is not None
    ends = {"first_moment": "2025-01-01", "last_moment": "2025-12-31"}

    def found(*counts: int) -> Emptied:
        names = ("all_rows", "left_1", "left_2", "left_3")
        return emptied(funnel, {**dict(zip(names, counts, strict=True)), **ends})

    assert found(9, 4, 0, 0) == Emptied(9, 4, 1)
    assert found(9, 0, 0, 0) == Emptied(9, 9, 0)
    assert found(9, 4, 2, 0) == Emptied(9, 2, 2, "2025-01-01", "2025-12-31")
    assert found(9, 4, 2, 1) == Emptied(9, 1, None)


@pytest.mark.parametrize(
    ("asked", "rows", "empty"),
    [
        pytest.param(plan(), [], True, id="no row"),
        pytest.param(plan(), [[0]], True, id="a count of none"),
        pytest.param(plan(select=[{"agg": "sum", "column": "amount"}]), [[None]], True, id="a sum of none"),
        pytest.param(
            plan(select=[{"agg": "sum", "column": "amount"}]), [[0]], False, id="a sum that is zero"
        ),
        pytest.param(plan(select=[{"column": "amount"}]), [[None]], False, id="an empty cell"),
        pytest.param(plan(select=[{"column": "region"}, COUNT]), [["North", 0]], False, id="a group"),
        pytest.param(plan(), [[3]], False, id="rows"),
    ],
)
def test_an_aggregate_over_no_rows_is_empty(
    asked: dict[str, Any], rows: list[list[Any]], empty: bool
) -> None:
    assert is_empty(asked, rows, SHOP) is empty
