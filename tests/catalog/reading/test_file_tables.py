"""Files with several tables, questions, answers, repairs and recipes."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandtable.catalog.convert import ConvertedColumn, ConvertedTable, ConvertRequest
from sandtable.catalog.model import ColumnType, Dataset
from sandtable.catalog.reading.file_tables import Decided, table_from
from sandtable.catalog.reading.filenames import NamedFile, name_files
from sandtable.catalog.reading.ingest import ingest_again, ingest_files, ingest_named
from sandtable.catalog.recipe import FileChoice, FileQuestion
from sandtable.catalog.stored.attestations import Attestations
from sandtable.catalog.stored.store import DataStore
from sandtable.errors import InvalidInput
from tests.catalog.fakes import FakeConvert

BOOK = "## orders\nid,ordered\n1,03/04/2024\n## items\nid,price\n1,2\n"


def question(place: str) -> FileQuestion:
    choices = (FileChoice(label="3 April", answer="date"), FileChoice(label="Text", answer="text"))
    return FileQuestion(id=place, text=f"Is 03/04/2024 in {place} 3 April or 4 March?", choices=choices)


@pytest.fixture
def store(tmp_path: Path) -> DataStore:
    return DataStore(tmp_path / "home" / "data", Attestations(tmp_path / "home" / "attestations", b"k" * 32))


@pytest.fixture
def convert(store: DataStore) -> FakeConvert:
    return FakeConvert(store)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "book.xlsx"
    path.write_text(BOOK, "utf-8")
    return path


def nothing_stored(store: DataStore) -> bool:
    return not any(
        list((store.root / name).iterdir()) for name in ("incoming", "staging", "versions", "by-source")
    )


async def test_one_file_becomes_several_tables(store: DataStore, convert: FakeConvert, book: Path) -> None:
    made = await ingest_files([book], store, convert)
    assert [(t.name, t.file, t.rows) for t in made.tables] == [
        ("book_orders", "book.xlsx", 1), ("book_items", "book.xlsx", 1)
    ]  # fmt: skip
    assert len({t.sha256 for t in made.tables}) == 1 and made.id == made.title == "book"
    assert store.load(made.version) == made
    assert await ingest_files([book], store, convert) == made and len(convert.requests) == 1


async def test_two_files_may_not_give_one_table(store: DataStore, convert: FakeConvert, book: Path) -> None:
    (other := book.with_name("book_items.csv")).write_text("id\n1\n", "utf-8")
    with pytest.raises(InvalidInput, match=r"book\.xlsx and book_items\.csv would both become the table"):
        await ingest_files([book, other], store, convert)
    assert nothing_stored(store)


async def test_an_open_question_stores_nothing(store: DataStore, convert: FakeConvert, book: Path) -> None:
    (other := book.with_name("more.csv")).write_text("day\n03/04/2024\n", "utf-8")
    convert.questions = (question("book_orders.ordered"), question("more.day"))
    with pytest.raises(InvalidInput, match=r"in book_orders\.ordered .* in more\.day") as caught:
        await ingest_files([book, other], store, convert)
    asked = caught.value.details["questions"]
    assert [each["id"] for each in asked] == ["book_orders.ordered", "more.day"]
    assert asked[0]["choices"][0] == {"label": "3 April", "answer": "date"}
    assert "book_orders.ordered is `date` or `text`" in caught.value.suggestion
    assert nothing_stored(store)


@pytest.mark.parametrize("name", ["book_orders.ordered", "ordered", "ORDERED"])
async def test_an_answer_closes_a_question(
    store: DataStore, convert: FakeConvert, book: Path, name: str
) -> None:
    convert.questions = (question("book_orders.ordered"),)
    made = await ingest_files([book], store, convert, decided=Decided({name: "date"}))
    assert made.tables[0].columns[1].sql_type == "DATE"


async def test_answers_and_repairs_are_part_of_what_is_remembered(
    store: DataStore, convert: FakeConvert, book: Path
) -> None:
    for decided in (Decided(), Decided({"book_items.id": "integer"}), Decided(repairs=("pad-rows",))):
        before = len(convert.requests)
        await ingest_files([book], store, convert, decided=decided)
        await ingest_files([book], store, convert, decided=decided)
        assert len(convert.requests) == before + 1


async def test_an_answer_about_nothing_is_refused(store: DataStore, convert: FakeConvert, book: Path) -> None:
    with pytest.raises(InvalidInput, match=r"`orderd`, which is no table or column .*`ordered`"):
        await ingest_files([book], store, convert, decided=Decided({"orderd": "date"}))
    assert nothing_stored(store)


async def test_a_refused_file_offers_its_repairs(store: DataStore, convert: FakeConvert, book: Path) -> None:
    def refuse(request: ConvertRequest) -> None:
        offered = [{"id": "pad-rows", "label": "Fill the 3 short rows"}]
        raise InvalidInput("row 7 has 2 cells", suggestion="Mend it.", repairs=offered, questions=[])

    convert.before = refuse
    with pytest.raises(InvalidInput) as caught:
        await ingest_files([book], store, convert)
    assert (
        caught.value.details["repairs"][0]["id"] == "pad-rows" and caught.value.details["file"] == "book.xlsx"
    )


async def test_units_are_those_of_the_recipe(store: DataStore, convert: FakeConvert, book: Path) -> None:
    convert.units = {"price": "EUR"}
    made = await ingest_files([book], store, convert)
    assert [c.unit for c in made.tables[1].columns] == ["", "EUR"]


def _break(store: DataStore, dataset: Dataset) -> None:
    for file in store.path(dataset.version).glob("*.parquet"):
        file.write_text("something else", "utf-8")


async def test_a_version_is_built_again_with_its_recipes(
    store: DataStore, convert: FakeConvert, book: Path
) -> None:
    decided = Decided({"book_orders.ordered": "date"})
    made = await ingest_named(name_files([book]), store, convert, decided=decided)
    _break(store, made.dataset)
    assert await ingest_again(made.dataset.version, store, convert) == made.dataset
    again = convert.requests[-1]
    assert again.columns is None and again.recipes == {t.name: t.recipe for t in made.dataset.tables}


async def test_a_version_from_before_recipes_is_built_again_with_its_columns(
    store: DataStore, convert: FakeConvert, tmp_path: Path
) -> None:
    (path := tmp_path / "sales.csv").write_text("day,x\n2025-01-01,1\n", "utf-8")
    convert.types = {"day": "DATE"}
    made = await ingest_files([path], store, convert)
    manifest = store.path(made.version) / "dataset.json"
    bare = made.model_copy(
        update={"tables": tuple(t.model_copy(update={"recipe": None}) for t in made.tables)}
    )
    manifest.write_text(bare.model_dump_json(exclude_none=True), "utf-8")
    _break(store, made)
    convert.types = {}
    assert (await ingest_again(made.version, store, convert)).version == made.version
    assert convert.requests[-1].columns == (("day", "DATE"), ("x", "VARCHAR"))


@pytest.mark.parametrize(("nullable", "key"), [(False, ("a", "b")), (True, ())])
def test_a_declared_key_is_one_if_every_row_has_it(nullable: bool, key: tuple[str, ...]) -> None:
    columns = (
        ConvertedColumn("a", "BIGINT", ColumnType.INTEGER, nullable=False),
        ConvertedColumn("b", "BIGINT", ColumnType.INTEGER, nullable=nullable),
    )
    made = ConvertedTable("orders", columns, 2, "orders.parquet", key=("a", "b"))
    assert table_from(made, NamedFile("shop.db", Path("shop.db")), "0" * 64).key == key
