"""Questions to begin with: made from the columns, and kept only when the planner answers them as they were meant."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sandtable.agent.first_questions import MOST, first_questions
from sandtable.planner.outcome import Understood
from sandtable.planner.planner import plan_question
from tests.planner.ground import World, csv_world, profile

TABLES = Path(__file__).resolve().parents[1] / "planner" / "corpus" / "tables"


async def questions(world: World) -> list[str]:
    async def plan_of(question: str) -> Mapping[str, Any] | None:
        outcome = plan_question(question, world.index)
        return outcome.plan if isinstance(outcome, Understood) else None

    return await first_questions(world.dataset, profile(world.dataset, world.connection), plan_of)


@pytest.mark.parametrize("name", ["employees", "flights", "hospital_visits", "memberships", "cars"])
async def test_six_questions_that_run(name: str) -> None:
    world = csv_world(name, TABLES / f"{name}.csv")
    asked = await questions(world)
    assert len(asked) == MOST == len(set(asked))
    for question in asked:
        outcome = plan_question(question, world.index)
        assert isinstance(outcome, Understood)
        assert world.run_plan(outcome.plan)


async def test_a_question_that_is_read_otherwise_is_not_proposed() -> None:
    world = csv_world("cars", TABLES / "cars.csv")
    data = profile(world.dataset, world.connection)

    async def misreads(question: str) -> Mapping[str, Any] | None:
        return {"select": [{"agg": "avg", "column": "other"}]}

    async def asks_back(question: str) -> Mapping[str, Any] | None:
        return None

    assert await first_questions(world.dataset, data, misreads) == []
    assert await first_questions(world.dataset, data, asks_back) == []


async def test_personal_data_are_not_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "patients.csv"
    lines = [f"Ada {n % 3},{'ab'[n % 2]},{n}.5" for n in range(40)]
    path.write_text("\n".join(["patient_name,ward,weight_kg", *lines]))
    asked = await questions(csv_world("patients", path))
    assert asked
    assert not any("name" in question for question in asked)
