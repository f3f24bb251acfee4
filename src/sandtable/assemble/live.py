"""Datasets whose rows stay in a database: the route of each, what its columns hold, and its schema as it is now."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sandtable.assemble.sources import executor_of, sources_in
from sandtable.capsule.pin import LivePin
from sandtable.catalog.live import LiveDatabase
from sandtable.catalog.model import Dataset
from sandtable.catalog.own.datasets import OwnDatasets
from sandtable.catalog.own.uploads import Uploads
from sandtable.catalog.profile import Profile
from sandtable.catalog.stored.integrity import OpenData
from sandtable.errors import ErrorCode, NotFound, RunnerBroken
from sandtable.observing import Tracer
from sandtable.plan.validate import parse_plan
from sandtable.policy.verdict import Approved, Refused, Verdict
from sandtable.quoting import quote
from sandtable.recent import Recent
from sandtable.runs.parts import Route
from sandtable.sandbox.executor import Executor
from sandtable.sandbox.job import ResultColumn
from sandtable.sandbox.profile import profile_of
from sandtable.settings import Settings

if TYPE_CHECKING:
    from sandtable.sandbox.live.executor import LiveExecutor

_ISOLATION = (
    "namespace:user", "namespace:mount", "namespace:pid", "namespace:ipc", "namespace:uts", "namespace:cgroup",
    "one-address", "private-root", "seccomp", "rlimits", "no-new-privileges", "no-capabilities",
)  # fmt: skip
"""Of a database's worker, which does not start without them."""


class LiveRoutes:
    """Invariant: a database gets no text but what is compiled here from a plan. Its workers start with its first
    query."""

    def __init__(self, settings: Settings, own: OwnDatasets, uploads: Uploads, tracer: Tracer) -> None:
        self._settings = settings
        self._own = own
        self._uploads = uploads
        self._tracer = tracer
        self._executors: dict[str, LiveExecutor] = {}

    def route(self, dataset_id: str, version: str) -> Route | None:
        """None for a version whose rows are here."""
        record = self._own.find(dataset_id)
        dataset = None if record is None else record.live(version)
        return None if dataset is None or dataset.live is None else self._route(dataset.live)

    def _route(self, database: LiveDatabase) -> Route:
        return Route(
            engine=database.kind,
            compile=_compile,
            judge=_refuse,
            executor=self._executor(database.source),
            judge_plan=_approve,
            isolation=_ISOLATION,
            pin=LivePin.of(database),
        )

    def _executor(self, source: str) -> LiveExecutor:
        if source not in self._executors:
            self._executors[source] = executor_of(self._settings, source, self._tracer)
        return self._executors[source]

    async def profile_of(self, dataset: Dataset) -> Profile:
        # This loads what most commands never need.
        from sandtable.sources.profile import live_profile

        route = self.route(dataset.id, dataset.version)
        if route is None:
            raise NotFound(f"{quote(dataset.id)} is not in a database any more", suggestion="Ask again.")
        return await live_profile(dataset, route)

    async def version_now(self, dataset: Dataset) -> str:
        """The version that its tables would get now."""
        sources = sources_in(self._settings, self._own, self._uploads)
        return (await sources.live_now(dataset)).version

    async def aclose(self) -> None:
        await asyncio.gather(*(executor.aclose() for executor in self._executors.values()))


class Profiles:
    """Looks at the columns of a version: in a sandbox, or in the database that holds its rows."""

    def __init__(self, executor: Executor, threads: int) -> None:
        self._executor = executor
        self._threads = threads
        self.live: LiveRoutes | None = None

    async def __call__(self, data: OpenData) -> Profile:
        if data.dataset.live is not None and self.live is not None:
            return await self.live.profile_of(data.dataset)
        return await profile_of(self._executor, data, threads=self._threads)


@dataclass(frozen=True, slots=True)
class _ForDatabase:
    sql: str
    warnings: tuple[str, ...]
    columns: tuple[ResultColumn, ...]
    tables: tuple[str, ...]


_COMPILED: Recent[tuple[str, str, int], _ForDatabase] = Recent(256)
"""A run compiles its plan several times: to write, to judge, to verify."""


def _compile(plan: dict[str, Any], dataset: Dataset, rows: int) -> _ForDatabase:
    """Raises InvalidInput with every problem of the plan at once."""
    if dataset.live is None:
        raise RunnerBroken(f"the rows of {dataset.id} are not in a database")
    key = json.dumps(plan, sort_keys=True), dataset.edition, rows
    known = _COMPILED.get(key)
    if known is not None:
        return known
    # Most servers and commands never compile for a database.
    from sandtable.sql.remote import compile_remote

    made = compile_remote(parse_plan(plan), dataset, dataset.live, max_rows=rows)
    columns = tuple(ResultColumn(name=name, type=kind) for name, kind in made.columns)
    compiled = _ForDatabase(made.sql, made.warnings, columns, made.tables)
    _COMPILED.put(key, compiled)
    return compiled


async def _approve(plan: dict[str, Any], dataset: Dataset, rows: int) -> Verdict:
    compiled = _compile(plan, dataset, rows)
    return Approved(compiled.sql, tables=compiled.tables)


async def _refuse(text: str, dataset: Dataset) -> Verdict:
    return Refused(
        code=ErrorCode.SQL_POLICY_VIOLATION,
        construct="SQL",
        message=f"the rows of {quote(dataset.id)} stay in a database, which is sent no SQL",
        suggestion=f"Ask in words or with a plan, or copy its tables: sandtable data snapshot {dataset.id}.",
        position=None,
        length=0,
    )
