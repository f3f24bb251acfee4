"""Retention of versions: by age, number and size; what is current or in use stays, and a removal leaves a note."""

from __future__ import annotations

import asyncio
import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from sandtable.catalog.convert import ConvertRequest
from sandtable.catalog.own.datasets import OwnDatasets
from sandtable.catalog.own.pruning import InUse, PruneRules, VersionRetention, versions_to_go
from sandtable.catalog.own.records import OwnVersion
from sandtable.catalog.registry import Catalog
from sandtable.catalog.stored.store import DataStore
from sandtable.errors import NotFound
from sandtable.settings import Settings
from tests.catalog.fakes import FakeConvert
from tests.catalog.own.test_datasets import SALES, sources, written
from tests.own_logs import logged


@pytest.fixture
def store(tmp_path: Path) -> DataStore:
    return DataStore(tmp_path / "home" / "data")


@pytest.fixture
def convert(store: DataStore) -> FakeConvert:
    return FakeConvert(store, types={"day": "DATE", "amount": "BIGINT"})


@pytest.fixture
def own(store: DataStore, convert: FakeConvert) -> OwnDatasets:
    return OwnDatasets(Catalog(()), store, convert)


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    return tmp_path / "sales.csv"


async def _history(own: OwnDatasets, sales: Path, count: int) -> tuple[OwnVersion, ...]:
    for number in range(count):
        written(sales, SALES + f"2025-02-01,{number}\n")
        await own.add([sales])
    return own.get("sales").versions


async def test_earlier_versions_go(own: OwnDatasets, store: DataStore, sales: Path) -> None:
    versions = await _history(own, sales, 4)
    goes = versions_to_go(own.list(), PruneRules(keep_versions=2), datetime.now(UTC), lambda _: 10)
    assert [each.version for each in goes] == list(versions[:2])
    assert await own.drop_versions("sales", [each.version for each in goes], "count") == list(versions[:2])
    assert own.get("sales").versions == versions[2:] and len(sources(store)) == 2
    assert [store.has(v.dataset.version) for v in versions] == [False, False, True, True]
    await own.drop_versions("sales", versions, "count")
    assert own.get("sales").versions == versions[3:]


async def test_rules_of_pruning(own: OwnDatasets, sales: Path) -> None:
    await _history(own, sales, 3)
    records, now = own.list(), datetime.now(UTC)
    assert versions_to_go(records, PruneRules(), now, lambda _: 10) == []
    assert versions_to_go(records, PruneRules(older_than_days=1), now, lambda _: 10) == []
    later = now + timedelta(days=2)
    assert len(versions_to_go(records, PruneRules(older_than_days=1), later, lambda _: 10)) == 2
    assert len(versions_to_go(records, PruneRules(max_bytes=20), now, lambda _: 10)) == 1
    assert len(versions_to_go(records, PruneRules(max_bytes=0), now, lambda _: 10)) == 2
    every = PruneRules(keep_versions=2, older_than_days=1, max_bytes=0)
    assert [each.rule for each in versions_to_go(records, every, now, lambda _: 10)] == ["count", "size"]
    assert {each.rule for each in versions_to_go(records, every, later, lambda _: 10)} == {"age"}


def test_the_rules_of_the_settings(tmp_path: Path) -> None:
    assert not PruneRules.of(Settings(home=tmp_path)).any
    settings = Settings(home=tmp_path, keep_versions=3, keep_versions_days=30, keep_versions_mb=2)
    assert PruneRules.of(settings) == PruneRules(3, 30, 2 << 20)


