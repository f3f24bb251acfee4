"""A session's queries as one numbered stream of messages, heard from any point on.

Invariant: a message has the same number for everybody and for ever. A number is the query's place among the thread's
turns and the message's place in the query; it grows, without holes inside a query.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from sandtable.server.conversations import Conversation
from sandtable.server.threads.model import Happening, Turn
from sandtable.server.threads.store import LOST
from sandtable.server.v2.wire import Said, SoFar, decoded

SPAN = 1_000_000
"""Numbers of one query."""
MARK = {"via": "v2"}
"""The turns that are streamed here, in their metadata."""
LOOK_AGAIN_S = 2.0
"""Another server may have taken the query."""
_BATCH = 50
_LOST_FROM = SPAN - 10
"""A server that dies takes along the last messages that it sent: what is said of its end comes after any of them."""
_UNWRITTEN = 1000
"""And whoever takes the query up goes on behind them."""
_WRITTEN_S = 0.1
_WRITTEN_TRIES = 20

FORGOTTEN = Said(
    "final_response",
    "What was said about this query is no longer kept for replay. Ask again to get the answer.",
)


@dataclass(frozen=True, slots=True)
class Numbered:
    seq: int
    said: Said


class Following:
    def __init__(self, talk: Conversation, session_id: str, after: int | None, news: asyncio.Event) -> None:
        self._talk = talk
        self._session_id = session_id
        self._after = after
        self._news = news
        self._turn: Turn | None = None

    async def messages(self) -> AsyncGenerator[Numbered, None]:
        """What was missed, then what happens. Raises NotFound when the session is deleted."""
        place, heard = await self._begin()
        while True:
            self._news.clear()
            turns = await self._talk.store.turns(
                self._session_id, limit=_BATCH, offset=place, oldest_first=True
            )
            for turn in turns:
                if _ours(turn):
                    self._turn = turn
                    async with aclosing(spoken(self._talk, turn)) as speaking:
                        async for number, said in speaking:
                            seq = place * SPAN + number
                            if seq > heard:
                                yield Numbered(seq, said)
                    self._turn = None
                place += 1
            if not turns:
                await self._wait()
                await self._talk.thread(self._session_id)

    async def cancel(self) -> str | None:
        """Ends the query that is listened to; why not, if it cannot be."""
        if self._turn is None:
            return "NOT_FOUND: nothing is being worked on in this session"
        if not await self._talk.conductor.cancel(self._turn):
            return "NOT_FOUND: the query has ended, or another server works on it"
        return None

    async def _begin(self) -> tuple[int, int]:
        """The place of the first query to tell about, and the number of the last message that was heard."""
        count = await self._talk.store.turn_count(self._session_id)
        if self._after is not None:
            place = self._after // SPAN
            # A number that nobody was given must not silence what comes.
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


async def spoken(talk: Conversation, turn: Turn) -> AsyncGenerator[tuple[int, Said], None]:
    """The messages of one query from its beginning to its end, numbered from 1."""
    number, so_far, final = 0, SoFar(), FORGOTTEN
    async with aclosing(_happenings(talk, turn)) as happenings:
        async for happening in happenings:
            told, so_far = decoded(happening, so_far)
            if told and _lost(happening):
                number = max(number, _LOST_FROM)
            if _taken_up(happening):
                number += _UNWRITTEN
            for said in told:
                if said.type == "final_response":
                    final = said
                else:
                    number += 1
                    yield number, said
    # Only now: who hears it may look at the conversation at once, or ask the next question.
    yield number + 1, final


async def _happenings(talk: Conversation, turn: Turn) -> AsyncGenerator[Happening, None]:
    """All of them: what the journal no longer has in memory when a slow reader comes by is in the store."""
    last = 0
    async with aclosing(talk.conductor.listen(turn, 0)) as heard:
        async for happening in heard:
            if happening is None:
                continue
            tries = _WRITTEN_TRIES if _taken_up(happening) else 0
            while last + 1 < happening.number and tries < _WRITTEN_TRIES:
                missed = [m for m in await talk.store.logged(turn.id, last) if m.number < happening.number]
                for one in missed:
                    yield one
                    last = one.number
                if not missed:
                    tries += 1
                    await asyncio.sleep(_WRITTEN_S)
            yield happening
            last = happening.number


def _ours(turn: Turn) -> bool:
    return MARK.items() <= turn.metadata.items()


def _taken_up(happening: Happening) -> bool:
    return happening.name == "metadata" and json.loads(happening.data).get("attempt", 1) > 1


def _lost(happening: Happening) -> bool:
    return happening.name == "error" and json.loads(happening.data).get("error") == LOST["error"]
