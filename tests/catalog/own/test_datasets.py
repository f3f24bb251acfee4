"""Datasets that people add: they stay, change with their files, and are corrected, removed and built again."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from sandtable.catalog.own.datasets import OwnDatasets
from sandtable.catalog.own.records import Outdated
from sandtable.catalog.reading.file_tables import Decided
from sandtable.catalog.reading.filenames import NamedFile
from sandtable.catalog.ready_datasets import ReadyDatasets
from sandtable.catalog.recipe import Recipe
from sandtable.catalog.registry import Catalog
from sandtable.catalog.semantics.applying import with_version
from sandtable.catalog.stored.attestations import Attestations
from sandtable.catalog.stored.store import DataStore
from sandtable.errors import InvalidInput, NotFound
from tests.capsule.samples import SHOP
from tests.catalog.fakes import FakeConvert
from tests.catalog.reading.test_file_tables import BOOK, question

SALES = "day,amount\n2025-01-01,1\n2025-01-02,2\n"


@pytest.fixture
def store(tmp_path: Path) -> DataStore:
    return DataStore(tmp_path / "home" / "data", Attestations(tmp_path / "home" / "attestations", b"k" * 32))


@pytest.fixture
def convert(store: DataStore) -> FakeConvert:
    return FakeConvert(store, types={"day": "DATE", "amount": "BIGINT"})


@pytest.fixture
def datasets(store: DataStore, convert: FakeConvert) -> ReadyDatasets:
    return again(store, convert)


@pytest.fixture
def own(datasets: ReadyDatasets) -> OwnDatasets:
    return datasets.own


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    return written(tmp_path / "sales.csv", SALES)


def again(store: DataStore, convert: FakeConvert) -> ReadyDatasets:
    async def no_profile(_: object) -> None:
        raise AssertionError("not needed")

    return ReadyDatasets(Catalog((SHOP,), None), store, convert, no_profile)  # pyright: ignore[reportArgumentType] - a profile is never made


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def sources(store: DataStore) -> set[str]:
    return {path.name for path in (store.root / "sources").iterdir()}


# Adding


async def test_an_added_dataset_stays(
    datasets: ReadyDatasets, store: DataStore, convert: FakeConvert, sales: Path
) -> None:
    added = await datasets.add_own([sales], title="Sales of the year")
    assert (added.outcome, added.record.id, added.notes) == ("added", "sales", ())
    sales.unlink()
    later = again(store, convert)
    assert [dataset.id for dataset in later.datasets()] == ["sales", SHOP.id]
    found = await later.ready("sales")
    assert found == with_version(added.record.dataset) and (found.id, found.title) == (
        "sales",
        "Sales of the year",
    )
    assert (await later.open("sales", found.version)).dataset == found
    (kept,) = sources(store)
    assert (store.root / "sources" / kept).read_text("utf-8") == SALES
    assert stat.S_IMODE((store.root / "sources" / kept).stat().st_mode) == 0o644


async def test_the_same_bytes_change_nothing(own: OwnDatasets, convert: FakeConvert, sales: Path) -> None:
    first = await own.add([sales])
    second = await own.add([sales])
    assert (second.outcome, second.record) == ("unchanged", first.record) and len(convert.requests) == 1


async def test_changed_bytes_are_a_new_version_read_by_the_recipe(
    own: OwnDatasets, convert: FakeConvert, sales: Path
) -> None:
    first = await own.add([sales])
    convert.types = {}
    written(sales, SALES + "2025-01-03,3\n")
    second = await own.add([sales])
    assert second.outcome == "changed" and len(second.record.versions) == 2
    assert [c.sql_type for c in second.record.dataset.tables[0].columns] == ["DATE", "BIGINT"]
    assert convert.requests[-1].recipes == {"sales": first.record.dataset.tables[0].recipe}
    assert second.record.current.changes.in_words == ("sales: 2 rows before, 3 now",)
    assert second.record.current.changes.rows == {"sales": (2, 3)}


async def test_other_columns_are_reported(own: OwnDatasets, convert: FakeConvert, sales: Path) -> None:
    await own.add([sales])

    def other_columns(request: object) -> None:
        if convert.requests[-1].recipes is not None:
            raise InvalidInput("the file has other columns", suggestion="Look.")

    convert.before = other_columns
    convert.types = {"day": "VARCHAR"}
    written(sales, "day,price\n2025-01-01,1\n2025-01-02,2\n")
    changes = (await own.add([sales])).record.current.changes
    assert changes.columns_added == ("sales.price",) and changes.columns_removed == ("sales.amount",)
    assert changes.retyped == {"sales.day": ("DATE", "VARCHAR")}


async def test_a_refusal_of_the_same_columns_retypes_nothing(
    own: OwnDatasets, store: DataStore, convert: FakeConvert, sales: Path
) -> None:
    first = await own.add([sales])

    def no_number(request: object) -> None:
        if convert.requests[-1].recipes is not None:
            raise InvalidInput("row 3 of column amount is no number")

    convert.before = no_number
    convert.types = {}
    written(sales, SALES + "2025-01-03,x\n")
    with pytest.raises(InvalidInput, match="row 3 of column amount is no number"):
        await own.add([sales])
    assert own.get("sales") == first.record and store.versions() == [first.record.dataset.version]


async def test_cells_that_no_longer_fit_are_for_a_person_to_decide(own: OwnDatasets, sales: Path) -> None:
    first = await own.add([sales])
    written(sales, SALES + "2025-01-03,?\n")
    with pytest.raises(
        InvalidInput, match=r"1 cell of sales\.csv cannot be read .*column `amount`, row 3: `\?`"
    ) as caught:
        await own.add([sales])
    assert caught.value.details["repairs"][0]["id"] == "misfits-empty:amount"
    assert own.get("sales") == first.record
    changed = await own.add([sales], decided=Decided(repairs=("misfits-empty:amount",)))
    assert changed.record.current.changes.misfits == {"sales.amount": 1}
    recipe = changed.record.dataset.tables[0].recipe
    assert recipe is not None and [c.misfits for c in recipe.columns] == ["refuse", "empty"]


async def test_an_open_question_adds_nothing(own: OwnDatasets, convert: FakeConvert, sales: Path) -> None:
    convert.questions = (question("sales.day"),)
    with pytest.raises(InvalidInput) as caught:
        await own.add([sales])
    assert caught.value.details["questions"][0]["id"] == "sales.day" and own.list() == ()
    added = await own.add([sales], decided=Decided({"day": "date"}))
    assert added.record.current.answers == {"day": "date"}


async def test_a_failed_conversion_leaves_no_record_and_its_source_goes(
    own: OwnDatasets, store: DataStore, convert: FakeConvert, sales: Path
) -> None:
    def fail(_: object) -> None:
        raise InvalidInput("row 2 is short")

    convert.before = fail
    with pytest.raises(InvalidInput):
        await own.add([sales])
    assert own.list() == () and len(sources(store)) == 1
    own.records.drop_sources()
    assert len(sources(store)) == 1, "another process may be adding it"
    (left,) = sources(store)
    os.utime(store.root / "sources" / left, (1, 1))
    own.records.drop_sources()
    assert sources(store) == set()


# Names


async def test_a_name_that_is_taken_gets_a_number(own: OwnDatasets, tmp_path: Path, sales: Path) -> None:
    built_in = await own.add([written(tmp_path / f"{SHOP.id}.csv", SALES)])
    assert built_in.record.id == f"{SHOP.id}_2" and "built-in" in built_in.notes[0]
    await own.add([sales])
    other = await own.add([sales, written(tmp_path / "shops.csv", "shop\n1\n")])
    assert other.record.id == "sales_2" and "other files" in other.notes[0]
    assert (await own.add([sales, tmp_path / "shops.csv"])).outcome == "unchanged"


@pytest.mark.parametrize(
    ("wanted", "complaint"),
    [
        (SHOP.id, "is a built-in dataset"),
        ("../x", "cannot be the id"),
        ("", "cannot be the id"),
        ("other", "was added from other files"),
    ],
)
async def test_an_id_that_is_taken_is_refused(
    own: OwnDatasets, tmp_path: Path, sales: Path, wanted: str, complaint: str
) -> None:
    await own.add([written(tmp_path / "costs.csv", "x\n1\n")], dataset_id="other")
    with pytest.raises(InvalidInput, match=complaint):
        await own.add([sales], dataset_id=wanted)


async def test_tables_are_added_to_a_dataset(own: OwnDatasets, tmp_path: Path, sales: Path) -> None:
    await own.add([sales])
    grown = await own.add([written(tmp_path / "shops.csv", "shop\n1\n")], to="sales")
    assert [t.name for t in grown.record.dataset.tables] == ["sales", "shops"]
    assert grown.record.current.changes.tables_added == ("shops",)
    with pytest.raises(NotFound, match="`sale` was added here; did you mean `sales`"):
        await own.add([sales], to="sale")


async def test_an_upload_has_the_name_that_it_was_given(own: OwnDatasets, tmp_path: Path) -> None:
    copy = written(tmp_path / "upload-7", BOOK)
    added = await own.add([NamedFile("book", copy, "Book.xlsx")])
    assert [(t.name, t.file) for t in added.record.dataset.tables] == [
        ("book_orders", "Book.xlsx"), ("book_items", "Book.xlsx")
    ]  # fmt: skip
    with pytest.raises(InvalidInput, match="no file of `book` is where it was"):
        await own.refresh("book")


# Changing


async def test_refreshing_looks_at_the_files_again(own: OwnDatasets, sales: Path) -> None:
    await own.add([sales])
    assert (await own.refresh("sales")).outcome == "unchanged"
    written(sales, SALES + "2025-01-03,3\n")
    assert (await own.refresh("sales")).record.dataset.tables[0].rows == 3
    sales.unlink()
    with pytest.raises(InvalidInput, match="no file of `sales` is where it was"):
        await own.refresh("sales")


async def test_a_correction_reads_the_kept_file_in_another_way(own: OwnDatasets, sales: Path) -> None:
    first = await own.add([sales])
    sales.unlink()
    corrected = await own.correct("sales", {"amount": "text"})
    assert corrected.outcome == "changed"
    assert corrected.record.current.changes.retyped == {"sales.amount": ("BIGINT", "VARCHAR")}
    assert corrected.record.dataset.version != first.record.dataset.version
    recipe = first.record.dataset.tables[0].recipe
    assert recipe is not None
    exact = Recipe(
        text=recipe.text, columns=tuple(c.model_copy(update={"read_as": "text"}) for c in recipe.columns)
    )
    whole = await own.correct("sales", recipes={"sales": exact})
    assert [c.sql_type for c in whole.record.dataset.tables[0].columns] == ["VARCHAR", "VARCHAR"]
    with pytest.raises(InvalidInput, match="has no table `costs`"):
        await own.correct("sales", recipes={"costs": exact})


# Two processes


async def test_another_process_sees_each_change(
    own: OwnDatasets, store: DataStore, convert: FakeConvert, sales: Path
) -> None:
    other = again(store, convert)
    assert [d.id for d in other.datasets()] == [SHOP.id]
    await own.add([sales])
    assert [d.id for d in other.datasets()] == ["sales", SHOP.id]
    written(sales, SALES + "2025-01-03,3\n")
    changed = await own.add([sales])
    assert other.get("sales").version == changed.record.dataset.version
    await own.remove("sales")
    with pytest.raises(NotFound):
        other.get("sales")


async def test_a_record_is_written_only_over_the_one_it_was_made_from(own: OwnDatasets, sales: Path) -> None:
    first = (await own.add([sales])).record
    own.records.write(first.model_copy(update={"title": "Other"}), first)
    with pytest.raises(Outdated):
        own.records.write(first.model_copy(update={"title": "Late"}), first)
    with pytest.raises(Outdated):
        own.records.write(first, None)
    assert own.get("sales").title == "Other"


async def test_a_change_that_comes_between_is_not_lost(
    own: OwnDatasets, store: DataStore, convert: FakeConvert, tmp_path: Path, sales: Path
) -> None:
    await own.add([sales])
    once: list[None] = []

    def meanwhile(_: object) -> None:
        if not once:
            once.append(None)
            record = own.get("sales")
            own.records.write(record.model_copy(update={"title": "Renamed meanwhile"}), record)

    convert.before = meanwhile
    grown = await own.add([written(tmp_path / "shops.csv", "shop\n1\n")], to="sales")
    assert grown.record.title == "Renamed meanwhile" and len(grown.record.dataset.tables) == 2


@pytest.mark.parametrize("content", ["", "{}", "7", '{"id": "sales"'])
async def test_a_record_that_cannot_be_read_hides_nothing_else(
    datasets: ReadyDatasets, store: DataStore, tmp_path: Path, sales: Path, content: str
) -> None:
    await datasets.add_own([sales])
    await datasets.add_own([written(tmp_path / "costs.csv", "x\n1\n")])
    (store.root / "datasets" / "sales.json").write_text(content, "utf-8")
    assert [d.id for d in datasets.datasets()] == ["costs", SHOP.id]
    assert (await datasets.add_own([sales])).record.id == "sales_2", "it is not overwritten"


# Building again, removing


@pytest.mark.parametrize("what", ["lost", "no manifest"])
async def test_a_version_is_built_again_from_the_kept_source(
    datasets: ReadyDatasets, store: DataStore, sales: Path, what: str
) -> None:
    made = (await datasets.add_own([sales])).record.dataset
    sales.unlink()
    if what == "lost":
        store.remove(made.version)
    else:
        (store.path(made.version) / "dataset.json").unlink()
        await datasets.rebuilding.rebuild(made.version)
    assert (await datasets.open("sales", made.version)).dataset == with_version(made)


async def test_a_damaged_source_is_not_used(datasets: ReadyDatasets, store: DataStore, sales: Path) -> None:
    made = (await datasets.add_own([sales])).record.dataset
    (kept,) = sources(store)
    (store.root / "sources" / kept).write_text("something else", "utf-8")
    store.remove(made.version)
    with pytest.raises(InvalidInput, match=r"kept copy of sales\.csv is missing or damaged"):
        await datasets.ready("sales")


async def test_removing_takes_what_no_other_needs(
    own: OwnDatasets, store: DataStore, tmp_path: Path, sales: Path
) -> None:
    first = (await own.add([sales])).record
    twin = (await own.add([sales], dataset_id="twin")).record
    assert twin.dataset.version == first.dataset.version
    await own.remove("sales")
    assert store.has(twin.dataset.version) and len(sources(store)) == 1
    await own.remove("twin")
    assert not store.has(twin.dataset.version) and sources(store) == set() and own.list() == ()
    with pytest.raises(NotFound):
        await own.remove("twin")
