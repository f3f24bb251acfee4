from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sys
from pathlib import Path

import pytest

from sandtable.catalog.convert import ConvertRequest
from sandtable.catalog.model import ColumnType, Dataset
from sandtable.catalog.reading.ingest import ingest_declared, ingest_files
from sandtable.catalog.registry import load_catalog, registry_folder
from sandtable.catalog.stored.integrity import Whole
from sandtable.catalog.stored.store import DataStore
from sandtable.catalog.version import dataset_version
from sandtable.engines.duckdb.types import column_type
from sandtable.errors import InvalidInput, NotFound, RunnerBroken
from tests.catalog.fakes import FakeConvert

SALES = b"day,region,amount\n2025-01-01,north,1.50\n2025-01-02,south,2.50\n"
TYPES = {"day": "DATE", "amount": "DECIMAL(10,2)"}


@pytest.fixture
def convert(store: DataStore) -> FakeConvert:
    return FakeConvert(store, types=TYPES, latest={"day": "2025-01-02"})


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    path = tmp_path / "sales.csv"
    path.write_bytes(SALES)
    return path


def write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def empty(store: DataStore) -> bool:
    return not any(list((store.root / name).iterdir()) for name in ("incoming", "staging"))


# On the fly


async def test_a_file_becomes_a_dataset(store: DataStore, convert: FakeConvert, sales: Path) -> None:
    dataset = await ingest_files([sales], store, convert)
    (table,) = dataset.tables
    assert (dataset.id, table.name, table.file, table.rows) == ("sales", "sales", "sales.csv", 2)
    assert table.sha256 == hashlib.sha256(SALES).hexdigest()
    assert [c.type for c in table.columns] == [ColumnType.DATE, ColumnType.TEXT, ColumnType.DECIMAL]
    assert table.time_column == "day" and dataset.as_of == "2025-01-02"
    assert dataset.version == dataset_version(dataset.tables)
    assert store.load(dataset.version) == dataset
    assert (store.path(dataset.version) / "sales.parquet").read_text("utf-8") == "converted sales"
    (request,) = convert.requests
    assert (request.table, request.format, request.columns) == ("sales", "csv", None)
    assert request.source.startswith("incoming/") and request.staging.startswith("staging/")
    assert empty(store)


async def test_the_same_bytes_are_converted_once(store: DataStore, convert: FakeConvert, sales: Path) -> None:
    first = await ingest_files([sales], store, convert)
    store = DataStore(store.root)
    again = await ingest_files([sales], store, convert)
    assert again == first and len(convert.requests) == 1


async def test_other_bytes_give_another_version(store: DataStore, convert: FakeConvert, sales: Path) -> None:
    first = await ingest_files([sales], store, convert)
    write(sales, SALES.replace(b"north", b"NORTH"))
    second = await ingest_files([sales], store, convert)
    assert second.version != first.version and len(convert.requests) == 2
    assert store.has(first.version)


async def test_order_of_files_names_the_dataset_but_not_the_version(
    store: DataStore, convert: FakeConvert, sales: Path, tmp_path: Path
) -> None:
    other = tmp_path / "Shops 1.tsv"
    other.write_bytes(b"shop\nA\n")
    first = await ingest_files([sales, other], store, convert)
    again = await ingest_files([other, sales], store, convert)
    assert (first.id, again.id) == ("sales", "Shops_1")
    assert [t.name for t in again.tables] == ["Shops_1", "sales"]
    assert again.version == first.version and again.as_of == first.as_of and len(convert.requests) == 2


async def test_known_data_under_another_file_name_keeps_todays_name(
    store: DataStore, convert: FakeConvert, tmp_path: Path
) -> None:
    for name in ("my-sales.csv", "my sales.csv"):
        (tmp_path / name).write_bytes(SALES)
    await ingest_files([tmp_path / "my-sales.csv"], store, convert)
    again = await ingest_files([tmp_path / "my sales.csv"], store, convert)
    assert again.tables[0].file == "my sales.csv" and len(convert.requests) == 1


