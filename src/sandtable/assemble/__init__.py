"""Settings → wired parts. The only place that chooses back ends and connects the packages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sandtable.accounts.shares import Shares
from sandtable.assemble.ahead import Ahead
from sandtable.assemble.boards import boards_of
from sandtable.assemble.compiling import compile_checked
from sandtable.assemble.live import LiveRoutes, Profiles
from sandtable.assemble.shares import shares_of
from sandtable.assemble.sizes import limits_of, python_is_on, quotas_of, threads_of
from sandtable.assemble.sources import LoadedCopies
from sandtable.assemble.telemetry import Telemetry, open_telemetry
from sandtable.assemble.tiers import Tiers, open_runs_tier, open_tiers
from sandtable.assemble.version_retention import version_retention_of
from sandtable.boards.store import Boards
from sandtable.capsule.document import Document
from sandtable.capsule.keys import SigningKey, open_signing_key, trusted_keys
from sandtable.capsule.query import CodeQuery, PlanQuery, Query, SqlQuery
from sandtable.capsule.report import VerifyReport
from sandtable.catalog.model import Dataset
from sandtable.catalog.own.datasets import OwnDatasets
from sandtable.catalog.own.pruning import VersionRetention
from sandtable.catalog.own.uploads import UploadLimits, Uploads
from sandtable.catalog.ready_datasets import ReadyDatasets
from sandtable.catalog.registry import Catalog, load_catalog, registry_folder
from sandtable.catalog.semantics.editions import CatalogEditions
from sandtable.catalog.stored.attestations import FOLDER as ATTESTATIONS
from sandtable.catalog.stored.attestations import Attestations
from sandtable.catalog.stored.scrub import Scrub
from sandtable.catalog.stored.store import DataStore
from sandtable.engines.duckdb.rules import RULES
from sandtable.engines.duckdb.types import column_type
from sandtable.engines.rules import Rules
from sandtable.errors import InvalidInput
from sandtable.imports.by_address import Addresses
from sandtable.imports.desk import Imports
from sandtable.imports.fetches import Fetches, LoadedFetcher
from sandtable.imports.records import ImportRecords
from sandtable.observing import Observer
from sandtable.plan.validate import metric_problems
from sandtable.policy.conditions import SqlConditions
from sandtable.policy.verdict import Refused, Verdict
from sandtable.runs.code import require_tables, switched_off, without_files
from sandtable.runs.desk import Runs
from sandtable.runs.parts import Route, RunParts
from sandtable.runs.quotas import Quotas
from sandtable.runs.sessions import Sessions
from sandtable.runs.verifier import Verifier
from sandtable.sandbox.convert import SandboxedConvert
from sandtable.sandbox.executor import Tier
from sandtable.sandbox.extra import libraries
from sandtable.sandbox.gate import LARGE_ROWS, Gate
from sandtable.sandbox.job import Job, refs_of
from sandtable.sandbox.key_counts import KeyCounter
from sandtable.sandbox.python_gate import PythonGate
from sandtable.sandbox.selftest import DoctorReport, examine
from sandtable.settings import Settings
from sandtable.state import state_of
from sandtable.store.run_store import RunStore


@dataclass(frozen=True, slots=True)
class Parts:
    settings: Settings
    datasets: ReadyDatasets
    runs: Runs
    tiers: Tiers
    sessions: Sessions
    key: SigningKey
    verifier: Verifier
    _run_parts: RunParts
    _store: DataStore
    _ahead: Ahead
    run_store: RunStore
    quotas: Quotas
    uploads: Uploads
    imports: Imports
    versions: VersionRetention
    addresses: Addresses
    telemetry: Telemetry
    shares: Shares
    boards: Boards
    database: Any = None
    """The `Postgres` that servers share; None when everything is stored in the home folder."""

    @property
    def python(self) -> bool:
        """Whether Python may be run here."""
        return self._run_parts.judge_python is not None

    async def check(self, dataset: Dataset, query: Query) -> Verdict:
        """The gate's verdict, without running anything. A plan is compiled first."""
        route = self._run_parts.route(dataset.id, dataset.version)
        match query:
            case CodeQuery(code, names):
                return await self._check_python(dataset, code, names)
            case SqlQuery(sql):
                return await route.judge(sql, dataset)
            case PlanQuery(plan):
                rows = self._run_parts.limits.rows
                try:
                    if route.judge_plan is not None:
                        return await route.judge_plan(plan, dataset, rows)
                    sql = route.compile(plan, dataset, rows).sql
                except InvalidInput as error:
                    return _refused_plan(error)
                return await route.judge(sql, dataset)

    async def read_sql(self, dataset: Dataset, sql: str) -> SqlConditions:
        """What a text restricts its rows by; nothing for one that the gate does not approve."""
        conditions = self._run_parts.route(dataset.id, dataset.version).conditions
        return SqlConditions() if conditions is None else await conditions(sql, dataset)

    def rules_of(self, dataset: Dataset) -> Rules | None:
        """The rules by which SQL about this dataset is judged; None for an engine without any."""
        return self._run_parts.route(dataset.id, dataset.version).rules

    async def _check_python(self, dataset: Dataset, code: str, names: Mapping[str, str]) -> Verdict:
        judge = self._run_parts.judge_python
        if judge is None:
            raise switched_off()
        if (refused := without_files(dataset)) is not None:
            return refused
        require_tables(names, dataset)
        return await judge(code, dataset, names)

    async def verify(
        self, given: Document, keys: Iterable[Path] = (), *, user: str = "local"
    ) -> VerifyReport:
        """Verifies an envelope or a document by deriving everything again; `keys` are further public keys to trust.

        Raises Unreadable, QueueFull.
        """
        trusted = await asyncio.to_thread(trusted_keys, self.settings.home, keys, self.key)
        return await self.verifier.verify(given, trusted, user)

    async def doctor(self) -> DoctorReport:
        """The report of the tier that this server requires."""
        return await examine(self.tiers.looks, self._store.root)

    def expect_code(self) -> None:
        """Starts to prepare sandboxes for Python. A later run waits for them and gets the error if that fails."""
        self._ahead.begin()

    async def warm(self, dataset: Dataset) -> None:
        """Prepares sandboxes for questions about this dataset. Raises DataDamaged."""
        if dataset.live is not None:
            return
        data = await self.datasets.open(dataset.id, dataset.version)
        job = Job(
            id="warm",
            mode="sql",
            dataset_version=dataset.version,
            data=refs_of(data),
            limits=self._run_parts.limits,
        )
        await self.tiers.runs.warm(job)


