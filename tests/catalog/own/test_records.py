"""Records of added datasets: a file taken out, questions to begin with, and their size on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandtable.catalog.own.datasets import OwnDatasets
from sandtable.catalog.stored.store import DataStore
from tests.catalog.fakes import FakeConvert
from tests.catalog.own.test_datasets import SALES, again, written


@pytest.fixture
def store(tmp_path: Path) -> DataStore:
    return DataStore(tmp_path / "home" / "data")


@pytest.fixture
def own(store: DataStore) -> OwnDatasets:
    return again(store, FakeConvert(store, types={"day": "DATE", "amount": "BIGINT"})).own


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    return written(tmp_path / "sales.csv", SALES)


async def test_a_file_is_taken_out_and_the_dataset_goes_with_the_last(
    own: OwnDatasets, tmp_path: Path
) -> None:
    files = [written(tmp_path / "a.csv", SALES), written(tmp_path / "b.csv", "x\n1\n")]
    await own.add(files, dataset_id="both")
    await own.remove_file("both", "a")
    record = own.get("both")
    assert [table.name for table in record.dataset.tables] == ["b"]
    assert record.current.changes.tables_removed == ("a",)
    await own.remove_file("both", "b")
    assert own.find("both") is None


async def test_questions_to_begin_with_are_kept_for_their_version(own: OwnDatasets, sales: Path) -> None:
    record = (await own.add([sales])).record
    own.records.keep_prompts("sales", record.dataset.version, ["How many sales?"])
    assert own.get("sales").dataset.prompts == ("How many sales?",)
    assert own.get("sales").dataset.version == record.dataset.version
    own.records.keep_prompts("sales", "sha256:" + "0" * 64, ["Something else?"])
    own.records.keep_prompts("nothing", record.dataset.version, ["Something else?"])
    assert own.get("sales").dataset.prompts == ("How many sales?",)


async def test_the_size_is_that_of_sources_and_versions(
    own: OwnDatasets, store: DataStore, sales: Path
) -> None:
    assert own.records.bytes() == 0
    record = (await own.add([sales])).record
    folder = store.path(record.dataset.version)
    assert own.records.bytes() == len(SALES) + sum(path.stat().st_size for path in folder.iterdir())
    await own.remove("sales")
    assert own.records.bytes() == 0
