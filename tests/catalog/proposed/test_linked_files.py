"""What of the links between files is stored, kept and made again. The rule itself is in `test_links`."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandtable.catalog.convert import CompareRequest, Comparison, Counts
from sandtable.catalog.model import Dataset, Relationship
from sandtable.catalog.reading import ingest
from sandtable.catalog.reading.ingest import ingest_declared, ingest_files
from sandtable.catalog.stored.integrity import Whole
from sandtable.catalog.stored.store import DataStore
from sandtable.catalog.version import dataset_version
from tests.catalog.fakes import FakeConvert

LINK = Relationship(
    many_table="orders", many_column="customer_id", one_table="customers", one_column="customer_id"
)


@pytest.fixture
def convert(store: DataStore) -> FakeConvert:
    return FakeConvert(store, compared=all_match)


def all_match(request: CompareRequest) -> Comparison:
    return Comparison((Counts(2, 2, 2, 1),) * len(request.ones), ((2, 0),) * len(request.pairs))


@pytest.fixture
def shop(tmp_path: Path) -> list[Path]:
    (tmp_path / "orders.csv").write_bytes(b"order_id,customer_id\n1,a\n2,b\n")
    (tmp_path / "customers.csv").write_bytes(b"customer_id,city\na,Bonn\nb,Cork\n")
    return [tmp_path / "orders.csv", tmp_path / "customers.csv"]


async def test_links_are_stored_with_the_version_and_said(
    store: DataStore, convert: FakeConvert, shop: list[Path]
) -> None:
    made = await ingest_files(shop, store, convert)
    assert made.relationships == (LINK,)
    assert made.version == dataset_version(made.tables)
    assert made.description == (
        "Made from orders.csv, customers.csv; orders.customer_id refers to customers.customer_id "
        "(unique there, no value is missing)"
    )
    assert store.load(made.version) == made
    again = await ingest_files(shop[::-1], store, convert)
    assert (again.relationships, again.version) == (made.relationships, made.version)
    assert "Made from customers.csv, orders.csv; orders.customer_id refers to" in again.description
    assert len(convert.comparisons) == 1 and len(convert.requests) == 2
    (request,) = convert.comparisons
    assert request.files == {"orders": "orders.out", "customers": "customers.out"}
    assert request.incoming.startswith("incoming/") and request.staging.startswith("staging/")
    assert not [*store.root.glob("incoming/*"), *store.root.glob("staging/*")]


async def test_nothing_is_compared_for_one_file_or_without_names_that_say_the_same(
    store: DataStore, convert: FakeConvert, tmp_path: Path, shop: list[Path]
) -> None:
    sales = tmp_path / "sales.csv"
    sales.write_bytes(b"day,amount\n2025-01-01,1.50\n")
    assert (await ingest_files([sales], store, convert)).relationships == ()
    assert (
        await ingest_files([sales, shop[0]], store, convert)
    ).description == "Made from sales.csv, orders.csv"
    assert convert.comparisons == []


async def test_a_rebuilt_version_has_its_links(
    store: DataStore, convert: FakeConvert, shop: list[Path]
) -> None:
    made = await ingest_files(shop, store, convert)
    (store.path(made.version) / "orders.parquet").unlink()
    assert await ingest_files(shop, store, convert) == made == store.load(made.version)


async def test_a_version_from_before_gets_its_links_when_its_files_are_used_again(
    store: DataStore, convert: FakeConvert, shop: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        before.setattr(ingest, "_LINKS_FORMAT", 0)
        before.setattr(ingest, "candidates", lambda *_: ())
        old = await ingest_files(shop, store, convert)
        assert old.relationships == store.load(old.version).relationships == ()
    made = await ingest_files(shop, store, convert)
    assert made.version == old.version and made.relationships == (LINK,)
    assert store.load(old.version) == made
    assert isinstance(store.check(old.version), Whole)
    assert await ingest_files(shop, store, convert) == made and len(convert.comparisons) == 1


async def test_what_a_registry_declared_of_the_same_data_stays(
    store: DataStore, convert: FakeConvert, shop: list[Path]
) -> None:
    elsewhere = DataStore(store.root / "other")
    tables = (await ingest_files(shop, elsewhere, FakeConvert(elsewhere))).tables
    backwards = Relationship(
        many_table="customers", many_column="customer_id", one_table="orders", one_column="customer_id"
    )
    declared = Dataset(id="shop", tables=tables, relationships=(backwards,), version=dataset_version(tables))
    await ingest_declared(declared, shop[0].parent, store, convert)
    for _ in range(2):
        made = await ingest_files(shop, store, convert)
        assert made.relationships == (backwards,)
        assert made.description == "Made from orders.csv, customers.csv"
    assert store.load(declared.version) == declared