async def test_same_bytes_in_another_format_are_another_source(
    store: DataStore, convert: FakeConvert, sales: Path, tmp_path: Path
) -> None:
    await ingest_files([sales], store, convert)
    (tmp_path / "sales.parquet").write_bytes(SALES)
    await ingest_files([tmp_path / "sales.parquet"], store, convert)
    assert [r.format for r in convert.requests] == ["csv", "parquet"]


async def test_an_index_entry_that_leads_to_other_data_is_not_followed(
    store: DataStore, convert: FakeConvert, sales: Path, tmp_path: Path
) -> None:
    (tmp_path / "costs.csv").write_text("x,y\n7,8\n", "utf-8")
    other = await ingest_files([tmp_path / "costs.csv"], store, convert)
    mine = await ingest_files([sales], store, convert)
    for entry in (store.root / "by-source").iterdir():
        entry.write_text(f'{{"version": "{other.version}"}}', "utf-8")
    again = await ingest_files([sales], store, convert)
    assert again == mine and again.version != other.version


async def test_files_whose_converted_data_were_damaged_are_converted_again(
    store: DataStore, convert: FakeConvert, sales: Path
) -> None:
    dataset = await ingest_files([sales], store, convert)
    (store.path(dataset.version) / "sales.parquet").write_text("converted SALES", "utf-8")
    again = await ingest_files([sales], store, convert)
    assert again == dataset and len(convert.requests) == 2
    assert (store.path(dataset.version) / "sales.parquet").read_text("utf-8") == "converted sales"
    assert isinstance(store.check(dataset.version), Whole)


async def test_lost_version_is_converted_again(store: DataStore, convert: FakeConvert, sales: Path) -> None:
    dataset = await ingest_files([sales], store, convert)
    (store.path(dataset.version) / "sales.parquet").unlink()
    assert await ingest_files([sales], store, convert) == dataset
    assert len(convert.requests) == 2 and store.has(dataset.version)


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        pytest.param("absent.csv", "no such file: .*absent.csv", id="missing"),
        pytest.param("empty.csv", "empty.csv is empty", id="empty"),
        pytest.param("folder", "folder is a folder", id="folder"),
        pytest.param("folder.csv", "folder.csv is a folder", id="folder like a file"),
        pytest.param("data.docx", "not supported", id="extension"),
        pytest.param("x" * 300 + ".csv", "cannot read", id="name too long"),
        pytest.param("nul\0.csv", "cannot read", id="NUL in the name"),
    ],
)
async def test_unusable_file_is_refused(
    store: DataStore, convert: FakeConvert, tmp_path: Path, name: str, complaint: str
) -> None:
    (tmp_path / "empty.csv").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InvalidInput, match=complaint):
        await ingest_files([tmp_path / name], store, convert)
    assert not convert.requests and empty(store)


async def test_failed_conversion_names_table_and_file(
    store: DataStore, convert: FakeConvert, sales: Path
) -> None:
    def fail(request: ConvertRequest) -> None:
        raise InvalidInput("line 3 has 2 fields, expected 3", suggestion="Mend line 3.", line=3)

    convert.before = fail
    with pytest.raises(InvalidInput, match=r"^sales\.csv: line 3 has 2 fields") as caught:
        await ingest_files([sales], store, convert)
    assert caught.value.suggestion == "Mend line 3."
    assert caught.value.details == {"line": 3, "table": "sales", "file": "sales.csv"}
    assert empty(store) and not list((store.root / "versions").iterdir())


