"""A turn on one server, heard and cancelled through another: both are told at once of what the other did."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
import pytest_asyncio
from websockets.asyncio.client import connect

from sandtable.conversations import journal, store
from sandtable.server.v2 import following
from sandtable.settings import Settings
from tests.server.talking import WIRE, Served, SseEvent, says, served, sse, until
from tests.server.v2.listening import ask, kinds, next_one
from tests.server.v2.listening import until as heard_until

pytestmark = pytest.mark.needs("postgres")

NEVER_S = 600.0


@pytest_asyncio.fixture
async def two(tmp_path: Path, postgres_url: str) -> AsyncIterator[tuple[Served, Served]]:
    async with server(tmp_path / "a", postgres_url) as a, server(tmp_path / "b", postgres_url) as b:
        yield a, b


@asynccontextmanager
async def server(home: Path, url: str) -> AsyncIterator[Served]:
    async with served(home, Settings.model_validate({"home": home, "database_url": url})) as one:
        await one.conversation()
        yield one


@pytest.fixture
def only_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks by themselves: what is not told is not known."""
    monkeypatch.setattr(journal, "LOOK_RARELY_S", NEVER_S)
    monkeypatch.setattr(following, "LOOK_AGAIN_S", NEVER_S)
    monkeypatch.setattr(store, "SWEEP_S", NEVER_S)


async def begun(at: Served) -> tuple[str, str]:
    """A turn that waits for its proposer: thread and run."""
    thread = await at.new_thread()
    run = await at.post(
        f"/threads/{thread}/runs",
        assistant_id="shop",
        input={"messages": [{"type": "human", "content": "slow one"}]},
        stream_mode=["values", "custom"],
    )
    await at.script.waiting.wait()
    return thread, run["run_id"]


async def joined(at: Served, thread: str, run_id: str, after: str = "") -> AsyncIterator[SseEvent]:
    headers = {"Last-Event-ID": after}
    async with at.client.stream(
        "GET", f"{WIRE}/threads/{thread}/runs/{run_id}/stream", headers=headers
    ) as answer:
        async for event in sse(answer):
            yield event


@pytest.mark.usefixtures("only_told")
async def test_a_stream_is_heard_through_the_other_server(two: tuple[Served, Served]) -> None:
    a, b = two
    thread, run_id = await begun(a)
    async with asyncio.timeout(20):
        through_b = joined(b, thread, run_id)
        first = await anext(through_b)
        a.script.go.set()
        rest = [event async for event in through_b]
        again = [event async for event in joined(b, thread, run_id, after=first.id or "")]
        waited = await b.get(f"/threads/{thread}/runs/{run_id}/join")
    assert first.name == "metadata" and first.data["run_id"] == run_id
    assert says(rest[-1].data)[-1] == "You said: slow one" == says(waited)[-1]
    assert [event.id for event in again] == [event.id for event in rest]


@pytest.mark.usefixtures("only_told")
async def test_a_turn_is_cancelled_through_the_other_server(two: tuple[Served, Served]) -> None:
    a, b = two
    thread, run_id = await begun(a)
    async with asyncio.timeout(20):
        answer = await b.client.post(f"{WIRE}/threads/{thread}/runs/{run_id}/cancel", params={"wait": True})
    assert answer.status_code == 204
    assert (await until(b, thread, run_id, "interrupted"))["error"]["error"] == "UserInterrupt"


@pytest.mark.usefixtures("only_told")
async def test_a_websocket_hears_what_the_other_server_was_asked(two: tuple[Served, Served]) -> None:
    a, b = two
    first = await ask(a.client, "Tell me more")
    url = f"{b.url.replace('http', 'ws')}/v2/stream/{first['session_id']}"
    async with connect(url) as socket:
        said = await heard_until(socket)
        assert said[-1]["payload"] == "You said: Tell me more"
        await ask(a.client, "slow", session_id=first["session_id"])
        await a.script.waiting.wait()
        told = await next_one(socket)
        await socket.send('{"type": "cancel"}')
        more = await heard_until(socket)
        assert told["seq"] > said[-1]["seq"]
        assert kinds(more)[-2:] == ["error", "final_response"] and "cancelled" in more[-1]["payload"]