def _refused_plan(error: InvalidInput) -> Refused:
    problems = error.details.get("errors") or [{}]
    return Refused(
        code=error.code,
        construct=str(problems[0].get("field", "plan")),
        message=error.message,
        suggestion=error.suggestion,
        details=dict(error.details),
    )


@asynccontextmanager
async def assemble(settings: Settings, *, serving: bool = False) -> AsyncGenerator[Parts, None]:
    """All parts, started. A server has many users, and also adopts the orphaned runs of dead servers.

    Raises SandboxUnavailable where this host cannot isolate.
    """
    key = open_signing_key(settings.home, settings.signing_key)
    store = store_of(settings, key)
    catalog = load_catalog(registry_folder(settings), column_type)
    async with AsyncExitStack() as stack:
        telemetry = await stack.enter_async_context(open_telemetry(settings, serving=serving))
        observer = telemetry.observer
        tiers = await open_tiers(settings, store, stack, observer)
        threads, profiles = threads_of(settings), Profiles(tiers.index, threads_of(settings))
        datasets = ReadyDatasets(
            catalog,
            store,
            SandboxedConvert(tiers.index, threads=threads),
            profiles,
            rebuilds=serving,
            check_metrics=metric_problems,
            count_keys=KeyCounter(tiers.index, threads),
        )
        stack.push_async_callback(datasets.aclose)
        uploads = uploads_of(settings, store, datasets.own.records.bytes)
        live = profiles.live = LiveRoutes(settings, datasets.own, uploads, observer.tracer)
        stack.push_async_callback(live.aclose)
        sessions = Sessions(tiers.sessions, idle_s=settings.session_idle_s, most=settings.max_sessions)
        stack.push_async_callback(sessions.aclose)
        run_parts = _run_parts(settings, datasets, tiers, sessions, live, observer, serving=serving)
        state, quotas = state_of(settings), quotas_of(settings, serving=serving)
        stack.enter_context(quotas.counting(state.runs.holdings.bytes_of))
        share = settings.user_share if serving else 1.0
        runs = Runs(
            state.runs,
            run_parts,
            key,
            settings.home,
            concurrency=settings.concurrency,
            queue_limit=settings.queue_limit,
            share=share,
            instance=state.instance,
            quotas=quotas,
        )
        await runs.start(adopt=serving)
        stack.push_async_callback(runs.aclose)
        ahead = Ahead(tiers.runs)
        stack.push_async_callback(ahead.aclose)
        if serving:
            _begin_scrub(settings.scrub_hours, store, datasets, stack)
            if run_parts.judge_python is not None:
                ahead.begin()
        fetcher, copies = fetcher_of(settings, uploads), LoadedCopies(settings, datasets.own, uploads)
        imports = Imports(ImportRecords(store.root), uploads, datasets.own, fetcher, observer, copies=copies)
        stack.push_async_callback(imports.aclose)
        versions = version_retention_of(settings, datasets.own, state.runs, serving=serving)
        if serving:
            await imports.start()
            await stack.enter_async_context(versions.in_background())
        shares = await stack.enter_async_context(shares_of(settings, state.database))
        verifier = Verifier(
            run_parts, partial(_version_again, store, live), places=settings.verifications, share=share
        )
        yield Parts(
            settings, datasets, runs, tiers, sessions, key, verifier, run_parts, store, ahead,
            state.runs, quotas, uploads, imports, versions, Addresses(uploads, fetcher),
            telemetry, shares, await stack.enter_async_context(boards_of(settings, state.database)), state.database,
        )  # fmt: skip


