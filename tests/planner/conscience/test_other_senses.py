"""Words that mean a part of the plan in another sense, each beside the plan that must stay unbound for the word."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.plan.validate import check_plan, parse_plan
from sandtable.planner.conscience import account
from tests.planner.conscience.carrier import COUNT, DATASET, INDEX, by, of, passed, plan, rows, where

_LATE = {"column": "delivered_on", "op": ">", "other_column": "promised_on"}
_IN_TIME = {"column": "delivered_on", "op": "<=", "other_column": "promised_on"}
_RELATED = {"agg": "correlation", "column": "distance_km", "with": "fee_eur", "as": "correlation"}
_BY_MONTH = plan(
    select=[{"bucket": "month", "as": "month"}, COUNT],
    group_by=["month"],
    derive=[{"change": "count", "along": "month", "kind": "percent", "as": "growth"}],
)
CASES: list[tuple[str, dict[str, Any], str]] = [
    # per, each, every
    ("deliveries per driver", by("drivers.driver_name"), ""),
    ("deliveries per driver", by("carrier"), "per"),
    ("average fee per delivery", plan(select=[of("avg", "fee_eur")]), ""),
    ("average fee per row", plan(select=[of("avg", "fee_eur")]), ""),
    ("average fee per carrier", plan(select=[of("avg", "fee_eur")]), "per"),
    ("total fee per delivery", plan(select=[of("sum", "fee_eur")]), "per"),
    # computing words in another sense
    ("growth rate of deliveries per month", _BY_MONTH, ""),
    ("rate of deliveries per month", plan(select=[{"bucket": "month", "as": "month"}, COUNT]), "rate"),
    ("how do customers rate us, mean score", plan(select=[of("avg", "score")]), ""),
    ("how do deliveries spread over the carriers", by("carrier"), ""),
    ("spread of the fee", plan(select=[of("avg", "fee_eur")]), "spread"),
    ("does a longer distance mean a higher fee", plan(select=[_RELATED]), ""),
    ("mean fee", plan(select=[of("sum", "fee_eur")]), "mean"),
    ("deliveries by cause", by("cause"), ""),
    ("what caused failed deliveries", plan(filters=[where("outcome", "=", "failed")]), "caused"),
    ("deliveries that failed because of rain", plan(filters=[where("cause", "=", "Rain")]), ""),
    ("how far do we drive on average", plan(select=[of("avg", "distance_km")]), ""),
    ("how far do we drive on average", plan(select=[of("avg", "fee_eur")]), "how far"),
    ("the total amount of fees", plan(select=[of("sum", "fee_eur")]), ""),
    ("the total amount of fees", plan(), "amount of"),
    ("do some articles bring more? mean fee by article", by("article", of("avg", "fee_eur")), ""),
    ("do some articles bring more than others", plan(), "more than"),
    ("do we deliver more", plan(), "more"),
    ("how do fees differ between the carriers", by("carrier", of("avg", "fee_eur")), ""),
    ("fees between the carriers", plan(select=[of("avg", "fee_eur")]), "between"),
    ("deliveries with zero cartons", plan(filters=[where("qty", "=", 0)]), ""),
    ("deliveries with zero cartons", plan(), "zero"),
    ("how many separate carriers", plan(select=[of("count_distinct", "carrier")]), ""),
    ("how many separate carriers", plan(), "separate"),
    (
        "how did deliveries change over the months",
        plan(select=[{"bucket": "month", "as": "month"}, COUNT]),
        "",
    ),
    ("how did deliveries change", plan(), "change"),
    # content words
    ("average wait by carrier", by("carrier", passed()), ""),
    ("average wait by carrier", by("carrier", of("avg", "fee_eur")), "wait"),
    ("how many deliveries were late", plan(filters=[_LATE]), ""),
    ("how many deliveries missed the promised time", plan(filters=[_IN_TIME]), "missed"),
    ("fees of Swift and Tortoise", by("carrier", of("sum", "fee_eur")), ""),
    ("fees of Swift", by("carrier", of("sum", "fee_eur")), "swift"),
    ("the middle fee", plan(select=[of("median", "fee_eur")]), ""),
    ("the middle fee", plan(select=[of("avg", "fee_eur")]), "middle"),
    ("the fee of delivery 7", rows("fee_eur", filters=[where("delivery_no", "=", 7)]), ""),
    ("profit by carrier", by("carrier"), "profit"),
]


@pytest.mark.parametrize(
    ("question", "plan_", "unbound"), CASES, ids=[f"{at}-{q[:60]}-{b}" for at, (q, _, b) in enumerate(CASES)]
)
def test_a_word_is_bound_to_what_it_means_here(question: str, plan_: dict[str, Any], unbound: str) -> None:
    assert check_plan(parse_plan(plan_), DATASET) == []
    left = [u.text.lower() for u in account(question, plan_, INDEX).unbound]
    light = {"drive", "customers", "failed", "cartons"}
    assert unbound in left if unbound else set(left) <= light
