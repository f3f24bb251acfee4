"""What `POST /chat` takes and gives, as models: the source of its OpenAPI description."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from sandtable.agent.events import (
    ArtifactShown,
    Chart,
    Code,
    Ending,
    Error,
    Event,
    Message,
    Planned,
    RunState,
    Sql,
    Table,
)
from sandtable.agent.read_as.model import Choice, ReadAs
from sandtable.errors import Problem
from sandtable.sandbox.artifact import Artifact
from sandtable.sandbox.job import ResultColumn
from sandtable.server.threads.text import ASKED_SCHEMA
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
    columns: tuple[ResultColumn, ...]
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
    artifacts: tuple[Artifact, ...] = ()
    """What code showed. `[[table-1]]` in the message is the place of the one with that id."""
    run_ids: tuple[str, ...] = ()
    """The runs that the numbers come from; each has its capsule."""
    status: Status | None = None
    """How the main run ended."""
    result: Result | None = None
    chart: dict[str, Any] | None = None
    """A Plotly figure."""
    suggestions: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()
    """Of a question back (`asked`): the readings that were weighed. Send the `message` and the `plan` of one."""
    error: Problem | None = None
    """What was refused or failed."""
    others: tuple[ChatAnswer, ...] = ()
    """Of a message that asks several things: the answers to its further questions, in order. All else here is about
    the first one. `waiting` is the last of them, if any is."""


_OF_A_RUN = ("result", "chart")


class Gathering:
    """An answer, put together from the events that lead to it."""

    def __init__(self, thread_id: str) -> None:
        self._thread_id = thread_id
        self._ended: list[dict[str, Any]] = []
        """Answers to the first questions of the message."""
        self._found: dict[str, Any] = {"thread_id": thread_id}
        self._run_id = ""
        self.broken: Problem | None = None
        """There is no answer, because of this."""

    def hear(self, event: Event) -> None:
        match event:
            case Planned(plan=plan, reading=reading, read_as=read_as):
                self._found |= {"plan": plan, "reading": reading, "read_as": read_as}
            case Sql(sql=sql):
                self._found["sql"] = sql
            case RunState(run_id=run_id, status=status):
                if run_id != self._run_id:
                    # A chat model may have looked at another run before.
                    self._found = {name: v for name, v in self._found.items() if name not in _OF_A_RUN}
                self._run_id = run_id
                self._found["status"] = status
            case Table(columns=columns, rows=rows, row_count=count, truncated=truncated):
                self._found["result"] = Result(
                    columns=columns, rows=rows, row_count=count, truncated=truncated
                )
            case Chart(figure=figure):
                self._found["chart"] = figure
            case Code(step=step, goal=goal, code=code):
                self._found.setdefault("steps", []).append(CodeStep(step=step or 1, goal=goal, code=code))
            case ArtifactShown(artifact=artifact):
                self._found.setdefault("artifacts", []).append(artifact)
            case Message():
                self._found |= {
                    "message": event.text,
                    "ending": event.ending,
                    "run_ids": event.run_ids,
                    "suggestions": event.suggestions,
                    "choices": event.choices,
                    "error": event.problem,
                }
                if event.remaining:
                    self._ended.append(self._found)
                    self._found = {"thread_id": self._thread_id}
            case Error(problem=problem):
                self.broken = problem
            case _:
                pass

    @property
    def waiting(self) -> bool:
        return self._found.get("ending") == "waiting"

    def answer(self, waiting_sql: str | None = None) -> ChatAnswer:
        exact = {"sql": waiting_sql} if waiting_sql else {}
        first, *others = [*self._ended, {**self._found, **exact}]
        return ChatAnswer.model_validate({**first, "others": others})
