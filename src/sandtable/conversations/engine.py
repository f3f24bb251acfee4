"""The turn engine: every turn of every protocol begins, is journalled, resumes and ends here.

Invariant: a turn that was accepted ends exactly once in the store, also when its listeners leave. The text of an
unexpected exception reaches the log, and no client.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import structlog
from pydantic import ValidationError
from structlog.contextvars import bound_contextvars

from sandtable.agent.analyst import Analyst
from sandtable.agent.events import BROKE_OFF
from sandtable.agent.turn_events import DecisionsAwaited, Detail, StateReached, ThreadState, TurnInput
from sandtable.conversations.feed import Feed
from sandtable.conversations.journal import EntryStream, Journal, read_stored
from sandtable.conversations.line import Line
from sandtable.conversations.model import OrphanedTurn, ThreadStatus, TurnEnd, TurnRecord, just_after, now
from sandtable.conversations.running import RunningTurn, TurnOrder, order_json, orphans_order
from sandtable.conversations.store import ThreadStore
from sandtable.conversations.turn_events import (
    CANCELLED,
    SERVER_STOPPED,
    TurnBegun,
    TurnFailed,
    failed_with,
)
from sandtable.conversations.turn_start import TurnStart
from sandtable.errors import InvalidInput, QueueFull, SandtableError
from sandtable.observing import UNOBSERVED, Observer, Span, trace_of
from sandtable.recent import Recent
from sandtable.runs.quotas import Quotas

JOURNALS_KEPT = timedelta(minutes=30)
JOURNALS_BYTES = 128 << 20
UNWRITTEN = 1000
"""Entries that a dead server may have sent and not stored: their numbers are not used again."""
BROKEN = TurnFailed(
    error="InternalServerError",
    message="the server met an unexpected error; the server's log has the cause",
    problem=BROKE_OFF,
)
_ALWAYS: frozenset[Detail] = frozenset(("decisions",))
"""Always requested, even when the journal does not record it: a turn's ending depends on it."""
_STARTS = 16
"""States that turns began with, kept for listeners."""

log = structlog.get_logger("sandtable.conversations")


