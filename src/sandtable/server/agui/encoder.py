"""Encodes the events of a turn as AG-UI events. The only file that loads `ag-ui-protocol`.

Invariant: pure, and total over the union of events. Every step and message that is opened is closed before the run
finishes; a run ends with one `RUN_FINISHED` or `RUN_ERROR`.

What is said is a message, what is shown (plan, SQL, code, table, chart, artifact) is an activity, which a client never
sends back, and what is small and of use to a program is state, below `/sandtable`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from ag_ui.core import (
    PROTOCOL_VERSION,
    ActivitySnapshotEvent,
    AssistantMessage,
    BaseEvent,
    CustomEvent,
    Interrupt,
    MessagesSnapshotEvent,
    RunErrorEvent,
    RunFinishedCancelledOutcome,
    RunFinishedEvent,
    RunFinishedInterruptOutcome,
    RunFinishedSuccessOutcome,
    RunStartedEvent,
    StateDeltaEvent,
    StateSnapshotEvent,
    StepFinishedEvent,
    StepStartedEvent,
    TextMessageContentEvent,
    TextMessageEndEvent,
    TextMessageStartEvent,
    UserMessage,
)
from ag_ui.encoder import EventEncoder
from pydantic import BaseModel

from sandtable.agent.analysis.placing import with_artifacts
from sandtable.agent.events import (
    ArtifactShown,
    Chart,
    Code,
    Delta,
    Error,
    Log,
    Message,
    Planned,
    RunState,
    Sql,
    Table,
    Thought,
)
from sandtable.agent.turn_events import (
    DecisionRequest,
    DecisionsAwaited,
    StateReached,
    StepDone,
    TextPiece,
    UiChanged,
)
from sandtable.conversations.text import clean
from sandtable.conversations.turn_events import CANCELLED, TurnBegun, TurnEvent, TurnFailed
from sandtable.errors import Problem
from sandtable.sandbox.artifact import Artifact
from sandtable.server.agui.asking import DECISIONS, Work
from sandtable.server.agui.bodies import RunInput
from sandtable.server.agui.record import Record, Said, answer_id

Events = Sequence[BaseEvent]

STATE = "sandtable"
"""The member of the state that this server writes. All others belong to the client."""
_FRAMES = EventEncoder()


class RunEncoder:
    """The events of one run."""

    def __init__(self, given: RunInput, thread_id: str, dataset_id: str | None, work: Work | None) -> None:
        self._given = given
        self._known: dict[str, Any] = {"thread_id": thread_id, "dataset_id": dataset_id}
        self._work = work
        self._place = work.first_place if work else 0
        self._answers = 1
        self._shown = 0
        self._artifacts: dict[str, Artifact] = {}
        self._step: str | None = None
        self._last: Message | None = None
        self._waiting: DecisionRequest | None = None
        self._failure: Problem | TurnFailed | None = None
        self._choices: Interrupt | None = None

    @staticmethod
    def framed(events: Iterable[BaseEvent]) -> bytes:
        """As server-sent events."""
        return "".join(map(_FRAMES.encode, events)).encode()

    def begin(self, unknown: Sequence[str] = ()) -> Events:
        given, work = self._given, self._work
        events: list[BaseEvent] = [
            RunStartedEvent(
                thread_id=given.thread_id,
                run_id=given.run_id,
                parent_run_id=given.parent_run_id,
                protocol_version=PROTOCOL_VERSION,
            ),
            _state_begun(given.state, {**self._known, "answers": [{"runs": {}}]}),
        ]
        if unknown:
            text = f"No interrupt with the id {', '.join(unknown)} is open: the answer to it was not used."
            events.append(CustomEvent(name="sandtable.log", value={"run_id": None, "text": text}))
        if work is not None and work.unheard and work.text is not None:
            events += _text(work.question_id, "user", work.text)
        return events

    def encode(self, event: TurnEvent) -> Events:
        return _ENCODERS[type(event)](self, event)

    def end(self) -> Events:
        """Call when the turn has ended in the store: a client may go on with the thread at once."""
        if isinstance(self._failure, TurnFailed) and self._failure.error == CANCELLED.error:
            return [*self._close_step(), self._finished(RunFinishedCancelledOutcome())]
        if isinstance(self._failure, TurnFailed):
            return [RunErrorEvent(message=clean(self._failure.message), code=self._failure.error)]
        if self._failure is not None:
            return [RunErrorEvent(message=clean(self._failure.in_words), code=str(self._failure.code))]
        interrupt = self._choices if self._waiting is None else _decision_of(self._waiting)
        return [*self._close_step(), self._finished(_outcome(interrupt), self._last)]

    def restate(self, record: Record, unknown: Sequence[str] = ()) -> Events:
        """The conversation as it is, and what it waits for."""
        choice = record.open_choice
        interrupt = _decision_of(record.requests[0]) if record.requests else choice and _choice_of(choice)
        snapshot = MessagesSnapshotEvent(messages=[_message_of(one) for one in record.said])
        return [*self.begin(unknown), snapshot, self._finished(_outcome(interrupt or None))]

    def _finished(self, outcome: Any, answer: Message | None = None) -> BaseEvent:
        result = None if answer is None else _about(answer)
        given = self._given
        return RunFinishedEvent(
            thread_id=given.thread_id, run_id=given.run_id, outcome=outcome, result=result
        )

    def _thought(self, event: Thought) -> Events:
        closed, step = self._close_step(), clean(event.text)
        self._step = step
        return [*closed, StepStartedEvent(step_name=step)]

    def _close_step(self) -> list[BaseEvent]:
        step, self._step = self._step, None
        return [] if step is None else [StepFinishedEvent(step_name=step)]

    def _plan(self, event: Planned) -> Events:
        told = _plain(event)
        return [self._show("plan", told), self._note(**told)]

    def _sql(self, event: Sql) -> Events:
        return [self._show("sql", _plain(event)), self._note(sql=event.sql)]

    def _code(self, event: Code) -> Events:
        return [self._show("code", _plain(event))]

    def _run(self, event: RunState) -> Events:
        told = _plain(event)
        run_id = told.pop("run_id")
        return [self._note(**{f"runs/{run_id}": told})]

    def _log(self, event: Log) -> Events:
        return [CustomEvent(name="sandtable.log", value=_plain(event))]

    def _table(self, event: Table) -> Events:
        return [self._show("table", _plain(event))]

    def _chart(self, event: Chart) -> Events:
        return [self._show("chart", _plain(event))]

    def _artifact(self, event: ArtifactShown) -> Events:
        self._artifacts[event.artifact.id] = event.artifact
        return [self._show("artifact", _plain(event))]

    def _said(self, event: Message) -> Events:
        told = _about(event)
        text = clean(with_artifacts(event.text, self._artifacts))
        said = Said(answer_id(self._work.question_id if self._work else "", self._place), False, text, told)
        self._place += 1
        self._last, self._choices = event, _choice_of(said) if said.choices else None
        events = [*self._close_step(), *_text(said.id, "assistant", text), self._note(**told)]
        if event.remaining:
            events.append(StateDeltaEvent(delta=[_add(f"/{STATE}/answers/-", {"runs": {}})]))
            self._answers += 1
        return events

    def _awaited(self, event: DecisionsAwaited) -> Events:
        self._waiting = event.requests[0]
        message = self._waiting.message
        # Not the id of an answer: the answer comes when the decision was made.
        asked = _text(f"{self._given.run_id}.decision", "assistant", clean(message.text))
        return [*self._close_step(), *asked, self._note(ending=message.ending, sql=self._waiting.sql)]

    def _error(self, event: Error) -> Events:
        self._failure = event.problem
        return []

    def _failed(self, event: TurnFailed) -> Events:
        self._failure = event
        return []

    def _nothing(self, event: Any) -> Events:
        return []

    def _show(self, kind: str, content: dict[str, Any]) -> BaseEvent:
        self._shown += 1
        return ActivitySnapshotEvent(
            message_id=f"{self._given.run_id}.{kind}.{self._shown}",
            activity_type=f"sandtable.{kind}",
            content=content,
        )

    def _note(self, **values: Any) -> BaseEvent:
        place = f"/{STATE}/answers/{self._answers - 1}"
        return StateDeltaEvent(delta=[_add(f"{place}/{name}", value) for name, value in values.items()])


_ENCODERS: dict[type, Callable[[RunEncoder, Any], Events]] = {
    Thought: RunEncoder._thought,
    Planned: RunEncoder._plan,
    Sql: RunEncoder._sql,
    Code: RunEncoder._code,
    RunState: RunEncoder._run,
    Log: RunEncoder._log,
    Table: RunEncoder._table,
    Chart: RunEncoder._chart,
    ArtifactShown: RunEncoder._artifact,
    # The message repeats its pieces, and a client that is slow may miss some of them.
    Delta: RunEncoder._nothing,
    Message: RunEncoder._said,
    Error: RunEncoder._error,
    DecisionsAwaited: RunEncoder._awaited,
    TurnFailed: RunEncoder._failed,
    TurnBegun: RunEncoder._nothing,
    # A turn of this protocol does not ask for them: they are for clients that follow the graph itself.
    UiChanged: RunEncoder._nothing,
    StateReached: RunEncoder._nothing,
    StepDone: RunEncoder._nothing,
    TextPiece: RunEncoder._nothing,
}
"""One for every member of `TurnEvent` (a test)."""


def _state_begun(state: Any, own: dict[str, Any]) -> BaseEvent:
    """Adds our member to the client's state, and replaces a state that can have no members."""
    if isinstance(state, dict):
        return StateDeltaEvent(delta=[_add(f"/{STATE}", own)])
    return StateSnapshotEvent(snapshot={STATE: own})


