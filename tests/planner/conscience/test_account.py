"""Every kind of word that obliges a plan: with the plan that means it, and with one that does not."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.plan.validate import check_plan, parse_plan
from sandtable.planner.conscience import Account, account
from tests.planner.conscience.corpus import (
    COUNT,
    DATASET,
    IN_HOURS,
    INDEX,
    ROWS,
    SHARE_OF_WARRANTY,
    average,
    by,
    first,
    month_by,
    plan,
    total,
    where,
)

_OPEN = where("finished_on", "is_null")
_DONE = where("status", "=", "done")
_JUNE = {"from": "2025-06-01", "to": "2025-06-30"}

BOUND: list[tuple[str, dict[str, Any]]] = [
    ("how many repairs are there", plan()),
    ("How many repairs were done?", plan(filters=[_DONE])),
    ("repairs per mechanic", by("mechanic")),
    ("please show me the number of repairs by status, as a bar chart", by("status", chart="bar")),
    # negation
    ("repairs that are not done", plan(select=[ROWS], filters=[where("status", "!=", "done")])),
    ("repairs not finished yet", plan(select=[ROWS], filters=[_OPEN])),
    ("how many repairs without a coupon", plan(filters=[where("coupon", "is_null")])),
    ("repairs that never used a coupon", plan(select=[ROWS], filters=[where("coupon", "is_null")])),
    ("how many repairs aren't under warranty", plan(filters=[where("warranty", "=", False)])),
    ("repairs except brakes", plan(select=[ROWS], filters=[where("kind_of_job", "!=", "brakes")])),
    ("unfinished repairs", plan(select=[ROWS], filters=[_OPEN])),
    ("how many no shows", plan(filters=[where("status", "=", "no show")])),
    # comparison, number, unit
    ("repairs with more than 3 stars", plan(select=[ROWS], filters=[where("stars", ">", 3)])),
    ("repairs with at most 3 stars", plan(select=[ROWS], filters=[where("stars", "<=", 3)])),
    ("repairs with no more than 3 stars", plan(select=[ROWS], filters=[where("stars", "<=", 3)])),
    ("parts between 10 and 20 euros", plan(select=[ROWS], filters=[where("parts_eur", "between", [10, 20])])),
    (
        "repairs that took more than 2 hours of labour",
        plan(select=[ROWS], filters=[where("labour_min", ">", 120)]),
    ),
    ("labour of more than a day", plan(select=[ROWS], filters=[where("labour_min", ">", 1440)])),
    ("average labour in hours", plan(select=[IN_HOURS])),
    ("average labour in minutes", plan(select=[average("labour_min")])),
    # quoted
    ('repairs by "Bo Lind"', plan(select=[ROWS], filters=[where("mechanic", "=", "Bo Lind")])),
    # superlative
    ("which mechanic has the most repairs", first(by("mechanic"), "count")),
    (
        "top 3 mechanics by parts",
        first(by("mechanic", total("parts_eur")), "total_parts_eur", limit=3),
    ),
    ("oldest client", first(plan("clients", select=[{"column": "client_name"}, {"column": "age"}]), "age")),
    (
        "youngest client",
        first(plan("clients", select=[{"column": "client_name"}, {"column": "age"}]), "age", "asc"),
    ),
    ("latest repair", first(plan(select=[ROWS, {"column": "opened_on"}]), "opened_on")),
    ("highest parts cost", plan(select=[{"agg": "max", "column": "parts_eur"}])),
    # time
    ("repairs in June 2025", plan(select=[ROWS], time=_JUNE)),
    ("repairs in June", plan(select=[ROWS], time=_JUNE)),
    ("repairs since May 2025", plan(select=[ROWS], time={"from": "2025-05-01"})),
    ("repairs in the last 30 days", plan(select=[ROWS], time={"last": 30, "unit": "day"})),
    ("repairs this month", plan(select=[ROWS], time={"period": "this_month"})),
    ("repairs per month", month_by()),
    ("repairs over time", month_by()),
    ("repairs built before 2005", plan(select=[ROWS], filters=[where("year_built", "<", 2005)])),
    # aggregate
    ("average stars by mechanic", by("mechanic", average("stars"))),
    ("total parts by mechanic", by("mechanic", total("parts_eur"))),
    ("add up the parts per mechanic", by("mechanic", total("parts_eur"))),
    ("how much did the parts cost", plan(select=[total("parts_eur")])),
    ("median labour", plan(select=[{"agg": "median", "column": "labour_min"}])),
    ("share of repairs under warranty", plan(select=[SHARE_OF_WARRANTY])),
    ("return rate by mechanic", by("mechanic", {"metric": "return_rate"})),
    (
        "running total of repairs per month",
        month_by(derive=[{"running_total": "count", "along": "month", "as": "sum_so_far"}]),
    ),
    (
        "growth of repairs per month",
        month_by(derive=[{"change": "count", "along": "month", "kind": "percent", "as": "growth"}]),
    ),
    (
        "how many different mechanics are there",
        plan(select=[{"agg": "count_distinct", "column": "mechanic", "as": "mechanics"}]),
    ),
    # comparisons of groups
    (
        "Linz vs Wels: average parts",
        plan(
            select=[{"column": "clients.town", "as": "town"}, average("parts_eur")],
            group_by=["town"],
            filters=[where("clients.town", "in", ["Linz", "Wels"])],
        ),
    ),
    (
        "repairs in Linz or Wels",
        plan(select=[ROWS], filters=[where("clients.town", "in", ["Linz", "Wels"])]),
    ),
    # values, spelling, synonyms
    ("repairs by Cleo Parc", plan(select=[ROWS], filters=[where("mechanic", "=", "Cleo Park")])),
    (
        "clients from Graz",
        plan("clients", select=[{"column": "client_name"}], filters=[where("town", "=", "Graz")]),
    ),
    ("customers per city", {**plan("clients", select=[{"column": "town"}, COUNT]), "group_by": ["town"]}),
    ("who finished the most repairs", first(by("mechanic"), "count")),
]

UNBOUND: list[tuple[str, dict[str, Any], str, str]] = [
    # chart
    ("repairs per mechanic as a pie", by("mechanic"), "chart", "as a pie"),
    ("repairs per mechanic as a pie", by("mechanic", chart="bar"), "chart", "as a pie"),
    # negation
    ("repairs that are not done", plan(select=[ROWS], filters=[_DONE]), "negation", "not"),
    ("repairs not finished yet", plan(select=[ROWS]), "negation", "not"),
    ("repairs finished yet", plan(select=[ROWS]), "negation", "yet"),
    (
        "repairs that never used a coupon",
        plan(select=[ROWS], filters=[where("coupon", "not_null")]),
        "negation",
        "never",
    ),
    ("how many repairs without a coupon", plan(), "negation", "without"),
    (
        "repairs except brakes",
        plan(select=[ROWS], filters=[where("kind_of_job", "=", "brakes")]),
        "negation",
        "except",
    ),
    (
        "how many repairs aren't under warranty",
        plan(filters=[where("warranty", "=", True)]),
        "negation",
        "aren't",
    ),
    (
        "repairs not by Bo Lind with a coupon",
        plan(select=[ROWS], filters=[where("mechanic", "=", "Bo Lind"), where("coupon", "not_null")]),
        "negation",
        "not",
    ),
    # comparison
    ("repairs with more than 3 stars", plan(select=[ROWS]), "comparison", "more than 3"),
    (
        "repairs with more than 3 stars",
        plan(select=[ROWS], filters=[where("stars", "<", 3)]),
        "comparison",
        "more than 3",
    ),
    (
        "repairs with at most 3 stars",
        plan(select=[ROWS], filters=[where("stars", ">=", 3)]),
        "comparison",
        "at most 3",
    ),
    ("labour of more than a day", plan(select=[ROWS]), "comparison", "more than a day"),
    (
        "labour of more than a day",
        plan(select=[ROWS], filters=[where("labour_min", ">", 1)]),
        "comparison",
        "more than a day",
    ),
    (
        "who repaired more than once",
        plan(select=[{"column": "mechanic"}], group_by=["mechanic"]),
        "comparison",
        "more than once",
    ),
    (
        "Linz vs Wels: average parts",
        plan(select=[average("parts_eur")], filters=[where("clients.town", "=", "Linz")]),
        "comparison",
        "vs",
    ),
    ("repairs with labour above the average", plan(select=[ROWS]), "comparison", "above"),
    # number, unit, quoted
    ("top 3 mechanics by repairs", first(by("mechanic"), "count", limit=5), "number", "3"),
    ("repairs with 4 stars", plan(select=[ROWS]), "number", "4"),
    ("average labour in hours", plan(select=[average("labour_min")]), "unit", "hours"),
    (
        "labour of more than 2 hours",
        plan(select=[ROWS], filters=[where("labour_min", ">", 2)]),
        "comparison",
        "more than 2 hours",
    ),
    (
        "parts over 50 dollars",
        plan(select=[ROWS], filters=[where("parts_eur", ">", 50)]),
        "comparison",
        "over 50 dollars",
    ),
    ('repairs by "Zed Nolan"', plan(select=[ROWS]), "quoted", "Zed Nolan"),
    # superlative
    ("which mechanic has the most repairs", by("mechanic"), "superlative", "most"),
    ("which mechanic has the fewest repairs", first(by("mechanic"), "count"), "superlative", "fewest"),
    (
        "oldest client",
        first(plan("clients", select=[{"column": "client_name"}, {"column": "age"}]), "age", "asc"),
        "superlative",
        "oldest",
    ),
    (
        "cheapest repair",
        first(plan(select=[ROWS, {"column": "labour_min"}]), "labour_min", "asc"),
        "superlative",
        "cheapest",
    ),
    (
        "latest repair",
        first(plan(select=[ROWS, {"column": "parts_eur"}]), "parts_eur"),
        "superlative",
        "latest",
    ),
    ("third most repairs by mechanic", first(by("mechanic"), "count"), "superlative", "third"),
    # time
    ("repairs in June 2025", plan(select=[ROWS]), "time", "in June 2025"),
    (
        "repairs in June 2025",
        plan(select=[ROWS], time={"from": "2024-06-01", "to": "2024-06-30"}),
        "time",
        "in June 2025",
    ),
    ("repairs since May 2025", plan(select=[ROWS], time={"to": "2025-05-01"}), "time", "since May 2025"),
    (
        "repairs in the last 30 days",
        plan(select=[ROWS], time={"last": 3, "unit": "day"}),
        "time",
        "in the last 30 days",
    ),
    ("repairs per month", by("mechanic"), "time", "per month"),
    ("repairs on weekends", plan(select=[ROWS]), "time", "weekends"),
    ("repairs in the morning", plan(select=[ROWS]), "time", "morning"),
    ("which repairs are currently with us", plan(select=[ROWS]), "time", "currently"),
    ("how many repairs will we have", plan(), "time", "will"),
    ("recent repairs", plan(select=[ROWS]), "superlative", "recent"),
    # aggregate
    ("average stars by mechanic", by("mechanic", total("stars")), "aggregate", "average"),
    ("total parts by mechanic", by("mechanic", average("parts_eur")), "aggregate", "total"),
    ("how much did the parts cost", plan(), "aggregate", "how much"),
    (
        "how many repairs per mechanic",
        plan(select=[{"column": "mechanic"}], group_by=["mechanic"]),
        "aggregate",
        "how many",
    ),
    ("share of repairs under warranty", plan(filters=[where("warranty", "=", True)]), "aggregate", "share"),
    (
        "share of repairs under warranty",
        plan(filters=[where("warranty", "=", True)], derive=[{"share_of_total": "count", "as": "share"}]),
        "aggregate",
        "share",
    ),
    (
        "correlation between labour and parts",
        plan(select=[{"column": "labour_min"}, {"column": "parts_eur"}]),
        "aggregate",
        "correlation",
    ),
    ("difference in stars by mechanic", by("mechanic", average("stars")), "aggregate", "difference"),
    ("growth of repairs per month", month_by(), "aggregate", "growth"),
    ("running total of repairs per month", month_by(), "aggregate", "running total"),
    ("why were repairs reopened", plan(filters=[where("status", "=", "reopened")]), "aggregate", "why"),
    ("labour per mechanic", plan(select=[average("labour_min")]), "aggregate", "per"),
    ("parts in June 2025", plan(select=[{"column": "parts_eur"}], time=_JUNE), "aggregate", "parts"),
    ("how are we doing in Linz", plan(filters=[where("clients.town", "=", "Linz")]), "aggregate", "doing"),
    # content
    ("profit by mechanic", by("mechanic"), "content", "profit"),
    ("repairs by mechanic and branch", by("mechanic"), "content", "branch"),
    ("who did the most repairs", first(by("kind_of_job"), "count"), "content", "who"),
    (
        "when was repair 7 opened",
        plan(select=[{"column": "status"}], filters=[where("repair_no", "=", 7)]),
        "content",
        "when",
    ),
    ("only repairs by Bo Lind", plan(select=[ROWS]), "content", "only"),
    ("stars for jobs of kind A", by("kind_of_job", average("stars")), "content", "A"),
]

UNASKED: list[tuple[str, dict[str, Any], tuple[str | int, ...]]] = [
    ("how many repairs are there", plan(filters=[_DONE]), ("filters", 0)),
    ("how many repairs are there", plan(time=_JUNE), ("time",)),
    ("how many repairs are there", plan(filters=[where("warranty", "=", True)]), ("filters", 0)),
    ("repairs under warranty", plan(select=[ROWS], filters=[where("warranty", "=", False)]), ("filters", 0)),
    ("repairs", plan(select=[ROWS], limit=3), ("limit",)),
    ("repairs by status", by("status", total("client_id")), ("select", 1)),
    ("repairs by status", by("status", total("labour_min")), ("select", 1)),
    ("stars by status", by("status", total("stars")), ("select", 1)),
    (
        "repairs by status",
        plan(select=[{"column": "status"}, {"column": "repair_no"}, COUNT], group_by=["status", "repair_no"]),
        ("select", 1),
    ),
    ("average stars", by("mechanic", average("stars")), ("select", 0)),
    ("people from Linz", plan(select=[ROWS], filters=[where("clients.town", "=", "Linz")]), ("table",)),
    (
        "unfinished repairs",
        plan(select=[{"column": "opened_on"}], group_by=["opened_on"], filters=[_OPEN]),
        ("select", 0),
    ),
]


def _id(case: tuple[Any, ...]) -> str:
    return "/".join(str(part) for part in (case[0], *case[2:]))[:70]


def _of(question: str, plan_: dict[str, Any]) -> Account:
    assert check_plan(parse_plan(plan_), DATASET) == []
    return account(question, plan_, INDEX)


@pytest.mark.parametrize(
    ("question", "plan_"), BOUND, ids=[f"{i}-{q[:40]}" for i, (q, _) in enumerate(BOUND)]
)
def test_a_plan_that_means_every_word_has_a_clean_account(question: str, plan_: dict[str, Any]) -> None:
    found = _of(question, plan_)
    assert found.unbound == () and found.unasked == ()


@pytest.mark.parametrize("case", UNBOUND, ids=_id)
def test_a_word_that_no_part_means_is_named(case: tuple[str, dict[str, Any], str, str]) -> None:
    question, plan_, kind, text = case
    found = _of(question, plan_)
    assert (kind, text.lower()) in [(u.kind, u.text.lower()) for u in found.unbound]
    assert all(u.why and u.start < u.end for u in found.unbound)


@pytest.mark.parametrize("case", UNASKED, ids=_id)
def test_a_part_that_no_word_asks_for_is_named(
    case: tuple[str, dict[str, Any], tuple[str | int, ...]],
) -> None:
    question, plan_, path = case
    found = _of(question, plan_)
    assert path in [part.path for part in found.unasked]


def test_parts_say_where_they_are_and_which_words_they_came_from() -> None:
    question = "average stars of brakes by mechanic in June 2025"
    found = _of(
        question, by("mechanic", average("stars"), filters=[where("kind_of_job", "=", "brakes")], time=_JUNE)
    )
    words = question.split()
    told = {
        (part.kind, part.path): [words[at] for at in part.words]
        for part in found.parts
        if part.kind != "shape"
    }
    assert told[("measure", ("select", 1))] == ["average", "stars"]
    assert told[("where", ("filters", 0))] == ["brakes"]
    assert told[("by", ("select", 0))] == ["mechanic"]
    assert told[("when", ("time",))] == ["in", "June", "2025"]
    assert [words[at] for at in found.aside] == ["of", "by"]
    labels = {part.path: part.label for part in found.parts}
    assert labels[("select", 1)] == "stars, averaged"
    assert labels[("filters", 0)] == "kind of job is brakes"


def test_a_defined_table_is_looked_into() -> None:
    inner = by("client_id", total("parts_eur"))
    del inner["dataset_id"]
    plan_ = {
        "dataset_id": "workshop",
        "define": [{"name": "spent", "plan": inner}],
        "table": "spent",
        "select": [{"agg": "avg", "column": "total_parts_eur", "as": "typical"}],
    }
    assert _of("average total parts per client", plan_).clean
    assert [u.text for u in _of("average total tips per client", plan_).unbound] == ["tips"]


def test_a_follow_up_needs_no_words_for_what_stays() -> None:
    before = by("mechanic", average("stars"), filters=[_DONE])
    after = by("mechanic", average("stars"), filters=[_DONE, where("warranty", "=", True)])
    assert account("only under warranty", after, INDEX, before).clean
    assert account("without done", by("mechanic", average("stars")), INDEX, before).clean
    stranger = by("mechanic", average("stars"), filters=[_DONE, where("coupon", "not_null")])
    assert [p.path for p in account("only under warranty", stranger, INDEX, before).unasked] == [
        ("filters", 1)
    ]
