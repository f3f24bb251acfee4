"""Questions in many wordings, over the built-in datasets and over tables never seen before."""

from __future__ import annotations

import pytest

from sandtable.planner.outcome import Unsure
from sandtable.planner.planner import plan_question
from tests.planner.corpora import judge, read_corpus, report
from tests.planner.ground import World


@pytest.mark.parametrize(("name", "least"), [("paraphrases", 80), ("follow_ups", 20)])
def test_wordings_over_the_built_in_datasets(worlds: dict[str, World], name: str, least: int) -> None:
    cases = read_corpus(name)
    assert len(cases) >= least
    misses = [miss for case in cases if (miss := judge(worlds[case["dataset"]], case))]
    assert len(misses) <= 0.05 * len(cases), report(name, misses, len(cases))


def test_questions_about_tables_of_other_domains(shelf: dict[str, World]) -> None:
    cases = read_corpus("tables")
    assert len(cases) >= 80 and len({case["table"] for case in cases}) >= 6
    misses = [miss for case in cases if (miss := judge(shelf[case["table"]], case))]
    assert len(misses) <= 0.05 * len(cases), report("tables", misses, len(cases))


def test_what_cannot_be_answered_is_not_answered(worlds: dict[str, World], shelf: dict[str, World]) -> None:
    cases = read_corpus("unanswerable")
    assert len(cases) >= 60
    answered: list[str] = []
    for case in cases:
        world = worlds[case["dataset"]] if "dataset" in case else shelf[case["table"]]
        outcome = plan_question(case["question"], world.index)
        if not isinstance(outcome, Unsure):
            answered.append(f"{case['question']} → {outcome.plan}")
            continue
        assert outcome.reason.endswith((".", "?")) and len(outcome.reason.split()) >= 6, case
        assert len(outcome.suggestions) == 2, case
    assert len(answered) <= 0.05 * len(cases), "\n".join(answered)


def test_unknown_words_are_named(worlds: dict[str, World]) -> None:
    outcome = plan_question("What is the profit margin by category?", worlds["ecommerce"].index)
    assert isinstance(outcome, Unsure)
    assert outcome.unknown == ("profit", "margin")
    assert "`profit margin`" in outcome.reason


def test_suggestions_can_be_answered(worlds: dict[str, World], shelf: dict[str, World]) -> None:
    for world in (*worlds.values(), *shelf.values()):
        outcome = plan_question("blorp the fizzle by wumpus", world.index)
        assert isinstance(outcome, Unsure)
        for suggestion in outcome.suggestions:
            again = plan_question(suggestion, world.index)
            assert not isinstance(again, Unsure), (suggestion, again)
            world.run_plan(again.plan)
