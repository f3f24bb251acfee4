"""Slips of the pen are mended, and nothing else."""

from __future__ import annotations

import pytest

from sandtable.planner.language.words import split_words
from sandtable.planner.mentions.correcting import corrected
from sandtable.planner.outcome import Understood
from sandtable.planner.planner import plan_question
from tests.planner.conscience.carrier import INDEX

MENDED = [
    ("wich carrier has the most deliveries", "which"),
    ("avrage fee by carrier", "average"),
    ("higest fee", "highest"),
    ("deliveries in Febuary", "february"),
    ("the most comon article", "common"),
    ("corelation of fee and weight", "correlation"),
    ("nubmer of deliveries", "number"),
    ("total distnace by carrier", "distance"),
]
KEPT = [
    "mower repairs",  # one letter from lower
    "deliveries by Avrage",  # a name
    "WICH codes",
    "how many carriers",
    "what does a payer get",
    "therapies per carrier",
    "Swfit deliveries",  # near a value of the data, which is looked for elsewhere
    "sugary articles",
]


@pytest.mark.parametrize(("question", "meant"), MENDED)
def test_a_slip_is_mended_and_told(question: str, meant: str) -> None:
    found = corrected(question, INDEX)
    assert meant in found.text.lower().split()
    assert len(found.remarks) == 1 and found.remarks[0].endswith(f"read as {meant}")
    assert len(split_words(found.text)) == len(split_words(question))


@pytest.mark.parametrize("question", KEPT)
def test_what_may_be_right_is_kept(question: str) -> None:
    assert corrected(question, INDEX).text == question


def test_the_answer_tells_what_was_mended() -> None:
    found = plan_question("avrage fee eur by carrier", INDEX)
    assert isinstance(found, Understood)
    assert "`avrage` read as average" in found.used
    assert found.account is not None and found.account.clean