def bereave(url: str, run_id: str, times: int = 0) -> None:
    """The turn is a dead server's now, as if it had begun it so many times more. Not on the loop: it may wait for a row
    that a server in this process is about to let go."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE sandtable_turns SET owner = 'dead' WHERE id = %s", (run_id,))
        for number in range(1, times + 1):
            connection.execute(
                "INSERT INTO sandtable_turn_events VALUES (%s, %s, 'begun', '{}')", (run_id, 1000 + number)
            )


async def test_a_dead_servers_turn_is_taken_up(two: tuple[Served, Served], postgres_url: str) -> None:
    a, b = two
    thread, run_id = await begun(a)
    through_b = joined(b, thread, run_id)
    first = await anext(through_b)
    await asyncio.to_thread(bereave, postgres_url, run_id)
    b.script.go.set()
    async with asyncio.timeout(20):
        rest = [event async for event in through_b]
        again = [event async for event in joined(b, thread, run_id)]
    numbers = [int(event.id or 0) for event in (first, *rest)]
    assert numbers == sorted(set(numbers))
    assert [event.data["attempt"] for event in (first, *rest) if event.name == "metadata"] == [1, 2]
    assert says(rest[-1].data) == ["slow one", "You said: slow one"]
    assert again[-1] == rest[-1] and again[0] == first
    assert (await b.get(f"/threads/{thread}"))["status"] == "idle"
    assert says((await b.events(thread, "Go on"))[-1].data)[-1] == "You said: Go on"


async def test_a_turn_that_had_to_wait_is_taken_up_with_its_message(
    two: tuple[Served, Served], postgres_url: str
) -> None:
    """It was accepted, and its message was not in the thread yet when its server died."""
    a, b = two
    thread, run_id = await begun(a)
    second = await a.post(
        f"/threads/{thread}/runs",
        assistant_id="shop",
        input={"messages": [{"type": "human", "content": "Go on"}]},
    )
    for one in (run_id, second["run_id"]):
        await asyncio.to_thread(bereave, postgres_url, one)
    talk = await b.conversation()
    async with asyncio.timeout(20):
        while talk.turns.running(second["run_id"]) is None:
            await talk.store._recover()
            await asyncio.sleep(0.05)
    b.script.go.set()
    await until(b, thread, second["run_id"], "success")
    whole = await b.get(f"/threads/{thread}")
    assert says(whole["values"]) == ["slow one", "You said: slow one", "Go on", "You said: Go on"]


async def test_a_websocket_hears_the_query_that_was_taken_up(
    two: tuple[Served, Served], postgres_url: str
) -> None:
    a, b = two
    asked = await ask(a.client, "slow one")
    await a.script.waiting.wait()
    url = f"{b.url.replace('http', 'ws')}/v2/stream/{asked['session_id']}"
    async with connect(url) as socket:
        first = await next_one(socket)
    (run,) = await b.get(f"/threads/{asked['session_id']}/runs")
    await asyncio.to_thread(bereave, postgres_url, run["run_id"])
    b.script.go.set()
    async with connect(f"{url}?after={first['seq']}") as socket:
        said = await heard_until(socket)
    assert said[-1]["payload"] == "You said: slow one"
    assert [one["seq"] for one in said] == sorted({one["seq"] for one in said}) and said[0]["seq"] > first[
        "seq"
    ]


async def test_a_turn_that_takes_its_server_with_it_is_given_up(
    two: tuple[Served, Served], postgres_url: str
) -> None:
    a, b = two
    thread, run_id = await begun(a)
    through_b = joined(b, thread, run_id)
    first = await anext(through_b)
    await asyncio.to_thread(bereave, postgres_url, run_id, times=2)
    async with asyncio.timeout(20):
        rest = [event async for event in through_b]
    assert (rest[-1].name, rest[-1].data["error"]) == ("error", "ServerStopped")
    assert int(rest[-1].id or 0) > int(first.id or 0)
    assert (await b.get(f"/threads/{thread}"))["status"] == "error"


async def renamed(server: Served, url: str) -> None:
    """Its connection is cut; it comes back under another name."""
    database = (await server.conversation()).store._db
    before = database.owner
    with psycopg.connect(url) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s",
            (f"sandtable {before}",),
        )
    async with asyncio.timeout(20):
        while database.owner == before:
            await asyncio.sleep(0.01)


async def test_a_server_that_goes_by_another_name_keeps_its_turns(
    two: tuple[Served, Served], postgres_url: str
) -> None:
    a, b = two
    thread, run_id = await begun(a)
    await renamed(a, postgres_url)
    talk = await b.conversation()
    for _ in range(3):
        # The other one looks for what dead servers left, and finds nothing.
        await asyncio.sleep(0.3)
        await talk.store._recover()
    assert not b.script.heard
    a.script.go.set()
    await until(a, thread, run_id, "success")
    assert says((await a.events(thread, "Go on"))[-1].data) == [
        "slow one",
        "You said: slow one",
        "Go on",
        "You said: Go on",
    ]


async def test_a_server_lets_go_of_a_turn_that_another_took_up(
    two: tuple[Served, Served], postgres_url: str
) -> None:
    a, b = two
    thread, run_id = await begun(a)
    await asyncio.to_thread(bereave, postgres_url, run_id)
    await (await b.conversation()).store._recover()
    await renamed(a, postgres_url)
    turns = (await a.conversation()).turns
    async with asyncio.timeout(20):
        while turns.running(run_id) is not None:
            await asyncio.sleep(0.01)
    b.script.go.set()
    await until(b, thread, run_id, "success")
    assert says((await b.get(f"/threads/{thread}"))["values"]) == ["slow one", "You said: slow one"]


EARLIER_ENTRIES: tuple[tuple[str, Any], ...] = (
    ("metadata", {"run_id": "x", "thread_id": "t", "attempt": 1}),
    ("values", {"__since__": "c", "messages": [[0, 1]]}),
    ("custom", {"type": "thought", "text": "Hm."}),
    ("updates", {"classify": {"messages": []}}),
    ("messages", [{"content": "H"}, {}]),
)
"""A journal as an earlier version kept it: LangGraph's chunks."""


