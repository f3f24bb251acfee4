"""Times and units that several words say, each beside the wrong plan that must stay unbound for them."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.plan.validate import check_plan, parse_plan
from sandtable.planner.conscience import account
from tests.planner.conscience.carrier import COUNT, DATASET, INDEX, by, of, plan, rows, where


def _year(number: int) -> dict[str, Any]:
    return {"from": f"{number}-01-01", "to": f"{number}-12-31"}


def _compared(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    measures = [
        {"agg": "count", "where": [{"time": window}], "as": name}
        for name, window in (("before", first), ("after", second))
    ]
    change = {"change": "after", "from": "before", "kind": "percent", "as": "change"}
    return plan(select=measures, derive=[change])


def _bucket(unit: str, **fields: Any) -> dict[str, Any]:
    return plan(select=[{"bucket": unit, "as": unit}, COUNT], group_by=[unit], **fields)


_WAGE = rows("hourly_wage", table="drivers", filters=[where("driver_name", "=", "Driver 3")])
_GROWTH = [{"change": "count", "along": "month", "kind": "percent", "as": "growth"}]
CASES: list[tuple[str, dict[str, Any], str]] = [
    ("change in deliveries from 2023 to 2024 in percent", _compared(_year(2023), _year(2024)), ""),
    (
        "change in deliveries from 2023 to 2024 in percent",
        _compared(_year(2022), _year(2024)),
        "from 2023 to 2024",
    ),
    ("deliveries from 2023 to 2024", plan(time=_year(2024)), "from 2023 to 2024"),
    ("deliveries in 2025 Q1", plan(time={"from": "2025-01-01", "to": "2025-03-31"}), ""),
    ("deliveries in 2025 Q1", plan(time={"from": "2025-04-01", "to": "2025-06-30"}), "in 2025"),
    ("deliveries since the start of 2023", plan(time={"from": "2023-01-01"}), ""),
    ("deliveries since the start of 2023", plan(time={"from": "2024-01-01"}), "of 2023"),
    ("deliveries up to the end of 2023", plan(time={"to": "2023-12-31"}), ""),
    ("deliveries up to the end of 2023", plan(time={"to": "2023-01-01"}), "of 2023"),
    ("deliveries after the end of 2023", plan(time={"from": "2024-01-01"}), ""),
    ("deliveries 2023 or later", plan(time={"from": "2023-01-01"}), ""),
    ("deliveries 2023 or later", plan(time={"to": "2023-12-31"}), "2023"),
    ("deliveries per month, growth over the previous month", _bucket("month", derive=_GROWTH), ""),
    ("deliveries in the previous month", plan(), "in the previous month"),
    ("deliveries for each hour of the day", _bucket("hour_of_day"), ""),
    ("deliveries for each hour of the day", by("carrier"), "day"),
    ("deliveries on each day of the week", _bucket("day_name"), ""),
    ("what does Driver 3 earn per hour", _WAGE, ""),
    ("what does Driver 3 earn an hour", _WAGE, ""),
    ("what does Driver 3 earn per month", _WAGE, "per month"),
    ("deliveries per hour", plan(), "per hour"),
    ("how many meters are there in each district", by("district", table="meters"), ""),
    ("distance in meters", plan(select=[of("sum", "distance_km")]), "meters"),
    (
        "delivery 7: on what day was it ordered",
        rows("ordered_on", filters=[where("delivery_no", "=", 7)]),
        "",
    ),
    ("on what day did most deliveries fail", by("carrier"), "on what day"),
]


@pytest.mark.parametrize(("question", "plan_", "unbound"), CASES, ids=[f"{q[:60]}-{b}" for q, _, b in CASES])
def test_a_phrase_of_time_is_bound_or_blamed(question: str, plan_: dict[str, Any], unbound: str) -> None:
    assert check_plan(parse_plan(plan_), DATASET) == []
    left = [u.text.lower() for u in account(question, plan_, INDEX).unbound if u.kind != "content"]
    assert unbound in left if unbound else left == []
