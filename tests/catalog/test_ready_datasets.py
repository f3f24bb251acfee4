"""A version is looked at once, whoever asks and however often."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from sandtable.catalog.model import Dataset
from sandtable.catalog.profile import ColumnProfile, Profile, TableProfile
from sandtable.catalog.ready_datasets import ReadyDatasets
from sandtable.catalog.registry import Catalog
from sandtable.catalog.stored.attestations import Attestations
from sandtable.catalog.stored.integrity import OpenData
from sandtable.catalog.stored.store import DataStore
from sandtable.catalog.version import dataset_version
from sandtable.errors import RunnerBroken
from tests.capsule.samples import SHOP
from tests.catalog.fakes import FakeConvert


def _version(number: int) -> Dataset:
    tables = tuple(table.model_copy(update={"sha256": f"{number:064x}"}) for table in SHOP.tables)
    return SHOP.model_copy(update={"tables": tables, "version": dataset_version(tables)})


def _publish(store: DataStore, dataset: Dataset) -> None:
    work = store.open_workspace()
    for table in dataset.tables:
        (store.root / work.staging / table.name).write_text(f"the rows of {table.name}", "utf-8")
    store.publish(work, dataset, {table.name: table.name for table in dataset.tables})


class Looking:
    """Makes profiles when it is let, and counts them."""

    def __init__(self) -> None:
        self.looks: list[str] = []
        self.go = asyncio.Event()
        self.trouble: Exception | None = None

    async def __call__(self, data: OpenData) -> Profile:
        dataset = data.dataset
        self.looks.append(dataset.version)
        await self.go.wait()
        if self.trouble is not None:
            raise self.trouble
        columns = (ColumnProfile(name="x", nulls=0, distinct=0),)
        return Profile(version=dataset.version, tables=(TableProfile(name="t", rows=0, columns=columns),))


@pytest.fixture
def looking() -> Looking:
    return Looking()


@pytest.fixture
def store(tmp_path: Path) -> DataStore:
    made = DataStore(tmp_path / "data", Attestations(tmp_path / "attestations", b"k" * 32))
    for number in range(30):
        _publish(made, _version(number))
    return made


@pytest.fixture
def datasets(store: DataStore, looking: Looking) -> ReadyDatasets:
    return ReadyDatasets(Catalog({}, None), store, FakeConvert(store), looking)


async def test_all_who_ask_share_one_look(datasets: ReadyDatasets, looking: Looking) -> None:
    asking = [asyncio.create_task(datasets.profile(_version(1))) for _ in range(5)]
    await asyncio.sleep(0.01)
    looking.go.set()
    found = await asyncio.gather(*asking)
    assert len({id(profile) for profile in found}) == 1
    assert len(looking.looks) == 1


async def test_who_gives_up_does_not_take_it_from_the_others(
    datasets: ReadyDatasets, looking: Looking
) -> None:
    impatient = asyncio.create_task(datasets.profile(_version(1)))
    patient = asyncio.create_task(datasets.profile(_version(1)))
    await asyncio.sleep(0.01)
    impatient.cancel()
    await asyncio.sleep(0.01)
    looking.go.set()
    assert (await patient).version == _version(1).version
    assert len(looking.looks) == 1


async def test_another_process_finds_it_in_the_store(
    datasets: ReadyDatasets, looking: Looking, store: DataStore
) -> None:
    looking.go.set()
    made = await datasets.profile(_version(1))
    other = ReadyDatasets(Catalog({}, None), store, FakeConvert(store), looking)
    assert await other.profile(_version(1)) == made
    assert len(looking.looks) == 1


async def test_a_failed_look_is_tried_again(datasets: ReadyDatasets, looking: Looking) -> None:
    looking.go.set()
    looking.trouble = RunnerBroken("lost")
    with pytest.raises(RunnerBroken):
        await datasets.profile(_version(1))
    looking.trouble = None
    assert (await datasets.profile(_version(1))).version == _version(1).version


async def test_a_disk_that_is_full_costs_only_the_keeping(
    datasets: ReadyDatasets, looking: Looking, store: DataStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(profile: Profile) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store, "keep_profile", full)
    looking.go.set()
    assert (await datasets.profile(_version(1))).version == _version(1).version
    await datasets.profile(_version(1))
    assert len(looking.looks) == 1


async def test_few_versions_are_held_in_memory(datasets: ReadyDatasets, looking: Looking) -> None:
    looking.go.set()
    for number in range(30):
        await datasets.profile(_version(number))
    assert len(datasets._profiles) == 8
    assert len(looking.looks) == 30
    await datasets.profile(_version(0))
    assert len(looking.looks) == 30, "the store has it"


async def test_files_of_one_name_are_two_datasets(datasets: ReadyDatasets, tmp_path: Path) -> None:
    for folder, value in (("a", 1), ("b", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "table.csv").write_text(f"x\n{value}\n", "utf-8")
    one = await datasets.add_files([tmp_path / "a" / "table.csv"])
    other = await datasets.add_files([tmp_path / "b" / "table.csv"])
    again = await datasets.add_files([tmp_path / "a" / "table.csv"])
    assert (one.id, other.id, again.id) == ("table", "table_2", "table")
    assert datasets.get("table").version == one.version != datasets.get("table_2").version
