"""Runs turns on the graph: ask in a thread and get events; approve, cancel, repeat.

Invariant: a turn has two checkpoints, the message and the end (with an approval, a third in between), so that an
edited message branches before the original and a retry repeats the whole turn. A cancelled turn cancels its run.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, cast
from uuid import UUID, uuid4
from weakref import WeakValueDictionary

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.types import StreamMode
from pydantic import BaseModel

from sandtable.agent.events import Event
from sandtable.agent.failing import with_failure
from sandtable.agent.first_questions import first_questions
from sandtable.agent.graph import build_graph
from sandtable.agent.means import Means
from sandtable.agent.proposer import Asked, PlanProposal
from sandtable.agent.steps import FIRST
from sandtable.agent.thread_graph import Given, ThreadGraph, given_of, modes_of, place, stream_event
from sandtable.agent.turn_events import DecisionsAwaited, Detail, StreamEvent, TurnInput, with_plan
from sandtable.catalog.model import Dataset
from sandtable.errors import NotFound


class Analyst:
    def __init__(self, means: Means, checkpointer: BaseCheckpointSaver[Any]) -> None:
        self.graph = build_graph(means, checkpointer)
        self.threads = ThreadGraph(self.graph)
        self._means = means
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @staticmethod
    def new_thread() -> str:
        return str(uuid4())

    async def prepare(self, dataset_id: str) -> None:
        """Indexes the dataset now, so that the first question about it does not wait. Raises NotFound."""
        dataset = await self._means.datasets.ready(dataset_id)
        profile = await self._means.datasets.profile(dataset)
        if self._means.prepare is not None:
            await self._means.prepare(dataset, profile)

    async def first_questions(self, dataset: Dataset) -> list[str]:
        """Questions to begin with, which the built-in planner answers."""
        profile = await self._means.datasets.profile(dataset)
        planner = self._means.planner or self._means.proposer

        async def plan_of(question: str) -> dict[str, Any] | None:
            proposed = await planner.propose(Asked(question, dataset, profile))
            return proposed.what.plan if isinstance(proposed.what, PlanProposal) else None

        return await first_questions(dataset, profile, plan_of)

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
        message = {"content": question, "additional_kwargs": with_plan(plan)}
        turn = self.turn(TurnInput([message]), thread_id or self.new_thread(), dataset_id, user)
        async with aclosing(_events(turn)) as events:
            async for event in events:
                yield event

    async def approve(
        self, thread_id: str, decision: dict[str, Any], *, user: str = "local"
    ) -> AsyncGenerator[Event, None]:
        """Continue after a `waiting` message: `{"type": "approve" | "edit" | "reject", …}`.

        Raises NotFound when nothing in the thread waits for a decision.
        """
        await self._require_request(thread_id)
        turn = self.turn(TurnInput(decision={"decisions": [decision]}), thread_id, None, user)
        async with aclosing(_events(turn)) as events:
            async for event in events:
                yield event

    async def turn(
        self,
        given: TurnInput,
        thread_id: str,
        dataset_id: str | None,
        user: str,
        *,
        turn_id: str | None = None,
        checkpoint_id: str | None = None,
        details: frozenset[Detail] = frozenset(("events", "decisions")),
        datasets: frozenset[str] | None = None,
    ) -> AsyncGenerator[StreamEvent, None]:
        """One turn, from the newest state or from a checkpoint. Its states are marked with `turn_id`. `datasets` are
        those that the user may see; None: all.

        Raises NotFound for a decision that nothing waits for.
        """
        if given.decision is not None:
            await self._require_request(thread_id, checkpoint_id)
        config = place(thread_id, checkpoint_id)
        chosen = {"dataset_id": dataset_id} if dataset_id else {}
        seen = {} if datasets is None else {"datasets": tuple(sorted(datasets))}
        config["configurable"] = {**config.get("configurable", {}), "user": user, **chosen, **seen}
        if turn_id is not None:
            config["run_id"], config["metadata"] = UUID(turn_id), {"run_id": turn_id}
        chunks = self.stream(given_of(given, dataset_id or ""), config, modes_of(details))
        async with aclosing(chunks) as closing:
            async for mode, chunk in closing:
                event = stream_event(mode, chunk, details)
                if event is not None:
                    yield event

    async def stream(
        self, given: Given, config: RunnableConfig, stream_mode: Sequence[StreamMode]
    ) -> AsyncGenerator[tuple[str, Any], None]:
        """One turn as `(mode, chunk)` pairs, as `graph.astream` gives them.

        `given` is a new message, a `Command` that resumes, or None to repeat from the config's checkpoint.
        """
        thread_id = str((config.get("configurable") or {})["thread_id"])
        async with self._locks.setdefault(thread_id, asyncio.Lock()):
            if isinstance(given, dict):
                # The message is on disk before the work on it begins.
                await self.graph.ainvoke(given, config, interrupt_before=[FIRST], durability="exit")
                given, config = None, _latest(config)
            chunks = self.graph.astream(given, config, stream_mode=list(stream_mode), durability="exit")
            # It is a generator, although its declared type is an iterator; closing it ends its nodes.
            async with aclosing(cast(AsyncGenerator[Any, None], chunks)) as closing:
                async for mode, chunk in closing:
                    yield mode, chunk

    async def _require_request(self, thread_id: str, checkpoint_id: str | None = None) -> None:
        if not (await self.threads.state(thread_id, checkpoint_id)).requests:
            raise NotFound(
                f"nothing waits for approval in thread {thread_id!r}", suggestion="Ask a question first."
            )


async def _events(turn: AsyncGenerator[StreamEvent, None]) -> AsyncGenerator[Event, None]:
    """A turn for a caller that gets its failure as an event."""
    async with aclosing(with_failure(turn)) as closing:
        async for event in closing:
            if isinstance(event, DecisionsAwaited):
                yield event.requests[0].message
            elif isinstance(event, BaseModel):
                yield event


def _latest(config: RunnableConfig) -> RunnableConfig:
    """The same thread at its newest checkpoint, which holds the message just added."""
    configurable = {
        key: value
        for key, value in (config.get("configurable") or {}).items()
        if key not in ("checkpoint_id", "checkpoint_map")
    }
    return {**config, "configurable": configurable}
