"""Marks of trust: derived from plan and proposer."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.agent.builtin import NAME
from sandtable.capsule.trust import BUILTIN, MARK_WORDS, READER, Mark, marks_of
from tests.planner.conscience.corpus import COUNT, DATASET, by, month_by, plan, total, where

RATE = {"metric": "return_rate"}
CASES: list[tuple[str, dict[str, Any] | None, str | None, tuple[Mark, ...]]] = [
    ("a declared metric", by("mechanic", RATE), "builtin", ("defined", "read_literally")),
    ("the same by a model", by("mechanic", RATE), "openai:gpt-5", ("defined", "proposed_by_model")),
    ("the same with a likely part", by("mechanic", RATE), "builtin-reader", ("defined", "proposed_by_model")),
    ("the same by a person", by("mechanic", RATE), None, ("defined",)),
    ("columns alone", plan(select=[{"column": "mechanic"}]), "builtin", ("defined", "read_literally")),
    ("a bucket", month_by(RATE), None, ("defined",)),
    ("a condition", by("mechanic", RATE, filters=[where("stars", ">", 3)]), None, ("defined",)),
    ("an aggregate of its own", by("mechanic", total("parts_eur")), "builtin", ("read_literally",)),
    ("a count", plan(select=[COUNT]), None, ()),
    ("a metric that is not declared", plan(select=[{"metric": "profit"}]), None, ()),
    ("a share", by("mechanic", RATE, derive=[{"share_of_total": "return_rate"}]), None, ()),
    (
        "a condition on something computed",
        plan(
            select=[RATE],
            filters=[{"of": {"column": "stars"}, "op": ">", "than": {"agg": "avg", "column": "stars"}}],
        ),
        None,
        (),
    ),
    ("SQL of a model", None, "ollama:small", ("proposed_by_model",)),
    ("no plan at all", {"table": 3}, None, ()),
]


@pytest.mark.parametrize(("made", "proposer", "marks"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_marks(made: dict[str, Any] | None, proposer: str | None, marks: tuple[Mark, ...]) -> None:
    assert marks_of(made, DATASET, proposer) == marks
    assert all(mark in MARK_WORDS for mark in marks)


def test_the_planner_has_one_name_and_the_reader_another() -> None:
    assert BUILTIN == NAME != READER == "builtin-reader"
