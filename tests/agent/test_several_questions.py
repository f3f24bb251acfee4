"""A message with several questions gets several answers, each with its own run, on every surface."""

from __future__ import annotations

from pathlib import Path

from sandtable.agent.events import Message, Table
from sandtable.agent.proposer import PlanProposal
from sandtable.server.chat.views import Gathering
from sandtable.server.v2.wire import SoFar, messages_of
from tests.agent.house import COUNT, Scripted, ask_back, kinds, open_house

BOTH = "How many orders are there? And which region sold most?"


async def test_each_question_has_its_own_events_and_run(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        events = await house.ask(BOTH)
        state = await house.state()
        runs = [await house.runs.get(m.run_ids[0]) for m in events if isinstance(m, Message)]
    ends = [event for event in events if isinstance(event, Message)]
    assert [(end.ending, end.remaining) for end in ends] == [("answered", 1), ("answered", 0)]
    assert kinds(events).count("table") == 2 and events[-1] is ends[-1]
    assert [run.request.question for run in runs] == [
        "How many orders are there?",
        "And which region sold most?",
    ]
    assert runs[0].id != runs[1].id
    assert [asked.question for asked in house.proposer.asked] == [run.request.question for run in runs]
    # The second may lean on the first.
    assert [e.question for e in house.proposer.asked[1].history] == ["How many orders are there?"]
    said = [m for m in state.values["messages"] if m.type == "ai" and m.additional_kwargs.get("sandtable")]
    assert len(said) == 2 and state.values["pending"] is None


async def test_one_that_is_not_understood_is_asked_about_and_the_others_are_answered(tmp_path: Path) -> None:
    script = Scripted([ask_back("Which collar?"), PlanProposal(COUNT), PlanProposal(COUNT)])
    async with open_house(tmp_path, script) as house:
        events = await house.ask("- the collar size\n- number of orders\n- and by month")
    ends = [event for event in events if isinstance(event, Message)]
    assert [end.ending for end in ends] == ["asked", "answered", "answered"]
    # Nothing leans on the question that was not understood.
    assert [len(asked.history) for asked in script.asked] == [0, 0, 2]


async def test_a_new_message_puts_an_end_to_what_was_left_of_the_one_before(tmp_path: Path) -> None:
    async with open_house(tmp_path, approval="sql") as house:
        waiting = (await house.ask(BOTH))[-1]
        assert isinstance(waiting, Message) and waiting.ending == "waiting"
        events = await house.ask("How many rows?")
        assert [asked.question for asked in house.proposer.asked][-1] == "How many rows?"
        assert isinstance(events[-1], Message) and events[-1].ending == "waiting"


async def test_each_question_is_approved_by_itself(tmp_path: Path) -> None:
    async with open_house(tmp_path, approval="sql") as house:
        await house.ask(BOTH)
        first = await house.approve({"type": "approve"})
        ends = [event for event in first if isinstance(event, Message)]
        assert [(end.ending, end.remaining) for end in ends] == [("answered", 1), ("waiting", 0)]
        second = await house.approve({"type": "reject"})
        assert isinstance(second[-1], Message) and second[-1].ending == "refused"


async def test_too_many_questions_are_asked_about(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        said = await house.say("\n".join(f"{n}. How many orders {n}?" for n in range(1, 11)))
    assert said.ending == "asked" and "10 questions" in said.text
    assert house.proposer.asked == []


async def test_sql_is_not_taken_apart(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        events = await house.ask("SELECT region\nFROM orders")
    assert sum(isinstance(event, Message) for event in events) == 1 and house.proposer.asked == []


async def test_every_wire_has_both_answers(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        events = await house.ask(BOTH)
    ends = [event for event in events if isinstance(event, Message)]
    tables = [event for event in events if isinstance(event, Table)]
    gathering, so_far, told = Gathering("t"), SoFar(), []
    for event in events:
        gathering.add(event)
        said, so_far = messages_of(event, so_far)
        told += said
    answer = gathering.answer()
    assert answer.message == ends[0].text and [other.message for other in answer.others] == [ends[1].text]
    assert [one.result.rows for one in (answer, *answer.others) if one.result] == [
        table.rows for table in tables
    ]
    assert [one.run_ids for one in (answer, *answer.others)] == [end.run_ids for end in ends]
    [final] = [one.payload for one in told if one.type == "final_response"]
    assert final == f"{ends[0].text}\n\n---\n\n{ends[1].text}" and told[-1].payload == final
