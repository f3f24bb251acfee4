"""One question, answered by the graph of `steps` without LangGraph and without a thread on disk.

Loading LangGraph takes most of a second, which a single question does not need. Invariant: the events are those that
the same question has in a thread (`agent.analyst`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, cast

from sandtable.agent.events import EVENT, Event
from sandtable.agent.failing import with_failure
from sandtable.agent.means import Means
from sandtable.agent.messages import WrittenMessage
from sandtable.agent.nodes.ending import DONE
from sandtable.agent.outlet import provided
from sandtable.agent.state import State
from sandtable.agent.steps import FIRST, steps_of
from sandtable.agent.streaming import new_id
from sandtable.agent.turn_events import DecisionRequest, with_plan
from sandtable.errors import NotFound


class _Asks(BaseException):
    """Ends a node at its question to a person. Not an Exception: a node must not handle it."""

    def __init__(self, request: dict[str, Any]) -> None:
        super().__init__("a person is asked")
        self.request = request


@dataclass(slots=True)
class _Outlet:
    """Implements `outlet.Outlet`. No client reads messages or UI components of a turn that is not kept."""

    events: asyncio.Queue[Event]
    answers: list[Any]
    asked: int = 0

    def send(self, event: dict[str, Any]) -> None:
        self.events.put_nowait(EVENT.validate_python(event))

    async def stream_text(self, message_id: str, content: str) -> None:
        pass

    def show(self, component: str, props: dict[str, Any], *, id: str, message_id: str, merge: bool) -> None:
        pass

    def ask(self, request: dict[str, Any]) -> Any:
        self.asked += 1
        if self.asked > len(self.answers):
            raise _Asks(request)
        return self.answers[self.asked - 1]


@dataclass(slots=True)
class _Turn:
    state: State
    config: dict[str, Any]
    at: str = FIRST
    answers: list[Any] = field(default_factory=list)
    """A person's answers to the questions of the present node."""


class OneTurn:
    """What `cli` needs of an `Analyst`. A thread lasts for one turn, with its approvals."""

    def __init__(self, means: Means) -> None:
        self._steps = steps_of(means)
        self._waiting: dict[str, _Turn] = {}

    @staticmethod
    def new_thread() -> str:
        return new_id()

    async def ask(
        self,
        question: str,
        *,
        dataset_id: str,
        thread_id: str | None = None,
        user: str = "local",
        plan: dict[str, Any] | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Events until a `Message` or an `Error`. Closing it early cancels the turn and its run."""
        thread = thread_id or self.new_thread()
        message = WrittenMessage("human", question, new_id(), with_plan(plan))
        config = {"configurable": {"thread_id": thread, "dataset_id": dataset_id, "user": user}}
        turn = _Turn(State(messages=[message], dataset_id=dataset_id), config)
        async with aclosing(with_failure(self._events(thread, turn))) as events:
            async for event in events:
                yield event

    async def approve(
        self, thread_id: str, decision: dict[str, Any], *, user: str = "local"
    ) -> AsyncGenerator[Event, None]:
        """Continue after a `waiting` message. Raises NotFound when nothing waits for a decision."""
        turn = self._waiting.pop(thread_id, None)
        if turn is None:
            raise NotFound(
                f"nothing waits for approval in thread {thread_id!r}", suggestion="Ask a question first."
            )
        turn.config["configurable"]["user"] = user
        turn.answers.append({"decisions": [decision]})
        async with aclosing(with_failure(self._events(thread_id, turn))) as events:
            async for event in events:
                yield event

    async def _events(self, thread_id: str, turn: _Turn) -> AsyncGenerator[Event, None]:
        events: asyncio.Queue[Event] = asyncio.Queue()
        work = asyncio.create_task(self._work(turn, events))
        try:
            while not work.done() or not events.empty():
                coming = asyncio.create_task(events.get())
                await asyncio.wait((work, coming), return_when=asyncio.FIRST_COMPLETED)
                if coming.done():
                    yield coming.result()
                else:
                    coming.cancel()
            request = await work
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
        if request is not None:
            self._waiting[thread_id] = turn
            yield request.message

    async def _work(self, turn: _Turn, events: asyncio.Queue[Event]) -> DecisionRequest | None:
        """Runs steps until the turn ends, or to a question to a person."""
        while turn.at != DONE:
            step = self._steps[turn.at]
            try:
                with provided(_Outlet(events, turn.answers)):
                    update = await step.node(cast(State, dict(turn.state)), turn.config)
            except _Asks as asks:
                return DecisionRequest(new_id(), asks.request)
            added = update.pop("messages", [])
            turn.state.update(update)
            turn.state["messages"] = [*(turn.state.get("messages") or ()), *added]
            turn.at = step.targets[0] if step.next is None else step.next(turn.state)
            turn.answers.clear()
        return None