async def test_what_is_in_use_stays(own: OwnDatasets, sales: Path) -> None:
    versions = await _history(own, sales, 3)

    async def by_a_run() -> InUse:
        return InUse(frozenset({versions[0].dataset.version}))

    async def by_an_import() -> InUse:
        return InUse(since=datetime.now(UTC) - timedelta(seconds=30))

    rules = PruneRules(keep_versions=1)
    assert await VersionRetention(own, rules, by_an_import).apply() == []
    gone = await VersionRetention(own, rules, by_a_run).apply()
    assert [each.version for each in gone] == [versions[1]]
    assert own.get("sales").versions == (versions[0], versions[2])
    assert [each.version for each in await VersionRetention(own, rules).apply()] == [versions[0]]


async def test_a_removal_is_logged_and_said_of_the_version(
    own: OwnDatasets, store: DataStore, sales: Path
) -> None:
    first = (await _history(own, sales, 2))[0].dataset.version
    with logged() as lines:
        await VersionRetention(own, PruneRules(keep_versions=1)).apply()
    (line,) = [line for line in lines() if line["event"] == "version_removed"]
    assert (line["event"], line["dataset_id"], line["version"], line["rule"]) == (
        "version_removed", "sales", first, "count"
    )  # fmt: skip
    assert line["bytes"] > 0
    with pytest.raises(
        NotFound, match="no longer kept: the rule for the number of versions removed it on 20"
    ):
        store.load(first)
    written(sales, SALES + "2025-02-01,0\n")
    assert (await own.add([sales])).record.dataset.version == first
    store.remove(first)
    with pytest.raises(NotFound, match="not in the store"):
        store.load(first)


async def test_a_removed_dataset_is_said_of_its_versions(
    own: OwnDatasets, store: DataStore, sales: Path
) -> None:
    (version,) = await _history(own, sales, 1)
    await own.remove("sales")
    with pytest.raises(NotFound, match="no longer kept: the removal of its dataset removed it"):
        store.load(version.dataset.version)


async def test_a_source_that_was_kept_again_stays_for_a_while(
    own: OwnDatasets, store: DataStore, sales: Path
) -> None:
    first, _ = await _history(own, sales, 2)
    kept = store.root / "sources" / first.sources[0].sha256
    os.utime(kept, (time.time() + 5, time.time() + 5))
    await VersionRetention(own, PruneRules(keep_versions=1)).apply()
    assert kept.exists()
    os.utime(kept, (time.time() - 4000, time.time() - 4000))
    own.records.drop_sources()
    assert not kept.exists()


async def test_a_change_to_a_version_that_goes_is_made_to_the_next(
    own: OwnDatasets, convert: FakeConvert, sales: Path
) -> None:
    shops = sales.with_name("shops.csv")
    for number in range(2):
        written(sales, SALES + f"2025-02-01,{number}\n")
        await own.add([sales, written(shops, f"shop\n{number}\n")])
    both = own.get("sales")
    old, new = (both.model_copy(update={"versions": (version,)}) for version in both.versions)
    own.records.write(old, both)

    def meanwhile(_: ConvertRequest) -> None:
        convert.before = None
        own.records.write(new, old)
        own.records.drop_sources(old.versions, all_of_them=True)

    convert.before = meanwhile
    corrected = (await own.correct("sales", {"amount": "text"})).record
    assert corrected.versions[0] == new.current and len(corrected.versions) == 2
    assert [s.sha256 for s in corrected.current.sources] == [s.sha256 for s in new.current.sources]


async def test_a_server_removes_by_itself(own: OwnDatasets, sales: Path) -> None:
    versions = await _history(own, sales, 3)
    async with VersionRetention(own, PruneRules(keep_versions=2)).in_background(first_s=0.0):
        for _ in range(200):
            if len(own.get("sales").versions) == 2:
                break
            await asyncio.sleep(0.01)
    assert own.get("sales").versions == versions[1:]


async def test_a_dataset_that_was_removed_meanwhile_is_passed_over(own: OwnDatasets, sales: Path) -> None:
    await _history(own, sales, 2)
    retention = VersionRetention(own, PruneRules(keep_versions=1))
    goes = await retention.chosen()
    await own.remove("sales")
    assert len(goes) == 1 and await retention.remove(goes) == []
