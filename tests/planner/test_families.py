"""Questions by families, each answered as its SQL says or asked about at the right word. A wrong answer always fails.

`asks` are the words at which a question back is right; with `sql` as well, an answer is right, too. `sqls` are other
right answers.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from sandtable.planner.outcome import Understood
from sandtable.planner.planner import plan_question
from tests.planner.corpora import read_corpus
from tests.planner.ground import World, same_answer

_CASES = read_corpus("families")
_LEAST = 110
_LEAST_ANSWERED = 100


def _id(case: dict[str, Any]) -> str:
    return f"{case['family']}: {case['question']}"[:70]


@pytest.mark.parametrize("case", _CASES, ids=_id)
def test_question_is_answered_rightly_or_asked_about(
    worlds: dict[str, World], shelf: dict[str, World], case: dict[str, Any]
) -> None:
    world = worlds[case["dataset"]] if "dataset" in case else shelf[case["table"]]
    outcome = plan_question(case["question"], world.index)
    wanted = [case["sql"]] if "sql" in case else []
    wanted += case.get("sqls", [])
    if not isinstance(outcome, Understood):
        asked = outcome.unknown[0].lower() if outcome.unknown else ""
        assert asked in case.get("asks", ()), outcome.reason
        return
    rows = world.run_plan(outcome.plan)
    assert any(same_answer(rows, world.run_sql(sql)) for sql in wanted), (outcome.plan, rows[:3])


def test_there_are_enough_of_them() -> None:
    assert len(_CASES) >= _LEAST and len({case["question"] for case in _CASES}) >= _LEAST
    assert sum("sql" in case for case in _CASES) >= _LEAST_ANSWERED
    assert min(Counter(case["family"] for case in _CASES).values()) >= 1
    assert len({case["table"] for case in _CASES if "table" in case}) >= 3
