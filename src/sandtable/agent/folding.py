"""The events of a turn folded into its answers, one for each question of the message.

Invariant: the rows, plan, SQL and chart of an answer are those of the run that its message names first.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

from sandtable.agent.events import (
    ArtifactShown,
    Chart,
    Code,
    Error,
    Event,
    Message,
    Planned,
    RunState,
    Sql,
    Table,
)
from sandtable.agent.read_as.model import ReadAs
from sandtable.runs.described import DescribedArtifact
from sandtable.store.run_store import Status

Watch = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class FoldedRun:
    """What the events say about one run, or about a proposal that has no run yet."""

    plan: dict[str, Any] | None = None
    reading: str = ""
    read_as: ReadAs | None = None
    confidence: float | None = None
    sql: str | None = None
    status: Status | None = None
    exec_time_ms: float | None = None
    table: Table | None = None
    chart: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class FoldedAnswer:
    end: Message | Error
    run: FoldedRun
    """The run that the message names first; the proposal when it names none."""
    chart: dict[str, Any] | None = None
    """That of the main run, or of the first other run that has one: an analysis draws its chart in a run of its own."""
    steps: tuple[Code, ...] = ()
    artifacts: tuple[DescribedArtifact, ...] = ()

    @property
    def run_id(self) -> str | None:
        return next(iter(self.end.run_ids), None) if isinstance(self.end, Message) else None

    @property
    def is_last(self) -> bool:
        """Whether no question of the message remains to be answered."""
        return isinstance(self.end, Error) or not self.end.remaining


@dataclass(slots=True)
class AnswerFold:
    """Total: accepts every event of the union, in any order."""

    _proposed: FoldedRun = field(default_factory=FoldedRun)
    _runs: dict[str, FoldedRun] = field(default_factory=dict)
    _steps: list[Code] = field(default_factory=list)
    _artifacts: list[DescribedArtifact] = field(default_factory=list)

    def take(self, event: Event) -> FoldedAnswer | None:
        """The answer that the event ends; the fold then begins the next one."""
        match event:
            case Planned():
                self._proposed = FoldedRun(
                    plan=event.plan,
                    reading=event.reading,
                    read_as=event.read_as,
                    confidence=event.confidence,
                )
            case Sql(sql=sql) if self._proposed.sql in (None, sql):
                self._proposed = replace(self._proposed, sql=sql)
            case Sql(sql=sql):
                self._proposed = FoldedRun(sql=sql)
            case RunState(run_id=run_id, status=status, exec_time_ms=taken):
                self._note(run_id, status=status, exec_time_ms=taken)
            case Table(run_id=run_id):
                self._note(run_id, table=event)
            case Chart(run_id=run_id, figure=figure):
                self._note(run_id, chart=figure)
            case Code():
                self._steps.append(event)
            case ArtifactShown(artifact=artifact):
                self._artifacts.append(artifact)
            case Message() | Error():
                return self._ended(event)
            case _:
                pass
        return None

    def _note(self, run_id: str, **changes: Any) -> None:
        self._runs[run_id] = replace(self._runs.get(run_id, self._proposed), **changes)

    def _ended(self, end: Message | Error) -> FoldedAnswer:
        named = end.run_ids if isinstance(end, Message) else ()
        found = [self._runs.get(run_id, self._proposed) for run_id in named]
        answer = FoldedAnswer(
            end=end,
            run=found[0] if found else self._proposed,
            chart=next((run.chart for run in found if run.chart), None),
            steps=tuple(self._steps),
            artifacts=tuple(self._artifacts),
        )
        self._proposed, self._runs, self._steps, self._artifacts = FoldedRun(), {}, [], []
        return answer


async def fold(events: AsyncGenerator[Event, None], watch: Watch | None = None) -> list[FoldedAnswer]:
    """The answers of a whole turn; none when it ended with neither a message nor an error. `watch` gets every event.

    Cancelling it cancels the turn and its run.
    """
    turn, answers = AnswerFold(), list[FoldedAnswer]()
    async with aclosing(events) as coming:
        async for event in coming:
            if watch is not None:
                watch(event)
            if (answer := turn.take(event)) is not None:
                answers.append(answer)
    return answers
