"""The queries of a session as one numbered stream of messages that can be resumed at any point.

Invariant: a message always has the same number, for every client. The number combines the query's place among the
thread's turns and the message's place in the query; numbers increase, without gaps inside a query.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from sandtable.conversations.conversation import Conversation
from sandtable.conversations.model import JournalEntry, TurnRecord
from sandtable.conversations.turn_events import SERVER_STOPPED, TurnBegun, TurnFailed, read
from sandtable.server.v2.wire import SoFar, StreamMessage, decoded

SPAN = 1_000_000
"""Numbers reserved for one query."""
MARK = {"via": "v2"}
"""Metadata that marks the turns streamed here."""
LOOK_AGAIN_S = 2.0
"""Poll interval, in case the notification of a query that another server accepted was lost."""
_BATCH = 50
_LOST_FROM = SPAN - 10
"""A server that dies may have sent messages that it did not store: the message about its end comes after them."""
_UNWRITTEN = 1000
"""Where another server takes the query up, its messages come after those."""

FORGOTTEN = StreamMessage(
    "final_response",
    "What was said about this query is no longer kept for replay. Ask again to get the answer.",
)


@dataclass(frozen=True, slots=True)
class Numbered:
    seq: int
    message: StreamMessage


class Following:
    def __init__(self, talk: Conversation, session_id: str, after: int | None, news: asyncio.Event) -> None:
        self._talk = talk
        self._session_id = session_id
        self._after = after
        self._news = news
        self._turn: TurnRecord | None = None

    async def messages(self) -> AsyncGenerator[Numbered, None]:
        """The messages that the client missed, then new ones. Raises NotFound when the session is deleted."""
        place, seen = await self._begin()
        while True:
            self._news.clear()
            turns = await self._talk.store.turns(
                self._session_id, limit=_BATCH, offset=place, oldest_first=True
            )
            for turn in turns:
                if _ours(turn):
                    self._turn = turn
                    async with aclosing(messages_in(self._talk, turn)) as messages:
                        async for number, message in messages:
                            seq = place * SPAN + number
                            if seq > seen:
                                yield Numbered(seq, message)
                    self._turn = None
                place += 1
            if not turns:
                await self._wait()
                await self._talk.thread(self._session_id)

    async def cancel(self) -> str | None:
        """Cancels the query that is being streamed; the reason why not, if it cannot."""
        if self._turn is None:
            return "NOT_FOUND: no answer is under way in this session"
        if not await self._talk.turns.cancel(self._turn):
            return "NOT_FOUND: the query has ended, or another server works on it"
        return None

    async def _begin(self) -> tuple[int, int]:
        """The place of the first query to stream, and the number of the last message that the client has."""
        count = await self._talk.store.turn_count(self._session_id)
        if self._after is not None:
            place = self._after // SPAN
            # A number that was never sent must not suppress later messages.
            return (place, self._after) if place < count else (count, 0)
        newest = await self._talk.store.turns(self._session_id, limit=_BATCH)
        ours = [(count - 1 - back, turn) for back, turn in enumerate(newest) if _ours(turn)]
        under_way = [place for place, turn in ours if turn.under_way]
        return (under_way[-1] if under_way else ours[0][0] if ours else count), 0

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(LOOK_AGAIN_S):
                await self._news.wait()
        except TimeoutError:
            return


async def messages_in(
    talk: Conversation, turn: TurnRecord
) -> AsyncGenerator[tuple[int, StreamMessage], None]:
    """The messages of one query from its beginning to its end, numbered from 1."""
    number, so_far, final = 0, SoFar(), FORGOTTEN
    async with aclosing(talk.turns.listen(turn)) as entries:
        async for entry in entries:
            if entry is None:
                continue
            made, so_far = decoded(entry, so_far)
            if made and _server_stopped(entry):
                number = max(number, _LOST_FROM)
            if _taken_up(entry):
                number += _UNWRITTEN
            for message in made:
                if message.type == "final_response":
                    final = message
                else:
                    number += 1
                    yield number, message
    # Only now: a client that gets it may read the conversation, or ask the next question, at once.
    yield number + 1, final


def _ours(turn: TurnRecord) -> bool:
    return MARK.items() <= turn.metadata.items()


def _taken_up(entry: JournalEntry) -> bool:
    begun = read(entry) if entry.kind == "begun" else None
    return isinstance(begun, TurnBegun) and begun.attempt > 1


def _server_stopped(entry: JournalEntry) -> bool:
    failed = read(entry) if entry.kind == "failed" else None
    return isinstance(failed, TurnFailed) and failed.error == SERVER_STOPPED.error
