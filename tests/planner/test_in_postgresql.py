"""Plans for questions about the built-in datasets give the same rows where these lie in a PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest

from sandtable.planner.outcome import Understood
from sandtable.planner.planner import plan_question
from tests.planner.corpora import read_corpus
from tests.planner.ground import World
from tests.sql.live.conftest import server as server
from tests.sql.live.twins import Twin

pytestmark = pytest.mark.needs("postgres")

ROWS = 400
"""Of each table, which are enough to tell two meanings apart."""
QUESTIONS = sorted(
    {(case["dataset"], case["question"]) for case in read_corpus("families") if "dataset" in case}
)

Twins = Callable[[str], Twin]


@pytest.fixture(scope="module")
def twins(worlds: dict[str, World], server: psycopg.Connection[tuple[object, ...]]) -> Twins:
    made: dict[str, Twin] = {}

    def of(name: str) -> Twin:
        if name not in made:
            world = worlds[name]
            made[name] = Twin.of(world.dataset, world.connection, server, name, rows=ROWS)
        return made[name]

    return of


@pytest.mark.parametrize(("name", "question"), QUESTIONS, ids=[question for _, question in QUESTIONS])
def test_the_same_rows(worlds: dict[str, World], twins: Twins, name: str, question: str) -> None:
    outcome = plan_question(question, worlds[name].index)
    if isinstance(outcome, Understood):
        twins(name).check(outcome.plan)


def test_most_questions_have_a_plan(worlds: dict[str, World]) -> None:
    planned = [isinstance(plan_question(each, worlds[name].index), Understood) for name, each in QUESTIONS]
    assert sum(planned) > 60
