"""Workbooks: every visible sheet, its header wherever it is, cells as lossless text."""

from __future__ import annotations

import io
import resource
import zipfile
from collections.abc import Callable

import pytest

from tests.runner.intake.desk import Desk
from tests.runner.intake.workbooks import DAY, MOMENT, Cell, Sheet, Value, ods, xlsx, zipped

_SIMPLE = Sheet("One", [["id", "name"], [1, "a"], [2, "b"]])


def _column(desk: Desk, *values: Value) -> list[str | None]:
    table = desk.table(xlsx(Sheet("One", [["x", "n"], *[[value, 1] for value in values]])), "book.xlsx")
    return [row[0] for row in desk.rows(table)]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (1.0, "1"),
        (-0.5, "-0.5"),
        (0.1 + 0.2, "0.3"),
        (1234567.891, "1234567.891"),
        (1e22, "1e+22"),
        (9007199254740991, "9007199254740991"),
        (True, "true"),
        (False, "false"),
        ("007", "007"),
        (" a\nb ", " a\nb "),
        ("=1+1", "=1+1"),
        (Cell("45000", style=DAY), "2023-03-15"),
        (Cell("45000.5", style=MOMENT), "2023-03-15 12:00:00"),
        (Cell("0.25", style=MOMENT), "06:00:00"),
        (Cell("5", formula="2+3"), "5"),
        (Cell("#DIV/0!", kind="e"), None),
        (Cell(None, formula="A1"), None),
        (None, None),
    ],
)
def test_a_cell_as_text(desk: Desk, value: Value, text: str | None) -> None:
    assert _column(desk, value) == [text]


@pytest.mark.parametrize("write", [xlsx, ods], ids=["xlsx", "ods"])
def test_every_visible_sheet_is_a_table(desk: Desk, write) -> None:
    name = f"book.{write.__name__}"
    tables = desk.tables(write(_SIMPLE, Sheet("Two", [["x"], ["y"]])), name)
    assert [table.name for table in tables] == ["One", "Two"]
    assert [desk.rows(table) for table in tables] == [[("1", "a"), ("2", "b")], [("y",)]]
    assert [table.reading["sheet"] for table in tables] == ["One", "Two"]
    assert tables[0].reading["kind"] == write.__name__
    assert [table.rows_before for table in tables] == [1, 1]


def test_hidden_and_empty_sheets_are_noted(desk: Desk) -> None:
    book = xlsx(Sheet("Secret", [["x"], [1]], state="hidden"), _SIMPLE, Sheet("Nothing", []))
    table = desk.table(book, "book.xlsx")
    assert table.name == ""
    assert [note.split(" is ")[0] for note in table.notes] == ["The sheet Secret", "The sheet Nothing"]


def test_a_workbook_without_a_table_is_refused(desk: Desk) -> None:
    message = desk.refusal(
        xlsx(Sheet("Secret", [["x"]], state="veryHidden"), Sheet("E", [])), "book.xlsx"
    ).message
    assert "visible" in message


def test_a_header_below_titles(desk: Desk) -> None:
    rows: list[list[Value]] = [["Sales 2024"], ["as of", "June"], [], ["id", "name", "amount", "day"]]
    rows += [[number, "a", 1.5, "x"] for number in range(30)]
    table = desk.table(xlsx(Sheet("One", rows)), "book.xlsx")
    assert table.headers == ("id", "name", "amount", "day")
    assert len(desk.rows(table)) == 30
    assert (table.reading["skipped_rows"], table.rows_before) == (3, 4)
    assert "row 4" in table.notes[0]


def test_a_table_that_begins_elsewhere(desk: Desk) -> None:
    table = desk.table(xlsx(Sheet("One", [["id", "name"], [1, "a"]], first=(5, 3))), "book.xlsx")
    assert table.headers == ("id", "name")
    assert desk.rows(table) == [("1", "a")]
    assert (table.reading["skipped_rows"], table.rows_before, table.notes) == (4, 5, ())


def test_columns_without_a_name_are_kept_if_they_have_values(desk: Desk) -> None:
    rows: list[list[Value]] = [["a", None, None, "d"], [1, None, "x", 2], [3, None, None, 4]]
    table = desk.table(xlsx(Sheet("One", rows)), "book.xlsx")
    assert table.headers == ("a", "column_2", "d")
    assert desk.rows(table) == [("1", "x", "2"), ("3", None, "4")]


@pytest.mark.parametrize("write", [xlsx, ods], ids=["xlsx", "ods"])
def test_merged_cells_are_filled(write: Callable[..., bytes], desk: Desk) -> None:
    rows: list[list[Value]] = [["region", "sales", None], ["North", 1, 2], [None, 3, 4], ["South", 5, 6]]
    table = desk.table(write(Sheet("One", rows, merged=("B1:C1", "A2:A3"))), f"book.{write.__name__}")
    assert table.headers == ("region", "sales", "sales_2")
    assert desk.rows(table) == [("North", "1", "2"), ("North", "3", "4"), ("South", "5", "6")]
    assert any("merged over" in note for note in table.notes)
    assert any("1 cell" in note for note in table.notes)


