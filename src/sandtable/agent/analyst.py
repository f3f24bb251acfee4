"""The conversation as a part: ask in a thread, hear events; approve, cancel, come back later.

Invariant: a turn is two checkpoints, the message and the end (with an approval, a third in between), so
that editing branches before the message and asking again repeats the whole turn. A cancelled turn
cancels its run.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, cast
from uuid import uuid4
from weakref import WeakValueDictionary

import structlog
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.types import Command, StreamMode

from sandtable.agent.events import EVENT, Error, Event, Message
from sandtable.agent.graph import FIRST, build_graph
from sandtable.agent.means import Means
from sandtable.agent.state import State, with_plan
from sandtable.errors import NotFound, SandtableError

log = structlog.get_logger(__name__)

Given = State | Command[Any] | None


class Analyst:
    def __init__(self, means: Means, checkpointer: BaseCheckpointSaver[Any]) -> None:
        self.graph = build_graph(means, checkpointer)
        self._means = means
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @staticmethod
    def new_thread() -> str:
        return str(uuid4())

    async def prepare(self, dataset_id: str) -> None:
        """Look at the dataset now, so that the first question about it does not wait. Raises NotFound."""
        dataset = await self._means.datasets.ready(dataset_id)
        profile = await self._means.datasets.profile(dataset)
        if self._means.prepare is not None:
            await self._means.prepare(dataset, profile)

    async def ask(
        self,
        question: str,
        *,
        dataset_id: str,
        thread_id: str | None = None,
        user: str = "local",
        plan: dict[str, Any] | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Events until a `Message` or an `Error`. Closing it early cancels the turn and its run.

        With `plan`, that plan runs and nothing is proposed; it is checked like any other.
        """
        config = _config(thread_id or self.new_thread(), user, dataset_id)
        message = HumanMessage(question, id=str(uuid4()), additional_kwargs=with_plan(plan))
        given = State(messages=[message], dataset_id=dataset_id)
        async with aclosing(self._events(given, config)) as events:
            async for event in events:
                yield event

    async def approve(
        self, thread_id: str, decision: dict[str, Any], *, user: str = "local"
    ) -> AsyncGenerator[Event, None]:
        """Go on after a `waiting` message: `{"type": "approve" | "edit" | "reject", …}`.

        Raises NotFound when nothing in the thread waits for a decision.
        """
        config = _config(thread_id, user)
        waiting = await self.graph.aget_state(config)
        if not waiting.interrupts:
            raise NotFound(
                f"nothing waits for approval in thread {thread_id!r}", suggestion="Ask a question first."
            )
        async with aclosing(self._events(Command(resume={"decisions": [decision]}), config)) as events:
            async for event in events:
                yield event

    async def stream(
        self, given: Given, config: RunnableConfig, stream_mode: Sequence[StreamMode]
    ) -> AsyncGenerator[tuple[str, Any], None]:
        """One turn on LangGraph's own terms: `(mode, chunk)` pairs, as `graph.astream` gives them.

        `given` is a new message, a `Command` that resumes, or None to repeat from the config's checkpoint.
        """
        thread_id = str((config.get("configurable") or {})["thread_id"])
        async with self._locks.setdefault(thread_id, asyncio.Lock()):
            if isinstance(given, dict):
                # The message is on disk before anything is done about it.
                await self.graph.ainvoke(given, config, interrupt_before=[FIRST], durability="exit")
                given, config = None, _latest(config)
            chunks = self.graph.astream(given, config, stream_mode=list(stream_mode), durability="exit")
            # It is a generator, though it is declared as less; its nodes end when it is closed.
            async with aclosing(cast(AsyncGenerator[Any, None], chunks)) as closing:
                async for mode, chunk in closing:
                    yield mode, chunk

    async def _events(self, given: Given, config: RunnableConfig) -> AsyncGenerator[Event, None]:
        try:
            async with aclosing(self.stream(given, config, ["custom", "updates"])) as chunks:
                async for mode, chunk in chunks:
                    event = _event_of(mode, chunk)
                    if event is not None:
                        yield event
        except SandtableError as error:
            log.warning("turn_failed", code=error.code, reason=error.message)
            yield Error.of(error)
        except Exception as error:
            log.exception("turn_broke")
            yield Error.of(error)


def _config(thread_id: str, user: str, dataset_id: str | None = None) -> RunnableConfig:
    chosen = {"dataset_id": dataset_id} if dataset_id else {}
    return {"configurable": {"thread_id": thread_id, "user": user, **chosen}}


def _latest(config: RunnableConfig) -> RunnableConfig:
    """The same thread at its newest checkpoint, which is the message that was just put there."""
    configurable = {
        key: value
        for key, value in (config.get("configurable") or {}).items()
        if key not in ("checkpoint_id", "checkpoint_map")
    }
    return {**config, "configurable": configurable}


def _event_of(mode: str, chunk: Any) -> Event | None:
    if mode == "updates":
        waiting = chunk.get("__interrupt__") if isinstance(chunk, dict) else None
        return _waiting(waiting[0].value) if waiting else None
    return None if chunk.get("type") in ("ui", "remove-ui") else EVENT.validate_python(chunk)


def _waiting(request: dict[str, Any]) -> Message:
    action = request["action_requests"][0]
    return Message(text=f"May I run this?\n\n{action['description']}", ending="waiting")
