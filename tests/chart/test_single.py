"""A single value is a large number with the change that its row has."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.chart.figure import chart_of, charts_of
from sandtable.chart.rules import SECOND_MAKER
from sandtable.chart.shape import Words
from sandtable.chart.wishes import shown_instead, unmet_wish
from sandtable.plan.validate import parse_plan
from tests.chart.test_choice import grouped

BEFORE = {"metric": "revenue", "as": "q3", "where": [{"column": "sold_on", "op": "<", "value": "2024-10-01"}]}
AFTER = {"metric": "revenue", "as": "q4", "where": [{"column": "sold_on", "op": ">=", "value": "2024-10-01"}]}
CHANGE = {"change": "q4", "from": "q3", "kind": "percent", "as": "change"}


def drawn(
    columns: dict[str, Any],
    *,
    plan: dict[str, Any] | None = None,
    units: tuple[str, ...] = (),
    question: str = "",
) -> dict[str, Any] | None:
    typed = [(name, "VARCHAR" if isinstance(cell, str) else "DOUBLE") for name, cell in columns.items()]
    parsed = parse_plan(plan) if plan is not None else None
    return chart_of(
        typed, [tuple(columns.values())], plan=parsed, words=Words(units=units), question=question
    )


def test_one_number_has_its_unit() -> None:
    made = drawn({"revenue": 123.5}, plan=grouped({"metric": "revenue"}), units=("EUR",))
    assert made is not None
    [trace] = made["data"]
    assert (trace["type"], trace["mode"], trace["value"]) == ("indicator", "number", 123.5)
    assert trace["number"] == {"prefix": "€", "suffix": "", "valueformat": ",.2f"}
    assert made["layout"]["title"]["text"] == "Revenue"


def test_a_comparison_has_its_change_as_the_row_has_it() -> None:
    plan = grouped(BEFORE, AFTER, derive=[CHANGE])
    made = drawn({"q3": 80, "q4": 100, "change": 0.25}, plan=plan)
    assert made is not None
    now, earlier = made["data"]
    assert (now["value"], now["mode"], now["meta"]) == (
        100,
        "number+delta",
        {"change": 0.25, "relative": True},
    )
    assert now["delta"] == {"reference": 80, "relative": True, "valueformat": ".1%"}
    assert (earlier["value"], earlier["mode"]) == (80, "number")


def test_without_a_change_in_the_row_none_is_shown() -> None:
    made = drawn({"q3": 80, "q4": 100}, plan=grouped(BEFORE, AFTER))
    assert made is not None
    assert [(trace["value"], trace["mode"]) for trace in made["data"]] == [(80, "number"), (100, "number")]


def test_the_one_group_is_named() -> None:
    plan = grouped({"column": "category"}, {"metric": "revenue"}, limit=1)
    made = drawn({"category": "<Toys>", "revenue": 5.5}, plan=plan)
    assert made is not None and made["layout"]["title"]["text"].startswith("&lt;Toys&gt;: Revenue")


@pytest.mark.parametrize(
    ("columns", "plan"),
    [
        ({"category": "Toys"}, None),
        ({"category": "Toys", "revenue": 5.5}, None),
        ({"order_id": 7.0, "total": 5.5}, None),
        ({"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}, None),
        ({"total": 5.5}, grouped({"column": "total"}, limit=1)),
        ({"revenue": None}, grouped({"metric": "revenue"})),
    ],
)
def test_details_of_one_thing_are_no_number(columns: dict[str, Any], plan: dict[str, Any] | None) -> None:
    assert drawn(columns, plan=plan) is None


def test_earlier_rules_have_no_number() -> None:
    plan = parse_plan(grouped({"metric": "revenue"}))
    assert chart_of([("revenue", "DOUBLE")], [(5,)], plan=plan, maker=SECOND_MAKER) is None
    assert chart_of([("revenue", "DOUBLE")], [(5,)], plan=plan, question="no chart") is None
    assert charts_of([("revenue", "DOUBLE")], [(5,)], plan=plan) == {}


def test_a_wish_that_a_number_does_not_meet_is_said() -> None:
    made = drawn({"revenue": 5.5}, plan=grouped({"metric": "revenue"}, chart="pie"))
    assert unmet_wish("revenue as a pie chart", {"chart": "pie"}, made).startswith(
        "these rows cannot be shown as a pie"
    )
    assert shown_instead(made) == "the chart shows them as a number"
