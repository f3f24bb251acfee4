"""A house behind the adapters with a real queue, store, key and verification, and a scripted sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import ip_network
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from sandtable.accounts.shares import Shares
from sandtable.assemble import fetcher_of, uploads_of
from sandtable.assemble.boards import boards_of
from sandtable.assemble.shares import shares_of
from sandtable.assemble.sources import LoadedCopies
from sandtable.assemble.telemetry import Telemetry
from sandtable.boards.store import Boards
from sandtable.capsule.document import Document
from sandtable.capsule.keys import SigningKey, open_signing_key, trusted_keys
from sandtable.capsule.query import CodeQuery, PlanQuery, Query, SqlQuery
from sandtable.capsule.report import VerifyReport
from sandtable.catalog.convert import ConvertRequest, ConvertResult
from sandtable.catalog.model import Dataset
from sandtable.catalog.own.datasets import OwnDatasets
from sandtable.catalog.own.uploads import Uploads
from sandtable.catalog.profile import Bin, ColumnProfile, Profile, TableProfile, ValueCount
from sandtable.catalog.proposed.proposals import Proposals, proposals_of
from sandtable.catalog.reading.file_tables import NOTHING_DECIDED, Decided
from sandtable.catalog.registry import Catalog
from sandtable.catalog.semantics.editions import CatalogEditions
from sandtable.catalog.stored.integrity import OpenData, Whole, damaged
from sandtable.catalog.stored.store import DataStore
from sandtable.engines.duckdb.rules import RULES
from sandtable.engines.rules import Rules
from sandtable.errors import InvalidInput, NotFound, Problem
from sandtable.imports.desk import Imports
from sandtable.imports.records import ImportRecords
from sandtable.observing import Observer
from sandtable.plan.validate import metric_problems
from sandtable.policy.conditions import SqlConditions
from sandtable.policy.verdict import Refused, Verdict
from sandtable.runs.desk import Runs
from sandtable.runs.quotas import Quotas
from sandtable.runs.sessions import Sessions
from sandtable.runs.verifier import Verifier
from sandtable.sandbox.fake import FakeExecutor
from sandtable.sandbox.selftest import Attempt, DoctorReport, Layer
from sandtable.settings import Settings
from sandtable.telemetry.metrics import Metrics
from tests.capsule.samples import SHOP
from tests.catalog.fakes import FakeConvert
from tests.runs.reading import read_sql
from tests.runs.world import World, compile_plan, judge, judge_python

THIS_MACHINE = (ip_network("127.0.0.1/32"),)
"""As `trusted_proxies`: the test may say who the user is."""


def _shop_profile() -> Profile:
    """Every column alike: one value, ten times."""
    value, bins = ValueCount(value=5, count=10), (Bin(low=5, high=5, count=10),)
    known = {"nulls": 0, "distinct": 1, "minimum": 5, "maximum": 5, "complete": True}
    tables = tuple(
        TableProfile(
            name=table.name,
            rows=10,
            columns=tuple(
                ColumnProfile(name=column.name, values=(value,), histogram=bins, **known)
                for column in table.columns
            ),
        )
        for table in SHOP.tables
    )
    return Profile(version=SHOP.version, tables=tables)


SHOP_PROFILE = _shop_profile()


@dataclass
class GatedConvert(FakeConvert):
    """Converts only while `go` is set."""

    go: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, request: ConvertRequest, /) -> ConvertResult:
        self.waiting.set()
        await self.go.wait()
        return await super().__call__(request)


@dataclass
class FakeReadyDatasets:
    own: OwnDatasets
    editions: CatalogEditions
    of_this_process: set[str] = field(default_factory=set[str])
    added: list[Sequence[Path]] = field(default_factory=list)
    progress: Any = None
    copy_id: str = ""
    damaged: bool = False
    gone: bool = False
    """No version that was queried is stored any more."""

    def datasets(self) -> tuple[Dataset, ...]:
        return (*(record.dataset for record in self.own.list()), SHOP)

    def get(self, dataset_id: str) -> Dataset:
        found = self.as_found(dataset_id)
        return self.editions.described(found) if self.editions.editions(dataset_id) else found

    def is_lasting(self, dataset_id: str) -> bool:
        return dataset_id not in self.of_this_process

    def as_found(self, dataset_id: str) -> Dataset:
        if (record := self.own.find(dataset_id)) is not None:
            return record.dataset
        if dataset_id != SHOP.id:
            raise NotFound(f"no dataset `{dataset_id}`; did you mean `shop`?", suggestion="There is `shop`.")
        return SHOP

    async def ready(self, dataset_id: str) -> Dataset:
        return self.get(dataset_id)

    async def version(self, dataset_id: str, version: str, catalog_version: str | None = None) -> Dataset:
        if self.gone or version != self.get(dataset_id).version:
            raise NotFound(f"version {version} of {dataset_id} is gone")
        return SHOP

    async def open(self, dataset_id: str, version: str, catalog_version: str | None = None) -> OpenData:
        if self.damaged:
            raise damaged(version, "orders.parquet changed after it was published", dataset_id)
        return OpenData(self.get(dataset_id), Whole(version, copy_id=self.copy_id))

    async def profile(self, dataset: Dataset) -> Profile:
        return SHOP_PROFILE

    async def proposals(self, dataset: Dataset) -> Proposals:
        return proposals_of(dataset, await self.profile(dataset))

    async def add_files(self, paths: Sequence[Path], *, decided: Decided = NOTHING_DECIDED) -> Dataset:
        self.added.append(paths)
        return SHOP


@dataclass
class House:
    """Looks like `sandtable.assemble.Parts`."""

    settings: Settings
    datasets: FakeReadyDatasets
    runs: Runs
    key: SigningKey
    executor: FakeExecutor
    world: World
    verifier: Verifier
    uploads: Uploads
    imports: Imports
    convert: GatedConvert
    telemetry: Telemetry
    problem: Problem | None = None
    """What the self-test finds."""
    python: bool = True

    async def check(self, dataset: Dataset, query: Query) -> Verdict:
        match query:
            case CodeQuery(code, names):
                return await judge_python(code, dataset, names)
            case SqlQuery(sql):
                return await judge(sql, dataset)
            case PlanQuery(plan):
                try:
                    sql = compile_plan(dict(plan), dataset, 200).sql
                except InvalidInput as error:
                    return Refused(error.code, "plan", error.message, error.suggestion)
                return await judge(sql, dataset)

    async def read_sql(self, dataset: Dataset, sql: str) -> SqlConditions:
        return await read_sql(dataset, sql)

    def rules_of(self, dataset: Dataset) -> Rules | None:
        return RULES

    @property
    def tiers(self) -> SimpleNamespace:
        return SimpleNamespace(runs=self.executor, looks=self.executor, index=self.executor)

    @property
    def sessions(self) -> Sessions:
        return self.world.sessions

    @cached_property
    def shares(self) -> Shares:
        return shares_of(self.settings, None)

    @cached_property
    def boards(self) -> Boards:
        return boards_of(self.settings, None)

    def expect_code(self) -> None:
        """There is nothing to make ready."""

    async def verify(
        self, given: Document, keys: Sequence[Path] = (), *, user: str = "local"
    ) -> VerifyReport:
        return await self.verifier.verify(given, trusted_keys(self.settings.home, keys), user)

    async def doctor(self) -> DoctorReport:
        return report(self.problem)


def report(problem: Problem | None = None) -> DoctorReport:
    return DoctorReport(
        layers=(Layer("seccomp", True, "by allow list"), Layer("cgroup", False, "capped together")),
        attempts=(Attempt("open /etc/passwd", problem is not None, "EACCES"),),
        engine="duckdb 2.0.0",
        reasons=("no cgroup here",),
        problem=problem,
    )


@asynccontextmanager
async def open_house(
    home: Path,
    settings: Settings | None = None,
    *,
    one_person: bool = False,
    quotas: Quotas | None = None,
    executor: FakeExecutor | None = None,
    telemetry: Telemetry | None = None,
) -> AsyncIterator[House]:
    metrics = Metrics()
    telemetry = telemetry or Telemetry(Observer(metrics), metrics)
    changes = {"may_skip_check": one_person, "observer": telemetry.observer}
    world = World(home, executor or FakeExecutor(), changes=changes)
    chosen = settings or Settings(home=home, web=home / "not-built")
    (home / "data").mkdir(parents=True, exist_ok=True)
    limits = quotas or Quotas()
    async with world.opened(queue_limit=chosen.queue_limit, quotas=limits) as runs:
        limits.meters.append(runs._store.holdings.bytes_of)
        verifier = Verifier(world.parts(), _version_of, places=chosen.verifications, share=chosen.user_share)
        store = DataStore(home / "data")
        convert = GatedConvert(store, types={"day": "DATE", "amount": "BIGINT"})
        convert.go.set()
        editions = CatalogEditions(store.root, metric_problems)
        own = OwnDatasets(Catalog((SHOP,)), store, convert, editions=editions)
        uploads = uploads_of(chosen, store, own.records.bytes)
        imports = Imports(
            ImportRecords(store.root),
            uploads,
            own,
            fetcher_of(chosen, uploads),
            telemetry.observer,
            copies=LoadedCopies(chosen, own, uploads),
        )
        await imports.start()
        house: House | None = None
        try:
            house = House(
                chosen,
                FakeReadyDatasets(own, editions),
                runs,
                open_signing_key(home),
                world.executor,
                world,
                verifier,
                uploads,
                imports,
                convert,
                telemetry,
            )
            yield house
        finally:
            if house is not None:
                await house.shares.aclose()
                await house.boards.aclose()
            await imports.aclose()


async def _version_of(dataset: Dataset) -> str:
    return dataset.version
