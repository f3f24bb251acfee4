"""Data that changed on disk: they are not opened, are built again, and are read through from time to time."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sandtable.catalog.model import Dataset
from sandtable.catalog.profile import Profile
from sandtable.catalog.ready_datasets import ReadyDatasets
from sandtable.catalog.registry import Catalog
from sandtable.catalog.semantics.applying import with_version
from sandtable.catalog.stored import source
from sandtable.catalog.stored.attestations import Attestations
from sandtable.catalog.stored.integrity import Damage, OpenData, Whole
from sandtable.catalog.stored.scrub import Scrub
from sandtable.catalog.stored.source import FileStamp
from sandtable.catalog.stored.store import DataStore
from sandtable.catalog.version import dataset_version
from sandtable.errors import DataDamaged, ErrorCode, InvalidInput
from sandtable.library.handover import Handover
from tests.catalog.damage import dataset as described
from tests.catalog.damage import flip, publish
from tests.catalog.fakes import FakeConvert
from tests.catalog.test_ready_datasets import Looking

KEY = b"k" * 32


@dataclass
class Place:
    """A home with a registry of one dataset, whose original lies beside it, and one data file."""

    home: Path
    store: DataStore
    convert: FakeConvert
    looking: Looking
    datasets: ReadyDatasets
    shop: Dataset
    sales: Path

    def file(self, dataset: Dataset) -> Path:
        return self.store.path(dataset.version) / f"{dataset.tables[0].name}.parquet"

    def silently(self, dataset: Dataset) -> None:
        """A byte changes, and the file system says that nothing did: the home's record is made to say so."""
        path, known = self.file(dataset), Attestations(self.home / "attestations", KEY)
        flip(path)
        record = known.read(dataset.version)
        assert record is not None
        settle()
        stamps = {**record.stamps, path.name: FileStamp.of(path.lstat())}
        known.write(record.model_copy(update={"stamps": stamps}))


def settle() -> None:
    time.sleep(0.03)


@pytest.fixture(autouse=True)
def _quick_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "_SETTLED_NS", 15_000_000)


@pytest.fixture
async def make(tmp_path: Path) -> AsyncIterator[Callable[..., Place]]:
    opened: list[ReadyDatasets] = []

    def made(*, rebuilds: bool = False) -> Place:
        registry = tmp_path / "registry"
        registry.mkdir(exist_ok=True)
        (registry / "t.csv").write_text("x\n1\n2\n", "utf-8")
        digest = source.digest_source(registry / "t.csv")
        tables = described(sha256=digest).tables
        shop = Dataset(id="shop", tables=tables, version=dataset_version(tables))
        store = DataStore(tmp_path / "data", Attestations(tmp_path / "attestations", KEY))
        convert, looking = FakeConvert(store), Looking()
        looking.go.set()
        datasets = ReadyDatasets(Catalog([shop], registry), store, convert, looking, rebuilds=rebuilds)
        opened.append(datasets)
        sales = tmp_path / "sales.csv"
        sales.write_text("y\n3\n", "utf-8")
        return Place(tmp_path, store, convert, looking, datasets, shop, sales)

    yield made
    for datasets in opened:
        await datasets.aclose()


async def opened(place: Place, dataset: Dataset | None = None) -> OpenData:
    dataset = dataset or place.shop
    return await place.datasets.open(dataset.id, dataset.version)


async def test_data_that_changed_are_not_opened(make: Callable[..., Place]) -> None:
    place = make()
    data = await opened(place)
    assert data.dataset == with_version(place.shop) and await place.datasets.unchanged(data)
    flip(place.file(place.shop))
    assert not await place.datasets.unchanged(data)
    with pytest.raises(DataDamaged) as caught:
        await opened(place)
    problem = caught.value.problem
    assert problem.code is ErrorCode.DATA_DAMAGED
    assert "`shop`" in problem.message and "t.parquet changed" in problem.message
    assert "`sandtable data scrub --repair`" in problem.suggestion
    assert str(place.home) not in problem.model_dump_json()
    assert len(place.convert.requests) == 1, "one person's process builds nothing by itself"


