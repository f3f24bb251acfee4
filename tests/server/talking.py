"""A server on a real port with a real conversation behind it; only the proposer and the sandbox are scripted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from socket import SO_SNDBUF, SOL_SOCKET
from typing import Any, Literal

import httpx
from fastapi import FastAPI

from sandtable.accounts.accounts import Accounts
from sandtable.agent.analyst import Analyst
from sandtable.agent.builtin import BuiltinProposer
from sandtable.agent.means import Means
from sandtable.agent.observed import observed_proposer
from sandtable.agent.proposer import (
    AskBack,
    Asked,
    PlanProposal,
    Proposal,
    Proposed,
    Proposer,
    SqlProposal,
    Talk,
    Usage,
    Worded,
)
from sandtable.agent.read_as.model import Aligned, Words
from sandtable.assemble.compiling import compile_checked
from sandtable.assemble.memory import open_memory, probes_of
from sandtable.assemble.telemetry import Telemetry
from sandtable.conversations.conversation import Conversation
from sandtable.conversations.engine import TurnEngine
from sandtable.runs.model import Run
from sandtable.runs.quotas import Quotas
from sandtable.sandbox.fake import FakeExecutor
from sandtable.server.app import begin_shutdown, create_app, finish_work
from sandtable.server.opening import line_of
from sandtable.server.standing import Server, bound, configured
from sandtable.settings import Settings
from tests.server.house import House, open_house

WIRE = "/langgraph"


def _taking(question: str, agg: str) -> PlanProposal:
    """A plan with a part that was likely read from the first word."""
    end = len(question.split()[0])
    words = (Words(text=question[:end], start=0, end=end),)
    alignment = Aligned(question=question, likely=((("select", 0), words),))
    plan = {"table": "orders", "select": [{"agg": agg, "column": "amount", "as": "amount"}]}
    return PlanProposal(plan, alignment=alignment)


@dataclass
class Script:
    """Proposes by what the question begins with; a question with "slow" waits for `go`."""

    go: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: asyncio.Event = field(default_factory=asyncio.Event)
    at_work: int = 0
    most_at_work: int = 0
    heard: list[str] = field(default_factory=list)
    name: str = "builtin"

    async def propose(self, asked: Asked) -> Proposed:
        self.heard.append(asked.question)
        self.at_work += 1
        self.most_at_work = max(self.most_at_work, self.at_work)
        try:
            if "slow" in asked.question:
                self.waiting.set()
                await self.go.wait()
            return Proposed(self._what(asked.question), Usage())
        finally:
            self.at_work -= 1

    def _what(self, question: str) -> Proposal:
        if question.startswith("boom"):
            raise RuntimeError("the inside of the server")
        if question.startswith("query"):
            return SqlProposal("SELECT   1 AS n FROM orders")
        if question.startswith("plan"):
            return PlanProposal({"table": "orders", "select": [{"agg": "count", "as": "n"}]})
        if question.startswith("takings"):
            return _taking(question, "sum")
        if question.startswith("unsure"):
            return AskBack("Not sure.", ("plan it",), (_taking(question, "sum"), _taking(question, "avg")))
        return Talk(f"You said: {question}")

    async def word(self, asked: Asked, run: Run, plain: str) -> Worded | None:
        return None


@dataclass
class Served:
    url: str
    client: httpx.AsyncClient
    script: Script
    house: House
    app: FastAPI

    async def conversation(self) -> Conversation:
        return await self.app.state.conversation.whole()

    async def new_thread(self, **body: Any) -> str:
        answer = await self.client.post(f"{WIRE}/threads", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()["thread_id"]

    async def events(self, thread_id: str, text: str | None = "hm", **body: Any) -> list[SseEvent]:
        """A whole run."""
        async with self.stream(thread_id, text, **body) as answer:
            assert answer.status_code == 200, (await answer.aread(), answer.status_code)
            return [event async for event in sse(answer)]

    @asynccontextmanager
    async def stream(
        self, thread_id: str, text: str | None = "hm", **body: Any
    ) -> AsyncGenerator[httpx.Response, None]:
        given = {} if text is None else {"input": {"messages": [{"type": "human", "content": text}]}}
        whole = {
            "assistant_id": "shop",
            "stream_mode": ["values", "messages-tuple", "custom"],
            **given,
            **body,
        }
        async with self.client.stream(
            "POST", f"{WIRE}/threads/{thread_id}/runs/stream", json=whole
        ) as answer:
            yield answer

    async def get(self, path: str) -> Any:
        answer = await self.client.get(WIRE + path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def post(self, path: str, **body: Any) -> Any:
        answer = await self.client.post(WIRE + path, json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()


@dataclass(frozen=True)
class SseEvent:
    name: str
    data: Any
    id: str | None = None


async def sse(answer: httpx.Response) -> AsyncGenerator[SseEvent, None]:
    fields: dict[str, str] = {}
    async for line in answer.aiter_lines():
        if line.startswith(":"):
            continue
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif fields:
            yield SseEvent(fields["event"], json.loads(fields["data"]), fields.get("id"))
            fields = {}


def says(values: dict[str, Any]) -> list[str]:
    """What was said in a state, but for the calls of tools."""
    return [m["content"] for m in values["messages"] if m["type"] in ("human", "ai") and m["content"]]


def human(text: str) -> dict[str, Any]:
    return {"messages": [{"type": "human", "content": text}]}


async def leave(server: Served, thread: str, **body: Any) -> str:
    """Begin something slow, and drop the connection."""
    async with server.stream(thread, "slow one", **body) as answer:
        await server.script.waiting.wait()
        return answer.headers["content-location"].rpartition("/")[2]


async def until(server: Served, thread: str, run_id: str, status: str) -> dict[str, Any]:
    run: dict[str, Any] = {}
    for _ in range(400):
        run = await server.get(f"/threads/{thread}/runs/{run_id}")
        if run["status"] == status:
            return run
        await asyncio.sleep(0.02)
    raise AssertionError(run)


@asynccontextmanager
async def listening(
    app: FastAPI, *, small: bool = False, grace_s: int = 2, drains: bool = False
) -> AsyncGenerator[str, None]:
    """`small` keeps next to nothing in the kernel for a client that does not read. With `drains` it finishes what is
    under way, as `sandtable serve` does."""
    with bound("127.0.0.1", 0) as socket:
        if small:
            socket.setsockopt(SOL_SOCKET, SO_SNDBUF, 4096)
        server = Server(
            configured(app, grace_s=grace_s),
            lambda: None,
            partial(begin_shutdown, app, grace_s),
            partial(finish_work, app) if drains else None,
        )
        task = asyncio.create_task(server.serve(sockets=[socket]))
        while not server.started and not task.done():
            await asyncio.sleep(0.005)
        try:
            yield f"http://127.0.0.1:{socket.getsockname()[1]}"
        finally:
            server.should_exit = True
            await task


@asynccontextmanager
async def served(
    home: Path,
    settings: Settings | None = None,
    *,
    approval: Literal["off", "sql"] = "off",
    small: bool = False,
    quotas: Quotas | None = None,
    executor: FakeExecutor | None = None,
    proposer: Proposer | None = None,
    telemetry: Telemetry | None = None,
    accounts: Accounts | None = None,
    grace_s: int = 2,
    drains: bool = False,
) -> AsyncIterator[Served]:
    """Twice over the same home is a restart. `proposer` is asked in place of the script, with the built-in planner
    behind it."""
    chosen, script, limits = settings or Settings(home=home), Script(), quotas or Quotas()
    async with open_house(home, chosen, executor=executor, quotas=limits, telemetry=telemetry) as house:
        house.world.changes["compile"] = compile_checked

        @asynccontextmanager
        async def open_one(parts: Any) -> AsyncGenerator[Conversation, None]:
            async with AsyncExitStack() as stack:
                store, saver = await open_memory(parts.settings, stack)
                means = Means(
                    datasets=parts.datasets,
                    runs=parts.runs,
                    check=parts.check,
                    read_sql=parts.read_sql,
                    proposer=observed_proposer(proposer or script, house.telemetry.observer),
                    planner=BuiltinProposer() if proposer else None,
                    max_rows=200,
                    understands=lambda *_: False,
                    read_as=BuiltinProposer().read_as,
                    approval=approval,
                    observer=house.telemetry.observer,
                )
                analyst, line = Analyst(means, saver), line_of(parts.settings)
                turns = TurnEngine(analyst, store, line, limits, house.telemetry.observer)
                stack.enter_context(limits.counting(saver.bytes_of))
                stack.push_async_callback(line.aclose)
                stack.push_async_callback(turns.aclose)
                probes = probes_of(parts.settings, store)
                yield Conversation(analyst, turns, store, line, limits, probes, saver.runs_named_by)

        app = create_app(house, open_conversation=open_one, accounts=accounts)  # pyright: ignore[reportArgumentType] - a double of Parts
        on_port = listening(app, small=small, grace_s=grace_s, drains=drains)
        async with on_port as url, httpx.AsyncClient(base_url=url, timeout=20) as client:
            yield Served(url, client, script, house, app)
        await house.executor.aclose()
