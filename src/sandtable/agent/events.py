"""What happens while a question is answered, as one union. Each protocol has its own encoder.

Invariant: a number reaches `Message` only from the rows, or the printed output, of a run that the message names.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from sandtable.agent.read_as.model import Offer, ReadAs
from sandtable.errors import ErrorCode, Problem, SandtableError
from sandtable.runs.described import DescribedArtifact, DescribedColumn
from sandtable.store.run_store import Status

Ending = Literal["answered", "asked", "conversed", "refused", "failed", "waiting"]
"""How a turn ends: with an answer, with a question back (the abstention), with small talk, with a refusal
by the gate or by policy, with a failure of the run or the model, or waiting for a person's approval."""


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Thought(_Event):
    """One line on what is being done now, for a person who waits."""

    type: Literal["thought"] = "thought"
    text: str


class Planned(_Event):
    type: Literal["plan"] = "plan"
    plan: dict[str, Any]
    """A query plan, or `{"steps": [goal, …]}` for an analysis in Python."""
    reading: str
    """The plan in words."""
    confidence: float | None = None
    """How likely the plan is what was meant, from 0 to 1; nothing where the proposer does not say."""
    read_as: ReadAs | None = None
    """The same in parts, each with the words it came from and what else it could be; nothing for an analysis."""


class Sql(_Event):
    type: Literal["sql"] = "sql"
    sql: str


class Code(_Event):
    """Python that is about to run, or waits for a person's approval."""

    type: Literal["code"] = "code"
    run_id: str | None = None
    """Nothing while it has no run: the next `run` event is about it."""
    step: int | None = None
    """Which step of an analysis it is for, from 1. The same number again is another attempt at it."""
    goal: str = ""
    code: str


class RunState(_Event):
    type: Literal["run"] = "run"
    run_id: str
    status: Status
    exec_time_ms: float | None = None


class Log(_Event):
    type: Literal["log"] = "log"
    run_id: str | None = None
    text: str


class Table(_Event):
    type: Literal["table"] = "table"
    run_id: str
    columns: tuple[DescribedColumn, ...]
    rows: tuple[tuple[Any, ...], ...]
    row_count: int
    truncated: bool


class Chart(_Event):
    type: Literal["chart"] = "chart"
    run_id: str
    figure: dict[str, Any]
    """A Plotly figure."""


class ArtifactShown(_Event):
    """What code showed besides text. `[[id]]` in the message is the place where it belongs."""

    type: Literal["artifact"] = "artifact"
    run_id: str
    artifact: DescribedArtifact


class Delta(_Event):
    """A piece of the message that is being written; `Message` brings the whole."""

    type: Literal["delta"] = "delta"
    text: str


class Message(_Event):
    """The end of an answer. The last event of a turn is one with nothing `remaining`, or an `Error`."""

    type: Literal["message"] = "message"
    text: str
    """Markdown."""
    ending: Ending
    run_ids: tuple[str, ...] = ()
    """The runs its numbers come from, the main one first."""
    suggestions: tuple[str, ...] = ()
    """Questions that could come next."""
    choices: tuple[Offer, ...] = ()
    """Of a question back: the readings that were weighed, the likeliest first. Sending the message and the plan of one
    runs it as the answer to the question."""
    problem: Problem | None = None
    """What was refused or failed, with its code."""
    remaining: int = Field(default=0, ge=0)
    """Questions of the same message that are answered next, each with events and a message of its own."""


BROKE_OFF = Problem(
    code=ErrorCode.RUNNER_INTERNAL_ERROR,
    message="the conversation broke off",
    suggestion="Ask again; if it happens again, report it with the server's log.",
)
"""What a caller sees of an unexpected exception."""


class Error(_Event):
    """The machinery broke; there is no answer."""

    type: Literal["error"] = "error"
    problem: Problem

    @classmethod
    def of(cls, error: BaseException) -> Error:
        """An exception of another kind than ours is a defect: its text is for the log alone."""
        if isinstance(error, SandtableError):
            return cls(problem=error.problem)
        return cls(problem=BROKE_OFF)


Event = Annotated[
    Thought | Planned | Sql | Code | RunState | Log | Table | Chart | ArtifactShown | Delta | Message | Error,
    Field(discriminator="type"),
]
EVENT: TypeAdapter[Event] = TypeAdapter(Event)