class TurnEngine:
    def __init__(
        self,
        analyst: Analyst,
        store: ThreadStore,
        line: Line,
        quotas: Quotas | None = None,
        observer: Observer = UNOBSERVED,
    ) -> None:
        self._analyst = analyst
        self._threads = analyst.threads
        self._quotas = quotas or Quotas()
        self._observer = observer
        self._store = store
        self._line = line
        self._running: dict[str, RunningTurn] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._starts: Recent[tuple[str, str], TurnStart] = Recent(_STARTS)
        store.news.on_cancel(self._cancel_here)
        store.on_orphan(self._take_up)

    async def begin(self, order: TurnOrder, feed: Feed | None = None) -> RunningTurn:
        """The turn is in the store when this returns.

        With `feed` the turn belongs to one connection: its events go there, nothing is stored for replay, and no other
        server takes the turn up. Raises ThreadBusy, QueueFull, QuotaFull, NotFound, and InvalidInput for an order
        that has nothing to do.
        """
        await self._require_work(order)
        await self._quotas.require_disk(order.user)
        order = replace(order, traceparent=self._observer.tracer.link)
        at = await self._after_the_last(order.thread.id)
        turn = TurnRecord(
            id=str(uuid4()),
            thread_id=order.thread.id,
            dataset_id=order.dataset_id,
            created_at=at,
            updated_at=at,
            strategy=order.strategy,
            metadata=order.metadata,
        )
        running = RunningTurn(turn, order, feed or Journal(self._store, turn.id))
        undone = self._under_way(order.thread.id) if order.strategy == "rollback" else []
        try:
            running.place = self._line.enter(
                order.thread.id, order.user, order.strategy, running.cancel, lambda: running.abandoned
            )
            await self._store.accept(turn, order.opening, None if feed else order_json(order))
        except BaseException:
            if running.place is not None:
                running.place.leave()
            await _flush(running)
            raise
        self._launch(running, undone)
        return running

    async def _after_the_last(self, thread_id: str) -> str:
        """Now, or just after the thread's newest turn: a clock that was set back, or the one of another server, must
        not change the order of turns, by which clients are sent them."""
        at, newest = now(), await self._store.turns(thread_id, limit=1)
        return max(at, just_after(newest[0].created_at)) if newest else at

    async def _require_work(self, order: TurnOrder) -> None:
        idle = not self._line.under_way(order.thread.id)
        if not order.checkpoint_id and (order.messages is not None or not idle):
            return
        state = await self._threads.state(order.thread.id, order.checkpoint_id)
        if order.answer is not None and not state.requests:
            raise InvalidInput(
                "nothing in this conversation waits for a decision", suggestion="Send a message instead."
            )
        if order.answer is None and order.messages is None and not state.next:
            raise InvalidInput(
                "there is nothing to continue",
                suggestion="Send `input` with a message, or the `checkpoint` to answer from again.",
            )

    async def _take_up(self, orphan: OrphanedTurn) -> bool:
        """Works on a dead server's turn, under the same id, so that its listeners find it."""
        try:
            order = orphans_order(orphan.order)
        except ValidationError as error:
            log.error("turn_order_not_read", turn_id=orphan.turn.id, problems=error.error_count())
            return False
        journal = Journal(self._store, orphan.turn.id, last=orphan.last + UNWRITTEN)
        running = RunningTurn(orphan.turn, order, journal, orphan.begun + 1)
        try:
            running.place = self._line.enter(orphan.turn.thread_id, order.user, "enqueue", running.cancel)
        except QueueFull:
            await journal.flush()
            return False
        self._launch(running, [])
        return True

    def _launch(self, running: RunningTurn, undone: list[str]) -> None:
        self._running[running.turn.id] = running
        running.work = asyncio.create_task(self._work(running, undone))
        if running.reason is not None:
            # Another turn cancelled it while it was being stored.
            running.work.cancel()
        finishing = asyncio.create_task(self._finish(running))
        self._tasks.add(finishing)
        finishing.add_done_callback(self._tasks.discard)

    def running(self, turn_id: str) -> RunningTurn | None:
        return self._running.get(turn_id)

    def listen(self, turn: TurnRecord, after: int = 0) -> EntryStream:
        running = self._running.get(turn.id)
        if running is not None and isinstance(running.output, Journal):
            return running.output.read(after)
        return read_stored(self._store, turn.thread_id, turn.id, after)

    async def start_of(self, thread_id: str, checkpoint_id: str) -> TurnStart:
        """What the states of a journal are compared with. Raises NotFound when the thread is gone."""
        start = self._starts.get((thread_id, checkpoint_id))
        return start or self._remember(await self._threads.state(thread_id, checkpoint_id))

    def _remember(self, state: ThreadState) -> TurnStart:
        start = TurnStart(state)
        if start.checkpoint_id is not None:
            self._starts.put((state.thread_id, start.checkpoint_id), start)
        return start

    async def cancel(self, turn: TurnRecord, *, wait: bool = False) -> bool:
        """Cancels the turn, on any server. False when it has ended, or its server cannot be reached."""
        running = self._running.get(turn.id)
        if running is not None:
            running.cancel()
            if wait:
                await running.ended.wait()
            return True
        if not turn.under_way or not self._store.notifies:
            return False
        await self._store.ask_to_cancel(turn)
        if wait:
            async with aclosing(self.listen(turn)) as entries:
                async for _ in entries:
                    continue
        return True

    def _cancel_here(self, turn_id: str) -> None:
        if (running := self._running.get(turn_id)) is not None:
            running.cancel()

    async def clear(self, thread_id: str) -> None:
        """Cancels what is under way in the thread, on any server, and waits for what this server works on."""
        for place in self._line.under_way(thread_id):
            place.cancel()
            await place.gone()
        for turn in await self._store.turns(thread_id, status="running") if self._store.notifies else ():
            await self.cancel(turn)

    async def idle(self) -> None:
        """Returns when no turn is under way or waits in line."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def aclose(self) -> None:
        for running in list(self._running.values()):
            running.cancel("stopped")
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _under_way(self, thread_id: str) -> list[str]:
        return [one.turn.id for one in self._running.values() if one.turn.thread_id == thread_id]

    async def _work(self, running: RunningTurn, undone: list[str]) -> None:
        turn, tracer = running.turn, self._observer.tracer
        about = {"turn_id": turn.id, "thread_id": turn.thread_id, "attempt": running.attempt}
        with (
            tracer.under(running.order.traceparent),
            tracer.root("turn", **about) as span,
            bound_contextvars(**trace_of(tracer.link)),
        ):
            await self._work_traced(running, undone, span)

    async def _wait(self, running: RunningTurn) -> None:
        assert running.place is not None
        began = time.perf_counter()
        with self._observer.tracer.span("turn.wait"):
            await running.place.reach()
        self._observer.meter.timed("turn_wait", time.perf_counter() - began)

    async def _work_traced(self, running: RunningTurn, undone: list[str], span: Span) -> None:
        order, turn, output = running.order, running.turn, running.output
        span.set(dataset_id=order.dataset_id)
        await self._wait(running)
        await self._store.begin(turn)
        output.add(TurnBegun(attempt=running.attempt))
        if order.thread.opening is None:
            await self._threads.add_empty_state(turn.thread_id)
        checkpoint_id = order.checkpoint_id
        if undone and checkpoint_id is None:
            checkpoint_id = await self._before(turn.thread_id, undone)
        if isinstance(output, Journal) and "states" in order.details:
            output.start = self._remember(await self._threads.state(turn.thread_id, checkpoint_id))
        given = TurnInput(order.messages, order.answer, order.history)
        if running.attempt > 1 and (state := await self._written_by(turn)) is not None:
            if state.requests or not state.next:
                running.awaits_decision = bool(state.requests)
                if "states" in order.details:
                    output.add(StateReached(state.values))
                return
            given, checkpoint_id = TurnInput(), None
        events = self._analyst.turn(
            given,
            turn.thread_id,
            order.dataset_id,
            order.user,
            turn_id=turn.id,
            checkpoint_id=checkpoint_id,
            details=order.details | _ALWAYS,
            datasets=order.datasets,
        )
        async with aclosing(events) as closing:
            async for event in closing:
                if isinstance(event, DecisionsAwaited):
                    running.awaits_decision = True
                    if "decisions" not in order.details:
                        continue
                if not running.answering:
                    running.answering = True
                    since = time.perf_counter() - running.accepted
                    self._observer.meter.timed("first_event", since)
                output.add(event)

    async def _written_by(self, turn: TurnRecord) -> ThreadState | None:
        """The thread's newest state, if this turn wrote it: it holds the message, and perhaps the answer."""
        state = await self._threads.state(turn.thread_id)
        return state if state.turn_id == turn.id else None

    async def _before(self, thread_id: str, undone: list[str]) -> str | None:
        """The newest state that none of these turns wrote. Without one, all states are deleted."""
        async with aclosing(self._threads.history(thread_id)) as states:
            async for state in states:
                if state.turn_id not in undone:
                    return state.checkpoint_id
        await self._threads.forget(thread_id)
        return None

    async def _finish(self, running: RunningTurn) -> None:
        """Runs beside the turn's own task, so that ending it in the store is not cancelled with it."""
        assert running.work is not None and running.place is not None
        await asyncio.wait([running.work])
        try:
            failure = self._failure_of(running)
            end = await self._end_of(running, failure)
            if failure is not None:
                running.output.add(failure)
            await _flush(running)
            await self._store.end(running.turn, end)
            self._observer.meter.counted("turn", end=end.status)
            self._observer.meter.timed("turn", time.perf_counter() - running.accepted, end=end.status)
        except SandtableError as error:
            log.error("turn_end_not_written", turn_id=running.turn.id, reason=error.message)
        finally:
            del self._running[running.turn.id]
            running.place.leave()
            running.ended.set()
            # Last: a client that sees the end may read the thread, or send the next message, at once.
            running.output.close()
        if isinstance(running.output, Journal):
            await self._drop_journals()

    async def _drop_journals(self) -> None:
        before = (datetime.now(UTC) - JOURNALS_KEPT).isoformat(timespec="microseconds")
        try:
            await self._store.drop_logs(before, JOURNALS_BYTES)
        except SandtableError as error:
            log.error("turn_logs_not_dropped", reason=error.message)

    def _failure_of(self, running: RunningTurn) -> TurnFailed | None:
        assert running.work is not None
        if running.work.cancelled():
            return SERVER_STOPPED if running.reason == "stopped" else CANCELLED
        error = running.work.exception()
        if error is None:
            return None
        if isinstance(error, SandtableError):
            log.warning("turn_failed", turn_id=running.turn.id, code=error.code, reason=error.message)
            return failed_with(error)
        log.error("turn_broke", turn_id=running.turn.id, exc_info=error)
        return BROKEN

    async def _end_of(self, running: RunningTurn, failure: TurnFailed | None) -> TurnEnd:
        waits, title = running.awaits_decision, running.order.thread.title
        if failure is not None or title is None:
            state = await self._newest_state(running.turn.thread_id)
            waits, title = bool(state.requests), state.title
        rest: ThreadStatus = "interrupted" if waits else "idle"
        if failure is None:
            return TurnEnd("interrupted" if waits else "success", rest, title=title)
        if failure is CANCELLED:
            return TurnEnd("interrupted", rest, failure.stored, title)
        if failure is SERVER_STOPPED:
            return TurnEnd("error", "error", failure.stored, title)
        return TurnEnd("error", "interrupted" if waits else "error", failure.stored, title)

    async def _newest_state(self, thread_id: str) -> ThreadState:
        """An empty state if it cannot be read: the turn must end in any case."""
        reading = asyncio.create_task(self._threads.state(thread_id))
        await asyncio.wait([reading])
        error = reading.exception()
        if error is not None:
            log.error("state_not_read", thread_id=thread_id, exc_info=error)
            return ThreadState(thread_id)
        return reading.result()


async def _flush(running: RunningTurn) -> None:
    if isinstance(running.output, Journal):
        await running.output.flush()
