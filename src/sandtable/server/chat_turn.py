"""One turn of `POST /chat`: in its place in the line, written down, and heard as events.

Invariant: a turn that was accepted ends exactly once in the store. Its work goes on only as long as
somebody listens, and never waits for them.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Any
from uuid import uuid4

import structlog

from sandtable.agent.events import Error, Event, Message
from sandtable.errors import ErrorCode, InvalidInput, Problem, SandtableError
from sandtable.server.conversations import Conversation
from sandtable.server.threads.journal import HEARTBEAT_S
from sandtable.server.threads.line import Place
from sandtable.server.threads.model import Thread, Turn, TurnEnd, now
from sandtable.server.threads.text import opening_of

MOST_UNHEARD = 256
_DISPENSABLE = ("thought", "delta", "log")
"""Events that a listener who is far behind can do without: the message brings the whole."""
_CANCELLED = Problem(
    code=ErrorCode.CANCELLED,
    message="the answer was cancelled before it was complete",
    suggestion="Ask again.",
)

log = structlog.get_logger("sandtable.server")


class ChatTurn:
    def __init__(
        self,
        talk: Conversation,
        thread: Thread,
        user: str,
        *,
        question: str | None = None,
        plan: dict[str, Any] | None = None,
        decision: dict[str, Any] | None = None,
    ) -> None:
        assert thread.dataset_id is not None
        at = now()
        self._talk = talk
        self._user = user
        self._question = question
        self._plan = plan
        self._decision = decision
        self._thread = thread
        self._turn = Turn(str(uuid4()), thread.id, thread.dataset_id, at, at)
        self._unheard: asyncio.Queue[Event | None] = asyncio.Queue()
        self._work: asyncio.Task[None] | None = None
        self._finishing: asyncio.Task[None] | None = None
        self._last: Event | None = None
        self._cancelled = False

    @property
    def thread_id(self) -> str:
        return self._turn.thread_id

    async def begin(self) -> None:
        """Raises ThreadBusy, QueueFull, QuotaFull, NotFound, and InvalidInput for a decision that nothing waits for."""
        line, store = self._talk.line, self._talk.store
        await self._talk.quotas.require_disk(self._user)
        if self._decision is not None and not line.under_way(self.thread_id) and not await self._waits():
            raise InvalidInput(
                "nothing in this conversation waits for a decision", suggestion="Send a `message` instead."
            )
        place = line.enter(self.thread_id, self._user, "enqueue", self.cancel)
        try:
            await store.accept(self._turn, opening_of(self._question) if self._question else None)
        except BaseException:
            place.leave()
            raise
        self._work = asyncio.create_task(self._answer(place))
        if self._cancelled:
            # Another turn took its place while it was being written down.
            self._work.cancel()
        self._finishing = asyncio.create_task(self._finish(place, self._work))

    async def _waits(self) -> bool:
        return (await self._talk.conductor.left_by(self.thread_id)).waits

    def cancel(self) -> None:
        self._cancelled = True
        if self._work is not None:
            self._work.cancel()

    async def heard(self) -> AsyncGenerator[list[Event], None]:
        """Events until the end, those that came together as one list; an empty one where a sign of life is due.
        Closing it cancels the turn."""
        try:
            ended = False
            while not ended:
                together: list[Event] = []
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(HEARTBEAT_S):
                        ended = _take(await self._unheard.get(), together)
                while not ended and not self._unheard.empty():
                    ended = _take(self._unheard.get_nowait(), together)
                if together or not ended:
                    yield together
        finally:
            self.cancel()

    async def waiting_sql(self) -> str | None:
        """The exact text that a person is asked about."""
        state = await self._talk.conductor.state(self.thread_id)
        for one in state.interrupts:
            for action in one.value.get("action_requests") or ():
                return action["args"].get("sql")
        return None

    async def _answer(self, place: Place) -> None:
        await place.reach()
        await self._talk.store.begin(self._turn)
        await self._talk.conductor.plant(self._thread)
        async with aclosing(self._asked()) as events:
            async for event in events:
                if event.type not in _DISPENSABLE or self._unheard.qsize() < MOST_UNHEARD:
                    self._unheard.put_nowait(event)
                self._last = event

    def _asked(self) -> AsyncGenerator[Event, None]:
        analyst = self._talk.analyst
        if self._decision is not None:
            return analyst.approve(self.thread_id, self._decision, user=self._user)
        assert self._question is not None
        return analyst.ask(
            self._question,
            dataset_id=self._turn.dataset_id,
            thread_id=self.thread_id,
            user=self._user,
            plan=self._plan,
        )

    async def _finish(self, place: Place, work: asyncio.Task[None]) -> None:
        """Watches over the turn's own task, so that ending it in the store cannot be cancelled with it."""
        await asyncio.wait([work])
        try:
            await self._talk.store.end(self._turn, await self._end_of(work))
        except SandtableError as error:
            log.error("turn_end_not_written", turn_id=self._turn.id, reason=error.message)
        finally:
            place.leave()
            # Last: who hears the end may look at the thread at once, or send the next message.
            self._unheard.put_nowait(None)

    async def _end_of(self, work: asyncio.Task[None]) -> TurnEnd:
        last, titled = self._last, self._thread.title is not None
        if titled and isinstance(last, Message) and not work.cancelled() and work.exception() is None:
            return self._ended(work, last.ending == "waiting")
        left = await self._talk.conductor.left_by(self.thread_id)
        return replace(self._ended(work, left.waits), title=left.title)

    def _ended(self, work: asyncio.Task[None], waits: bool) -> TurnEnd:
        if work.cancelled():
            self._unheard.put_nowait(Error(problem=_CANCELLED))
            told = {"error": "UserInterrupt", "message": _CANCELLED.message}
            return TurnEnd("interrupted", "interrupted" if waits else "idle", told)
        broken = work.exception()
        if broken is not None:
            log.error("turn_broke", turn_id=self._turn.id, exc_info=broken)
            self._last = Error(problem=_problem_of(broken))
            self._unheard.put_nowait(self._last)
        if isinstance(self._last, Error):
            problem = self._last.problem
            told = {"error": str(problem.code), "message": problem.message}
            return TurnEnd("error", "interrupted" if waits else "error", told)
        return TurnEnd("interrupted", "interrupted") if waits else TurnEnd("success", "idle")


def _take(event: Event | None, together: list[Event]) -> bool:
    """Whether it was the last one, which says nothing."""
    if event is not None:
        together.append(event)
    return event is None


def _problem_of(error: BaseException) -> Problem:
    known = getattr(error, "problem", None)
    if isinstance(known, Problem):
        return known
    return Problem(
        code=ErrorCode.RUNNER_INTERNAL_ERROR,
        message="the conversation broke off",
        suggestion="Ask again; if it happens again, report it with the server's log.",
    )
