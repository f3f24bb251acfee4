"""The interface between an analysis and the coder that writes its code.

Invariant: a coder only writes. It sees the schema, the conversation, and a bounded part of the results of earlier
cells; its code is judged and run as untrusted code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from pydantic import BaseModel, ConfigDict

from sandtable.agent.proposer import Asked, Proposer, Usage
from sandtable.errors import Problem
from sandtable.sandbox.job import ResultColumn
from sandtable.store.run_store import Status

MOST_STEPS = 8
MOST_REPAIRS = 2
"""Further attempts at one step, each with a diagnosis."""
MOST_CALLS = 20
"""Calls to a model in one analysis, including retries and the conclusion."""

T = TypeVar("T")


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class SeenTable(_Kept):
    """The head of a table that a cell showed."""

    id: str
    title: str = ""
    columns: tuple[ResultColumn, ...]
    rows: tuple[tuple[Any, ...], ...]
    row_count: int


class Seen(_Kept):
    """One cell that was run, and the bounded part of its results that is kept."""

    step: int
    goal: str
    code: str
    run_id: str
    status: Status
    stdout: str = ""
    tables: tuple[SeenTable, ...] = ()
    plots: tuple[str, ...] = ()
    """Ids of the plots it showed."""
    others: tuple[str, ...] = ()
    """Ids of whatever else it showed."""
    problem: Problem | None = None
    line: int | None = None
    """The line of the error."""
    thought: str = ""
    """Why this code."""
    diagnosis: str = ""
    """What was wrong with it, and what to write instead."""

    @property
    def succeeded(self) -> bool:
        return self.status == "succeeded"


class Advice(_Kept):
    """What was wrong with code that failed, and what to write instead."""

    diagnosis: str
    suggestion: str = ""


class Written(_Kept):
    thought: str = ""
    code: str


@dataclass(frozen=True, slots=True)
class Task:
    asked: Asked
    steps: tuple[str, ...] = ()
    step: int = 0
    """The current step, from 1; the one after the last is the chart."""
    goal: str = ""
    cells: tuple[Seen, ...] = ()
    """Oldest first, the failed ones too."""
    advice: Advice | None = None
    """For another attempt at the step."""
    calls: int = MOST_REPAIRS + 1
    """How often the model may be asked for this."""


@dataclass(frozen=True, slots=True)
class Reply(Generic[T]):
    what: T
    usage: Usage
    calls: int
    """How often the model was asked."""


class Coder(Protocol):
    """Each raises `agent.models.ModelTrouble`, also when no reply can be used."""

    async def plan_steps(self, task: Task) -> Reply[tuple[str, ...]]: ...

    async def write_code(self, task: Task) -> Reply[Written]: ...

    async def diagnose(self, task: Task) -> Reply[Advice]:
        """What was wrong with the last cell."""
        ...

    async def draw(self, task: Task) -> Reply[Written]:
        """Code for a chart of the result."""
        ...

    async def conclude(self, task: Task, plain: str) -> Reply[str] | None:
        """The answer in Markdown, better than `plain`; None leaves that as it is."""
        ...


@runtime_checkable
class Codes(Protocol):
    """A proposer that can also write code."""

    def coder(self) -> Coder: ...


def coder_of(proposer: Proposer) -> Coder | None:
    return proposer.coder() if isinstance(proposer, Codes) else None
