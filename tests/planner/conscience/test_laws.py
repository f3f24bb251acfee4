"""Laws of the account, for any text and any plan: it never fails, and every word is in exactly one place."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandtable.planner.conscience import Account, account, directions
from sandtable.planner.language.reading import Reading
from tests.planner.conscience.corpus import (
    COUNT,
    INDEX,
    SHARE_OF_WARRANTY,
    average,
    having,
    total,
    where,
    without,
)

_WORDS = (
    "how many|what|which|who|when|where|why|repairs|repair|clients|mechanic|mechanics|stars|labour|parts|town|status|"
    "done|open|Bo Lind|Linz|Wels|not|never|without|except|yet|no|more than|at most|between|and|or|3|2 hours|a day|50%|"
    "'Bo Lind'|\"x\"|most|fewest|latest|oldest|third|top 3|first|last|in June 2025|since May|last 30 days|per month|"
    "currently|weekend|average|total|share of|percentage|rate|difference|growth|running total|distinct|per|each|by|"
    "in hours|in thousands|vs|compared with|both|only|one|once|US|A|?|,|($40)|ümläut|same|instead|those"
).split("|")
_QUESTIONS = st.lists(st.sampled_from(_WORDS), max_size=12).map(" ".join) | st.text(max_size=80)
_COLUMNS = st.sampled_from(
    ["repair_no", "opened_on", "mechanic", "status", "labour_min", "stars", "warranty", "clients.town"]
)
_CONDITIONS = st.sampled_from(
    [
        where("status", "=", "done"),
        where("status", "!=", "open"),
        where("mechanic", "in", ["Bo Lind", "Ada Horn"]),
        where("labour_min", ">", 120),
        where("labour_min", "between", [1, 2]),
        where("coupon", "is_null"),
        where("warranty", "=", False),
        {"any": [where("stars", ">", 3), {"not": where("clients.town", "=", "Linz")}]},
        {"column": "labour_min", "op": ">", "other_column": "stars"},
        having(where("status", "=", "done")),
        without({"time": {"last": 30, "unit": "day"}}, at_least=3),
    ]
)
_WINDOWS = st.sampled_from(
    [{"last": 30, "unit": "day"}, {"from": "2025-06-01"}, {"period": "this_month"}, {"to": "2025-01-01"}]
)
_MEASURES = st.sampled_from(
    [COUNT, total("parts_eur"), average("stars"), SHARE_OF_WARRANTY, {"metric": "return_rate"}]
)


@st.composite
def _plans(draw: st.DrawFn) -> dict[str, Any]:
    select: list[dict[str, Any]] = [{"column": column} for column in draw(st.lists(_COLUMNS, max_size=2))]
    select += draw(st.lists(_MEASURES, min_size=0 if select else 1, max_size=2))
    if draw(st.booleans()):
        select.insert(0, {"bucket": "month", "as": "month"})
    made: dict[str, Any] = {"dataset_id": "workshop", "table": "repairs", "select": select}
    made["filters"] = draw(st.lists(_CONDITIONS, max_size=3))
    if draw(st.booleans()):
        made["time"] = draw(_WINDOWS)
    if draw(st.booleans()):
        made |= {"order_by": [{"expr": "count", "dir": "desc"}], "limit": 3}
    return made


def _lawful(question: str, found: Account) -> None:
    places = range(len(Reading.of(question).words))
    in_parts = {at for part in found.parts for at in part.words}
    unbound = [at for u in found.unbound for at in range(u.start, u.end)]
    assert len(unbound) == len(set(unbound))
    assert sorted([*in_parts, *found.aside, *unbound]) == list(places)
    assert all(u.text and u.why for u in found.unbound)


@settings(max_examples=150)
@given(_QUESTIONS, _plans())
def test_every_word_is_in_exactly_one_place(question: str, plan: dict[str, Any]) -> None:
    found = account(question, plan, INDEX)
    _lawful(question, found)
    assert found == account(question, plan, INDEX)


@settings(max_examples=60)
@given(_QUESTIONS, _plans(), _plans())
def test_a_follow_up_keeps_the_law(question: str, plan: dict[str, Any], before: dict[str, Any]) -> None:
    _lawful(question, account(question, plan, INDEX, before))


@settings(max_examples=60)
@given(
    st.dictionaries(
        st.sampled_from(
            [
                "table",
                "select",
                "filters",
                "time",
                "group_by",
                "having",
                "derive",
                "order_by",
                "limit",
                "define",
            ]
        ),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(
                        [
                            "column",
                            "agg",
                            "op",
                            "value",
                            "any",
                            "not",
                            "left",
                            "metric",
                            "exists",
                            "table",
                            "where",
                            "at_least",
                            "bucket",
                            "as",
                            "rank",
                        ]
                    ),
                    inner,
                    max_size=4,
                )
            ),
            max_leaves=8,
        ),
    )
)
def test_no_json_object_makes_it_fail(plan: dict[str, Any]) -> None:
    _lawful("how many repairs per month", account("how many repairs per month", plan, INDEX))


@pytest.mark.parametrize(
    ("said", "op", "fits"),
    [
        (">", ">", True),
        (">", ">=", False),
        (">", "<", False),
        (">=", ">=", True),
        (">=", ">", False),
        ("<=", "<=", True),
        ("<=", "<", False),
        ("<", "<", True),
        ("=", "in", True),
        ("=", "!=", False),
        ("!=", "not_in", True),
        ("between", "between", True),
    ],
)
def test_directions(said: str, op: str, fits: bool) -> None:
    assert directions(said, op) is fits


def test_a_negated_condition_goes_the_other_way() -> None:
    assert directions("<=", ">", negative=True)
    assert not directions(">", ">", negative=True)
