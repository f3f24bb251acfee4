"""The training's parts: steady, and right on what can be worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

from evals.engine import Engine
from evals.wikisql import Outcome, figures, is_lookup
from evals.wikisql_data import TABLE, Question, Sheet, run_plan, typed_sheet
from scripts.planner_learning import Learner, rising_curve, steady_exp
from scripts.planner_questions import LOOKUPS, MISFITS, lookups, misfits

LAKES = typed_sheet(
    "lakes",
    ["lake", "country", "area", "depth", ""],
    [
        ["Superior", "Canada", "82100", "406", "x"],
        ["Ontario", "Canada", "18960", "244", ""],
        ["Baikal", "Russia", "31722", "1642.5", "y"],
        ["Geneva", "Switzerland", "580", "", "z"],
    ],
)
TOWNS = typed_sheet(
    "towns",
    ["town", "river", "founded", "people"],
    [
        ["Lyon", "Saone", "-43", "522000"],
        ["Basel", "Rhine", "374", "178000"],
        ["Graz", "Mur", "1128", "291000"],
    ],
)


@pytest.mark.parametrize("x", [-45.0, -30.0, -3.7, -0.5, 0.0, 0.3, 2.0, 20.0])
def test_the_steady_exponential_is_one(x: float) -> None:
    assert steady_exp(x) == pytest.approx(math.exp(x), rel=1e-8, abs=1e-17)


def test_a_choice_is_learned() -> None:
    learner = Learner(8)
    learner.rate = 0.5
    for _ in range(20):
        learner.choose([[0, 1], [2, 1], [3]], frozenset({1}))
    learner.remember()
    weights = learner.average()
    assert weights[2] > 0 > weights[0]
    assert weights[4:] == [0.0] * 4


def test_one_of_several_right_choices_is_enough() -> None:
    learner = Learner(4)
    learner.rate = 0.5
    for _ in range(20):
        learner.choose([[0], [1], [2]], frozenset({0, 1}))
    assert learner.weights[0] == learner.weights[1] > 0 > learner.weights[2]


def test_a_judgement_is_learned() -> None:
    learner = Learner(4)
    learner.rate = 0.5
    for _ in range(20):
        learner.judge([0, 1], True)
        learner.judge([0, 2], False)
    assert learner.score([0, 1]) > 0 > learner.score([0, 2])


def test_the_curve_never_falls() -> None:
    scored = [(float(at), at % 10 < at // 10) for at in range(100)]
    knots = rising_curve(scored, 10)
    assert knots == sorted(knots)
    assert [chance for _, chance in knots] == sorted(chance for _, chance in knots)
    assert 0 < knots[0][1] < 0.2 < 0.8 < knots[-1][1] < 1


def test_the_curve_pools_what_is_out_of_order() -> None:
    scored = [(0.0, True)] * 10 + [(1.0, False)] * 10 + [(2.0, True)] * 10
    assert rising_curve(scored, 10) == [(0.5, 0.5), (2.0, round(10.5 / 11, 4))]


def test_columns_are_typed_and_named_as_a_csv_would_have_them() -> None:
    assert LAKES.numeric == (False, False, True, True, False)
    assert LAKES.header[4] == "column 5"
    assert LAKES.rows[3][3] is None


PLANS: list[tuple[dict[str, Any], list[dict[str, Any]], set[str]]] = [
    ({"column": "lake"}, [{"column": "country", "op": "=", "value": "Canada"}], {"superior", "ontario"}),
    ({"agg": "count"}, [{"column": "country", "op": "=", "value": "Canada"}], {"2"}),
    ({"agg": "count", "column": "depth"}, [], {"3"}),
    ({"agg": "sum", "column": "area"}, [{"column": "area", "op": "<", "value": 20000}], {"19540"}),
    ({"agg": "avg", "column": "depth"}, [{"column": "country", "op": "=", "value": "Canada"}], {"325"}),
    ({"agg": "max", "column": "depth"}, [], {"1642.5"}),
    ({"agg": "min", "column": "area"}, [{"column": "depth", "op": ">=", "value": 406}], {"31722"}),
    ({"agg": "count"}, [{"column": "depth", "op": ">=", "value": 406}], {"2"}),
    ({"agg": "count"}, [{"column": "depth", "op": "<=", "value": 406}], {"2"}),
    ({"column": "country"}, [{"column": "depth", "op": ">", "value": 5000}], set()),
    ({"agg": "max", "column": "depth"}, [{"column": "lake", "op": "=", "value": "Geneva"}], set()),
    ({"column": "column 5"}, [{"column": "country", "op": "=", "value": "Canada"}], {"x"}),
]


@pytest.mark.parametrize(("item", "filters", "answer"), PLANS)
def test_the_small_executor_agrees_with_the_engine(
    item: dict[str, Any], filters: list[dict[str, Any]], answer: set[str]
) -> None:
    plan = {"dataset_id": "wikisql", "table": TABLE, "select": [item], "filters": filters}
    assert is_lookup(plan)
    assert run_plan(plan, LAKES) == answer
    assert Engine().run(plan, LAKES) == answer


def test_figures_count_the_surest_first() -> None:
    asked = Question("lakes", "?", {})
    rated = [(0.9, True), (0.8, True), (0.2, False), (0.1, False)]
    outcomes = [Outcome(asked, {}, chance, right) for chance, right in rated]
    assert figures(outcomes) == {
        "questions": 4,
        "accuracy": 0.5,
        "precision at 50%": 1.0,
        "precision at 60%": 1.0,
        "precision at 70%": 0.6667,
        "precision at 80%": 0.6667,
    }


def test_made_questions_are_the_same_each_time_and_their_plans_run() -> None:
    sheets: list[Sheet] = [LAKES, TOWNS]
    made = lookups(sheets, 100, seed=7)
    assert made == lookups(sheets, 100, seed=7)
    by_id = {sheet.id: sheet for sheet in sheets}
    assert all(is_lookup(question.plan) for question in made)
    assert any(run_plan(question.plan, by_id[question.table]) for question in made)
    assert misfits(sheets, 100, seed=7) == misfits(sheets, 100, seed=7)


def test_no_template_is_there_twice() -> None:
    assert len(set(LOOKUPS)) == len(LOOKUPS)
    assert len(set(MISFITS)) == len(MISFITS)