async def test_all_who_open_at_the_same_time_wait_for_one_reading(
    make: Callable[..., Place], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = make()
    await place.datasets.ready("shop")
    readings: list[str] = []
    check = place.store.check

    def counted(version: str, *given: object, **named: object) -> Whole | Damage:
        readings.append(version)
        time.sleep(0.05)
        return check(version)

    settle()
    monkeypatch.setattr(place.store, "check", counted)
    found = await asyncio.gather(*(opened(place) for _ in range(20)))
    assert len({data.whole.copy_id for data in found}) == len(readings) == 1
    await opened(place)
    assert len(readings) == 1, "a known state is only looked at"


async def test_a_server_builds_damaged_data_again_in_the_background(make: Callable[..., Place]) -> None:
    place = make(rebuilds=True)
    before = await opened(place)
    flip(place.file(place.shop))
    with pytest.raises(DataDamaged, match="cannot be used") as caught:
        await opened(place)
    assert "being built again" in caught.value.suggestion
    await until(lambda: len(place.convert.requests) == 2 and not place.datasets.rebuilding._tasks)
    after = await opened(place)
    assert place.file(place.shop).read_text("utf-8") == "converted t"
    assert after.whole.copy_id != before.whole.copy_id


async def test_an_original_that_is_another_by_now_builds_nothing(make: Callable[..., Place]) -> None:
    place = make(rebuilds=True)
    await opened(place)
    (place.home / "registry" / "t.csv").write_text("x\n1\n3\n", "utf-8")
    flip(place.file(place.shop))
    with pytest.raises(DataDamaged):
        await opened(place)
    await until(lambda: not place.datasets.rebuilding._tasks)
    with pytest.raises(DataDamaged, match="cannot be used") as caught:
        await opened(place)
    assert "scrub --repair" in caught.value.suggestion, "it is not tried again at once"
    with pytest.raises(InvalidInput, match="is not the file the registry describes"):
        await place.datasets.rebuilding.rebuild(place.shop.version)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.01)


async def test_data_of_a_file_are_built_again_from_it(make: Callable[..., Place]) -> None:
    place = make()
    dataset = await place.datasets.add_files([place.sales])
    flip(place.file(dataset))
    with pytest.raises(DataDamaged, match="`sales`"):
        await opened(place, dataset)
    await place.datasets.rebuilding.rebuild(dataset.version)
    assert (await opened(place, dataset)).dataset == dataset
    assert place.file(dataset).read_text("utf-8") == "converted sales"
    await place.datasets.rebuilding.rebuild(dataset.version)
    assert len(place.convert.requests) == 2, "what is whole is not built again"


@pytest.mark.parametrize(
    ("act", "said"),
    [
        pytest.param(lambda p: p.write_text("y\n4\n", "utf-8"), "no longer the file", id="changed"),
        pytest.param(lambda p: p.unlink(), "no such file", id="gone"),
    ],
)
async def test_data_of_a_file_that_is_not_there_any_more(
    make: Callable[..., Place], act: Callable[[Path], object], said: str
) -> None:
    place = make()
    dataset = await place.datasets.add_files([place.sales])
    flip(place.file(dataset))
    act(place.sales)
    with pytest.raises(InvalidInput, match=said):
        await place.datasets.rebuilding.rebuild(dataset.version)
    assert isinstance(place.store.check(dataset.version), Damage)


async def test_data_whose_original_was_never_known(make: Callable[..., Place]) -> None:
    place = make(rebuilds=True)
    other = described("u")
    publish(place.store, other)
    flip(place.store.path(other.version) / "u.parquet")
    with pytest.raises(DataDamaged) as caught:
        await place.datasets.open("u", other.version)
    assert "scrub --repair" in caught.value.suggestion
    with pytest.raises(InvalidInput, match="original is not kept"):
        await place.datasets.rebuilding.rebuild(other.version)


async def test_a_file_that_is_given_again_replaces_its_damaged_data(make: Callable[..., Place]) -> None:
    place = make()
    settle()
    with Handover.open(place.home / "lib") as handover:
        first = await handover.dataset(place.sales, place.datasets)
        assert await handover.dataset(place.sales, place.datasets) == first
        assert len(place.convert.requests) == 1
        flip(place.file(first))
        assert await handover.dataset(place.sales, place.datasets) == first
    assert len(place.convert.requests) == 2
    assert (await opened(place, first)).dataset == first