async def test_columns_that_differ_in_case_only_are_refused(
    store: DataStore, convert: FakeConvert, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_bytes(b"x,X\n1,2\n")
    with pytest.raises(InvalidInput, match=r"cannot be used as a table: .*duplicate column in a: 'X'"):
        await ingest_files([tmp_path / "a.csv"], store, convert)
    assert empty(store)


async def test_column_without_a_name_is_refused(
    store: DataStore, convert: FakeConvert, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_bytes(b"x,,z\n1,2,3\n")
    with pytest.raises(InvalidInput, match=r"a\.csv cannot be used as a table: name"):
        await ingest_files([tmp_path / "a.csv"], store, convert)


async def test_cancelled_ingestion_leaves_nothing(store: DataStore, sales: Path) -> None:
    started = asyncio.Event()

    class Forever(FakeConvert):
        async def __call__(self, request: ConvertRequest, /):
            started.set()
            await asyncio.Event().wait()
            raise AssertionError("unreachable")

    task = asyncio.create_task(ingest_files([sales], store, Forever(store)))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert empty(store)


async def test_file_name_that_is_not_utf8_can_be_used(
    store: DataStore, convert: FakeConvert, tmp_path: Path
) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path / "caf") + b"\xe9.csv"))
    write(path, SALES)
    dataset = await ingest_files([path], store, convert)
    assert (dataset.id, dataset.tables[0].name, dataset.tables[0].file) == ("caf", "caf", "caf\ufffd.csv")
    assert store.load(dataset.version) == dataset


# Declared


def declared(folder: Path, **changes: object) -> Dataset:
    """A registry folder with one dataset, and that dataset."""
    columns = [
        {"name": "day", "type": "date", "sql_type": "DATE"},
        {"name": "region", "type": "text", "sql_type": "VARCHAR"},
        {"name": "amount", "type": "decimal", "sql_type": "DECIMAL(10,2)"},
    ]
    table = {"name": "sales", "file": "sales.csv", "sha256": hashlib.sha256(SALES).hexdigest(), "rows": 2}
    entry = {
        "id": "shop",
        "tables": [{**table, "columns": columns, **changes}],
        "version": "sha256:" + "0" * 64,
    }
    entry["version"] = dataset_version(Dataset.model_validate(entry).tables)
    folder.mkdir(exist_ok=True)
    (folder / "registry.json").write_text(json.dumps({"format": 1, "datasets": [entry]}), "utf-8")
    return load_catalog(folder, column_type).get("shop")


@pytest.mark.parametrize("place", ["reg/sales.csv", "reg/shop/sales.csv"])
async def test_declared_dataset_is_ingested_once(
    store: DataStore, convert: FakeConvert, tmp_path: Path, place: str
) -> None:
    dataset = declared(tmp_path / "reg")
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_bytes(SALES)
    for _ in range(2):
        assert await ingest_declared(dataset, tmp_path / "reg", store, convert) == dataset
    (request,) = convert.requests
    assert request.columns == (("day", "DATE"), ("region", "VARCHAR"), ("amount", "DECIMAL(10,2)"))
    assert store.load(dataset.version) == dataset and empty(store)


async def test_source_that_is_not_the_declared_one_is_refused(
    store: DataStore, convert: FakeConvert, tmp_path: Path
) -> None:
    dataset = declared(tmp_path / "reg")
    (tmp_path / "reg/sales.csv").write_bytes(SALES + b"2025-01-03,west,9.99\n")
    with pytest.raises(
        InvalidInput, match=r"sales\.csv of dataset shop is not the file the registry describes"
    ):
        await ingest_declared(dataset, tmp_path / "reg", store, convert)
    assert not convert.requests and empty(store)


async def test_wrong_row_count_is_refused(store: DataStore, convert: FakeConvert, tmp_path: Path) -> None:
    dataset = declared(tmp_path / "reg", rows=3)
    (tmp_path / "reg/sales.csv").write_bytes(SALES)
    with pytest.raises(InvalidInput, match=r"sales\.csv has 2 rows; the registry says 3"):
        await ingest_declared(dataset, tmp_path / "reg", store, convert)
    with pytest.raises(NotFound):
        store.load(dataset.version)


async def test_converter_that_ignores_the_declared_types_is_broken(
    store: DataStore, convert: FakeConvert, tmp_path: Path
) -> None:
    dataset = declared(tmp_path / "reg")
    (tmp_path / "reg/sales.csv").write_bytes(SALES)

    class Careless(FakeConvert):
        async def __call__(self, request: ConvertRequest, /):
            return await convert(ConvertRequest(request.table, request.source, "csv", None, request.staging))

    convert.types = {}
    with pytest.raises(RunnerBroken, match="gave other columns than declared"):
        await ingest_declared(dataset, tmp_path / "reg", store, Careless(store))


