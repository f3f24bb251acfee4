"""Refused plans, mended by what their problems say was meant."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from sandtable.errors import InvalidInput
from sandtable.plan.fixes import mended
from sandtable.plan.validate import parse_plan, require_plan
from tests.plan.shop import SHOP

COUNT = [{"agg": "count", "as": "n"}]


def problems_of(plan: dict[str, Any]) -> list[dict[str, Any]]:
    with pytest.raises(InvalidInput) as caught:
        require_plan(parse_plan(plan), SHOP)
    return caught.value.details["errors"]


def plan(**fields: Any) -> dict[str, Any]:
    return {"dataset_id": "shop", "table": "orders", "select": COUNT, **fields}


@pytest.mark.parametrize(
    ("given", "names", "changed"),
    [
        (plan(table="oders"), ["orders"], {"table": "orders"}),
        (plan(select=[{"column": "chanel"}]), ["channel"], {"select": [{"column": "channel"}]}),
        (plan(group_by=["statu"]), ["status"], {"group_by": ["status"]}),
        (
            plan(table="order_items", select=[{"column": "orders.statu"}]),
            ["status"],
            {"select": [{"column": "orders.status"}]},
        ),
        (
            plan(select=[{"agg": "summ", "column": "shipping"}]),
            ["sum"],
            {"select": [{"agg": "sum", "column": "shipping"}]},
        ),
        (
            plan(select=[{"agg": "sum", "colum": "shipping"}]),
            ["column"],
            {"select": [{"agg": "sum", "column": "shipping"}]},
        ),
        (
            plan(filters=[{"column": "statu", "op": "=", "value": "x"}], group_by=["chanel"]),
            ["status", "channel"],
            {"filters": [{"column": "status", "op": "=", "value": "x"}], "group_by": ["channel"]},
        ),
    ],
    ids=["table", "column", "group", "qualified", "function", "field", "two"],
)
def test_what_was_meant_is_put_in(given: dict[str, Any], names: list[str], changed: dict[str, Any]) -> None:
    before = copy.deepcopy(given)
    found = mended(given, problems_of(given))
    assert found is not None
    assert (sorted(found[0]), found[1]) == (sorted(names), {**given, **changed})
    assert given == before, "the plan that was given stays as it is"
    require_plan(parse_plan(found[1]), SHOP)


def test_a_misspelt_field_is_renamed_in_its_place() -> None:
    given = {"dataset_id": "shop", "table": "orders", "selct": COUNT, "limit": 5}
    found = mended(given, problems_of(given))
    assert found is not None and list(found[1]) == ["dataset_id", "table", "select", "limit"]


@pytest.mark.parametrize(
    "given",
    [
        plan(select=[{"column": "zzzz"}]),
        plan(select=[{"column": "chanel"}, {"column": "zzzz"}]),
        plan(select=[]),
    ],
    ids=["nothing near", "only one of two", "no name"],
)
def test_a_guess_is_not_made(given: dict[str, Any]) -> None:
    assert mended(given, problems_of(given)) is None


@pytest.mark.parametrize("field", ["", "select[9].column", "nothing.here", "select[0].column.deeper", "[0]"])
def test_a_place_that_is_not_there_is_no_place(field: str) -> None:
    problem = {"field": field, "message": "no column `x`; did you mean `y`?"}
    assert mended(plan(), [problem]) is None
