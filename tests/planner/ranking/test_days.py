"""A day that is written out is meant: plans without it do not lower the probability of those with it."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.planner.outcome import Understood
from sandtable.planner.ranking.candidates import Field
from tests.planner.ground import World

QUESTION = "status of orders on march 3, 2024"
STATUS: dict[str, Any] = {"dataset_id": "ecommerce", "table": "orders", "select": [{"column": "status"}]}
DAY = {"from": "2024-03-03", "to": "2024-03-03"}
MONTH = {"from": "2024-03-01", "to": "2024-03-31"}


def field(world: World, question: str = QUESTION, *, window: dict[str, str] = DAY) -> Field:
    """The grammar's plan with the window, and one of the network without it, which is likelier."""
    among = Field(question, world.index, nothing=0.02)
    among.add_understood(Understood({**STATUS, "time": window}, 0.98, ()))
    among.add(STATUS)
    for each, likelihood in zip(among.candidates, (0.06, 0.3), strict=True):
        each.likelihood = likelihood
    among.without_other_days()
    return among


def test_plans_without_the_day_are_left_out(worlds: dict[str, World]) -> None:
    (left,) = field(worlds["ecommerce"]).candidates
    assert left.plan["time"] == DAY and left.likelihood == pytest.approx(0.75)


def test_a_day_as_a_condition_is_the_same_day(worlds: dict[str, World]) -> None:
    among = Field(QUESTION, worlds["ecommerce"].index)
    among.add_understood(Understood({**STATUS, "time": DAY}, 0.98, ()))
    other = among.add({**STATUS, "select": [{"column": "channel"}], "filters": [{"time": DAY}]})
    assert other is not None
    other.likelihood = 0.1
    among.without_other_days()
    assert len(among.candidates) == 2 and other.likelihood == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("question", "window"),
    [
        pytest.param("status of orders in march 2024", MONTH, id="a month"),
        pytest.param("status of gizmo orders on march 3, 2024", DAY, id="a word is left over"),
    ],
)
def test_all_plans_stay(worlds: dict[str, World], question: str, window: dict[str, str]) -> None:
    among = field(worlds["ecommerce"], question, window=window)
    assert [each.likelihood for each in among.candidates] == [0.06, 0.3]


def test_a_day_that_only_the_grammar_reads_decides_nothing(worlds: dict[str, World]) -> None:
    among = Field(QUESTION, worlds["ecommerce"].index)
    among.add_understood(Understood({**STATUS, "time": DAY}, 0.98, ()))
    among.add(STATUS)
    among.without_other_days()
    assert len(among.candidates) == 2
