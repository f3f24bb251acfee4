"""Totals: what each outcome counts for, in every group, and the curve of precision over coverage."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.cli.evaluation.cases import Expect, Item
from sandtable.cli.evaluation.expected import Expected
from sandtable.cli.evaluation.outcome import Judged, Kind, Outcome, Status
from sandtable.cli.evaluation.score import Score, percentile, precision_at_coverage
from sandtable.cli.turn import ShownAnswer

_STATUS: dict[str, Status] = {"right": "answered", "wrong": "answered", "failed": "failed"}
_EXPECT: dict[str, Expect] = {"rightly asked": "ask", "rightly declined": "decline"}


def one(
    outcome: Outcome | None,
    confidence: float | None = None,
    tags: tuple[str, ...] = (),
    kind: Kind = "question",
    source: str = "shop",
) -> Judged:
    item = Item("x", "?", _EXPECT.get(outcome or "", "answer"), Expected((1,)), tags)
    turn = ShownAnswer("answered", "", confidence=confidence)
    return Judged(item, source, kind, _STATUS.get(outcome or "right", "abstained"), outcome, turn, 10.0)


def score_of(*judged: Judged) -> dict[str, Any]:
    score = Score()
    for each in judged:
        score.count(each)
    return score.as_json()


def test_every_outcome_counts_for_what_it_is() -> None:
    made = score_of(
        *(one("right") for _ in range(5)), one("wrong"), one("asked"), one("rightly asked"),
        one("rightly declined"), one("failed"), one(None),
    )  # fmt: skip
    assert made["outcomes"] == {
        "right": 5, "wrong": 1, "asked": 1, "rightly asked": 1, "rightly declined": 1, "failed": 1,
    }  # fmt: skip
    assert (made["questions"], made["graded"], made["correct"]) == (11, 10, 7)
    assert (made["answered"], made["abstained"], made["failed"]) == (7, 3, 1)
    assert (made["accuracy"], made["precision"], made["coverage"]) == (0.7, 0.8333, 0.6364)
    assert made["reliability"] == {"0": 0.7, "5": 0.2, "10": -0.3}


def test_groups_have_totals_of_their_own() -> None:
    made = score_of(
        one("right", tags=("count", "count", "join"), kind="first turn"),
        one("wrong", tags=("count",), kind="follow-up", source="a, b"),
        one("rightly declined"),
    )["by"]
    assert {
        group: {name: found["questions"] for name, found in names.items()} for group, names in made.items()
    } == {
        "expect": {"answer": 2, "decline": 1},
        "kind": {"first turn": 1, "follow-up": 1, "question": 1},
        "source": {"a, b": 1, "shop": 2},
        "tag": {"count": 2, "join": 1},
    }
    assert made["tag"]["count"]["accuracy"] == 0.5
    assert made["kind"]["follow-up"]["reliability"]["5"] == -5


def test_the_surest_come_first() -> None:
    answers = [(0.9, True)] * 4 + [(0.6, True), (0.6, False)] * 2 + [(0.1, False)] * 2
    points = precision_at_coverage(answers, graded=20)
    assert [point.share for point in points] == [n / 10 for n in range(1, 11)]
    assert [round(point.precision, 3) for point in points] == [
        1,
        1,
        1,
        1,
        0.9,
        0.833,
        0.786,
        0.75,
        0.667,
        0.6,
    ]
    assert (points[0].coverage, points[-1].coverage) == (0.05, 0.5)


@given(st.lists(st.tuples(st.sampled_from([0.1, 0.5, 0.9]), st.booleans()), max_size=30), st.randoms())
def test_the_order_of_the_equally_sure_makes_no_difference(
    answers: list[tuple[float, bool]], random: Any
) -> None:
    points = precision_at_coverage(answers, len(answers))
    assert points == precision_at_coverage(random.sample(answers, len(answers)), len(answers))
    assert all(0 <= point.precision <= 1 for point in points)
    if answers:
        assert points[-1].precision == pytest.approx(sum(right for _, right in answers) / len(answers))


def test_answers_without_confidence_have_no_curve() -> None:
    assert score_of(one("right"))["precision_at_coverage"] == []
    assert len(score_of(one("right", 0.5), one("asked", 0.9))["precision_at_coverage"]) == 10


@pytest.mark.parametrize(
    ("values", "percent", "found"),
    [([], 50, None), ([7], 95, 7), ([1, 2, 3, 4], 50, 2), (list(range(1, 101)), 95, 95), ([3, 1, 2], 50, 2)],
    ids=["none", "one", "even", "hundred", "unsorted"],
)
def test_percentiles(values: list[float], percent: float, found: float | None) -> None:
    assert percentile(values, percent) == found


def test_shares_of_nothing_are_none() -> None:
    made = Score().as_json()
    assert (made["accuracy"], made["coverage"], made["precision"], made["p50_ms"]) == (None, None, None, None)
    assert made["reliability"] == {"0": None, "5": None, "10": None}
