"""A whole question is never read as a change of the one before it, and what was not understood is named."""

from __future__ import annotations

import pytest

from sandtable.planner.outcome import EarlierTurn, Understood, Unsure
from sandtable.planner.planner import plan_question
from tests.planner.ground import World


def _before(world: World, question: str) -> EarlierTurn:
    first = plan_question(question, world.index)
    assert isinstance(first, Understood), first
    return EarlierTurn(question, first.plan)


@pytest.mark.parametrize(
    "question",
    [
        "what is the average collar size?",
        "what is the total sleeve length?",
        "which warehouse has the best mood?",
        "how many times higher is Germany?",
    ],
)
def test_a_whole_question_that_is_not_understood_is_asked_back(
    worlds: dict[str, World], question: str
) -> None:
    world = worlds["ecommerce"]
    outcome = plan_question(question, world.index, _before(world, "Monthly revenue in 2025"))
    assert isinstance(outcome, Unsure), outcome


@pytest.mark.parametrize("question", ["Top 5 customers by revenue", "monthly revenue in 2024"])
def test_a_question_with_its_own_measure_and_subject_starts_afresh(
    worlds: dict[str, World], question: str
) -> None:
    world = worlds["ecommerce"]
    alone = plan_question(question, world.index)
    after = plan_question(question, world.index, _before(world, "Revenue by category for Germany"))
    assert isinstance(alone, Understood) and isinstance(after, Understood)
    assert after.plan == alone.plan and not after.follow_up


@pytest.mark.parametrize("question", ["and the median?", "what is the median?"])
def test_a_bare_aggregate_still_changes_the_plan_before(worlds: dict[str, World], question: str) -> None:
    world = worlds["ecommerce"]
    after = plan_question(question, world.index, _before(world, "Average order total by region"))
    assert isinstance(after, Understood) and after.follow_up


@pytest.mark.parametrize(
    ("table", "question", "unknown"),
    [
        ("passengers", "What is the boredom rate by sex?", ("boredom",)),
        ("employees", "average shoe size per department", ("shoe", "size")),
        ("customers_bank", "How many accounts do women hold?", ("accounts",)),
    ],
    ids=["rate", "average", "filler"],
)
def test_only_what_is_unknown_is_called_unknown(
    shelf: dict[str, World], table: str, question: str, unknown: tuple[str, ...]
) -> None:
    outcome = plan_question(question, shelf[table].index)
    assert isinstance(outcome, Unsure)
    assert outcome.unknown == unknown


def test_a_word_inside_other_values_is_not_taken_for_a_filter(worlds: dict[str, World]) -> None:
    outcome = plan_question("what is the median shoe size?", worlds["ecommerce"].index)
    assert isinstance(outcome, Unsure)
    assert outcome.unknown == ("shoe", "size")