async def as_earlier_version(at: Served, url: str, run_id: str, order: dict[str, Any]) -> None:
    """The turn is a dead server's of an earlier version now, with that version's journal and order."""
    turn = (await at.conversation()).turns.running(run_id)
    assert turn is not None and isinstance(turn.output, journal.Journal)
    await turn.output._written_to(turn.output._last)
    await asyncio.to_thread(_rewrite, url, run_id, order)


def _rewrite(url: str, run_id: str, order: dict[str, Any]) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute(
            "SELECT number FROM sandtable_turn_events WHERE turn_id = %s AND number > 0 ORDER BY number",
            (run_id,),
        )
        entries: list[tuple[str, Any, int]] = [("order", order, 0)]
        entries += [(*EARLIER_ENTRIES[place % 5], row[0]) for place, row in enumerate(found.fetchall())]
        for name, data, number in entries:
            connection.execute(
                "UPDATE sandtable_turn_events SET name = %s, data = %s WHERE turn_id = %s AND number = %s",
                (name, json.dumps(data), run_id, number),
            )
        connection.execute("UPDATE sandtable_turns SET owner = 'dead' WHERE id = %s", (run_id,))


async def test_an_earlier_versions_turn_is_taken_up(two: tuple[Served, Served], postgres_url: str) -> None:
    a, b = two
    thread, run_id = await begun(a)
    at = "2026-01-01T00:00:00.000000+00:00"
    order = {
        "thread": {"id": thread, "user": "ada", "created_at": at, "updated_at": at, "opening": "slow one"},
        "dataset_id": "shop",
        "user": "ada",
        "messages": [{"type": "human", "content": "slow one"}],
        "modes": ["values", "messages-tuple", "custom"],
        "strategy": "enqueue",
        "streamed": True,
    }
    await as_earlier_version(a, postgres_url, run_id, order)
    b.script.go.set()
    async with asyncio.timeout(20):
        events = [event async for event in joined(b, thread, run_id)]
    attempts = [event.data["attempt"] for event in events if event.name == "metadata"]
    assert attempts == [2], "the chunks of the earlier version are passed over"
    assert says(events[-1].data) == ["slow one", "You said: slow one"]
    assert (await b.get(f"/threads/{thread}"))["status"] == "idle"


async def test_an_order_that_cannot_be_read_ends_its_turn_as_lost(
    two: tuple[Served, Served], postgres_url: str, log_lines: Any
) -> None:
    a, b = two
    thread, run_id = await begun(a)
    await as_earlier_version(a, postgres_url, run_id, {"thread": None})
    async with asyncio.timeout(20):
        events = [event async for event in joined(b, thread, run_id)]
    assert (events[-1].name, events[-1].data["error"]) == ("error", "ServerStopped")
    assert "metadata" not in [event.name for event in events], "it was not begun again"
    assert [line for line in log_lines() if line["event"] == "turn_order_not_read"]
    assert (await b.get(f"/threads/{thread}"))["status"] == "error"
    assert says((await b.events(thread, "Go on"))[-1].data)[-1] == "You said: Go on"
