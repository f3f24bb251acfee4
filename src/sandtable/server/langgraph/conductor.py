"""Turns on the graph: begun by a request, listened to by many, ended by themselves.

Invariant: a turn that was accepted ends exactly once in the store, whoever stops listening. Nothing that
goes wrong inside reaches a client as the text of an unexpected exception.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import UUID, uuid4

import structlog
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START
from langgraph.types import Command, StateSnapshot, StreamMode

from sandtable.agent.analyst import Analyst, Given
from sandtable.agent.state import State, with_exchange
from sandtable.errors import InvalidInput, NotFound, QueueFull, SandtableError
from sandtable.recent import Recent
from sandtable.runs.quotas import Quotas
from sandtable.server.json_text import encode
from sandtable.server.langgraph.history import Graph, history_of, place, state_of, whole_state
from sandtable.server.langgraph.live import Live, Order, read, written
from sandtable.server.langgraph.values import Start, start_of
from sandtable.server.langgraph.wire import shown_update
from sandtable.server.threads.journal import WHOLE, Heard, Journal, read_stored
from sandtable.server.threads.line import Line
from sandtable.server.threads.model import Happening, Left, Thread, ThreadStatus, Turn, TurnEnd, now
from sandtable.server.threads.store import LOST, ThreadStore

LOGS_KEPT = timedelta(minutes=30)
LOGS_BYTES = 128 << 20
UNWRITTEN = 1000
"""Numbers of events that a dead server may have told and not written down: they are not given again."""
CANCELLED = {"error": "UserInterrupt", "message": "the answer was cancelled"}
_STARTS = 16
"""States that turns began with, remembered for those who listen."""
BROKEN = {
    "error": "InternalServerError",
    "message": "the server met an unexpected error; the server's log has the cause",
}

log = structlog.get_logger("sandtable.server")


@dataclass(frozen=True, slots=True)
class LeftBehind:
    waits: bool = False
    """Something waits for a person's decision."""
    title: str | None = None
    """What the thread's first answer computed."""


