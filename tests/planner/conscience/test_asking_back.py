"""What the planner says when its plan does not account for a question: the word, and choices that are answered."""

from __future__ import annotations

import pytest

from sandtable.planner.conscience import account
from sandtable.planner.conscience.abstain import unknown_reason
from sandtable.planner.outcome import Understood, Unsure
from sandtable.planner.planner import plan_question
from tests.planner.conscience.corpus import INDEX

# Each of these was answered by a plan that leaves the word out.
_MISREAD = [
    ("repairs not opened yet", "not"),
    ("average labour in hours by mechanic", "hours"),
    ("how much are repairs by Bo Lind", "how much"),
    ("how did Bo Lind do", "do"),
    ("recent repairs of Bo Lind", "recent"),
    ("mechanics who repaired only once", "mechanics"),
    ("typical stars by mechanic", "typical"),
    ("parts in June", "parts"),
    ("why were repairs reopened", "why"),
    ("which repairs took more than a day of labour", "more than a day"),
]


@pytest.mark.parametrize(("question", "word"), _MISREAD, ids=[q for q, _ in _MISREAD])
def test_the_word_that_is_bound_to_nothing_is_asked_about(question: str, word: str) -> None:
    outcome = plan_question(question, INDEX)
    assert isinstance(outcome, Unsure), outcome
    assert outcome.unknown and outcome.unknown[0].lower() == word
    assert f"`{outcome.unknown[0]}`" in outcome.reason and outcome.reason.endswith("?")


@pytest.mark.parametrize("question", [q for q, _ in _MISREAD] + ["profit by mechanic", "blorp"])
def test_every_choice_is_answered_with_a_clean_account(question: str) -> None:
    outcome = plan_question(question, INDEX)
    assert isinstance(outcome, Unsure) and outcome.suggestions
    for choice in outcome.suggestions:
        again = plan_question(choice, INDEX)
        assert isinstance(again, Understood), (choice, again)
        assert account(choice, again.plan, INDEX).clean


def test_the_choices_begin_with_the_question_said_otherwise_at_that_word() -> None:
    outcome = plan_question("average labour in hours by mechanic", INDEX)
    assert isinstance(outcome, Unsure)
    assert outcome.suggestions[0] == "average labour by mechanic"


@pytest.mark.parametrize(
    "question",
    [
        "repairs per mechanic",
        "average stars by kind of job",
        "how many repairs without a coupon",
        "repairs that never used a coupon",
        "correlation between labour and parts",
    ],
)
def test_what_is_accounted_for_is_answered(question: str) -> None:
    assert isinstance(plan_question(question, INDEX), Understood)


@pytest.mark.parametrize(
    "question",
    [
        "status of the wombat",
        "mechanic of the wombat",
        "stars and wombats by town",
        "Linz wombats",
        "repair_no of wombats",
    ],
)
def test_a_word_that_the_data_has_is_never_said_to_be_missing(question: str) -> None:
    outcome = plan_question(question, INDEX)
    assert isinstance(outcome, Unsure)
    missing = outcome.reason.partition(": no column")[0] if ": no column" in outcome.reason else ""
    for known in ("status", "mechanic", "stars", "Linz", "repair_no"):
        assert known.lower() not in missing.lower()


@pytest.mark.parametrize("word", ["status", "stars", "clients", "return_rate", "Linz"])
def test_no_column_is_called_x_did_you_mean_x_cannot_occur(word: str) -> None:
    reason = unknown_reason((word,), INDEX)
    assert "is called that" not in reason and "Did you mean" not in reason
    assert f"`{word}`" in reason
    with_missing = unknown_reason((word, "wombat"), INDEX)
    assert with_missing.startswith("I did not understand `wombat`:")
