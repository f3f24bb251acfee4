"""Our checkpointer does what LangGraph's own does, over both databases, and writes what a turn adds."""

from __future__ import annotations

from itertools import pairwise
from operator import add
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, interrupt

from sandtable.agent.checkpoints import schema
from sandtable.agent.checkpoints.saver import Checkpoints
from sandtable.capsule.canonical import digest
from sandtable.catalog.model import Dataset
from tests.agent.checkpoints.conftest import OpenSaver
from tests.capsule.samples import SHOP

TABLES = ("threads", "items", "writes", "runs")
RUN = "run_" + "0a" * 16


class Talk(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    log: Annotated[list[str], add]
    recent: list[dict[str, Any]]
    note: dict[str, Any]


def answer(state: Talk) -> Talk:
    messages = state.get("messages") or []
    asked = str(messages[-1].content)
    said = interrupt({"about": asked}) if asked.startswith("ask") else asked.upper()
    told = AIMessage(f"{said} {'x' * 200}", id=f"answer {len(messages)}")
    recent = [*(state.get("recent") or ()), {"asked": asked, "long": asked * 40}][-3:]
    return Talk(messages=[told], log=[asked], recent=recent, note={"last": asked})


def graph_over(saver: BaseCheckpointSaver[Any]) -> Any:
    made = StateGraph(Talk)
    made.add_node("answer", answer)
    made.add_edge(START, "answer")
    made.add_edge("answer", END)
    return made.compile(checkpointer=saver)


def at(checkpoint_id: str | None = None, thread: str = "t") -> Any:
    named = {"checkpoint_id": checkpoint_id} if checkpoint_id else {}
    return {"configurable": {"thread_id": thread, "checkpoint_ns": "", **named}}


async def say(graph: Any, text: str, config: Any = None, number: int | None = None) -> None:
    message = HumanMessage(text, id=f"said {text} {number}")
    await graph.ainvoke({"messages": [message]}, config or at())


async def size_of(saver: Checkpoints) -> int:
    return sum(one.bytes for one in await saver.threads())


async def played(saver: BaseCheckpointSaver[Any]) -> list[Any]:
    """Turns, a branch, an approval, a state added by hand; then all states, newest first."""
    graph = graph_over(saver)
    for text in ("one", "two", "three", "four", "five"):
        await say(graph, text)
    states = [state async for state in graph.aget_state_history(at())]
    second = next(s for s in reversed(states) if [m.content for m in s.values["messages"]][-1:] == ["two"])
    await say(graph, "edited", second.parent_config)
    await say(graph, "ask me")
    await graph.ainvoke(Command(resume="yes"), at())
    await graph.aupdate_state(at(), {"messages": [HumanMessage("by hand", id="hand")]}, as_node="answer")
    await say(graph, "ask again")
    return [state async for state in graph.aget_state_history(at())]


def shape(states: list[Any]) -> list[Any]:
    """Without the ids and times that differ each time."""
    places = {state.config["configurable"]["checkpoint_id"]: number for number, state in enumerate(states)}
    return [
        (
            state.values,
            state.next,
            {name: state.metadata[name] for name in ("source", "step")},
            places.get(((state.parent_config or {}).get("configurable") or {}).get("checkpoint_id")),
            [(task.name, task.interrupts and task.interrupts[0].value, task.result) for task in state.tasks],
        )
        for state in states
    ]


async def test_it_does_what_langgraphs_own_does(saver: Checkpoints, open_saver: OpenSaver) -> None:
    expected = shape(await played(InMemorySaver()))
    assert shape(await played(saver)) == expected
    async with open_saver() as restarted:
        graph = graph_over(restarted)
        assert shape([state async for state in graph.aget_state_history(at())]) == expected
        assert (await graph.aget_state(at())).values == expected[0][0]
        # What waits is still waiting.
        ended = await graph.ainvoke(Command(resume="yes"), at())
        assert str(ended["messages"][-1].content).startswith("yes")


async def test_states_are_found_by_what_is_asked_for(saver: Checkpoints) -> None:
    graph = graph_over(saver)
    for text in ("one", "two"):
        await say(graph, text)
    everything = [found async for found in saver.alist(at())]
    ids = [found.checkpoint["id"] for found in everything]
    assert ids == sorted(ids, reverse=True)

    async def listed(config: Any = None, **wanted: Any) -> list[str]:
        return [found.checkpoint["id"] async for found in saver.alist(config or at(), **wanted)]

    assert await listed(limit=2) == ids[:2]
    assert await listed(before=at(ids[2])) == ids[3:]
    assert await listed(at(ids[1])) == [ids[1]]
    assert (
        await listed(filter={"source": "input"}, limit=1)
        == [
            found.checkpoint["id"] for found in everything if (found.metadata or {}).get("source") == "input"
        ][:1]
    )
    assert await listed(at(thread="other")) == []
    assert await listed({"configurable": {"thread_id": "t"}}) == ids
    assert [found.checkpoint["id"] async for found in saver.alist(None)] == ids
    assert await saver.aget_tuple(at("none")) is None


async def test_a_turn_costs_the_same_however_many_came_before(saver: Checkpoints) -> None:
    graph = graph_over(saver)
    sizes = [0]
    for number in range(24):
        await say(graph, f"question {number:03}", number=number)
        sizes.append(await size_of(saver))
    grown = [after - before for before, after in pairwise(sizes)]
    assert max(grown[16:]) <= 1.1 * max(grown[5:10]), grown


async def test_another_server_goes_on_at_the_same_cost(saver: Checkpoints, open_saver: OpenSaver) -> None:
    graph = graph_over(saver)
    for number in range(8):
        await say(graph, f"question {number:03}", number=number)
    before = await size_of(saver)
    await say(graph, "question 100", number=100)
    cost = await size_of(saver) - before
    async with open_saver() as other:
        await say(graph_over(other), "question 101", number=101)
        assert await size_of(other) - before <= 2.2 * cost
    state = await graph.aget_state(at())
    assert [m.content for m in state.values["messages"]][-2] == "question 101"


async def test_a_state_is_given_back_as_it_was_written(saver: Checkpoints, open_saver: OpenSaver) -> None:
    """The saver keeps lists in memory: a step that changed one in place would be seen here."""
    graph = graph_over(saver)
    for number in range(6):
        await say(graph, "again", number=number)
        kept = await saver.aget_tuple(at())
        async with open_saver() as cold:
            assert await cold.aget_tuple(at()) == kept


async def test_a_deleted_thread_leaves_nothing(saver: Checkpoints) -> None:
    graph = graph_over(saver)
    for thread in ("t", "other"):
        await say(graph, f"see {RUN}", at(thread=thread))
        await say(graph, "ask", at(thread=thread))
    for table in ("sandtable_checkpoints", *(f"sandtable_checkpoint_{name}" for name in TABLES)):
        counted = f"SELECT count(*) AS n FROM {table} WHERE thread_id = ?"
        assert (await saver.database.rows(counted, "t"))[0]["n"] > 0, table
    await saver.adelete_thread("t")
    for table in ("sandtable_checkpoints", *(f"sandtable_checkpoint_{name}" for name in TABLES)):
        counted = f"SELECT count(*) AS n FROM {table} WHERE thread_id = ?"
        assert (await saver.database.rows(counted, "t"))[0]["n"] == 0, table
    assert len((await graph.aget_state(at(thread="other"))).values["messages"]) == 3


async def test_the_runs_that_a_thread_names_are_known(saver: Checkpoints) -> None:
    await say(graph_over(saver), f"what about {RUN}?")
    rows = await saver.database.rows("SELECT * FROM sandtable_checkpoint_runs")
    assert rows == [{"thread_id": "t", "run_id": RUN}]


async def test_a_changed_file_makes_no_objects_of_other_kinds(saver: Checkpoints) -> None:
    kind, data = saver.serde.dumps_typed(SHOP)
    await say(graph_over(saver), "one")
    change = "UPDATE sandtable_checkpoint_items SET kind = ?, value = ?"
    await saver.database.change((change, (kind, data)))
    saver._recent._kept.clear()
    found = await saver.aget_tuple(at())
    assert found is not None
    assert not any(isinstance(one, Dataset) for one in found.checkpoint["channel_values"]["messages"])


async def test_a_value_that_unpacks_to_too_much_is_refused(
    saver: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    await say(graph_over(saver), "long " * 1000)
    saver._recent._kept.clear()
    monkeypatch.setattr("sandtable.agent.checkpoints.packing._LARGEST", 1000)
    with pytest.raises(ValueError, match="more than"):
        await saver.aget_tuple(at())


def test_released_steps_are_not_edited() -> None:
    """A step may be changed until it is released; after that its digest here is its promise."""
    assert [digest(step)[:23] for step in schema.MIGRATIONS] == ["sha256:9e0dc616eb118626"]
