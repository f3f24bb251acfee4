"""All capabilities of the conversation: look up datasets, submit runs, read runs, call a proposer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from sandtable.agent.accounting import Accounted
from sandtable.agent.analysis.coder import Coder
from sandtable.agent.looking import Looking
from sandtable.agent.prompting.hints import Hints
from sandtable.agent.proposer import Asked, Proposer
from sandtable.agent.read_as.model import Aligned, ReadAs
from sandtable.capsule.query import Query
from sandtable.catalog.model import Dataset
from sandtable.catalog.profile import Profile
from sandtable.observing import UNOBSERVED, Observer
from sandtable.planner.outcome import EarlierTurn
from sandtable.policy.verdict import Verdict
from sandtable.runs.empty_sql import ReadSql
from sandtable.runs.model import Run, RunRequest


class Datasets(Protocol):
    def datasets(self) -> tuple[Dataset, ...]: ...

    async def ready(self, dataset_id: str) -> Dataset:
        """Raises NotFound."""
        ...

    async def profile(self, dataset: Dataset) -> Profile: ...


class Desk(Protocol):
    """Where runs are submitted: `runs.desk.Runs`."""

    async def submit(self, request: RunRequest) -> Run: ...
    async def wait(self, run_id: str, timeout_s: float | None = None) -> Run: ...
    async def get(self, run_id: str) -> Run: ...
    async def cancel(self, run_id: str) -> Run: ...


Check = Callable[[Dataset, Query], Awaitable[Verdict]]
"""The gate's verdict, without running anything."""


Understands = Callable[[str, Dataset, EarlierTurn], bool]
"""Whether the built-in planner would answer this question, asked after that turn."""


Account = Callable[[Asked, dict[str, Any]], Awaitable[Accounted]]
"""Checks a plan against the words of the question."""


Hint = Callable[[Asked], Awaitable[Hints]]
"""The built-in planner's reading of a question."""


ReadsAs = Callable[[Asked, dict[str, Any], Aligned | None], Awaitable[ReadAs | None]]
"""The parts of a plan, with the words they came from and what else they could be."""


Prepare = Callable[[Dataset, Profile], Awaitable[None]]
"""Prepares what the first question about a dataset would wait for."""


@dataclass(frozen=True, slots=True)
class Means:
    datasets: Datasets
    runs: Desk
    check: Check
    read_sql: ReadSql
    proposer: Proposer
    max_rows: int
    """Rows an answer may hold."""
    understands: Understands
    approval: Literal["off", "sql"] = "off"
    prepare: Prepare | None = None
    python: bool = False
    """Whether Python may be run."""
    planner: Proposer | None = None
    """The built-in planner as a fallback where a chat model proposes."""
    account: Account | None = None
    """For plans of a chat model; the built-in planner checks its own plans."""
    hint: Hint | None = None
    """For a chat model, which gets the built-in planner's reading as a hint."""
    looking: Looking | None = None
    """What a chat model may look at before it proposes."""
    read_as: ReadsAs | None = None
    coder: Coder | None = None
    """Writes Python; None without a chat model."""
    expect_code: Callable[[], None] | None = None
    """Starts to prepare sandboxes for Python while the code is being written."""
    observer: Observer = UNOBSERVED

    @property
    def analyses(self) -> bool:
        """Whether a question can become an analysis in Python."""
        return self.python and self.coder is not None
