"""Words that the right plan means in another form, each beside the wrong plan that must stay unbound for the word."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.plan.validate import check_plan, parse_plan
from sandtable.planner.conscience import Account, account
from tests.planner.conscience.carrier import (
    DATASET,
    INDEX,
    by,
    of,
    passed,
    plan,
    ranked,
    rows,
    share,
    where,
)

AMOUNTS: list[tuple[str, dict[str, Any], str]] = [
    ("how many days do customers wait on average", plan(select=[passed()]), ""),
    ("how many days from order to delivery on average", plan(select=[passed()]), ""),
    ("how many days from order to delivery on average", plan(select=[of("avg", "fee_eur")]), "how many"),
    ("how many hours from order to delivery", plan(select=[passed()]), "how many"),
    ("how many days from order to delivery", plan(select=[passed("max")]), "how many"),
    ("how many kilos did we deliver", plan(select=[of("sum", "weight_kg")]), ""),
    ("how many kilos did we deliver", plan(select=[of("avg", "weight_kg")]), "how many"),
    ("how many kilos did we deliver", plan(select=[of("sum", "fee_eur")]), "how many"),
    ("how many tonnes did we deliver", plan(select=[of("sum", "weight_kg", unit="t")]), ""),
    ("number of kilometres by carrier", by("carrier", of("sum", "distance_km")), ""),
    (
        "how many bottles of juice did we deliver",
        plan(select=[of("sum", "qty")], filters=[where("article", "=", "Juice")]),
        "",
    ),
    ("how many cartons did each carrier deliver", by("carrier", of("sum", "qty")), ""),
    ("how many cartons did each carrier deliver", by("carrier", of("avg", "qty")), "how many"),
    ("how many drivers delivered", plan(select=[of("sum", "qty")]), "how many"),
    ("how many customers paid", plan(select=[of("sum", "fee_eur")]), "how many"),
    ("how many deliveries were there", plan(select=[of("avg", "fee_eur")]), "how many"),
    (
        "how many vacation days does Driver 3 have",
        rows("vacation_days", table="drivers", filters=[where("driver_name", "=", "Driver 3")]),
        "",
    ),
    (
        "how much is the hourly wage of Driver 3",
        rows("hourly_wage", table="drivers", filters=[where("driver_name", "=", "Driver 3")]),
        "",
    ),
    ("how much does the fee vary", plan(select=[of("stddev", "fee_eur")]), ""),
    ("how much are the fees", plan(), "how much"),
]

_LATE = {"column": "delivered_on", "op": ">", "other_column": "promised_on"}
_ON_TIME = {"column": "delivered_on", "op": "<=", "other_column": "promised_on"}
_BY_SCORE = by("carrier", of("avg", "score"))
_BY_TIME = by("carrier", passed())
_HIRED = rows("driver_name", "hired_on", table="drivers")
ENDS: list[tuple[str, dict[str, Any], str]] = [
    ("slowest carrier by average days", ranked(_BY_TIME, "passed"), ""),
    ("slowest carrier by average days", ranked(_BY_TIME, "passed", "asc"), "slowest"),
    ("quickest carrier by average days", ranked(_BY_TIME, "passed", "asc"), ""),
    ("quickest carrier by average days", ranked(_BY_TIME, "passed"), "quickest"),
    ("fastest delivery", ranked(rows("delivery_no", "top_speed"), "top_speed"), ""),
    ("fastest delivery", ranked(rows("delivery_no", "top_speed"), "top_speed", "asc"), "fastest"),
    ("worst carrier by late share", ranked(by("carrier", share(_LATE)), "share"), ""),
    ("worst carrier by late share", ranked(by("carrier", share(_LATE)), "share", "asc"), "worst"),
    ("best carrier by late share", ranked(by("carrier", share(_LATE)), "share"), "best"),
    ("most punctual carrier by late share", ranked(by("carrier", share(_LATE)), "share", "asc"), ""),
    ("most punctual carrier by late share", ranked(by("carrier", share(_LATE)), "share"), "most punctual"),
    ("carrier with the worst score", ranked(_BY_SCORE, "avg_score", "asc"), ""),
    ("carrier with the worst score", ranked(_BY_SCORE, "avg_score"), "worst"),
    ("which carrier has the unhappiest customers by score", ranked(_BY_SCORE, "avg_score", "asc"), ""),
    ("which carrier has the unhappiest customers by score", ranked(_BY_SCORE, "avg_score"), "unhappiest"),
    ("worst carrier by number of deliveries", ranked(by("carrier"), "count"), "worst"),
    ("which driver has been with us the longest", ranked(_HIRED, "hired_on", "asc"), ""),
    ("longest serving driver", ranked(_HIRED, "hired_on", "asc"), ""),
    ("longest serving driver", ranked(_HIRED, "hired_on"), "longest"),
    ("carriers by score, worst first", ranked(_BY_SCORE, "avg_score", "asc", None), ""),
    ("carriers by score, worst first", ranked(_BY_SCORE, "avg_score", "desc", None), "worst"),
    ("how long does a delivery of each carrier last", _BY_TIME, ""),
    ("which carrier delivered last", by("carrier"), "last"),
    (
        "which carrier lost the most by profit",
        ranked(by("carrier", of("sum", "profit_eur")), "sum_profit_eur", "asc"),
        "",
    ),
    (
        "which carrier won the most by profit",
        ranked(by("carrier", of("sum", "profit_eur")), "sum_profit_eur", "asc"),
        "most",
    ),
]

_NEVER = {"not": {"exists": {"table": "deliveries"}}}
NEGATIONS: list[tuple[str, dict[str, Any], str]] = [
    ("drivers who never drove", rows("driver_name", table="drivers", filters=[_NEVER]), ""),
    ("drivers we gave nothing to do", rows("driver_name", table="drivers", filters=[_NEVER]), ""),
    ("drivers who never drove", rows("driver_name", table="drivers"), "never"),
    (
        "drivers who never drove",
        rows("driver_name", table="drivers", filters=[{"exists": {"table": "deliveries"}}]),
        "never",
    ),
    (
        "drivers who never drove and do not eat meat",
        rows("driver_name", table="drivers", filters=[_NEVER]),
        "not",
    ),
    ("deliveries that haven't arrived", plan(filters=[where("delivered_on", "is_null")]), ""),
    ("deliveries that haven't arrived", plan(filters=[where("delivered_on", "not_null")]), "haven't"),
    ("deliveries nobody wanted", plan(filters=[where("qty", "=", 0)]), ""),
    ("deliveries by anyone but Swift", plan(filters=[where("carrier", "!=", "Swift")]), ""),
    ("deliveries by anyone but Swift", plan(filters=[where("carrier", "=", "Swift")]), "but"),
    ("non-Swift deliveries", plan(filters=[where("carrier", "!=", "Swift")]), ""),
    ("non-Swift deliveries", plan(filters=[where("carrier", "=", "Swift")]), "non"),
    (
        "deliveries not by Swift",
        plan(filters=[where("carrier", "=", "Swift"), where("damaged", "=", False)]),
        "not",
    ),
    ("no-show rate by carrier", by("carrier", {"metric": "no_show_rate"}), ""),
    ("no-show rate by carrier", by("carrier", share(where("damaged", "=", True))), "no"),
    ("average score of damaged deliveries vs those not damaged", by("damaged", of("avg", "score")), ""),
    ("average score of deliveries not damaged", by("damaged", of("avg", "score")), "not"),
    ("deliveries not yet finished", plan(filters=[where("outcome", "=", "pending")]), ""),
    ("deliveries that are not pending", plan(filters=[where("outcome", "=", "pending")]), "not"),
    (
        "average fee, leaving out deliveries without one",
        plan(select=[of("avg", "fee_eur")], filters=[where("fee_eur", ">", 0)]),
        "",
    ),
    (
        "average fee of deliveries without damage, leaving out none",
        plan(select=[of("avg", "fee_eur")]),
        "without",
    ),
    ("deliveries that came no later than promised", plan(filters=[_ON_TIME]), ""),
    ("deliveries that came no later than promised", plan(filters=[_LATE]), "no"),
]

SIDES: list[tuple[str, dict[str, Any], str]] = [
    ("Do damaged deliveries cost more on average than the others?", by("damaged", of("avg", "fee_eur")), ""),
    ("so, do damaged deliveries cost more than undamaged ones?", by("damaged", of("avg", "fee_eur")), ""),
    ("Do damaged deliveries cost more than the others?", by("article", of("avg", "fee_eur")), "more than"),
    ("Do damaged deliveries cost more than the others?", plan(select=[of("avg", "fee_eur")]), "more than"),
    ("compare the average fee between carriers", by("carrier", of("avg", "fee_eur")), ""),
]


def _of(question: str, plan_: dict[str, Any]) -> Account:
    assert check_plan(parse_plan(plan_), DATASET) == []
    return account(question, plan_, INDEX)


def _check(question: str, plan_: dict[str, Any], unbound: str) -> None:
    """Nothing but content words is left over, or this word is."""
    left = [u.text.lower() for u in _of(question, plan_).unbound if u.kind != "content"]
    assert unbound in left if unbound else left == []


def _ids(cases: list[tuple[str, dict[str, Any], str]]) -> list[str]:
    return [f"{at}-{question[:50]}-{unbound}" for at, (question, _, unbound) in enumerate(cases)]


@pytest.mark.parametrize(("question", "plan_", "unbound"), AMOUNTS, ids=_ids(AMOUNTS))
def test_how_many_asks_for_an_amount_in_its_unit(question: str, plan_: dict[str, Any], unbound: str) -> None:
    _check(question, plan_, unbound)


@pytest.mark.parametrize(("question", "plan_", "unbound"), ENDS, ids=_ids(ENDS))
def test_a_superlative_means_the_end_that_its_measure_gives_it(
    question: str, plan_: dict[str, Any], unbound: str
) -> None:
    _check(question, plan_, unbound)


@pytest.mark.parametrize(("question", "plan_", "unbound"), NEGATIONS, ids=_ids(NEGATIONS))
def test_a_negation_means_what_is_negative_in_the_plan(
    question: str, plan_: dict[str, Any], unbound: str
) -> None:
    _check(question, plan_, unbound)


def test_other_values_than_those_that_are_said_need_a_word_for_it() -> None:
    question, kept = "deliveries by Swift", where("carrier", "!=", "Swift")
    assert [p.path for p in _of(question, plan(filters=[kept])).unasked] == [("filters", 0)]
    assert _of("deliveries other than Swift", plan(filters=[kept])).unasked == ()


@pytest.mark.parametrize(("question", "plan_", "unbound"), SIDES, ids=_ids(SIDES))
def test_two_sides_are_read_off_groups_of_two(question: str, plan_: dict[str, Any], unbound: str) -> None:
    _check(question, plan_, unbound)
