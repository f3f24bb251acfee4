"""Tasks found in the thread store, and read again from journals, or from the thread's states where a journal is gone.

Invariant: the store is the principal's view of it, so a task of a conversation that the principal may not see is not
found, whatever is asked about it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from a2a.types import TaskState
from a2a.utils.errors import TaskNotFoundError
from pydantic import ValidationError

from sandtable.agent.events import EVENT, Chart, Event, Message, RunState, Table
from sandtable.conversations.conversation import Conversation
from sandtable.conversations.model import JournalEntry, TurnRecord
from sandtable.conversations.turn_events import CANCELLED
from sandtable.errors import NotFound
from sandtable.quoting import quote
from sandtable.runs.described import described_run
from sandtable.runs.desk import Runs
from sandtable.server.a2a.artifacts import Documents
from sandtable.server.a2a.task_fold import CANCELLED_MARK, TaskFold

MARK = {"via": "a2a"}
"""Metadata of the turns that are tasks."""
TASK = "task"
"""Metadata of a further turn of a task: the task's id, which is that of its first turn."""
MOST_TURNS = 100
"""Of one task."""
MOST_LISTED = 500
"""Turns of a user that a list looks at."""
_BATCH = 200
_STATES = 200


@dataclass(frozen=True, slots=True)
class Found:
    turns: tuple[TurnRecord, ...]
    """The oldest first."""

    @property
    def id(self) -> str:
        return task_of(self.turns[0])

    @property
    def context_id(self) -> str:
        return self.last.thread_id

    @property
    def last(self) -> TurnRecord:
        return self.turns[-1]

    @property
    def plain_state(self) -> int | None:
        """The state, where the turn alone says it."""
        if self.last.metadata.get(CANCELLED_MARK) or (self.last.error or {}).get("error") == CANCELLED.error:
            return TaskState.TASK_STATE_CANCELED
        if self.last.error:
            return TaskState.TASK_STATE_FAILED
        match self.last.status:
            case "pending":
                return TaskState.TASK_STATE_SUBMITTED
            case "running":
                return TaskState.TASK_STATE_WORKING
            case _:
                return None


class Tasks:
    def __init__(self, talk: Conversation, runs: Runs, documents: Documents) -> None:
        self._talk = talk
        self._runs = runs
        self._documents = documents

    async def find(self, task_id: str) -> Found:
        """Raises TaskNotFoundError."""
        first = await self._talk.store.turn_named(task_id) if _is_id(task_id) else None
        if first is None or not MARK.items() <= first.metadata.items() or TASK in first.metadata:
            raise _no_task(task_id)
        return Found((first, *await self._further(first)))

    async def again(self, found: Found) -> Found:
        """As it is now. Raises TaskNotFoundError when its thread was deleted."""
        first = await self._talk.store.turn_named(found.id)
        if first is None:
            raise _no_task(found.id)
        return Found((first, *await self._further(first)))

    async def _further(self, first: TurnRecord) -> list[TurnRecord]:
        return await self._talk.store.marked_in({TASK: first.id}, first.thread_id, MOST_TURNS)

    async def all(self) -> list[Found]:
        """The tasks of the principal and those of shared conversations, the last changed first, as far as MOST_LISTED
        turns go."""
        groups: dict[str, list[TurnRecord]] = {}
        for turn in await self._talk.store.marked(MARK, None, MOST_LISTED):
            groups.setdefault(task_of(turn), []).append(turn)
        return [Found(tuple(sorted(turns, key=lambda one: one.created_at))) for turns in groups.values()]

    async def fold(self, found: Found, *, artifacts: bool = True) -> TaskFold:
        fold = TaskFold(found.turns[0], self._documents, with_artifacts=artifacts, task_id=found.id)
        for turn in found.turns:
            fold.begin(turn)
            async for entry in self._logged(turn):
                await fold.take(entry)
            if not fold.last and not turn.under_way:
                for event in await self._recalled(turn):
                    await fold.take_event(event)
            if fold.last or not turn.under_way:
                fold.end(turn)
        return fold

    async def _logged(self, turn: TurnRecord) -> AsyncGenerator[JournalEntry, None]:
        after = 0
        while entries := await self._talk.store.logged(turn.id, after, _BATCH):
            for entry in entries:
                yield entry
                after = entry.number

    async def _recalled(self, turn: TurnRecord) -> list[Event]:
        """What the thread still holds of a turn whose journal was dropped: its messages, and the rows of its runs."""
        async with aclosing(self._talk.threads.history(turn.thread_id, limit=_STATES)) as states:
            async for state in states:
                if state.turn_id == turn.id:
                    closings = _closings_in(state.values.get("messages") or ())
                    return [event for closing in closings for event in await self._with_runs(closing)]
        return []

    async def _with_runs(self, closing: Event) -> list[Event]:
        if not isinstance(closing, Message) or not closing.run_ids:
            return [closing]
        try:
            run = await self._runs.get(closing.run_ids[0])
        except NotFound:
            return [closing]
        events: list[Event] = [RunState(run_id=run.id, status=run.status, exec_time_ms=run.exec_time_ms)]
        if run.rows is not None:
            count = len(run.rows) if run.row_count is None else run.row_count
            columns = described_run(run)
            events.append(
                Table(run_id=run.id, columns=columns, rows=run.rows, row_count=count, truncated=run.truncated)
            )
        if run.chart is not None:
            events.append(Chart(run_id=run.id, figure=run.chart))
        return [*events, closing]


def _no_task(task_id: str) -> TaskNotFoundError:
    return TaskNotFoundError(f"no task {quote(task_id[:64])}")


def task_of(turn: TurnRecord) -> str:
    return turn.metadata.get(TASK, turn.id)


def _is_id(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def _closings_in(messages: Any) -> list[Event]:
    """The closing messages after the last message of a person."""
    made: list[Event] = []
    for message in messages:
        if message.type == "human":
            made = []
            continue
        about = message.additional_kwargs.get("sandtable")
        if message.type == "ai" and isinstance(about, dict) and "ending" in about:
            given = {"text": str(message.content), **about, "type": "message"}
            try:
                made.append(EVENT.validate_python(given))
            except ValidationError:
                # Of a version that knows more fields: the text is what every version has.
                made.append(EVENT.validate_python({k: given[k] for k in ("type", "text", "ending")}))
    return made
