"""A house for runs with nothing real in it: one dataset, a small gate, a scripted sandbox, a home on disk.

With the address of a Postgres database, runs are kept there, and each `runs()` is a server of its own that shares it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import psycopg

from sandtable.capsule.keys import open_signing_key
from sandtable.catalog.model import Dataset
from sandtable.catalog.stored.integrity import OpenData, Whole
from sandtable.errors import ErrorCode, InvalidInput, NotFound
from sandtable.policy.verdict import Approved, Refused, Verdict
from sandtable.runs.desk import Runs
from sandtable.runs.liveness import HomeLiveness
from sandtable.runs.model import RunRequest, read_request
from sandtable.runs.parts import Route, RunParts
from sandtable.runs.sessions import Sessions
from sandtable.sandbox.fake import FakeExecutor
from sandtable.sandbox.job import Limits
from sandtable.stopping import stopped
from sandtable.store.postgres.pool import Postgres, PostgresLiveness
from sandtable.store.postgres.run_store import PostgresStore
from sandtable.store.run_store import TERMINAL, RunStore
from sandtable.store.sqlite.run_store import SqliteStore
from tests.capsule.samples import SHOP


@dataclass
class FakeDatasets:
    current: dict[str, Dataset] = field(default_factory=lambda: {"shop": SHOP})
    old: list[Dataset] = field(default_factory=list)

    async def ready(self, dataset_id: str) -> Dataset:
        if dataset_id not in self.current:
            raise NotFound(f"no dataset {dataset_id!r}", suggestion="did you mean `shop`?")
        return self.current[dataset_id]

    async def version(self, dataset_id: str, version: str, catalog_version: str | None = None) -> Dataset:
        for dataset in (*self.current.values(), *self.old):
            if dataset.version == version:
                return dataset
        raise NotFound(f"version {version} of {dataset_id} is gone")

    async def open(self, dataset_id: str, version: str, catalog_version: str | None = None) -> OpenData:
        return OpenData(await self.version(dataset_id, version), Whole(version))

    async def unchanged(self, data: OpenData) -> bool:
        return True


@dataclass(frozen=True)
class FakeCompiled:
    sql: str
    warnings: tuple[str, ...] = ()
    columns: tuple[()] = ()


def compile_plan(plan: dict[str, Any], dataset: Dataset, rows: int) -> FakeCompiled:
    if dataset.table(plan.get("table", "")) is None:
        raise InvalidInput(f"no table `{plan.get('table')}`", suggestion="did you mean `orders`?")
    return FakeCompiled(f"SELECT {plan.get('select', 1)} FROM orders LIMIT {rows}", ("a limit was added",))


async def judge(text: str, dataset: Dataset) -> Verdict:
    if "read_csv" in text:
        return Refused(
            code=ErrorCode.SQL_POLICY_VIOLATION,
            construct="read_csv",
            message="`read_csv` reads files",
            suggestion="Query the dataset's tables.",
            position=text.index("read_csv"),
            length=8,
        )
    return Approved(
        canonical_sql(text),
        tables=("orders",),
        warnings=("judged",),
        serial=("first",) if "first(" in text else (),
        volatile=("random",) if "random()" in text else (),
    )


async def judge_python(text: str, dataset: Dataset, names: Collection[str]) -> Verdict:
    if "import os" in text:
        return Refused(
            code=ErrorCode.PYTHON_POLICY_VIOLATION,
            construct="import os",
            message="`os` cannot be imported",
            suggestion="Leave it out.",
            position=text.index("import os"),
            length=9,
        )
    return Approved(text, tables=("orders",), volatile=("datetime.now",) if "datetime.now" in text else ())


def canonical_sql(text: str) -> str:
    """What the gate makes of a text, and so what the sandbox is given."""
    return " ".join(text.split()) + ";"


def code(text: str = "orders", **more: Any) -> RunRequest:
    return read_request({"dataset_id": "shop", "python": text, **more})


def ask(sql: str = "SELECT 1", **more: Any) -> RunRequest:
    return read_request({"dataset_id": "shop", "sql": sql, **more})


_OF_A_ROUTE = tuple(each.name for each in fields(Route))


@dataclass
class World:
    home: Path
    executor: FakeExecutor = field(default_factory=FakeExecutor)
    datasets: FakeDatasets = field(default_factory=FakeDatasets)
    changes: dict[str, Any] = field(default_factory=dict)
    database_url: str | None = None
    sessions: Sessions = field(init=False)

    def __post_init__(self) -> None:
        self.sessions = Sessions(self.executor, grace_s=0.3)

    def parts(self, **changes: Any) -> RunParts:
        made: dict[str, Any] = {
            "datasets": self.datasets,
            "judge_python": judge_python,
            "python_engine": lambda: "python 3.11.2, pandas 3.1.0",
            "sessions": self.sessions,
            "isolation": ("none: a fake",),
            "limits": Limits.model_validate({"rows": 200, "wall_ms": 2000}),
            "grace_s": 0.3,
            **self.changes,
            **changes,
        }
        given = {name: made.pop(name) for name in _OF_A_ROUTE if name in made}
        stored = Route(
            **{
                "engine": "duckdb 2.0.0", "compile": compile_plan, "judge": judge, "executor": self.executor, **given,
            }
        )  # fmt: skip
        return RunParts(stored=stored, **made)

    def store(self) -> SqliteStore:
        return SqliteStore(self.home / "sandtable.db")

    def runs(self, store: RunStore | None = None, parts: RunParts | None = None, **options: Any) -> Runs:
        key = open_signing_key(self.home)
        if store is None and self.database_url is not None:
            postgres = Postgres(self.database_url)
            store, options = PostgresStore(postgres), {"instance": PostgresLiveness(postgres), **options}
        return Runs(store or self.store(), parts or self.parts(), key, self.home, **options)

    @asynccontextmanager
    async def opened(
        self, store: RunStore | None = None, parts: RunParts | None = None, **options: Any
    ) -> AsyncIterator[Runs]:
        runs = self.runs(store, parts, **options)
        await runs.start()
        try:
            yield runs
        finally:
            await runs.aclose()

    def ledger(self) -> tuple[dict[str, str], dict[str, int]]:
        """Status and number of capsules by run."""
        if self.database_url is not None:
            with psycopg.connect(self.database_url) as database:
                statuses = database.execute("SELECT id, status FROM sandtable_runs").fetchall()
                capsules = database.execute(
                    "SELECT run_id, count(*) FROM sandtable_capsules GROUP BY run_id"
                ).fetchall()
            return dict(statuses), dict(capsules)
        connection = sqlite3.connect(self.home / "sandtable.db")
        statuses = connection.execute("SELECT id, status FROM runs").fetchall()
        capsules = connection.execute("SELECT run_id, count(*) FROM capsules GROUP BY run_id").fetchall()
        connection.close()
        return dict(statuses), dict(capsules)

    def assert_all_ended_once(self, accepted: set[str]) -> None:
        statuses, capsules = self.ledger()
        assert accepted <= set(statuses)
        assert set(statuses.values()) <= TERMINAL
        assert capsules == dict.fromkeys(statuses, 1)


async def abandon(runs: Runs) -> None:
    """As a SIGKILL would: the tasks stop where they are and what held the lock is gone."""
    tasks = runs._dispatcher.tasks + runs._loops
    await stopped(*tasks)
    if isinstance(runs._store, PostgresStore):
        await runs._store._db._disconnect()
        return
    assert isinstance(runs._instance, HomeLiveness) and isinstance(runs._store, SqliteStore)
    lock = runs._instance.lock
    descriptor, lock._descriptor = lock._descriptor, None
    assert descriptor is not None
    os.close(descriptor)
    await SqliteStore.aclose(runs._store)