class Conductor:
    def __init__(
        self, analyst: Analyst, store: ThreadStore, line: Line, quotas: Quotas | None = None
    ) -> None:
        self._analyst = analyst
        self._quotas = quotas or Quotas()
        self.graph: Graph = analyst.graph
        self._store = store
        self._line = line
        self._live: dict[str, Live] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._starts: Recent[tuple[str, str], Start] = Recent(_STARTS)
        store.news.on_cancel(self._stop)
        store.on_inherit(self._take_up)

    async def start(self, order: Order) -> Live:
        """The turn is in the store when this returns. Raises ThreadBusy, QueueFull, NotFound, QuotaFull."""
        await self._quotas.require_disk(order.user)
        at = now()
        turn = Turn(
            id=str(uuid4()),
            thread_id=order.thread.id,
            dataset_id=order.dataset_id,
            created_at=at,
            updated_at=at,
            strategy=order.strategy,
            metadata=order.metadata,
        )
        live = Live(turn, order, Journal(self._store, turn.id))
        forgotten = self._under_way(order.thread.id) if order.strategy == "rollback" else []
        try:
            live.place = self._line.enter(
                order.thread.id, order.user, order.strategy, live.cancel, lambda: live.abandoned
            )
            await self._store.accept(turn, order.opening, written(order))
        except BaseException:
            if live.place is not None:
                live.place.leave()
            await live.journal.flush()
            raise
        self._set_out(live, forgotten)
        return live

    async def _take_up(self, left: Left) -> bool:
        """What a dead server was working on is worked on here; its listeners find it by the same name."""
        journal = Journal(self._store, left.turn.id, last=left.last + UNWRITTEN)
        live = Live(left.turn, read(left.order), journal, left.begun + 1)
        try:
            live.place = self._line.enter(left.turn.thread_id, live.order.user, "enqueue", live.cancel)
        except QueueFull:
            await journal.flush()
            return False
        self._set_out(live, [])
        return True

    def _set_out(self, live: Live, forgotten: list[str]) -> None:
        self._live[live.turn.id] = live
        live.work = asyncio.create_task(self._play(live, forgotten))
        if live.reason is not None:
            # Another turn took its place while it was being written down.
            live.work.cancel()
        closing = asyncio.create_task(self._finish(live))
        self._tasks.add(closing)
        closing.add_done_callback(self._tasks.discard)

    async def begin(
        self,
        thread: Thread,
        dataset_id: str,
        user: str,
        *,
        messages: list[dict[str, Any]] | None,
        resume: Any,
        checkpoint_id: str | None,
        **how: Any,
    ) -> Live:
        """`start`, after a look at whether there is anything to do. Raises NotFound, InvalidInput too."""
        idle = not self._line.under_way(thread.id)
        if checkpoint_id or (messages is None and idle):
            state = await state_of(self.graph, thread.id, checkpoint_id)
            if resume is not None and not state.interrupts:
                raise InvalidInput(
                    "nothing in this conversation waits for a decision", suggestion="Send a message instead."
                )
            if resume is None and messages is None and not state.next:
                raise InvalidInput(
                    "there is nothing to go on with",
                    suggestion="Send `input` with a message, or the `checkpoint` to answer from again.",
                )
        order = Order(thread, dataset_id, user, messages, resume, checkpoint_id, **how)
        return await self.start(order)

    async def state(self, thread_id: str) -> StateSnapshot:
        return await state_of(self.graph, thread_id)

    async def whole_state(self, thread_id: str, checkpoint_id: str | None, *, busy: bool) -> dict[str, Any]:
        return whole_state(await state_of(self.graph, thread_id, checkpoint_id), busy=busy)

    async def history(self, thread_id: str, **wanted: Any) -> list[dict[str, Any]]:
        return await history_of(self.graph, thread_id, **wanted)

    async def add_messages(
        self, thread_id: str, checkpoint_id: str | None, messages: list[dict[str, Any]]
    ) -> StateSnapshot:
        await state_of(self.graph, thread_id, checkpoint_id)
        config = await self.graph.aupdate_state(
            place(thread_id, checkpoint_id), {"messages": messages}, as_node=START
        )
        return await self.graph.aget_state(config)

    async def plant(self, thread: Thread) -> None:
        """An empty state before the first message, so that this message, too, can be edited in a branch."""
        if thread.opening is None and not (await self.state(thread.id)).created_at:
            await self.graph.aupdate_state(place(thread.id), None, as_node=END)

    async def forget(self, thread_id: str) -> None:
        """All states of a thread."""
        saver = self.graph.checkpointer
        assert saver is not None and not isinstance(saver, bool)
        await saver.adelete_thread(thread_id)

    def live(self, turn_id: str) -> Live | None:
        return self._live.get(turn_id)

    async def cancel(self, turn: Turn, *, wait: bool = False) -> bool:
        """Ends the turn, whichever server works on it. False when it cannot be reached, or has ended."""
        live = self._live.get(turn.id)
        if live is not None:
            live.cancel()
            if wait:
                await live.ended.wait()
            return True
        if not turn.under_way or not self._store.tells:
            return False
        await self._store.ask_to_cancel(turn)
        if wait:
            async with aclosing(self.listen(turn, 0)) as heard:
                async for _ in heard:
                    continue
        return True

    def _stop(self, turn_id: str) -> None:
        """Another server was asked to."""
        if (live := self._live.get(turn_id)) is not None:
            live.cancel()

    def _under_way(self, thread_id: str) -> list[str]:
        return [live.turn.id for live in self._live.values() if live.turn.thread_id == thread_id]

    def listen(self, turn: Turn, after: int) -> Heard:
        live = self._live.get(turn.id)
        return live.journal.read(after) if live else read_stored(self._store, turn.thread_id, turn.id, after)

    async def whole(self, thread_id: str, happening: Happening) -> Happening | None:
        """An event as it goes to a client; nothing for a state whose thread is gone."""
        found = start_of(happening.data) if happening.name == WHOLE else None
        if found is None:
            return happening
        checkpoint_id, short = found
        start = self._starts.get((thread_id, checkpoint_id))
        if start is None:
            try:
                start = self._start(thread_id, await state_of(self.graph, thread_id, checkpoint_id))
            except NotFound:
                return None
        return Happening(happening.number, happening.name, start.whole(short))

    def _start(self, thread_id: str, state: StateSnapshot) -> Start:
        start = Start(state)
        if start.checkpoint_id is not None:
            self._starts.put((thread_id, start.checkpoint_id), start)
        return start

    async def clear(self, thread_id: str) -> None:
        """Ends what is under way in the thread, whoever began it, and waits for it."""
        for place_taken in self._line.under_way(thread_id):
            place_taken.cancel()
            await place_taken.gone()
        for turn in await self._store.turns(thread_id, status="running") if self._store.tells else ():
            await self.cancel(turn)

    async def aclose(self) -> None:
        for live in list(self._live.values()):
            live.cancel("stopped")
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _play(self, live: Live, forgotten: list[str]) -> None:
        order, turn = live.order, live.turn
        assert live.place is not None
        await live.place.reach()
        await self._store.begin(turn)
        told = {"run_id": turn.id, "thread_id": turn.thread_id, "attempt": live.attempt}
        live.journal.add("metadata", encode(told))
        await self.plant(order.thread)
        checkpoint_id = order.checkpoint_id
        if forgotten and checkpoint_id is None:
            checkpoint_id = await self._before(order.thread.id, forgotten)
        modes = list(dict.fromkeys("messages" if m == "messages-tuple" else m for m in order.modes))
        given = _given(order)
        start = self._start(turn.thread_id, await state_of(self.graph, turn.thread_id, checkpoint_id))
        if live.attempt > 1 and (state := await self._made_by(turn)) is not None:
            if state.interrupts or not state.next:
                live.journal.add(WHOLE, start.short(state.values))
                return
            given, checkpoint_id = None, None
        config = _config(order, turn, checkpoint_id)
        chunks = self._analyst.stream(given, config, cast(list[StreamMode], modes))
        async with aclosing(chunks) as closing:
            async for mode, chunk in closing:
                live.journal.add(mode, start.short(chunk) if mode == WHOLE else encode(_told(mode, chunk)))

    async def _finish(self, live: Live) -> None:
        """Watches over the turn's own task, so that ending it in the store cannot be cancelled with it."""
        assert live.work is not None and live.place is not None
        await asyncio.wait([live.work])
        try:
            end = await self._end_of(live)
            if end.error:
                live.journal.add("error", encode(end.error))
            await live.journal.flush()
            await self._store.end(live.turn, end)
        except SandtableError as error:
            log.error("turn_end_not_written", turn_id=live.turn.id, reason=error.message)
        finally:
            del self._live[live.turn.id]
            live.place.leave()
            live.ended.set()
            # Last: who hears the end may look at the thread at once, or send the next message.
            live.journal.close()
        await self._tidy()

    async def _tidy(self) -> None:
        try:
            await self._store.drop_logs(_ago(LOGS_KEPT), LOGS_BYTES)
        except SandtableError as error:
            log.error("turn_logs_not_dropped", reason=error.message)

    async def _end_of(self, live: Live) -> TurnEnd:
        left = await self.left_by(live.turn.thread_id)
        return replace(self._ended(live, left.waits), title=left.title)

    def _ended(self, live: Live, waits: bool) -> TurnEnd:
        assert live.work is not None
        rest: ThreadStatus = "interrupted" if waits else "idle"
        if live.work.cancelled():
            if live.reason == "stopped":
                return TurnEnd("error", "error", LOST)
            return TurnEnd("interrupted", rest, CANCELLED)
        error = live.work.exception()
        if error is None:
            return TurnEnd("interrupted" if waits else "success", rest)
        told = BROKEN
        if isinstance(error, SandtableError):
            told = {"error": str(error.code), "message": error.problem.in_words}
        else:
            log.error("turn_broke", turn_id=live.turn.id, exc_info=error)
        return TurnEnd("error", "interrupted" if waits else "error", told)

    async def left_by(self, thread_id: str) -> LeftBehind:
        """How the last turn left its thread."""
        looking = asyncio.create_task(state_of(self.graph, thread_id))
        await asyncio.wait([looking])
        error = looking.exception()
        if error is not None:
            log.error("state_not_read", thread_id=thread_id, exc_info=error)
            return LeftBehind()
        state = looking.result()
        return LeftBehind(bool(state.interrupts), (state.values or {}).get("title"))

    async def _made_by(self, turn: Turn) -> StateSnapshot | None:
        """The newest state, if it is this turn's: the message is in it, and perhaps the answer."""
        state = await self.state(turn.thread_id)
        return state if (state.metadata or {}).get("run_id") == turn.id else None

    async def _before(self, thread_id: str, forgotten: list[str]) -> str | None:
        """The newest state that none of these turns made; where there is none, the thread begins anew."""
        async for state in self.graph.aget_state_history(place(thread_id)):
            if (state.metadata or {}).get("run_id") not in forgotten:
                return (state.config.get("configurable") or {}).get("checkpoint_id")
        await self.forget(thread_id)
        return None


def _given(order: Order) -> Given:
    if order.answer is not None:
        return Command(resume=order.answer)
    if order.messages is None:
        return None
    messages = [
        HumanMessage(
            content=m["content"],
            id=m.get("id") or str(uuid4()),
            additional_kwargs=m.get("additional_kwargs") or {},
        )
        for m in order.messages
    ]
    given = State(messages=list(messages), dataset_id=order.dataset_id)
    for exchange in order.history:
        given["known_of"], given["exchanges"] = order.dataset_id, with_exchange(given, exchange)
    return given


def _config(order: Order, turn: Turn, checkpoint_id: str | None) -> RunnableConfig:
    config = place(turn.thread_id, checkpoint_id)
    config["configurable"] = {
        **config.get("configurable", {}),
        "dataset_id": order.dataset_id,
        "user": order.user,
    }
    config["run_id"] = UUID(turn.id)
    config["metadata"] = {"run_id": turn.id}
    return config


def _told(mode: str, chunk: Any) -> Any:
    return shown_update(chunk) if mode == "updates" else chunk


def _ago(span: timedelta) -> str:
    return (datetime.now(UTC) - span).isoformat(timespec="microseconds")
