"""What a run needs from other packages, as small protocols."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from sandtable.capsule.pin import LivePin
from sandtable.catalog.model import Dataset
from sandtable.catalog.profile import Profile
from sandtable.catalog.stored.integrity import OpenData
from sandtable.engines.rules import Rules
from sandtable.observing import UNOBSERVED, Observer
from sandtable.policy.conditions import SqlConditions
from sandtable.policy.verdict import Verdict
from sandtable.runs.sessions import Sessions
from sandtable.sandbox.executor import Executor
from sandtable.sandbox.job import DataRef, Limits, ResultColumn


class CompiledPlan(Protocol):
    @property
    def sql(self) -> str: ...
    @property
    def warnings(self) -> tuple[str, ...]: ...
    @property
    def columns(self) -> tuple[ResultColumn, ...]:
        """What the executor makes of the engine's cells; empty where it returns them as they are."""
        ...


class Datasets(Protocol):
    async def ready(self, dataset_id: str) -> Dataset:
        """The dataset in its current version, with its data in the store. Raises NotFound."""
        ...

    async def version(self, dataset_id: str, version: str, catalog_version: str | None = None) -> Dataset:
        """One version, by one version of its catalog, or by the current one. Raises NotFound when one of the two is
        not here."""
        ...

    async def open(self, dataset_id: str, version: str, catalog_version: str | None = None) -> OpenData:
        """The same, after its files were verified to be the published ones. Raises NotFound, DataDamaged."""
        ...

    async def unchanged(self, data: OpenData) -> bool:
        """Whether the files are unchanged since they were opened."""
        ...


@dataclass(frozen=True, slots=True)
class Route:
    """The engine of a dataset: how its queries are written, judged and executed."""

    engine: str
    """Such as `duckdb 2.0.0`."""
    compile: Callable[[dict[str, Any], Dataset, int], CompiledPlan]
    """Plan, dataset, row limit. Raises InvalidInput for a plan that cannot be used."""
    judge: Callable[[str, Dataset], Awaitable[Verdict]]
    """For a text of any origin."""
    executor: Executor
    judge_compiled: Callable[[str, Dataset, tuple[DataRef, ...], Limits], Awaitable[Verdict]] | None = None
    """For a text that was compiled from a plan, with the data and limits of its run. None: as any other text."""
    rules: Rules | None = None
    """By which its SQL is judged, for fixes of refused texts. None: none are suggested."""
    conditions: Callable[[str, Dataset], Awaitable[SqlConditions]] | None = None
    """What a text restricts its rows by, for the explanation of an empty result. None: SQL is not explained."""
    judge_plan: Callable[[dict[str, Any], Dataset, int], Awaitable[Verdict]] | None = None
    """Plan, dataset, row limit: for an engine that takes no text but what is compiled here. None: the compiled text is
    judged."""
    isolation: tuple[str, ...] | None = None
    """What isolates its jobs; None for `RunParts.isolation`."""
    pin: LivePin | None = None
    """For rows that stay in a database, of which nothing is cached. None: the version pins the content."""


@dataclass(frozen=True, slots=True)
class RunParts:
    datasets: Datasets
    stored: Route
    """For datasets whose files are in the data store."""
    elsewhere: Mapping[str, Route] = field(default_factory=dict[str, Route])
    """By dataset id, for data that another engine holds."""
    live: Callable[[str, str], Route | None] = lambda dataset_id, version: None
    """By dataset and version, for rows that stay in a database."""
    profile: Callable[[Dataset], Awaitable[Profile]] | None = None
    """What the columns of a version hold, for advice about SQL that failed. None: it is given without."""
    judge_python: Callable[[str, Dataset, Collection[str]], Awaitable[Verdict]] | None = None
    """Code, dataset, further names that the code can use. None where Python is disabled."""
    bound_names: Callable[[str], Awaitable[frozenset[str]]] | None = None
    """The names that code defines for later cells of its session."""
    sessions: Sessions | None = None
    """Where the cells of live sessions run. None where sessions are not supported."""
    python_engine: Callable[[], str] = lambda: ""
    """Versions that the results of code depend on beside the engine, such as `python 3.11.2, pandas 3.1.0`."""
    ready_for_code: Callable[[], Awaitable[object]] | None = None
    """Waits until sandboxes for code are available, which takes a while the first time. Raises SandboxUnavailable."""
    may_skip_check: bool = False
    """Whether code may run unjudged: for one person on their own machine."""
    isolation: tuple[str, ...] = ()
    limits: Limits = field(default_factory=lambda: Limits.model_validate({}))
    """The most any run may use; requests may ask for less."""
    threads: int = 1
    """For large data; small data and order-dependent queries use one."""
    large_rows: int = 500_000
    """Data with at least this many rows is large."""
    judge_s: float = 10.0
    """After how long the gate counts as hung."""
    grace_s: float = 10.0
    """How long after the wall-clock limit a sandbox counts as hung."""
    start_s: float = 60.0
    """After how long sandboxes for code count as unavailable."""
    observer: Observer = UNOBSERVED

    def route(self, dataset_id: str, version: str) -> Route:
        return self.elsewhere.get(dataset_id) or self.live(dataset_id, version) or self.stored

    def engine_of(self, dataset_id: str, version: str, *, code: bool) -> str:
        """The engine's name and version, as recorded."""
        engine = self.route(dataset_id, version).engine
        return ", ".join(filter(None, (engine, self.python_engine()))) if code else engine