async def test_missing_source_without_a_generator_is_refused(
    store: DataStore, convert: FakeConvert, tmp_path: Path
) -> None:
    dataset = declared(tmp_path / "reg")
    with pytest.raises(InvalidInput, match=r"dataset shop: sales\.csv not found in"):
        await ingest_declared(dataset, tmp_path / "reg", store, convert)
    assert empty(store)


async def test_failing_generator_says_why(store: DataStore, convert: FakeConvert, tmp_path: Path) -> None:
    dataset = declared(tmp_path / "reg")
    (tmp_path / "reg/generate").mkdir()
    (tmp_path / "reg/generate/__main__.py").write_text("raise SystemExit('out of sand')", "utf-8")
    with pytest.raises(RunnerBroken, match="generating dataset shop failed: out of sand"):
        await ingest_declared(dataset, tmp_path / "reg", store, convert)
    assert empty(store)


async def test_python_that_cannot_start_is_told(
    store: DataStore, convert: FakeConvert, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(RunnerBroken, match="generating dataset sensors failed: cannot start /nowhere/python"):
        await ingest_declared(
            load_catalog(registry_folder(), column_type).get("sensors"), registry_folder(), store, convert
        )
    assert empty(store)


async def test_built_in_datasets_are_generated_and_ingested(store: DataStore, convert: FakeConvert) -> None:
    catalog = load_catalog(registry_folder(), column_type)
    dataset = catalog.get("ecommerce")
    assert await ingest_declared(dataset, registry_folder(), store, convert) == dataset
    assert [r.table for r in convert.requests] == ["orders", "order_items", "inventory"]
    assert sorted(p.name for p in store.path(dataset.version).glob("*.parquet")) == [
        "inventory.parquet",
        "order_items.parquet",
        "orders.parquet",
    ]
    assert empty(store)


# Trouble with the disk and with endless lines


async def test_an_endless_line_is_given_up_early(
    store: DataStore, convert: FakeConvert, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandtable.catalog.stored.source.LONGEST_LINE", 3 << 20)
    path = tmp_path / "long.csv"
    path.write_bytes(b"a,b\n1,2\n" + b"x" * (9 << 20))
    seen: list[int] = []
    with pytest.raises(InvalidInput, match=r"line 3 of long\.csv is longer than 3 MB"):
        await ingest_files([path], store, convert, lambda done, _: seen.append(done))
    assert max(seen) < 5 << 20, "it was read to the end"
    assert not convert.requests


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"], ids=["lf", "cr", "crlf"])
async def test_many_lines_are_no_endless_line(
    store: DataStore, convert: FakeConvert, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: bytes
) -> None:
    monkeypatch.setattr("sandtable.catalog.stored.source.LONGEST_LINE", 1 << 20)
    path = tmp_path / "sales.csv"
    path.write_bytes(SALES + (b"2025-01-03,west,1" + end) * 200_000)
    await ingest_files([path], store, convert)


@pytest.mark.parametrize("blocked", ["", "incoming", "versions"], ids=["data", "incoming", "versions"])
def test_a_store_that_cannot_be_made_is_told(tmp_path: Path, blocked: str) -> None:
    root = tmp_path / "data"
    if blocked:
        root.mkdir()
    (root / blocked).write_text("a file")
    with pytest.raises(RunnerBroken, match=r"cannot be used: (Not a directory|File exists)") as caught:
        DataStore(root)
    assert "SANDTABLE_HOME" in caught.value.suggestion


@pytest.mark.parametrize("step", ["open_workspace", "publish", "remember"])
async def test_a_disk_that_fails_is_told(
    store: DataStore, convert: FakeConvert, sales: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store, step, full)
    with pytest.raises(RunnerBroken, match="No space left on device"):
        await ingest_files([sales], store, convert)
    assert empty(store)


async def test_what_cannot_be_read_comes_with_advice(
    store: DataStore, convert: FakeConvert, tmp_path: Path
) -> None:
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    with pytest.raises(InvalidInput, match="cannot read") as caught:
        await ingest_files([tmp_path / "loop.csv"], store, convert)
    assert "may read" in caught.value.suggestion
