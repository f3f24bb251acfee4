"""Which versions stay in use: those of runs that have not ended, and those that an import may be reading."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sandtable.assemble.version_retention import version_retention_of
from sandtable.capsule.query import SqlQuery
from sandtable.catalog.own.datasets import OwnDatasets
from sandtable.catalog.own.records import OwnVersion
from sandtable.catalog.registry import Catalog
from sandtable.catalog.stored.store import DataStore
from sandtable.imports.model import Import, ImportOrder, ImportRecord
from sandtable.imports.records import ImportRecords
from sandtable.runs.model import Run, RunRequest, body_of
from sandtable.sandbox.job import Limits
from sandtable.settings import Settings
from sandtable.store.run_store import Ending, RunRecord
from sandtable.store.sqlite.run_store import SqliteStore
from tests.catalog.fakes import FakeConvert

AT = "2024-05-01T10:00:00.000Z"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", keep_versions=1)


@pytest.fixture
async def own(settings: Settings, tmp_path: Path) -> OwnDatasets:
    """Three versions, of which the first two were replaced an hour ago."""
    store = DataStore(settings.home / "data")
    made = OwnDatasets(Catalog(()), store, FakeConvert(store))
    for number in range(3):
        (tmp_path / "sales.csv").write_text(f"amount\n{number}\n", "utf-8")
        await made.add([tmp_path / "sales.csv"])
    record = made.get("sales")
    earlier = datetime.fromtimestamp(time.time() - 3600, UTC).isoformat(timespec="seconds")
    older = tuple(version.model_copy(update={"at": earlier}) for version in record.versions)
    made.records.write(record.model_copy(update={"versions": older}), record)
    return made


@pytest.fixture
async def runs(settings: Settings, own: OwnDatasets) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(settings.home / "sandtable.db")
    await store.open()
    yield store
    await store.aclose()


def _run(run_id: str, version: OwnVersion) -> RunRecord:
    run = Run(
        id=run_id,
        status="pending",
        request=RunRequest(dataset_id="sales", query=SqlQuery("SELECT 1")),
        dataset_version=version.dataset.version,
        limits=Limits(),
        created_at=AT,
    )
    return RunRecord(run_id, "me", "ann", "sales", AT, body_of(run))


async def test_a_version_stays_until_its_runs_have_ended(
    settings: Settings, own: OwnDatasets, runs: SqliteStore
) -> None:
    first, second, last = own.get("sales").versions
    await runs.accept(_run("run_1", first), 10)
    await runs.accept(_run("run_2", second), 10)
    await runs.claim("me", AT)
    retention = version_retention_of(settings, own, runs)
    assert await retention.apply() == []
    await runs.finish(Ending("run_1", "me", "running", "succeeded", AT, {}, {"payload": "x"}))
    assert [each.version for each in await retention.apply()] == [first]
    assert own.get("sales").versions == (second, last)


async def test_a_version_that_was_replaced_since_an_import_began_stays(
    settings: Settings, own: OwnDatasets, runs: SqliteStore
) -> None:
    records = ImportRecords(settings.home / "data")
    shown = Import(id=f"imp_{'0' * 32}", created_at=AT)
    reading = ImportRecord(shown=shown, order=ImportOrder(user="ann"), changed_at=time.time() - 7200)
    records.write(reading)
    retention = version_retention_of(settings, own, runs)
    assert await retention.apply() == []
    records.write(reading.model_copy(update={"changed_at": time.time() - 60}))
    assert len(await retention.apply()) == 2


@pytest.mark.parametrize(("serving", "stays"), [(True, 2), (False, 0)])
async def test_a_server_spares_what_was_just_replaced(
    settings: Settings, own: OwnDatasets, runs: SqliteStore, serving: bool, stays: int
) -> None:
    record = own.get("sales")
    now = datetime.now(UTC).isoformat(timespec="seconds")
    made = tuple(version.model_copy(update={"at": now}) for version in record.versions)
    own.records.write(record.model_copy(update={"versions": made}), record)
    await version_retention_of(settings, own, runs, serving=serving).apply()
    assert len(own.get("sales").versions) == 1 + stays
