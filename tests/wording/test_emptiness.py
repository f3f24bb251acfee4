"""Why there is nothing, in words."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.plan.emptying import Emptied, funnel_of
from sandtable.plan.literals import text_literals
from sandtable.plan.lookup import corrections, missing_values
from sandtable.wording.emptiness import corrected_conditions, correction_title, not_in_the_data, why_empty
from tests.agent.house import SHOP
from tests.plan.test_lookup import DATA, PROFILE, eq
from tests.plan.test_lookup import plan as order_plan

NORTH = {"column": "region", "op": "=", "value": "North"}
LARGE = {"column": "amount", "op": ">", "value": 5}
COUNT = {"agg": "count", "as": "n"}


def window(start: str | None, end: str | None) -> dict[str, Any]:
    return {name: day for name, day in (("from", start), ("to", end)) if day}


def plan(**more: Any) -> dict[str, Any]:
    return {"dataset_id": "shop", "table": "orders", "select": [COUNT], **more}


MARCH = plan(filters=[NORTH], time=window("2026-03-01", "2026-03-31"))
ENDS = ("2025-01-02", "2025-12-31")


@pytest.mark.parametrize(
    ("asked", "found", "said"),
    [
        (
            plan(filters=[NORTH]),
            Emptied(1240, 1240, 0),
            "Of 1,240 orders, none is left where region is North.",
        ),
        (
            plan(filters=[NORTH, LARGE]),
            Emptied(1240, 1, 1),
            "Of 1,240 orders, 1 is left where region is North, and none of these where amount is above 5.",
        ),
        (
            MARCH,
            Emptied(1240, 310, 1, *ENDS),
            "Of 1,240 orders, 310 are left where region is North, and none of these in March 2026 "
            "(the data end on 31 December 2025).",
        ),
        (
            plan(time=window(None, "2024-12-31")),
            Emptied(9, 9, 0, *ENDS),
            "Of 9 orders, none is left until 31 December 2024 (the data begin on 2 January 2025).",
        ),
        (
            plan(time=window("2025-03-01", "2025-03-31")),
            Emptied(9, 9, 0, *ENDS),
            "Of 9 orders, none is left in March 2025.",
        ),
        (
            plan(
                select=[{"column": "region"}, {"metric": "revenue"}],
                filters=[LARGE],
                having=[{"column": "revenue", "op": ">", "value": 1000}],
            ),
            Emptied(9, 4, None),
            "Of 9 orders, 4 are left where amount is above 5, but no group passes: revenue is above 1,000.",
        ),
        (plan(filters=[NORTH]), Emptied(0, 0, 0), "There are no orders at all."),
        (plan(filters=[NORTH]), Emptied(9, 4, None), ""),
    ],
)
def test_the_condition_that_empties_is_named(asked: dict[str, Any], found: Emptied, said: str) -> None:
    funnel = funnel_of(asked, SHOP)
    assert funnel is not None and why_empty(asked, funnel, found, SHOP) == said


@pytest.mark.parametrize(
    ("filters", "said", "offered"),
    [
        (
            [eq("customers.city", "Munchen")],
            "No row has `Munchen` as city.",
            [
                ("Use `München` for `Munchen`", "city is München"),
                ("Use `Münchberg` for `Munchen`", "city is Münchberg"),
            ],
        ),
        (
            [eq("status", "berlin")],
            "No row has `berlin` as status.",
            [("Look for `Berlin` in `customers.city`", "customers city is Berlin")],
        ),
        (
            [eq("status", "payed", "!="), eq("customers.city", "Berlni")],
            "No row has `payed` as status or `Berlni` as city.",
            [
                (
                    "Use `Berlin` for `Berlni` and use `paid` for `payed`",
                    "city is Berlin and status is not paid",
                )
            ],
        ),
    ],
)
def test_values_in_no_row_and_their_corrections(
    filters: list[Any], said: str, offered: list[tuple[str, str]]
) -> None:
    asked = order_plan(*filters)
    missing = missing_values(text_literals(asked, DATA), PROFILE, DATA)
    assert not_in_the_data(missing) == said
    made = corrections(asked, missing, DATA)
    assert [(correction_title(each.changes), corrected_conditions(each.changes)) for each in made] == offered
