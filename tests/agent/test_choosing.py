"""A person chooses another reading: its plan is a turn of its own, checked, run and sealed like any other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sandtable.agent.events import Event, Planned
from sandtable.agent.proposer import PlanProposal
from sandtable.capsule.query import plan_of
from tests.agent.house import BAD, COUNT, UNKNOWN, House, Scripted, kinds, last, open_house

BY_REGION = {
    "table": "orders",
    "select": [{"column": "region"}, {"metric": "revenue"}],
    "group_by": ["region"],
}
QUESTION = "revenue by region"


def _planned(events: list[Event]) -> Planned:
    return next(event for event in events if isinstance(event, Planned))


async def _asked(house: House) -> Planned:
    planned = _planned(await house.ask(QUESTION))
    assert planned.read_as is not None
    return planned


async def test_a_reading_comes_with_the_plan_and_is_in_the_answer(tmp_path: Path) -> None:
    async with open_house(tmp_path, Scripted([PlanProposal(BY_REGION)]), planner=True) as house:
        events = await house.ask(QUESTION)
        read = _planned(events).read_as
        assert read is not None and read.question == QUESTION
        assert read.trust == ("defined", "proposed_by_model")
        assert [(p.kind, p.label, [w.text for w in p.words]) for p in read.parts] == [
            ("measure", "revenue", ["revenue"]),
            ("by", "region", ["by region"]),
        ]
        assert last(events).text.endswith("*Read as: revenue · by region*")
        shown = next(ui for ui in (await house.state()).values["ui"] if ui["name"] == "answer")
        assert shown["props"]["read_as"] == read.model_dump(mode="json")


async def test_a_choice_runs_as_a_turn_of_its_own(tmp_path: Path) -> None:
    async with open_house(tmp_path, Scripted([PlanProposal(BY_REGION)]), planner=True) as house:
        read = (await _asked(house)).read_as
        assert read is not None
        choice = next(c for c in read.parts[0].choices if c.label == "average amount")
        events = await house.ask(choice.message, plan=choice.plan)
        assert kinds(events)[:3] == ["plan", "sql", "run"] and last(events).ending == "answered"
        assert len(house.proposer.asked) == 1, "nothing is proposed where a person chose"
        again = _planned(events)
        assert again.plan == choice.plan and again.read_as is not None
        assert again.read_as.trust == (), "an aggregate that nobody declared, chosen by a person"
        assert [(p.label, p.source) for p in again.read_as.parts] == [
            ("average amount", "chosen"),
            ("region", "kept"),
        ]
        run = await house.runs.get(last(events).run_ids[0])
        assert plan_of(run.request.query) == choice.plan and run.request.origin is None
        assert run.request.question == "Read “revenue” as “average amount”"
        capsule = await house.runs.capsule(run.id)
        assert capsule["signatures"]
        # What comes next builds on what was chosen.
        await house.ask("and now?")
        assert house.proposer.asked[-1].history[-1].plan == choice.plan


@pytest.mark.parametrize(
    ("plan", "says"),
    [
        (BAD, "total"),
        (UNKNOWN, "amuont"),
        ({**COUNT, "dataset_id": "stall"}, "stall"),
        ({"sql": "DROP TABLE orders"}, "sql"),
        ({}, "table"),
    ],
    ids=["no such aggregate", "no such column", "another dataset", "no plan", "nothing"],
)
async def test_a_plan_that_does_not_fit_is_refused_and_not_run(
    tmp_path: Path, plan: dict[str, Any], says: str
) -> None:
    async with open_house(tmp_path, Scripted([PlanProposal(COUNT)]), planner=True) as house:
        message = last(await house.ask("Read it so", plan=plan))
        assert message.ending in ("refused", "failed") and message.problem is not None
        assert says in message.problem.model_dump_json()
        assert not house.executor.jobs and not house.proposer.asked


async def test_a_choice_waits_for_approval_like_any_query(tmp_path: Path) -> None:
    async with open_house(tmp_path, Scripted([PlanProposal(COUNT)]), approval="sql") as house:
        assert last(await house.ask("Read it so", plan=BY_REGION)).ending == "waiting"
        assert not house.executor.jobs