def _run_parts(
    settings: Settings,
    datasets: ReadyDatasets,
    tiers: Tiers,
    sessions: Sessions,
    live: LiveRoutes,
    observer: Observer,
    *,
    serving: bool,
) -> RunParts:
    gate, python_gate = _gates(settings, tiers.looks, observer, serving=serving)
    code = tiers.code_engine
    return RunParts(
        datasets=datasets,
        stored=Route(
            engine=tiers.hello.engine,
            compile=compile_checked,
            judge=gate,
            executor=tiers.runs,
            judge_compiled=gate.compiled if tiers.in_one_place else None,
            rules=RULES,
            conditions=gate.conditions,
        ),
        live=live.route,
        profile=datasets.profile,
        judge_python=python_gate if python_is_on(settings, serving=serving) else None,
        bound_names=python_gate.bound,
        sessions=sessions,
        python_engine=libraries if tiers.in_one_place else code,
        ready_for_code=code.ready,
        may_skip_check=not serving,
        isolation=tiers.hello.layers,
        grace_s=tiers.grace_s,
        limits=limits_of(settings, serving=serving),
        threads=threads_of(settings),
        large_rows=LARGE_ROWS,
        observer=observer,
    )


def _begin_scrub(hours: float, store: DataStore, datasets: ReadyDatasets, stack: AsyncExitStack) -> None:
    if hours:
        scrub = Scrub(store, datasets.on_damage, every_s=hours * 3600)
        scrub.begin()
        stack.push_async_callback(scrub.aclose)


def _gates(settings: Settings, looks: Tier, observer: Observer, *, serving: bool) -> tuple[Gate, PythonGate]:
    gate = Gate(
        looks,
        RULES,
        max_bytes=settings.max_sql_bytes,
        max_rows=settings.max_rows,
        one_person=not serving,
        observer=observer,
    )
    most = settings.max_code_bytes
    return gate, PythonGate(looks, max_bytes=most, one_person=not serving, observer=observer)


async def _version_again(store: DataStore, live: LiveRoutes, dataset: Dataset) -> str:
    """From the stored bytes, or from the database's schema as it is now."""
    if dataset.live is not None:
        return await live.version_now(dataset)
    return await asyncio.to_thread(store.rehash, dataset.version)


def store_of(settings: Settings, key: SigningKey) -> DataStore:
    """The data of this home folder, with the recorded attestations of its files. Raises RunnerBroken."""
    known = Attestations(settings.home / ATTESTATIONS, key.derive("sandtable attestations of data"))
    return DataStore(settings.home / "data", known)


def uploads_of(settings: Settings, store: DataStore, kept_bytes: Callable[[], int]) -> Uploads:
    limits = UploadLimits(
        file_bytes=settings.max_upload_mb << 20,
        all_bytes=settings.data_quota_mb << 20,
        unfinished_s=settings.upload_hours * 3600,
    )
    return Uploads(store.root, limits, kept_bytes)


def fetcher_of(settings: Settings, uploads: Uploads) -> Fetches:
    return LoadedFetcher(uploads, settings.fetch_timeout_s, private=settings.fetch_private)


def own_datasets_of(settings: Settings) -> OwnDatasets:
    """The datasets that were added, to list and to remove: without a sandbox, which adding needs."""
    store = store_of(settings, open_signing_key(settings.home, settings.signing_key))
    return OwnDatasets(load_catalog(registry_folder(settings), column_type), store, None)


@dataclass(frozen=True, slots=True)
class CatalogParts:
    """What is known of datasets by their descriptions alone: without a sandbox, and without their data."""

    registry: Catalog
    own: OwnDatasets
    editions: CatalogEditions

    def as_found(self, dataset_id: str) -> Dataset:
        """As its data describe it. Raises NotFound with the nearest id."""
        record = self.own.find(dataset_id)
        if record is not None:
            return record.dataset
        every = (*(each.dataset for each in self.own.list()), *self.registry.values())
        return Catalog(every).get(dataset_id)


def catalog_parts_of(settings: Settings) -> CatalogParts:
    store = store_of(settings, open_signing_key(settings.home, settings.signing_key))
    registry = load_catalog(registry_folder(settings), column_type)
    editions = CatalogEditions(store.root, metric_problems)
    return CatalogParts(registry, OwnDatasets(registry, store, None, editions=editions), editions)


async def diagnose(settings: Settings) -> DoctorReport:
    """The doctor's report alone, for a machine where nothing else may work."""
    store = DataStore(settings.home / "data")
    async with AsyncExitStack() as stack:
        tier = await open_runs_tier(settings, store, stack)
        return await examine(tier, store.root)
