"""The law: what a network may have read out of words that name nothing, and what it may not."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.planner.conscience import account
from sandtable.planner.ranking.candidates import Candidate, Field
from sandtable.planner.ranking.choosing import answerable_account, resembles_unused
from tests.planner.ground import World

REVENUE: dict[str, Any] = {
    "dataset_id": "ecommerce",
    "table": "orders",
    "select": [{"column": "region"}, {"agg": "sum", "column": "order_total", "as": "total"}],
}


def judged(world: World, question: str, plan: dict[str, Any], place: int = 0) -> Any:
    return answerable_account(Candidate(plan, account(question, plan, world.index), place=place), world.index)


def test_a_content_word_may_be_read_as_a_part_that_no_word_names(worlds: dict[str, World]) -> None:
    found = judged(worlds["ecommerce"], "kaching by region", REVENUE)
    assert found is not None and found.clean
    assert [(path, words) for path, words in found.likely] == [(("select", 1), (0,))]


def test_a_content_word_may_be_said_of_the_part_beside_it(worlds: dict[str, World]) -> None:
    found = judged(worlds["ecommerce"], "total order total of our gizmos by region", REVENUE)
    assert found is not None and found.clean
    assert [words for _, words in found.likely] == [(5,)]


def test_many_words_that_name_nothing_are_not_explained(worlds: dict[str, World]) -> None:
    question = "total order total of fancy purple gizmos and widgets by region"
    assert judged(worlds["ecommerce"], question, REVENUE) is None


@pytest.mark.parametrize("word", ["new", "Ruritania", "remaining"])
def test_names_and_words_that_change_what_is_asked_are_not_explained(
    worlds: dict[str, World], word: str
) -> None:
    assert judged(worlds["ecommerce"], f"total order total of {word} by region", REVENUE) is None


def test_after_an_answer_a_word_is_not_said_of_the_part_beside_it(worlds: dict[str, World]) -> None:
    index = worlds["ecommerce"].index
    question = "total order total of our gizmos by region"
    candidate = Candidate(REVENUE, account(question, REVENUE, index), place=0)
    assert answerable_account(candidate, index) is not None
    assert answerable_account(candidate, index, follows=True) is None


def test_only_what_the_network_wrote_is_read_so(worlds: dict[str, World]) -> None:
    assert judged(worlds["ecommerce"], "kaching by region", REVENUE, place=-1) is None


@pytest.mark.parametrize(
    "question",
    [
        "kaching by region not in 2024",
        "kaching by region over 500",
        "kaching by region last year",
        "highest kaching by region",
        "kaching by region without Europe",
        "kaching by region in hours",
    ],
)
def test_negations_numbers_times_and_superlatives_are_never_explained_so(
    worlds: dict[str, World], question: str
) -> None:
    assert judged(worlds["ecommerce"], question, REVENUE) is None


def test_a_condition_that_nothing_asks_for_is_not_lawful(worlds: dict[str, World]) -> None:
    plan = {**REVENUE, "filters": [{"column": "status", "op": "=", "value": "cancelled"}]}
    assert judged(worlds["ecommerce"], "order total by region", plan) is None


def test_a_literal_reading_has_nothing_likely(worlds: dict[str, World]) -> None:
    found = judged(worlds["ecommerce"], "total order total by region", REVENUE)
    assert found is not None and found.likely == ()


def test_a_condition_that_no_word_asks_for_counts_for_the_plan_without_it(worlds: dict[str, World]) -> None:
    among = Field("total order total by region", worlds["ecommerce"].index)
    narrowed = {**REVENUE, "filters": [{"column": "channel", "op": "=", "value": "web"}]}
    for plan, likelihood in ((REVENUE, 0.2), (narrowed, 0.6)):
        candidate = among.add(plan)
        assert candidate is not None
        candidate.likelihood = likelihood
    among.without_unasked_conditions()
    assert [each.likelihood for each in among.candidates] == [pytest.approx(0.8), 0.0]


def test_what_a_table_is_called_is_counted_and_nothing_else(worlds: dict[str, World]) -> None:
    among = Field("How many order items are there?", worlds["ecommerce"].index)
    count: dict[str, Any] = {"dataset_id": "ecommerce", "select": [{"agg": "count", "as": "count"}]}
    for table, likelihood in (("order_items", 0.5), ("inventory", 0.4)):
        candidate = among.add({**count, "table": table})
        assert candidate is not None
        candidate.likelihood = likelihood
    among.without_other_rows()
    assert [each.plan["table"] for each in among.candidates] == ["order_items"]
    assert among.candidates[0].likelihood == pytest.approx(0.5 / 0.6)


def test_a_needless_condition_makes_no_plan_of_its_own(worlds: dict[str, World]) -> None:
    among = Field("average order total by region", worlds["ecommerce"].index)
    average = {
        **REVENUE,
        "select": [{"column": "region"}, {"agg": "avg", "column": "order_total", "as": "mean"}],
    }
    known = {**average, "filters": [{"column": "order_total", "op": "not_null"}]}
    for plan, likelihood in ((average, 0.3), (known, 0.5)):
        candidate = among.add(plan)
        assert candidate is not None
        candidate.likelihood = likelihood
    among.without_unasked_conditions()
    assert max(each.likelihood for each in among.candidates) == pytest.approx(0.8)


# A word that no part of a plan means may resemble something in the data that the plan leaves aside.

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
