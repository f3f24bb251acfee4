"""The protocol as LangGraph's own client speaks it: what it understands is what we mean."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import NotFoundError

from tests.server.talking import WIRE, Served, says, served

MODES: Any = ["values", "messages-tuple", "custom"]


@pytest_asyncio.fixture
async def sdk(server: Served) -> AsyncIterator[LangGraphClient]:
    async with get_client(url=server.url + WIRE, api_key=None) as client:
        yield client


def human(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


async def test_a_conversation(sdk: LangGraphClient) -> None:
    (assistant,) = await sdk.assistants.search()
    thread = await sdk.threads.create(metadata={"team": "blue"})
    parts = [
        part
        async for part in sdk.runs.stream(
            thread["thread_id"], assistant["assistant_id"], input=human("Hm?"), stream_mode=MODES
        )
    ]
    assert parts[0].event == "metadata" and not [part for part in parts if part.event in ("error", "end")]
    assert says(parts[-1].data) == ["Hm?", "You said: Hm?"]
    history = await sdk.threads.get_history(thread["thread_id"])
    assert len(history) == 3
    state = await sdk.threads.get_state(thread["thread_id"])
    assert state["checkpoint"] == history[0]["checkpoint"]
    again = await sdk.runs.wait(thread["thread_id"], "shop", input=human("And?"))
    assert isinstance(again, dict) and says(again)[-1] == "You said: And?"
    assert len(await sdk.runs.list(thread["thread_id"])) == 2
    assert await sdk.threads.search(metadata={"team": "blue"}, limit=3)
    await sdk.threads.update(thread["thread_id"], metadata={"team": "red"})
    assert await sdk.threads.count(metadata={"team": "red"}) == 1
    await sdk.threads.delete(thread["thread_id"])
    with pytest.raises(NotFoundError, match="no thread"):
        await sdk.threads.get(thread["thread_id"])


async def test_background_join_and_cancel(sdk: LangGraphClient, server: Served) -> None:
    thread = (await sdk.threads.create())["thread_id"]
    run = await sdk.runs.create(thread, "shop", input=human("slow one"))
    joining = asyncio.create_task(_all(sdk.runs.join_stream(thread, run["run_id"])))
    await server.script.waiting.wait()
    await sdk.runs.cancel(thread, run["run_id"], wait=True)
    assert (await joining)[-1].event == "error"
    assert (await sdk.runs.get(thread, run["run_id"]))["status"] == "interrupted"


async def _all(parts: AsyncIterator[Any]) -> list[Any]:
    return [part async for part in parts]


async def test_approval(tmp_path: Path) -> None:
    async with served(tmp_path, approval="sql") as server, get_client(url=server.url + WIRE) as sdk:
        thread = (await sdk.threads.create())["thread_id"]
        waiting = await sdk.runs.wait(thread, "shop", input=human("querying now"))
        assert isinstance(waiting, dict) and waiting["__interrupt__"]
        state = await sdk.threads.get_state(thread)
        assert state["next"] == ["approve"] and state["interrupts"]
        command: Any = {"resume": {"decisions": [{"type": "approve"}]}}
        done = await sdk.runs.wait(thread, "shop", command=command)
        assert isinstance(done, dict) and "__interrupt__" not in done


async def test_a_connection_that_breaks_is_resumed_by_the_client(server: Served) -> None:
    """A proxy in between cuts the first stream; the client follows `Location` with `Last-Event-ID`."""
    proxy = cutting(server.url, resumed=server.script.go.set)
    async with proxy as (url, seen), get_client(url=url + WIRE, api_key=None) as sdk, asyncio.timeout(60):
        thread = (await sdk.threads.create())["thread_id"]
        slow = sdk.runs.stream(thread, "shop", input=human("slow one"), stream_mode=MODES)
        parts = [part async for part in slow]
    assert [method for method, *_ in seen[:3]] == ["POST", "POST", "GET"]
    assert seen[2][1].startswith(f"{WIRE}/threads/{thread}/runs/") and seen[2][1].endswith("/stream")
    assert seen[2][2] is not None, "it told which event it had heard last"
    ids = [part.id for part in parts]
    assert ids == [str(n) for n in range(1, len(ids) + 1)]
    assert says(parts[-1].data)[-1] == "You said: slow one"


class cutting:
    """A proxy that passes everything on, but breaks the first event stream after its third event. `resumed` is called
    when the client comes back."""

    def __init__(self, target: str, resumed: Callable[[], None]) -> None:
        self._target = httpx.URL(target)
        self._resumed = resumed
        self.seen: list[tuple[str, str, str | None]] = []
        self._cut = False

    async def __aenter__(self) -> tuple[str, list[tuple[str, str, str | None]]]:
        self._server = await asyncio.start_server(self._pass, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}", self.seen

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        lines = head.split("\r\n")
        fields = {n.lower(): v for n, _, v in (line.partition(": ") for line in lines[1:] if line)}
        body = await reader.readexactly(int(fields.get("content-length", 0)))
        method, path, _ = lines[0].split(" ")
        self.seen.append((method, path, fields.get("last-event-id")))
        if self._cut:
            self._resumed()
        head = head.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1)
        upstream, sink = await asyncio.open_connection(self._target.host, self._target.port)
        sink.write(head.encode() + body)
        passed = b""
        while data := await upstream.read(256):
            passed += data
            writer.write(data)
            await writer.drain()
            if path.endswith("/runs/stream") and passed.count(b"event: ") >= 4 and not self._cut:
                break
        if path.endswith("/runs/stream"):
            self._cut = True
            writer.transport.abort()
        sink.close()
        writer.close()
