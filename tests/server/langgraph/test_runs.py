"""Runs over the LangGraph protocol, as chat interfaces start, hear, drop, resume and cancel them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sandtable.conversations import engine, journal, running
from tests.server.talking import WIRE, Served, human, leave, says, sse, until


async def test_a_turn_is_heard_as_chat_interfaces_understand_it(server: Served) -> None:
    thread = await server.new_thread(metadata={})
    async with server.stream(thread, "What is what?") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        events = [event async for event in sse(answer)]
    first = events[0]
    assert first.name == "metadata" and first.data["attempt"] == 1
    run_id = first.data["run_id"]
    # The client puts its own base address, `/langgraph` included, in front of these.
    assert answer.headers["location"] == f"/threads/{thread}/runs/{run_id}/stream"
    assert answer.headers["content-location"] == f"/threads/{thread}/runs/{run_id}"
    assert [event.id for event in events] == [str(n) for n in range(1, len(events) + 1)]
    assert {event.name for event in events} == {"metadata", "values", "messages", "custom"}
    chunks = [event.data for event in events if event.name == "messages"]
    assert all(len(chunk) == 2 and "langgraph_node" in chunk[1] for chunk in chunks)
    assert len({chunk["id"] for chunk, _ in chunks}) == 1
    assert "".join(chunk["content"] for chunk, _ in chunks) == "You said: What is what?"
    last = events[-1]
    assert last.name == "values" and says(last.data) == ["What is what?", "You said: What is what?"]
    assert last.data["messages"][-1]["id"] == chunks[0][0]["id"]
    assert set(last.data) == {"messages", "ui", "dataset_id"}, (
        "what the graph remembers for itself is not told"
    )


async def test_nothing_but_the_modes_asked_for(server: Served) -> None:
    thread = await server.new_thread()
    for mode, names in (("updates", {"metadata", "updates"}), (["custom"], {"metadata", "custom"})):
        events = await server.events(thread, stream_mode=mode)
        assert {event.name for event in events} == names
        for event in events:
            if event.name == "updates":
                assert not {"turn", "exchanges"} & {key for node in event.data.values() for key in node}


async def test_an_answer_from_a_run_names_it(server: Served) -> None:
    thread = await server.new_thread()
    events = await server.events(thread, "plan it")
    runs = [event.data for event in events if event.name == "custom" and event.data["type"] == "run"]
    assert runs[-1]["status"] == "succeeded"
    ui = {item["name"]: item for item in events[-1].data["ui"]}
    assert ui["answer"]["props"]["run_id"] == runs[-1]["run_id"]
    assert ui["answer"]["props"]["rows"] == [[42]]


async def test_text_may_come_in_blocks(server: Served) -> None:
    thread = await server.new_thread()
    blocks = [{"type": "text", "text": "What is"}, {"type": "text", "text": "what?"}]
    message = {"id": "h1", "type": "human", "content": blocks}
    events = await server.events(thread, None, input={"messages": [message]})
    human = events[-1].data["messages"][0]
    assert (human["id"], human["content"]) == ("h1", "What is\nwhat?")


async def test_a_dropped_connection_goes_on_where_it_was(server: Served) -> None:
    thread = await server.new_thread()
    async with server.stream(thread, "slow one", on_disconnect="continue") as answer:
        place = answer.headers["location"]
        heard = []
        async for event in sse(answer):
            heard.append(event)
            if len(heard) == 3:
                break
    server.script.go.set()
    headers = {"Last-Event-ID": heard[-1].id or ""}
    async with server.client.stream("GET", WIRE + place, headers=headers) as again:
        assert again.headers["location"] == place
        rest = [event async for event in sse(again)]
    assert [event.id for event in heard + rest] == [str(n) for n in range(1, len(heard + rest) + 1)]
    assert says(rest[-1].data)[-1] == "You said: slow one"


@pytest.mark.parametrize("after", ["-1", "0", "nonsense", "", "9" * 30, "999999"], ids=repr)
async def test_a_run_that_ended_is_heard_again(server: Served, after: str) -> None:
    thread = await server.new_thread()
    first = await server.events(thread)
    run_id = first[0].data["run_id"]
    path = f"{WIRE}/threads/{thread}/runs/{run_id}/stream"
    async with server.client.stream("GET", path, headers={"Last-Event-ID": after}) as again:
        events = [event async for event in sse(again)]
    if after == "999999":
        assert events == []
        return
    assert events[0] == first[0] and events[-1] == first[-1]
    # Of the whole states, only the newest of each moment is kept.
    assert [e for e in events if e.name != "values"] == [e for e in first if e.name != "values"]


async def test_who_joins_chooses_modes(server: Served) -> None:
    thread = await server.new_thread()
    run_id = (await server.events(thread))[0].data["run_id"]
    path = f"{WIRE}/threads/{thread}/runs/{run_id}/stream"
    async with server.client.stream("GET", path, params={"stream_mode": ["messages-tuple"]}) as again:
        assert {event.name async for event in sse(again)} == {"metadata", "messages"}


async def test_many_listen_to_one_run(server: Served) -> None:
    thread = await server.new_thread()
    async with server.stream(thread, "slow one") as answer:
        path = WIRE + answer.headers["location"]

        async def listen() -> list[str | None]:
            async with server.client.stream("GET", path) as joined:
                return [event.id async for event in sse(joined)]

        listeners = [asyncio.create_task(listen()) for _ in range(3)]
        await server.script.waiting.wait()
        server.script.go.set()
        own = [event.id async for event in sse(answer)]
        assert await asyncio.gather(*listeners) == [own] * 3


async def test_a_run_goes_on_without_listeners(server: Served) -> None:
    thread = await server.new_thread()
    run_id = await leave(server, thread)
    assert (await server.get(f"/threads/{thread}"))["status"] == "busy"
    server.script.go.set()
    await until(server, thread, run_id, "success")
    assert (await server.get(f"/threads/{thread}"))["status"] == "idle"


async def test_a_new_turn_ends_the_run_that_nobody_hears(server: Served) -> None:
    thread = await server.new_thread()
    run_id = await leave(server, thread)
    events = await server.events(thread, "And now?")
    assert says(events[-1].data) == ["slow one", "And now?", "You said: And now?"]
    assert (await until(server, thread, run_id, "interrupted"))["error"]["error"] == "UserInterrupt"


async def test_a_run_may_end_with_its_connection(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "RECONNECT_S", 0.05)
    thread = await server.new_thread()
    run_id = await leave(server, thread, on_disconnect="cancel")
    await until(server, thread, run_id, "interrupted")
    assert server.script.at_work == 0


async def test_who_comes_back_in_time_keeps_the_run(server: Served) -> None:
    thread = await server.new_thread()
    run_id = await leave(server, thread, on_disconnect="cancel")
    path = f"{WIRE}/threads/{thread}/runs/{run_id}/stream"
    async with server.client.stream("GET", path) as again:
        turn = (await server.conversation()).turns.running(run_id)
        assert turn is not None
        turn._cancel_if_abandoned()
        server.script.go.set()
        events = [event async for event in sse(again)]
    assert says(events[-1].data)[-1] == "You said: slow one"


async def test_what_breaks_inside_is_told_without_its_text(server: Served, log_lines: Any) -> None:
    thread = await server.new_thread()
    events = await server.events(thread, "boom")
    assert (events[-1].name, events[-1].data["error"]) == ("error", "InternalServerError")
    assert "inside" not in str([event.data for event in events])
    assert (await server.get(f"/threads/{thread}"))["status"] == "error"
    assert [line for line in log_lines() if "the inside of the server" in line.get("exception", "")]
    after = await server.events(thread, "And now?")
    assert says(after[-1].data)[-1] == "You said: And now?"
    assert (await server.get(f"/threads/{thread}"))["error"] is None


async def test_background_run_and_wait(server: Served) -> None:
    thread = await server.new_thread()
    answer = await server.client.post(
        f"{WIRE}/threads/{thread}/runs/wait", json={"assistant_id": "shop", "input": human("Hm?")}
    )
    assert says(answer.json()) == ["Hm?", "You said: Hm?"]
    broken = await server.post(f"/threads/{thread}/runs/wait", assistant_id="shop", input=human("boom"))
    assert broken["__error__"]["error"] == "InternalServerError"
    runs = await server.get(f"/threads/{thread}/runs?status=success")
    assert [run["metadata"]["graph_id"] for run in runs] == ["shop"]


async def test_a_thread_is_made_when_the_client_says_so(server: Served) -> None:
    events = await server.events("brand-new", if_not_exists="create")
    assert says(events[-1].data) == ["hm", "You said: hm"]
    assert (await server.get("/threads/brand-new"))["metadata"]["graph_id"] == "shop"


async def test_a_client_cannot_choose_user_or_dataset_by_config(server: Served) -> None:
    thread = await server.new_thread()
    config = {"configurable": {"user": "eve", "dataset_id": "else", "thread_id": "x", "__pregel_send": 1}}
    body = {"messages": [{"type": "human", "content": "plan it"}], "dataset_id": "else", "turn": {"said": {}}}
    events = await server.events(thread, None, input=body, config=config)
    assert events[-1].data["dataset_id"] == "shop"
    run = (await server.house.runs.list(limit=1))[0]
    assert run.request.user == "@127.0.0.1"


async def test_the_events_of_ended_runs_are_dropped(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    thread = await server.new_thread()
    kept = (await server.events(thread, "One?"))[0].data["run_id"]
    monkeypatch.setattr(engine, "JOURNALS_BYTES", 0)
    await server.events(thread, "Two?")
    left: list[Any] = []
    for _ in range(200):
        async with server.client.stream("GET", f"{WIRE}/threads/{thread}/runs/{kept}/stream") as again:
            left = [event async for event in sse(again)]
        if not left:
            break
        await asyncio.sleep(0.02)
    assert left == []
    assert says((await server.get(f"/threads/{thread}"))["values"])[0] == "One?", "the thread itself stays"


async def test_a_sign_of_life_while_nothing_happens(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "HEARTBEAT_S", 0.02)
    thread = await server.new_thread()
    async with server.stream(thread, "slow one") as answer:
        lines = answer.aiter_lines()
        signs = 0
        while signs < 3:
            signs += (await anext(lines)).startswith(":")
        server.script.go.set()
        assert [line async for line in lines]