@pytest.mark.parametrize("write", [xlsx, ods], ids=["xlsx", "ods"])
def test_a_merged_title_is_no_header(write: Callable[..., bytes], desk: Desk) -> None:
    rows: list[list[Value]] = [["Title"], ["id", "name", "n"], [1, "a", 2]]
    table = desk.table(write(Sheet("One", rows, merged=("A1:C1",))), f"book.{write.__name__}")
    assert table.headers == ("id", "name", "n")


def test_names_that_occur_twice(desk: Desk) -> None:
    book = xlsx(Sheet("One", [["a", "a"], [1, 2]]))
    assert desk.refusal(book, "book.xlsx").repairs[0]["id"] == "rename-duplicates"
    assert desk.table(book, "book.xlsx", repairs=["rename-duplicates"]).headers == ("a", "a_2")


def test_errors_formulas_and_blank_rows_are_counted(desk: Desk) -> None:
    wrong: Value = Cell("#REF!", kind="e")
    rows: list[list[Value]] = [["a", "b"], [1, wrong], [2, wrong], [], [3, Cell(None, formula="A1")]]
    notes = " ".join(desk.table(xlsx(Sheet("One", rows)), "book.xlsx").notes)
    for words in ("2 cells", "1 formula ", "1 blank row"):
        assert words in notes
    table = desk.table(ods(Sheet("One", [["a", "b"], [1, "#DIV/0!"], [2, "Err:502"]])), "book.ods")
    assert desk.rows(table) == [("1", None), ("2", None)]
    assert "2 cells" in table.notes[0]


def test_what_is_given_is_applied_exactly(desk: Desk) -> None:
    book = xlsx(_SIMPLE, Sheet("Two", [["x", "y"], ["z", "w"], ["q", "r"]]))
    given = {**desk.tables(book, "book.xlsx")[1].reading, "skipped_rows": 1}
    table = desk.table(book, "book.xlsx", given=[given])
    assert (table.headers, desk.rows(table)) == (("z", "w"), [("q", "r")])
    table = desk.table(book, "book.xlsx", given=[{**given, "header": False}])
    assert (table.headers, len(desk.rows(table))) == (("column_1", "column_2"), 2)
    error = desk.refusal(book, "book.xlsx", given=[{**given, "sheet": "Three"}])
    assert "'Three'" in error.message
    assert "Two" in error.suggestion


def _with_part(name: str, content: bytes) -> bytes:
    parts = zipfile.ZipFile(io.BytesIO(xlsx(_SIMPLE)))
    return zipped({**{entry: parts.read(entry) for entry in parts.namelist()}, name: content})


_REFUSED: dict[str, tuple[str, bytes, str]] = {
    "old workbook": ("book.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), ".xls"),
    "with a password": ("book.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "password"),
    "binary workbook": ("book.xlsb", zipped({"xl/workbook.bin": b"x"}), ".xlsb"),
    "binary workbook with another name": ("book.xlsx", zipped({"xl/workbook.bin": b"x"}), ".xlsb"),
    "text": ("book.xlsx", b"a,b\n1,2\n", "not a workbook"),
    "another zip": ("book.xlsx", zipped({"a.txt": b"x"}), "not a workbook"),
    "cut short": ("book.xlsx", xlsx(_SIMPLE)[:-60], "not a workbook"),
    "broken XML": (
        "book.xlsx",
        _with_part("xl/worksheets/sheet1.xml", b"<worksheet><sheetData><row"),
        "book.xlsx",
    ),
    "a stray cell": ("book.xlsx", xlsx(Sheet("S", [["x"]], first=(1_048_576, 16_384))), "1,048,576"),
    "a bomb": ("book.xlsx", _with_part("xl/media/a.bin", bytes(101 << 20)), "unpacks"),
    "workbook named CSV": ("orders.csv", xlsx(_SIMPLE), "Excel workbook"),
}


@pytest.mark.parametrize(("name", "content", "word"), _REFUSED.values(), ids=list(_REFUSED))
def test_a_workbook_is_refused(desk: Desk, name: str, content: bytes, word: str) -> None:
    assert word in desk.refusal(content, name).message


def test_an_ods_with_a_password_is_refused(desk: Desk) -> None:
    parts = zipfile.ZipFile(io.BytesIO(ods(_SIMPLE)))
    members = {entry: parts.read(entry) for entry in parts.namelist()}
    members["META-INF/manifest.xml"] = b"<manifest:encryption-data/>"
    assert "password" in desk.refusal(zipped(members), "book.ods").message


def test_a_large_workbook(desk: Desk) -> None:
    """300,000 rows of ten cells; a job has 2 GB."""
    row = "".join(f"<c><v>{number}.5</v></c>" for number in range(8)) + "<c t='str'><v>some words</v></c>" * 2
    header = "".join(f"<c t='str'><v>name {number}</v></c>" for number in range(10))
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    sheet = (
        f'<worksheet xmlns="{space}"><sheetData><row>{header}</row>{f"<row>{row}</row>" * 300_000}'
        "</sheetData></worksheet>"
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    table = desk.table(_with_part("xl/worksheets/sheet1.xml", sheet.encode()), "book.xlsx")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    (rows,) = desk.connection.execute(f"SELECT count(*) FROM {table.relation}").fetchone() or (0,)
    assert rows == 300_000
    assert grown < 1_000_000
