"""What the tools, resources and prompts work with, and who asks.

Invariant: whatever is read or run on behalf of a caller goes through a `Caller`, which names the user.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from sandtable.agent.endpoint import Privacy
from sandtable.agent.events import Event
from sandtable.agent.privacy import privacy_of
from sandtable.capsule.query import PlanQuery, Query
from sandtable.capsule.report import VerifyReport
from sandtable.catalog.model import Dataset
from sandtable.errors import NotFound, Problem, SandtableError, renamed
from sandtable.runs.fair_queue import FairQueue
from sandtable.runs.model import Run, RunRequest
from sandtable.server.errors import HOME
from sandtable.server.shutdown import Shutdown
from sandtable.settings import Settings

if TYPE_CHECKING:
    from sandtable.assemble import Parts

_FOR_THE_LOG = frozenset({"stderr", "complaint"})


class Asking(Protocol):
    """How a question in plain language is answered here."""

    async def thread(self, user: str, thread_id: str | None, dataset_id: str | None) -> tuple[str, str]:
        """The conversation to ask in, and its dataset; a new one without an id. Raises NotFound, InvalidInput,
        QuotaFull."""
        ...

    def ask(self, user: str, thread_id: str, question: str) -> AsyncGenerator[Event, None]:
        """Closing it early cancels the turn and its run."""
        ...

    def decide(self, user: str, thread_id: str, decision: str) -> AsyncGenerator[Event, None]:
        """Goes on after a `waiting` message: `approve` or `reject`."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    parts: Parts
    asking: Asking
    checks: FairQueue
    shutdown: Shutdown | None = None
    """None where a process serves one person until its input ends."""

    @property
    def settings(self) -> Settings:
        return self.parts.settings

    @property
    def stops(self) -> bool:
        return self.shutdown is not None and self.shutdown.begun.is_set()


@dataclass(frozen=True, slots=True)
class Caller:
    place: Place
    user: str

    @property
    def parts(self) -> Parts:
        return self.place.parts

    def datasets(self) -> tuple[Dataset, ...]:
        return self.parts.datasets.datasets()

    def dataset(self, dataset_id: str) -> Dataset:
        """Raises NotFound with the nearest name."""
        if len(dataset_id) > 128:
            raise NotFound("the name is longer than that of any dataset", suggestion="Call `list_datasets`.")
        return self.parts.datasets.get(dataset_id)

    async def run(self, run_id: str, wait_s: float = 0.0) -> Run:
        """Raises NotFound."""
        runs = self.parts.runs
        if not wait_s:
            return await runs.get(run_id)
        waiting = runs.wait(run_id, wait_s)
        if self.place.shutdown is None:
            return await waiting
        return await self.place.shutdown.or_begun(waiting) or await runs.get(run_id)

    async def submit(self, request: RunRequest) -> Run:
        """Raises NotFound, InvalidInput, QueueFull, QuotaFull."""
        return await self.parts.runs.submit(request)

    def cancel(self, run_id: str) -> None:
        """Beside the task that was cancelled, which must not wait for it."""
        task = asyncio.create_task(self.parts.runs.cancel(run_id))
        _CANCELLING.add(task)
        task.add_done_callback(_cancelled)

    async def capsule(self, run_id: str) -> dict[str, Any]:
        """Raises NotFound."""
        return await self.parts.runs.capsule(run_id)

    async def verify(self, run_id: str) -> VerifyReport:
        return await self.parts.verify(await self.capsule(run_id), user=self.user)

    def privacy_of(self, run: Run) -> Privacy:
        """What a model may see of a run: with `schema` no cell, nor anything that could hold one.

        The client is a model's. A column that is masked now is withheld, also from a run that was made before.
        """
        return self._privacy(run.request.dataset_id, run.request.query)

    def may_show(self, dataset_id: str, plan: dict[str, Any] | None) -> bool:
        """Whether words about this plan can hold no withheld value; without a plan, any words about the dataset."""
        return self._privacy(dataset_id, None if plan is None else PlanQuery(plan)) == "off"

    def _privacy(self, dataset_id: str, query: Query | None) -> Privacy:
        if self.place.settings.privacy == "schema":
            return "schema"
        try:
            return privacy_of(query, self.dataset(dataset_id), "off")
        except SandtableError:
            # What is masked in a dataset that is gone is not known.
            return "schema"

    def examples(self, dataset: Dataset) -> tuple[str, ...]:
        """Questions that it answers: some were made from values, so there are none where one could be withheld."""
        return dataset.prompts if self.may_show(dataset.id, None) else ()

    def presentable(self, problem: Problem) -> Problem:
        """Without the operator's folders, and without what a sandbox process wrote about itself."""
        details = {name: each for name, each in problem.details.items() if name not in _FOR_THE_LOG}
        home = str(self.place.settings.home)
        return renamed(problem.model_copy(update={"details": details}), {home: HOME})


_CANCELLING: set[asyncio.Task[Run]] = set()


def _cancelled(task: asyncio.Task[Run]) -> None:
    _CANCELLING.discard(task)
    if not task.cancelled():
        # Retrieved: a run that could not be cancelled ends by its own limits.
        task.exception()
