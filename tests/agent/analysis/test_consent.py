"""When a question becomes an analysis: what must be set up for it, and what a person must approve."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandtable.agent.events import Code
from sandtable.agent.proposer import AnalysisProposal, PlanProposal
from tests.agent.analysis.coding import (
    CHART,
    QUESTION,
    RESULT,
    ScriptedCoder,
    analysing,
    code_of,
)
from tests.agent.house import COUNT, Scripted, ask_back, kinds, last, open_house


async def test_a_model_decides_that_it_takes_python(tmp_path: Path) -> None:
    coder = ScriptedCoder()
    scripted = Scripted([AnalysisProposal("It is a forecast.")])
    async with analysing(tmp_path, coder, proposer=scripted) as house:
        said = last(await house.ask("What will come next?"))
    assert scripted.asked[0].python
    assert (said.ending, coder.asked_for[0]) == ("answered", "plan_steps")


async def test_whoever_asks_for_python_is_not_asked_again(tmp_path: Path) -> None:
    coder = ScriptedCoder()
    async with analysing(tmp_path, coder) as house:
        events = await house.ask(QUESTION)
        assert not house.proposer.asked
    assert coder.asked_for == ["plan_steps", *["write_code"] * 3, "draw"]
    assert coder.tasks[0][1].asked.question == QUESTION
    assert [task.goal for name, task in coder.tasks if name == "write_code"] == list(coder.steps)
    said = last(events)
    assert said.text.endswith("revenue 10.\n\n[[table-1]]\n\n[[plot-1]]")


async def test_a_person_approves_each_cell(tmp_path: Path) -> None:
    coder = ScriptedCoder(steps=("Load.", "Fit."), codes=["one", "two"])
    async with analysing(tmp_path, coder, {"mine": RESULT}, approval="sql") as house:
        first = await house.ask(QUESTION)
        assert kinds(first) == ["plan", "code", "message"]
        assert last(first).ending == "waiting" and "```python\none\n```" in last(first).text
        assert house.executor.jobs == []
        second = await house.approve({"type": "approve"})
        assert last(second).ending == "waiting" and "```python\ntwo\n```" in last(second).text
        edited = {"name": "execute_python", "args": {"code": "mine"}}
        third = await house.approve({"type": "edit", "edited_action": edited})
        assert [event.code for event in third if isinstance(event, Code)] == ["mine", CHART]
        fourth = await house.approve({"type": "approve"})
        runs = {code_of(run).code: run for run in await house.runs.list()}
    assert last(fourth).ending == "answered"
    assert set(runs) == {"one", "mine", CHART}
    assert runs["mine"].request.origin is None and runs["one"].request.origin is not None


async def test_a_person_declines_a_cell(tmp_path: Path) -> None:
    async with analysing(tmp_path, ScriptedCoder(), approval="sql") as house:
        await house.ask(QUESTION)
        said = last(await house.approve({"type": "reject", "message": "not that"}))
        assert house.executor.jobs == []
    assert (said.ending, said.text) == (
        "refused",
        "You declined the code, so nothing was run. Your reason: not that",
    )


async def test_what_the_gate_refuses_is_not_put_before_a_person(tmp_path: Path) -> None:
    coder = ScriptedCoder(codes=["import os", "one"])
    async with analysing(tmp_path, coder, approval="sql") as house:
        events = await house.ask(QUESTION)
        [refused] = await house.runs.list()
        await house.approve({"type": "approve"})
        queries = [code_of(run) for run in await house.runs.list()]
        sessions = {query.code: query.session for query in queries}
    assert refused.status == "rejected"
    assert sessions == {"import os": None, "one": "t"}, "no earlier cell can make it pass unseen"
    assert coder.asked_for[:4] == ["plan_steps", "write_code", "diagnose", "write_code"]
    assert "```python\none\n```" in last(events).text


@pytest.mark.parametrize(
    ("python", "coder", "named", "not_named"),
    [
        pytest.param(False, None, "`SANDTABLE_MODEL`", "", id="neither"),
        pytest.param(False, ScriptedCoder(), "`SANDTABLE_PYTHON=on`", "SANDTABLE_MODEL", id="python off"),
        pytest.param(True, None, "`SANDTABLE_MODEL`", "SANDTABLE_PYTHON", id="no model"),
    ],
)
async def test_what_is_missing_is_named(
    tmp_path: Path, python: bool, coder: ScriptedCoder | None, named: str, not_named: str
) -> None:
    scripted = Scripted([AnalysisProposal("a forecast")])
    async with open_house(tmp_path, scripted, python=python, coder=coder) as house:
        assert "plan_steps" not in house.analyst.graph.nodes, "a turn without Python costs nothing more"
        for question in (QUESTION, "What comes next?"):
            events = await house.ask(question)
            said = last(events)
            assert (said.ending, kinds(events)) == ("asked", ["message"])
            assert named in said.text and (not not_named or not_named not in said.text)
        assert not scripted.asked[0].python


async def test_without_python_a_plan_answers_what_it_can(tmp_path: Path) -> None:
    async with open_house(tmp_path, Scripted([PlanProposal(COUNT)])) as house:
        said = last(await house.ask("How many orders are there, in Python?"))
        assert house.proposer.asked[0].question == "How many orders are there?"
    assert said.ending == "answered" and "without Python" in said.text


async def test_without_python_what_no_plan_can_do_is_said(tmp_path: Path) -> None:
    async with open_house(tmp_path, Scripted([ask_back()])) as house:
        said = last(await house.ask("use pandas to compute the moon phase"))
    assert said.ending == "asked" and "SANDTABLE_PYTHON=on" in said.text
