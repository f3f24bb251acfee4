"""A question without a thread has the events that it has in one: the graph is the same, LangGraph runs it or not."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import pytest

from sandtable.agent.analyst import Analyst
from sandtable.agent.events import Event, Message
from sandtable.agent.model_trouble import ModelTrouble
from sandtable.agent.one_turn import OneTurn
from sandtable.agent.proposer import PlanProposal, SqlProposal
from sandtable.errors import NotFound
from tests.agent.house import BAD, COUNT, UNKNOWN, Scripted, ask_back, last, open_house

_RUN = re.compile(r"run_[0-9a-f]{32}")
_TROUBLE = ModelTrouble("unreachable", "the model is away", suggestion="Start it.", model="scripted:one")

QUESTIONS: dict[str, tuple[str, list[Any]]] = {
    "answered": ("How many orders are there?", [PlanProposal(COUNT)]),
    "repaired": ("How many orders are there?", [PlanProposal(BAD), PlanProposal(COUNT)]),
    "given-up": ("Sum it", [PlanProposal(UNKNOWN)]),
    "asked-back": ("What is it?", [ask_back()]),
    "refused": ("Drop it all", [SqlProposal("DROP TABLE orders")]),
    "sql": ("SELECT 1 FROM orders", [PlanProposal(COUNT)]),
    "several": ("How many orders are there? How many regions are there?", [PlanProposal(COUNT)]),
    "small-talk": ("hello", [PlanProposal(COUNT)]),
    "no-model": ("How many orders are there?", [_TROUBLE]),
}
DECISIONS: dict[str, list[dict[str, Any]]] = {
    "approve": [{"type": "approve"}],
    "edit": [{"type": "edit", "edited_action": {"name": "x", "args": {"sql": "SELECT 7 FROM orders"}}}],
    "reject": [{"type": "reject", "message": "not now"}],
    "unclear-then-approve": [{"type": "perhaps"}, {"type": "approve"}],
}


async def _both(
    home: Path, ask: Callable[[Any], AsyncGenerator[Event, None]], **house: Any
) -> list[list[Any]]:
    found: list[list[Any]] = []
    for kept in (True, False):
        script = Scripted(list(house["script"]))
        async with open_house(home / str(kept), script, approval=house.get("approval", "off")) as made:
            asked: Analyst | OneTurn = made.analyst if kept else OneTurn(made.analyst._means)
            found.append(_comparable([event async for event in ask(asked)]))
    return found


def _comparable(events: list[Event]) -> list[Any]:
    text = json.dumps([event.model_dump(mode="json") for event in events])
    names: dict[str, str] = {}
    text = _RUN.sub(lambda run: names.setdefault(run[0], f"run {len(names)}"), text)
    return json.loads(re.sub(r'"(exec_time_ms|latency_ms)": [0-9.e-]+', r'"\1": 0', text))


@pytest.mark.parametrize(("question", "script"), QUESTIONS.values(), ids=list(QUESTIONS))
async def test_the_events_are_those_of_a_thread(tmp_path: Path, question: str, script: list[Any]) -> None:
    kept, single = await _both(tmp_path, lambda made: made.ask(question, dataset_id="shop"), script=script)
    assert single == kept
    assert kept[-1]["type"] == "message"


async def test_a_given_plan_runs(tmp_path: Path) -> None:
    kept, single = await _both(
        tmp_path, lambda made: made.ask("this", dataset_id="shop", plan=COUNT), script=[ask_back()]
    )
    assert single == kept
    assert kept[-1]["ending"] == "answered"


async def test_an_unknown_dataset_is_a_failure(tmp_path: Path) -> None:
    kept, single = await _both(
        tmp_path, lambda made: made.ask("this", dataset_id="nope"), script=[ask_back()]
    )
    assert single == kept
    assert kept[-1]["ending"] == "failed"


@pytest.mark.parametrize("decisions", DECISIONS.values(), ids=list(DECISIONS))
async def test_a_person_decides(tmp_path: Path, decisions: list[dict[str, Any]]) -> None:
    async def asked(made: Any) -> AsyncGenerator[Event, None]:
        async for event in made.ask("How many orders are there?", dataset_id="shop", thread_id="t"):
            yield event
        for decision in decisions:
            async for event in made.approve("t", decision):
                yield event

    kept, single = await _both(tmp_path, asked, script=[PlanProposal(COUNT)], approval="sql")
    assert single == kept
    assert next(event["ending"] for event in kept if event["type"] == "message") == "waiting"
    assert kept[-1]["ending"] != "waiting"


async def test_nothing_waits_for_a_decision(tmp_path: Path) -> None:
    async with open_house(tmp_path) as made:
        with pytest.raises(NotFound):
            async for _ in OneTurn(made.analyst._means).approve("t", {"type": "approve"}):
                pass


async def test_closing_it_cancels_the_run(tmp_path: Path) -> None:
    async with open_house(tmp_path, Scripted([PlanProposal(COUNT)])) as made:
        events = OneTurn(made.analyst._means).ask("How many orders are there?", dataset_id="shop")
        async for event in events:
            if event.type == "run":
                break
        await events.aclose()
        run = (await made.runs.list())[0]
        assert (await made.runs.wait(run.id, 10)).ended


async def test_a_broken_node_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_house(tmp_path) as made:
        turn = OneTurn(made.analyst._means)

        async def broken(*_: Any) -> Any:
            raise ValueError("boom")

        monkeypatch.setattr(Scripted, "propose", broken)
        events = [event async for event in turn.ask("How many orders are there?", dataset_id="shop")]
        assert events[-1].type == "error"
        monkeypatch.undo()
        again = [event async for event in turn.ask("How many orders are there?", dataset_id="shop")]
        assert isinstance(last(again), Message)
