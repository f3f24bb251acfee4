"""The turns of one task folded into its state: what GetTask answers, and the updates that a stream sends.

A task is a turn of a conversation, and the further turns that answered what it asked back.

Invariant: applying the updates to the first task of a stream gives the task that GetTask answers afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from a2a.types import (
    Artifact,
    Message,
    Part,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from google.protobuf.timestamp_pb2 import Timestamp

from sandtable.agent.events import Ending, Error, Event, Planned, Thought
from sandtable.agent.events import Message as Closing
from sandtable.agent.folding import AnswerFold, FoldedAnswer
from sandtable.agent.read_as.model import Offer
from sandtable.agent.turn_events import DecisionsAwaited
from sandtable.conversations.model import JournalEntry, TurnRecord, now
from sandtable.conversations.turn_events import CANCELLED, TurnBegun, TurnFailed, read
from sandtable.server.a2a.artifacts import MARKDOWN, Documents, artifacts_of, data_part, struct

Update = TaskStatusUpdateEvent | TaskArtifactUpdateEvent

TERMINAL = frozenset(
    (
        TaskState.TASK_STATE_COMPLETED,
        TaskState.TASK_STATE_FAILED,
        TaskState.TASK_STATE_CANCELED,
        TaskState.TASK_STATE_REJECTED,
    )
)
CANCELLED_MARK = "cancelled"
"""In the metadata of a turn that had asked back when its task was cancelled."""
_FORGOTTEN = "What was said about this is no longer kept. Ask again to get the answer."


class TaskFold:
    def __init__(
        self, first: TurnRecord, documents: Documents, *, with_artifacts: bool = True, task_id: str = ""
    ) -> None:
        self.task = Task(
            id=task_id or first.id,
            context_id=first.thread_id,
            metadata=struct({"dataset": first.dataset_id}),
        )
        self.turn = first
        self.last = 0
        """The number of the last entry that was taken of the turn."""
        self.offers: tuple[Offer, ...] = ()
        """What may be chosen from, while the task asks back."""
        self.awaits_decision = False
        self._documents = documents
        self._with_artifacts = with_artifacts
        self._questions = 0
        self._reset()

    def _reset(self) -> None:
        self._answers = AnswerFold()
        self._closings: list[Closing] = []
        self._failure: TurnFailed | Error | None = None
        self.offers, self.awaits_decision, self.last = (), False, 0

    @property
    def state(self) -> int:
        return self.task.status.state

    @property
    def state_name(self) -> str:
        return TaskState.Name(self.task.status.state)

    @property
    def ended(self) -> bool:
        return self.state in TERMINAL

    def begin(self, turn: TurnRecord) -> None:
        """The next turn of the task, with the message that it answers."""
        if self.task.status.HasField("message"):
            self.task.history.append(self.task.status.message)
        self._reset()
        self.turn = turn
        self.task.history.append(_asked(turn, self.task))
        self._set_status(_under_way(turn), turn.created_at)

    async def take(self, entry: JournalEntry) -> list[Update]:
        """The updates of one entry of the turn's journal."""
        self.last = entry.number
        event = read(entry)
        match event:
            case None:
                return []
            case TurnBegun():
                return [self._status(TaskState.TASK_STATE_WORKING)]
            case TurnFailed():
                self._failure = event
                return []
            case DecisionsAwaited(requests=(request, *_)):
                self.awaits_decision = True
                return await self.take_event(request.message)
            case DecisionsAwaited():
                return []
            case _:
                return await self.take_event(event)

    async def take_event(self, event: Event) -> list[Update]:
        match event:
            case Thought(text=text) | Planned(reading=text) if text.strip():
                return [self._status(TaskState.TASK_STATE_WORKING, [Part(text=text)])]
            case _:
                answer = self._answers.take(event)
                return [] if answer is None else await self._answered(answer)

    async def _answered(self, answer: FoldedAnswer) -> list[Update]:
        if isinstance(answer.end, Error):
            self._failure = answer.end
            return []
        self._closings.append(answer.end)
        self._questions += 1
        if answer.end.ending == "asked":
            self.offers = answer.end.choices
        if not self._with_artifacts:
            return []
        made = await artifacts_of(self._questions, answer, self._documents)
        self.task.artifacts.extend(made)
        return [self._update_of(artifact) for artifact in made]

    def _update_of(self, artifact: Artifact) -> TaskArtifactUpdateEvent:
        return TaskArtifactUpdateEvent(
            task_id=self.task.id, context_id=self.task.context_id, artifact=artifact, last_chunk=True
        )

    def end(self, turn: TurnRecord) -> TaskStatusUpdateEvent:
        """The state that the turn left the task in; `turn` is as the store has it now."""
        self.turn = turn
        if turn.under_way:
            return self._status(_under_way(turn), at=turn.updated_at)
        state = self._state_of(turn)
        return self._status(state, self._parts(state), turn.updated_at)

    def _state_of(self, turn: TurnRecord) -> TaskState:
        failed = (turn.error or {}).get("error") or (
            self._failure.error if isinstance(self._failure, TurnFailed) else None
        )
        if turn.metadata.get(CANCELLED_MARK) or failed == CANCELLED.error:
            return TaskState.TASK_STATE_CANCELED
        if failed or self._failure or turn.status == "error":
            return TaskState.TASK_STATE_FAILED
        return _state_after([closing.ending for closing in self._closings])

    def _parts(self, state: TaskState) -> list[Part]:
        if state == TaskState.TASK_STATE_INPUT_REQUIRED:
            return self._question()
        texts = [closing.text for closing in self._closings]
        if self._failure is not None and self._failure.problem is not None:
            texts.append(self._failure.problem.in_words)
        elif isinstance(self._failure, TurnFailed):
            texts.append(self._failure.message)
        elif not texts and self.turn.error:
            texts.append(str(self.turn.error.get("message", "")))
        return [Part(text=text, media_type=MARKDOWN) for text in texts or [_FORGOTTEN] if text]

    def _question(self) -> list[Part]:
        parts = [Part(text=closing.text, media_type=MARKDOWN) for closing in self._closings]
        if self.awaits_decision:
            return [*parts, data_part({"decision": ["approve", "reject"]})]
        if self.offers:
            said = "\n".join(part.text for part in parts)
            missing = [offer for offer in self.offers if offer.label not in said]
            listed = [f"{n}. {offer.label}" for n, offer in enumerate(self.offers, 1)] if missing else []
            text = "\n".join(["Answer with the number of one.", *([""] if listed else []), *listed])
            parts.append(Part(text=text, media_type=MARKDOWN))
            choices = [
                {
                    "choice": n,
                    **offer.model_dump(mode="json", exclude_none=True, include=set(Offer.model_fields)),
                }
                for n, offer in enumerate(self.offers, 1)
            ]
            parts.append(data_part({"choices": choices}))
        return parts

    def _status(
        self, state: TaskState, parts: Sequence[Part] = (), at: str | None = None
    ) -> TaskStatusUpdateEvent:
        self._set_status(state, at or now(), parts)
        return TaskStatusUpdateEvent(
            task_id=self.task.id, context_id=self.task.context_id, status=self.task.status
        )

    def _set_status(self, state: TaskState, at: str, parts: Sequence[Part] = ()) -> None:
        status = TaskStatus(state=state, timestamp=_timestamp(at))
        if parts:
            # The same id whenever the task is read again.
            name = f"{self.turn.id}/{self.last}/{state}"
            status.message.CopyFrom(said_by_agent(name, parts, self.task.context_id, self.task.id))
            suggestions = [text for closing in self._closings[-1:] for text in closing.suggestions]
            if suggestions and state != TaskState.TASK_STATE_WORKING:
                status.message.metadata.CopyFrom(struct({"suggestions": suggestions}))
        self.task.status.CopyFrom(status)


