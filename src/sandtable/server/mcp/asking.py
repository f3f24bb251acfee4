"""Questions in plain language, over the conversation of a server or over the analyst of one process."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from sandtable.agent.events import Error, Event
from sandtable.agent.turn_events import DecisionsAwaited
from sandtable.conversations.conversation import Conversation, same_dataset
from sandtable.conversations.feed import Feed
from sandtable.conversations.model import Thread
from sandtable.conversations.running import EVENTS, TurnOrder
from sandtable.conversations.text import opening_of
from sandtable.conversations.turn_events import TurnBegun, TurnEvent, TurnFailed
from sandtable.errors import InvalidInput, NotFound
from sandtable.quoting import quote

if TYPE_CHECKING:
    from sandtable.agent.analyst import Analyst

_OTHER = "Leave `thread_id` out to begin a conversation about another dataset."


def _no_dataset() -> InvalidInput:
    return InvalidInput(
        "`dataset_id` is missing",
        suggestion="Call `list_datasets`, and name one of them.",
        field="dataset_id",
    )


class TurnAsking:
    """Turns of the server's conversation, which end with the request."""

    def __init__(self, conversation: Callable[[], Awaitable[Conversation]]) -> None:
        self._conversation = conversation

    async def thread(self, user: str, thread_id: str | None, dataset_id: str | None) -> tuple[str, str]:
        talk = await self._conversation()
        if thread_id is not None:
            thread = await talk.thread(thread_id)
            if dataset_id is not None:
                same_dataset(thread, dataset_id, _OTHER)
            if thread.dataset_id is None:
                raise _no_dataset()
            return thread.id, thread.dataset_id
        if dataset_id is None:
            raise _no_dataset()
        return (await talk.new_thread(user, dataset_id)).id, dataset_id

    async def ask(self, user: str, thread_id: str, question: str) -> AsyncGenerator[Event, None]:
        given = {"messages": [{"content": question}], "opening": opening_of(question)}
        async with aclosing(self._turn(user, thread_id, given)) as events:
            async for event in events:
                yield event

    async def decide(self, user: str, thread_id: str, decision: str) -> AsyncGenerator[Event, None]:
        given = {"answer": {"decisions": [{"type": decision}]}}
        async with aclosing(self._turn(user, thread_id, given)) as events:
            async for event in events:
                yield event

    async def _turn(self, user: str, thread_id: str, given: dict[str, Any]) -> AsyncGenerator[Event, None]:
        talk = await self._conversation()
        order = _order(await talk.thread(thread_id), user, given)
        feed = Feed()
        running = await talk.turns.begin(order, feed)
        try:
            async with aclosing(feed.read()) as coming:
                async for together in coming:
                    for event in filter(None, map(_shown, together)):
                        yield event
        finally:
            running.cancel()


def _order(thread: Thread, user: str, given: dict[str, Any]) -> TurnOrder:
    if thread.dataset_id is None:
        raise _no_dataset()
    return TurnOrder(thread, thread.dataset_id, user, details=EVENTS, **given)


def _shown(event: TurnEvent) -> Event | None:
    match event:
        case TurnFailed(problem=problem) if problem is not None:
            return Error(problem=problem)
        case DecisionsAwaited(requests=(request, *_)):
            return request.message
        case TurnBegun() | TurnFailed():
            return None
        case BaseModel():
            return event
        case _:
            return None


class AnalystAsking:
    """The threads of one process, for one person."""

    def __init__(self, analyst: Callable[[], Awaitable[Analyst]]) -> None:
        self._analyst = analyst
        self._datasets: dict[str, str] = {}

    async def thread(self, user: str, thread_id: str | None, dataset_id: str | None) -> tuple[str, str]:
        if thread_id is None:
            if dataset_id is None:
                raise _no_dataset()
            thread_id = (await self._analyst()).new_thread()
            self._datasets[thread_id] = dataset_id
            return thread_id, dataset_id
        known = self._datasets.get(thread_id)
        if known is None:
            raise NotFound(
                f"no conversation {quote(thread_id)} was begun in this session",
                suggestion="Leave `thread_id` out to begin one.",
            )
        if dataset_id not in (None, known):
            raise InvalidInput(
                f"this conversation is about {quote(known)}, not about {quote(str(dataset_id))}",
                suggestion=_OTHER,
            )
        return thread_id, known

    async def ask(self, user: str, thread_id: str, question: str) -> AsyncGenerator[Event, None]:
        analyst = await self._analyst()
        asking = analyst.ask(question, dataset_id=self._datasets[thread_id], thread_id=thread_id, user=user)
        async with aclosing(asking) as events:
            async for event in events:
                yield event

    async def decide(self, user: str, thread_id: str, decision: str) -> AsyncGenerator[Event, None]:
        analyst = await self._analyst()
        async with aclosing(analyst.approve(thread_id, {"type": decision}, user=user)) as events:
            async for event in events:
                yield event
