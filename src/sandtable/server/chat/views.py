"""The request and response models of `POST /chat`: the source of its OpenAPI description."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from sandtable.agent.events import Ending, Error, Event, Message
from sandtable.agent.folding import AnswerFold, FoldedAnswer
from sandtable.agent.read_as.model import Offer, ReadAs
from sandtable.agent.turn_events import DecisionsAwaited
from sandtable.conversations.text import ASKED_SCHEMA
from sandtable.conversations.turn_events import TurnBegun, TurnEvent, TurnFailed
from sandtable.errors import Problem
from sandtable.runs.described import DescribedArtifact, DescribedColumn
from sandtable.store.run_store import Status


class Resume(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    decisions: list[dict[str, Any]] = Field(min_length=1, max_length=1)


_QUESTION: dict[str, Any] = {
    "required": ["message"],
    "properties": {
        "message": {"type": "string"},
        "plan": {"type": ["object", "null"]},
        "resume": {"type": "null"},
    },
    "anyOf": [
        {"required": [name], "properties": {name: {"type": "string"}}} for name in ("dataset_id", "thread_id")
    ],
}
_DECISION: dict[str, Any] = {
    "required": ["thread_id", "resume"],
    "properties": {
        "thread_id": {"type": "string"},
        "message": {"type": "null"},
        "plan": {"type": "null"},
        "resume": {"type": "object"},
    },
}


class ChatBody(BaseModel):
    """A question (`dataset_id` or `thread_id`, and `message`), or a decision (`thread_id` and `resume`)."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, json_schema_extra={"oneOf": [_QUESTION, _DECISION]}
    )

    dataset_id: str | None = Field(None, min_length=1, max_length=128, description="What it is about.")
    thread_id: str | None = Field(
        None,
        min_length=1,
        max_length=128,
        description="The conversation to go on with; a new one when left out.",
    )
    message: str | None = Field(
        None, description="The question, in plain language.", json_schema_extra=ASKED_SCHEMA
    )
    plan: dict[str, Any] | None = Field(
        None,
        description="A plan to run as the answer to `message`, such as that of a choice in `read_as` or `choices`; "
        "nothing is proposed then. It is checked like any plan.",
    )
    resume: Resume | None = Field(
        None, description='A person\'s decision: {"decisions": [{"type": "approve" | "edit" | "reject", …}]}.'
    )


class _Shown(BaseModel):
    model_config = ConfigDict(frozen=True)


class Result(_Shown):
    columns: tuple[DescribedColumn, ...]
    rows: tuple[tuple[Any, ...], ...]
    row_count: int
    truncated: bool


class CodeStep(_Shown):
    """Python that was written for a step of an analysis; after an error there may be another of the same number."""

    step: int
    goal: str
    code: str


class ChatAnswer(_Shown):
    thread_id: str
    message: str = ""
    """Markdown."""
    ending: Ending = "failed"
    """`waiting` means that a person must decide on `sql` before it runs: send `resume`."""
    reading: str | None = None
    """The question as it was understood, in words."""
    read_as: ReadAs | None = None
    """The same in parts, each with the words it came from and what else it could be."""
    plan: dict[str, Any] | None = None
    """A query plan, or `{"steps": [goal, …]}` of an analysis in Python."""
    sql: str | None = None
    """What ran, or waits to be run."""
    steps: tuple[CodeStep, ...] = ()
    """Of an analysis in Python: its code, in the order in which it ran. The last one may wait to be run."""
    artifacts: tuple[DescribedArtifact, ...] = ()
    """What code showed. `[[table-1]]` in the message is the place of the one with that id."""
    run_ids: tuple[str, ...] = ()
    """The runs that the numbers come from; each has its capsule."""
    status: Status | None = None
    """How the main run ended."""
    result: Result | None = None
    chart: dict[str, Any] | None = None
    """A Plotly figure."""
    suggestions: tuple[str, ...] = ()
    choices: tuple[Offer, ...] = ()
    """Of a question back (`asked`): the readings that were weighed. Send the `message` and the `plan` of one."""
    error: Problem | None = None
    """What was refused or failed."""
    others: tuple[ChatAnswer, ...] = ()
    """Of a message that asks several things: the answers to its further questions, in order. All else here is about
    the first one. `waiting` is the last of them, if any is."""


class Gathering:
    """Builds the answers of a turn from its events."""

    def __init__(self, thread_id: str) -> None:
        self._thread_id = thread_id
        self._fold = AnswerFold()
        self._answers: list[ChatAnswer] = []
        """One for each question of the message."""
        self.broken: Problem | None = None
        """Why there is no answer."""

    def add(self, event: TurnEvent) -> None:
        match event:
            case DecisionsAwaited(requests=(request, *_)):
                self._take(request.message, request.sql)
            case TurnFailed(problem=Problem() as problem):
                self.broken = problem
            case TurnBegun() | TurnFailed():
                pass
            case BaseModel():
                self._take(event)
            case _:
                pass

    def _take(self, event: Event, waiting_sql: str | None = None) -> None:
        answer = self._fold.take(event)
        if answer is None:
            return
        if isinstance(answer.end, Error):
            self.broken = answer.end.problem
            return
        self._answers.append(_answer_of(self._thread_id, answer, answer.end, waiting_sql))

    def answer(self) -> ChatAnswer:
        first, *others = self._answers or [ChatAnswer(thread_id=self._thread_id)]
        return first.model_copy(update={"others": tuple(others)})


def _answer_of(thread_id: str, folded: FoldedAnswer, end: Message, waiting_sql: str | None) -> ChatAnswer:
    run, table = folded.run, folded.run.table
    return ChatAnswer(
        thread_id=thread_id,
        message=end.text,
        ending=end.ending,
        reading=run.reading or None,
        read_as=run.read_as,
        plan=run.plan,
        sql=waiting_sql or run.sql,
        steps=tuple(CodeStep(step=each.step or 1, goal=each.goal, code=each.code) for each in folded.steps),
        artifacts=folded.artifacts,
        run_ids=end.run_ids,
        status=run.status,
        result=None if table is None else Result.model_validate(table, from_attributes=True),
        chart=folded.chart,
        suggestions=end.suggestions,
        choices=end.choices,
        error=end.problem,
    )