def said_by_agent(name: str, parts: Sequence[Part], context_id: str, task_id: str = "") -> Message:
    return Message(
        message_id=str(uuid5(NAMESPACE_URL, name)),
        role=Role.ROLE_AGENT,
        parts=parts,
        context_id=context_id,
        task_id=task_id,
    )


def _asked(turn: TurnRecord, task: Task) -> Message:
    asked: dict[str, Any] = turn.metadata
    return Message(
        message_id=str(asked.get("message_id") or turn.id),
        role=Role.ROLE_USER,
        parts=[Part(text=str(asked.get("question", "")))],
        context_id=task.context_id,
        task_id=task.id,
    )


def _under_way(turn: TurnRecord) -> TaskState:
    pending = turn.status == "pending"
    return TaskState.TASK_STATE_SUBMITTED if pending else TaskState.TASK_STATE_WORKING


def _state_after(endings: Sequence[Ending]) -> TaskState:
    """Of a message with several questions: what needs the client first, then an answer, then why there is none."""
    if "asked" in endings or "waiting" in endings:
        return TaskState.TASK_STATE_INPUT_REQUIRED
    if not endings or "answered" in endings or "conversed" in endings:
        return TaskState.TASK_STATE_COMPLETED
    return TaskState.TASK_STATE_FAILED if "failed" in endings else TaskState.TASK_STATE_REJECTED


def _timestamp(at: str) -> Timestamp:
    made = Timestamp()
    made.FromJsonString(at)
    return made
