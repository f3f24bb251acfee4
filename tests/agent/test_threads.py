"""Threads outlive the process, branch where a message is edited, and repeat a turn when asked to."""

from __future__ import annotations

import sqlite3
import stat
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langsmith.utils import tracing_is_enabled

from sandtable.agent.events import Message
from sandtable.agent.proposer import PlanProposal, SqlProposal
from sandtable.agent.state import State
from sandtable.assemble.checkpoints import sqlite_checkpoints
from sandtable.capsule.query import SqlQuery
from sandtable.errors import NotFound
from sandtable.sandbox.fake import Script
from tests.agent.house import COUNT, SHOP, House, Scripted, last, open_house
from tests.runs.world import canonical_sql

CONFIG: Any = {"configurable": {"thread_id": "t"}}


async def history(house: House) -> list[Any]:
    return [state async for state in house.analyst.graph.aget_state_history(CONFIG)]


async def run(house: House, given: State | None, config: Any) -> None:
    async for _ in house.analyst.stream(given, config, ["values"]):
        pass


def texts(state: Any) -> list[str]:
    return [str(message.content) for message in state.values["messages"] if message.type == "human"]


async def test_a_restart_loses_nothing(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        await house.say("How many orders are there?")
        await house.say("call that counted")
    async with open_house(tmp_path) as house:
        assert "SELECT COUNT(*)" in (await house.say("show me the SQL")).text
        await house.say("how many in counted?")
        asked = house.proposer.asked[0]
        assert [d["name"] for d in asked.defined] == ["counted"]
        assert asked.history[0].question == "How many orders are there?"


async def test_a_turn_is_two_checkpoints(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        await house.say("How many orders are there?")
        await house.say("and now?")
        states = await history(house)
    assert [state.next for state in states] == [(), ("classify",), (), ("classify",)]
    assert [len(texts(state)) for state in states] == [2, 2, 1, 1]


async def test_editing_a_message_branches_before_it(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        await house.say("first")
        await house.say("second")
        before = next(
            s for s in await history(house) if texts(s) == ["first", "second"] and s.next
        ).parent_config
        edited = State(messages=[HumanMessage("changed", id="e")])
        await run(house, edited, before)
        newest = (await history(house))[0]
        assert texts(newest) == ["first", "changed"]
        assert [e["question"] for e in newest.values["exchanges"]] == ["first", "changed"]


async def test_asking_again_repeats_the_whole_turn(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        await house.say("first")
        answered = (await history(house))[0]
        house.proposer.script = [SqlProposal("SELECT 7 FROM orders")]
        await run(house, None, answered.parent_config)
        newest = (await history(house))[0]
        assert texts(newest) == ["first"]
        assert newest.values["exchanges"][-1]["sql"] == "SELECT 7 FROM orders"
        assert len(newest.values["exchanges"]) == 1
        assert newest.values["messages"][-1].id != answered.values["messages"][-1].id


async def test_a_turn_that_was_cut_short_does_not_come_back(tmp_path: Path) -> None:
    slow = "SELECT 'slow' FROM orders"
    async with open_house(tmp_path, Scripted([SqlProposal(slow)])) as house:
        house.executor.on(canonical_sql(slow), Script(delay_s=60))
        events = house.analyst.ask("slow one", dataset_id="shop", thread_id="t")
        async for event in events:
            if event.type == "run":
                break
        await events.aclose()
    async with open_house(tmp_path) as house:
        assert (await house.say("quick one")).ending == "answered"
        newest = (await history(house))[0]
        assert texts(newest) == ["slow one", "quick one"]
        assert [e["question"] for e in newest.values["exchanges"]] == ["quick one"]
        assert len(house.executor.jobs) == 1


async def test_nothing_is_traced_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if LANGSMITH_TRACING were set, as people have it for other projects."""
    monkeypatch.setattr("langsmith.utils.get_env_var", lambda *_, **__: "true")
    async with open_house(tmp_path) as house:
        await house.say("hello")
        assert not tracing_is_enabled()


async def test_threads_do_not_mix(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        await house.say("How many orders are there?", "one")
        assert "Nothing has been run" in (await house.say("show me the SQL", "two")).text


async def test_a_new_thread_each_time(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        assert house.analyst.new_thread() != house.analyst.new_thread()
        events = [e async for e in house.analyst.ask("hi", dataset_id="shop")]
        assert last(events).ending == "conversed"


async def test_the_file_is_like_that_of_the_runs(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        await house.say("hello")
        modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("threads.db", "sandtable.db")}
    assert len(modes) == 1
    with sqlite3.connect(tmp_path / "threads.db") as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        tables = ("sandtable_checkpoints", "sandtable_checkpoint_items")
        kinds = {row[0] for table in tables for row in database.execute(f"SELECT kind FROM {table}")}
    database.close()
    assert kinds == {"msgpack", "zlib+msgpack"}


async def test_a_state_is_given_back_as_it_was_written(tmp_path: Path) -> None:
    """The saver keeps a state's lists in memory: a step that changed one in place would be seen here."""
    questions = ("How many orders are there?", "show me the SQL", "hello", "How many orders are there?")
    async with open_house(tmp_path) as house:
        for question in questions * 3:
            await house.say(question)
            kept = await house.state()
            async with sqlite_checkpoints(tmp_path / "threads.db") as cold:
                found = await cold.aget_tuple(CONFIG)
            assert found is not None
            stored = found.checkpoint["channel_values"]
            assert {name: stored[name] for name in kept.values} == kept.values


@pytest.mark.parametrize(
    ("decision", "ran"),
    [
        ({"type": "approve"}, "SELECT COUNT(*)"),
        (
            {
                "type": "edit",
                "edited_action": {"name": "execute_sql", "args": {"sql": "SELECT 9 FROM orders"}},
            },
            "SELECT 9 FROM orders",
        ),
    ],
    ids=["approved", "edited"],
)
async def test_a_person_decides_what_runs(tmp_path: Path, decision: dict[str, Any], ran: str) -> None:
    async with open_house(tmp_path, approval="sql") as house:
        waiting = last(await house.ask("How many orders are there?"))
        assert waiting.ending == "waiting"
        assert "SELECT COUNT(*)" in waiting.text
        assert await house.runs.counts() == {}
        shown = (await house.state()).interrupts[0].value
        assert shown["action_requests"][0]["args"]["sql"].endswith("LIMIT 200;")
        assert shown["review_configs"] == [
            {"action_name": "execute_sql", "allowed_decisions": ["approve", "edit", "reject"]}
        ]
    async with open_house(tmp_path, approval="sql") as house:
        answered = last(await house.approve(decision))
        assert answered.ending == "answered"
        run = await house.runs.get(answered.run_ids[0])
        assert (run.executed_sql or "").startswith(ran)
        assert isinstance(run.request.query, SqlQuery) is (decision["type"] == "edit")


async def test_an_edit_goes_through_the_gate(tmp_path: Path) -> None:
    async with open_house(tmp_path, approval="sql") as house:
        await house.ask("How many orders are there?")
        edit = {"type": "edit", "edited_action": {"args": {"sql": "DROP TABLE orders"}}}
        refused = last(await house.approve(edit))
        assert refused.ending == "refused"
        assert (await house.runs.get(refused.run_ids[0])).status == "rejected"
        assert len(house.proposer.asked) == 1


async def test_what_is_declined_does_not_run(tmp_path: Path) -> None:
    async with open_house(tmp_path, approval="sql") as house:
        await house.ask("How many orders are there?")
        declined = last(await house.approve({"type": "reject", "message": "too costly"}))
        assert declined.ending == "refused" and "too costly" in declined.text
        assert await house.runs.counts() == {}
        assert [m.type for m in (await house.state()).values["messages"]] == ["human", "ai", "tool", "ai"]


async def test_a_refused_query_is_not_put_before_a_person(tmp_path: Path) -> None:
    async with open_house(tmp_path, approval="sql") as house:
        said = await house.say("DROP TABLE orders")
        assert said.ending == "refused" and said.run_ids


async def test_an_approval_is_for_the_data_it_was_given_for(tmp_path: Path) -> None:
    recent = {**COUNT, "time": {"last": 3, "unit": "day"}}
    async with open_house(tmp_path, Scripted([PlanProposal(recent)]), approval="sql") as house:
        house.datasets.current["shop"] = SHOP.model_copy(update={"as_of": "2025-01-31"})
        assert last(await house.ask("how many lately?")).ending == "waiting"
        house.datasets.current["shop"] = SHOP.model_copy(update={"as_of": "2025-02-28"})
        said = last(await house.approve({"type": "approve"}))
        assert said.ending == "failed" and "has changed since" in said.text
        assert await house.runs.counts() == {}


async def test_a_new_message_instead_of_a_decision(tmp_path: Path) -> None:
    async with open_house(tmp_path, approval="sql") as house:
        await house.ask("How many orders are there?")
        assert (await house.say("hello")).ending == "conversed"
        assert await house.runs.counts() == {}
        with pytest.raises(NotFound, match="nothing waits"):
            await house.approve({"type": "approve"})


@pytest.mark.parametrize("decision", [{}, {"type": "maybe"}, {"type": "edit"}], ids=str)
async def test_an_odd_decision_is_told_and_can_be_made_again(
    tmp_path: Path, decision: dict[str, Any]
) -> None:
    async with open_house(tmp_path, approval="sql") as house:
        await house.ask("How many orders are there?")
        odd = (await house.approve(decision))[-1]
        assert isinstance(odd, Message) and odd.ending == "waiting" and "no decision" in odd.text
        assert last(await house.approve({"type": "approve"})).ending == "answered"
        assert (await house.runs.counts())["succeeded"] == 1


async def test_the_first_answer_gives_the_thread_its_title(tmp_path: Path) -> None:
    async with open_house(
        tmp_path, Scripted([PlanProposal(COUNT), SqlProposal("SELECT 7 FROM orders")])
    ) as house:
        await house.say("hello")
        assert (await history(house))[0].values.get("title") is None
        await house.say("How many are there?")
        assert (await history(house))[0].values["title"] == "Number of orders"
        await house.say("and now in SQL")
        assert (await history(house))[0].values["title"] == "Number of orders"


async def test_an_answer_without_a_plan_has_no_title(tmp_path: Path) -> None:
    async with open_house(tmp_path, Scripted([SqlProposal("SELECT 7 FROM orders")])) as house:
        await house.say("first")
        assert (await history(house))[0].values["title"] == ""
