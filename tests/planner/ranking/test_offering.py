"""Which readings a question back offers: answerable ones first, and none that drops what limits the question."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.planner.candidates.network.reader import Reader, the_reader
from sandtable.planner.conscience import account
from sandtable.planner.outcome import Unsure
from sandtable.planner.planner import plan_question
from sandtable.planner.ranking.candidates import Candidate, Field
from sandtable.planner.ranking.choosing import Weighed, answerable_account
from sandtable.planner.ranking.offering import LEAST, MOST, readings_to_offer
from sandtable.planner.schema.defined import valid_plan
from tests.planner.ground import World

LIMITING = {"negation", "comparison", "number", "unit", "superlative", "time", "quoted"}
ORDERS: dict[str, Any] = {
    "dataset_id": "ecommerce",
    "table": "orders",
    "select": [{"column": "region"}, {"agg": "count", "as": "count"}],
    "group_by": ["region"],
}
TOTAL = {**ORDERS, "select": [{"column": "region"}, {"agg": "sum", "column": "order_total", "as": "total"}]}
QUESTIONS = (
    "how busy were we",
    "best customers",
    "earnings by month",
    "how are we doing",
    "kaching by region without Europe",
    "biggest earners over 500 last year",
    "sales per head in hours",
    "worst months for parcels",
)


@pytest.fixture(scope="module")
def reader() -> Reader:
    found = the_reader()
    assert found is not None, "the extra `reader` is not installed"
    return found


def offered(
    world: World, question: str, *plans: tuple[dict[str, Any], float, int], nothing: float = 0.0
) -> list[dict[str, Any]]:
    """What is offered of these plans, each with its probability and its place among the network's."""
    found: list[Weighed] = []
    for plan, probability, place in plans:
        candidate = Candidate(plan, account(question, plan, world.index), place=place)
        found.append(Weighed(candidate, probability, answerable_account(candidate, world.index)))
    found.sort(key=lambda each: -each.probability)
    field = Field(question, world.index, nothing=nothing)
    return [each.plan for each in readings_to_offer(found, field)]


def test_lawful_readings_come_before_likelier_ones(worlds: dict[str, World]) -> None:
    plans = (ORDERS, 0.6, -1), (TOTAL, 0.2, 0)
    assert offered(worlds["ecommerce"], "kaching by region", *plans) == [TOTAL, ORDERS]


def test_an_unlikely_reading_is_not_offered(worlds: dict[str, World]) -> None:
    plans = (ORDERS, LEAST - 0.01, 1), (TOTAL, LEAST, 0)
    assert offered(worlds["ecommerce"], "kaching by region", *plans) == [TOTAL]


def test_where_the_data_do_not_answer_nothing_is_offered(worlds: dict[str, World]) -> None:
    assert offered(worlds["ecommerce"], "kaching by region", (TOTAL, 0.7, 0), nothing=0.51) == []


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
def test_a_plan_without_what_limits_the_question_is_not_offered(
    worlds: dict[str, World], question: str
) -> None:
    assert offered(worlds["ecommerce"], question, (TOTAL, 0.7, 0), (ORDERS, 0.2, -1)) == []


@pytest.mark.parametrize("more", [{"limit": 3}, {"time": {"period": "last_year"}}])
def test_a_limit_or_a_time_is_never_added(worlds: dict[str, World], more: dict[str, Any]) -> None:
    assert offered(worlds["ecommerce"], "kaching by region", ({**TOTAL, **more}, 0.7, 0)) == []


@pytest.mark.parametrize("question", QUESTIONS)
def test_what_the_reader_is_unsure_of_is_offered_by_the_law(
    reader: Reader, worlds: dict[str, World], question: str
) -> None:
    for world in worlds.values():
        outcome = plan_question(question, world.index, reader=reader)
        if not isinstance(outcome, Unsure):
            continue
        assert len(outcome.choices) <= MOST
        accounts = [each.account for each in outcome.choices]
        clean = [found is not None and found.clean for found in accounts]
        assert clean == sorted(clean, reverse=True), "those that may be answered come first"
        for each, found in zip(outcome.choices, accounts, strict=True):
            assert found is not None and not {word.kind for word in found.unbound} & LIMITING
            assert each.confidence >= LEAST and valid_plan(each.plan, world.index)
            world.run_plan(each.plan)


def test_readings_of_a_vague_question(reader: Reader, worlds: dict[str, World]) -> None:
    outcome = plan_question("how busy were we", worlds["ecommerce"].index, reader=reader)
    assert isinstance(outcome, Unsure) and outcome.reason
    assert "orders" in {each.plan["table"] for each in outcome.choices}
    first = outcome.choices[0].account
    assert first is not None and not first.unasked
    assert all(each.account is not None for each in outcome.choices)


def test_a_word_that_the_reader_finds_no_meaning_for_has_no_readings(
    reader: Reader, worlds: dict[str, World]
) -> None:
    outcome = plan_question("kaching by region", worlds["ecommerce"].index, reader=reader)
    assert isinstance(outcome, Unsure) and outcome.choices == ()


def test_a_reading_is_drawn_as_the_question_asks(reader: Reader, worlds: dict[str, World]) -> None:
    outcome = plan_question(
        "how busy were we by month as a bar chart", worlds["ecommerce"].index, reader=reader
    )
    assert isinstance(outcome, Unsure) and outcome.choices
    for each in outcome.choices:
        assert each.plan["chart"] == "bar" and each.account is not None
        assert not any(word.kind == "chart" for word in each.account.unbound)


def test_without_the_reader_nothing_is_offered(worlds: dict[str, World]) -> None:
    outcome = plan_question("how busy were we", worlds["ecommerce"].index)
    assert isinstance(outcome, Unsure) and outcome.choices == ()