def _add(path: str, value: Any) -> Any:
    return {"op": "add", "path": path, "value": clean(value)}


def _plain(event: BaseModel) -> dict[str, Any]:
    told = clean(event.model_dump(mode="json"))
    del told["type"]
    return told


def _about(event: Message) -> dict[str, Any]:
    told = _plain(event)
    del told["text"], told["remaining"]
    return told


def _text(message_id: str, role: Literal["user", "assistant"], text: str) -> list[BaseEvent]:
    if not text:
        return []
    return [
        TextMessageStartEvent(message_id=message_id, role=role),
        TextMessageContentEvent(message_id=message_id, delta=text),
        TextMessageEndEvent(message_id=message_id),
    ]


def _message_of(said: Said) -> Any:
    if said.by_user:
        return UserMessage(id=said.id, content=said.text)
    return AssistantMessage(id=said.id, content=said.text, metadata={STATE: said.about})


def _outcome(interrupt: Interrupt | None) -> Any:
    if interrupt is None:
        return RunFinishedSuccessOutcome()
    return RunFinishedInterruptOutcome(interrupts=[interrupt])


def _choice_of(asked: Said) -> Interrupt:
    labels = [one["label"] for one in asked.choices]
    return Interrupt(
        id=asked.interrupt_id,
        reason="choice",
        message=asked.text,
        response_schema={"type": "string", "enum": labels},
        metadata={STATE: {"choices": asked.choices}},
    )


def _decision_of(request: DecisionRequest) -> Interrupt:
    return Interrupt(
        id=request.id,
        reason="approval",
        message=clean(request.message.text),
        response_schema={
            "type": "object",
            "properties": {"type": {"enum": list(DECISIONS)}, "text": {"type": "string"}},
            "required": ["type"],
        },
        metadata={STATE: clean(request.value["action_requests"][0])},
    )