async def test_a_given_file_that_changed_with_its_time_set_back_is_read_again(
    make: Callable[..., Place],
) -> None:
    place = make()
    settle()
    with Handover.open(place.home / "lib") as handover:
        first = await handover.dataset(place.sales, place.datasets)
        before = place.sales.stat()
        place.sales.write_text("y\n4\n", "utf-8")
        os.utime(place.sales, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert (await handover.dataset(place.sales, place.datasets)).version != first.version


async def test_a_profile_is_made_of_whole_data_only(make: Callable[..., Place]) -> None:
    place = make()
    await opened(place)

    class Meanwhile(Looking):
        async def __call__(self, data: OpenData) -> Profile:
            settle()
            flip(place.file(place.shop))
            return await super().__call__(data)

    looking = Meanwhile()
    looking.go.set()
    other = ReadyDatasets(place.datasets.catalog, place.store, place.convert, looking)
    with pytest.raises(DataDamaged, match="changed while they were read"):
        await other.profile(place.shop)
    with pytest.raises(DataDamaged, match=r"t\.parquet changed"):
        await place.datasets.profile(place.shop)
    assert place.looking.looks == [] and place.store.profile(place.shop.version) is None


# The scrub


def scrub_of(place: Place, **given: Any) -> Scrub:
    return Scrub(place.store, place.datasets.on_damage, **{"every_s": 0.0, **given})


async def test_a_scrub_finds_what_no_stamp_tells_and_has_it_built_again(make: Callable[..., Place]) -> None:
    place = make(rebuilds=True)
    before = await opened(place)
    sales = await place.datasets.add_files([place.sales])
    settle()
    await opened(place)
    place.silently(place.shop)
    assert (await opened(place)).whole.copy_id == before.whole.copy_id, "stamps cannot tell"
    scrub = scrub_of(place)
    try:
        found = await scrub.scrub()
    finally:
        await scrub.aclose()
    assert isinstance(found[place.shop.version], Damage) and isinstance(found[sales.version], Whole)
    await until(lambda: not place.datasets.rebuilding._tasks)
    assert (await opened(place)).whole.copy_id != before.whole.copy_id


async def test_a_scrub_reads_what_is_due(make: Callable[..., Place]) -> None:
    place = make()
    await opened(place)
    rare, often = scrub_of(place, every_s=3600.0), scrub_of(place)
    try:
        assert await rare.scrub() == {}, "it was read a moment ago"
        assert list(await often.scrub()) == [place.shop.version]
    finally:
        await rare.aclose()
        await often.aclose()


async def test_one_scrub_at_a_time_reads_a_folder(make: Callable[..., Place]) -> None:
    place = make()
    await opened(place)
    slow, other = scrub_of(place, bytes_per_s=20), scrub_of(place)
    try:
        reading = asyncio.create_task(slow.scrub())
        await until((place.store.root / ".scrub.lock").exists)
        await asyncio.sleep(0.05)
        assert await other.scrub() == {}
        assert not reading.done(), "it reads as slowly as it should"
        # It does not read to the end, half a minute later, when the server stops.
        async with asyncio.timeout(10):
            await slow.aclose()
        assert list(await other.scrub()) == [place.shop.version]
    finally:
        await other.aclose()
    assert (await asyncio.gather(reading, return_exceptions=True))[0].__class__.__name__ == "Stopped"


async def test_a_scrub_goes_on_by_itself_and_removes_leftovers(
    make: Callable[..., Place], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = make()
    await opened(place)
    old = place.store.root / "incoming" / "broken-1"
    old.mkdir()
    clean = place.store.clean
    monkeypatch.setattr(place.store, "clean", lambda: clean(now=time.time() + 3700))
    scrub = scrub_of(place, look_s=0.01)
    scrub.begin()
    try:
        await until(lambda: not old.exists())
    finally:
        await scrub.aclose()
