"""`kill -9` of a server in the middle of an answer: no conversation is lost, and each can go on."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.server.talking import WIRE, SseEvent, sse
from tests.server.test_killed_server import serving

ROUNDS = 2
LONG = "SELECT count(*) AS n FROM range(100000) AS a, range(1000000) AS b"


async def ask(client: httpx.AsyncClient, thread: str, text: str, until: str = "") -> list[SseEvent]:
    """The run's events; up to the first `run` event with the status `until`."""
    body = {
        "assistant_id": "ecommerce",
        "input": {"messages": [{"type": "human", "content": text}]},
        "stream_mode": ["values", "messages-tuple", "custom"],
    }
    events: list[SseEvent] = []
    async with client.stream("POST", f"{WIRE}/threads/{thread}/runs/stream", json=body) as answer:
        assert answer.status_code == 200, await answer.aread()
        async for event in sse(answer):
            events.append(event)
            if until and event.name == "custom" and event.data.get("status") == until:
                break
    return events


def last_words(values: dict[str, Any]) -> str:
    return values["messages"][-1]["content"]


async def test_a_thread_survives_the_death_of_its_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The next server takes up the run that was cut; it need not take long to fail.
    monkeypatch.setenv("SANDTABLE_TIMEOUT_S", "3")
    home, cut = tmp_path / "home", list[tuple[str, SseEvent]]()
    done = ""
    for _ in range(ROUNDS):
        with serving(home) as (process, url):
            async with httpx.AsyncClient(base_url=url, timeout=60) as client:
                for thread, heard in cut:
                    await check_and_go_on(client, thread, heard)
                if not done:
                    done = (await client.post(f"{WIRE}/threads", json={})).json()["thread_id"]
                    events = await ask(client, done, "How many orders are there?")
                    assert "9,172" in last_words(events[-1].data)
                thread = (await client.post(f"{WIRE}/threads", json={})).json()["thread_id"]
                events = await ask(client, thread, LONG, until="running")
                process.send_signal(signal.SIGKILL)
                cut = [(thread, events[-1])]
    with serving(home) as (_, url):
        async with httpx.AsyncClient(base_url=url, timeout=60) as client:
            await check_and_go_on(client, *cut[0])
            whole = (await client.get(f"{WIRE}/threads/{done}")).json()
            assert whole["status"] == "idle" and "9,172" in last_words(whole["values"])
            found = await client.post(f"{WIRE}/threads/search", json={"metadata": {"graph_id": "ecommerce"}})
            assert len(found.json()) == ROUNDS + 1


async def check_and_go_on(client: httpx.AsyncClient, thread: str, heard: SseEvent) -> None:
    told = (await client.get(f"{WIRE}/threads/{thread}")).json()
    assert (told["status"], told["error"]["error"]) == ("error", "ServerStopped")
    assert [m["content"] for m in told["values"]["messages"] if m["type"] == "human"] == [LONG]
    (run,) = (await client.get(f"{WIRE}/threads/{thread}/runs")).json()
    assert run["status"] == "error"
    headers = {"Last-Event-ID": heard.id or ""}
    path = f"{WIRE}/threads/{thread}/runs/{run['run_id']}/stream"
    async with client.stream("GET", path, headers=headers) as again:
        rest = [event async for event in sse(again)]
    assert rest[-1].name == "error" and "ask again" in rest[-1].data["message"]
    events = await ask(client, thread, "How many customers are there?")
    assert events[-1].name == "values" and "1,747" in last_words(events[-1].data)
    assert (await client.get(f"{WIRE}/threads/{thread}")).json()["status"] == "idle"
