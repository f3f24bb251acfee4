"""Questions in many wordings, over the built-in datasets and over tables never seen before."""

from __future__ import annotations

import pytest

from sandtable.planner.outcome import Unsure
from sandtable.planner.planner import plan_question
from tests.planner.corpora import Miss, judge, read_corpus, unexpected
from tests.planner.ground import World


@pytest.mark.parametrize(("name", "least"), [("paraphrases", 80), ("follow_ups", 20)])
def test_wordings_over_the_built_in_datasets(worlds: dict[str, World], name: str, least: int) -> None:
    cases = read_corpus(name)
    assert len(cases) >= least
    misses = [miss for case in cases if (miss := judge(worlds[case["dataset"]], case))]
    assert not (found := unexpected(name, misses)), found


def test_questions_about_tables_of_other_domains(shelf: dict[str, World]) -> None:
    cases = read_corpus("tables")
    assert len(cases) >= 80 and len({case["table"] for case in cases}) >= 6
    misses = [miss for case in cases if (miss := judge(shelf[case["table"]], case))]
    assert not (found := unexpected("tables", misses)), found


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
    assert not answered, "\n".join(answered)


def test_known_failures_are_held_to_what_they_are() -> None:
    known = read_corpus("known_failures")
    assert all(len(each["reason"].split()) >= 5 for each in known)
    first = next(each for each in known if each["corpus"] == "tables")
    rest = [Miss(each["question"], each["outcome"], "") for each in known if each["corpus"] == "tables"]
    assert unexpected("tables", rest) == ""
    assert "passes" in unexpected("tables", rest[1:]) and first["question"] in unexpected("tables", rest[1:])
    assert "fails: new" in unexpected("tables", [*rest, Miss("new", "wrong", "")])
    assert "fails" in unexpected("tables", [Miss(first["question"], "wrong", ""), *rest[1:]])


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
