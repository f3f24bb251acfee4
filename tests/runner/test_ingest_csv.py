"""CSV files as people have them: read with every value intact, or refused with the place and a way out."""

from __future__ import annotations

import datetime as dt
import time
from pathlib import Path
from typing import Any

import pytest

from sandtable.catalog.recipe import Recipe
from sandtable.errors import ErrorCode
from sandtable.sandbox.job import Limits
from tests.runner.ingesting import Ingested, Intake

pytestmark = pytest.mark.asyncio(loop_scope="module")

_HEAD = b"id,name,amount\n"
_WIDE = 5_000

# title → bytes, words that the message must contain
_REFUSED: dict[str, tuple[bytes, tuple[str, ...]]] = {
    "short row": (_HEAD + b"1,a,2\n2,b\n3,c,4\n", ("line 3",)),
    "long row": (_HEAD + b"1,a,2\n2,b,3,extra\n3,c,4\n", ("line 3",)),
    "last of few rows too long": (b"a,b,c\n1,2,3\n4,5,6\n6,7,8,9\n", ("line 4",)),
    "every row too long": (b"a,b\n1,2,3\n4,5,6\n", ("line 2",)),
    "every row too short": (b"a,b,c\n1,2\n3,4\n", ("line 2",)),
    "first rows too long": (b"a,b\n" + b"1,2,3\n" * 30 + b"1,2\n" * 3, ("line 2",)),
    "long row at the very end": (_HEAD + b"1,a,2\n" * 5000 + b"1,a,2,3", ("line 5002",)),
    "short row after many": (_HEAD + b"1,a,2\n" * 30_000 + b"1,a\n" + b"1,a,2\n", ("line 30002",)),
    "cut inside a character": (_HEAD + "1,ä".encode()[:-1], ("UTF-8",)),
    "NUL byte": (_HEAD + b"1,a\x00b,2\n", ("NUL", "line 2")),
    "NUL bytes only": (b"\x00" * 100, ("NUL",)),
    "column twice": (b"id,name,id\n1,a,2\n", ("'id'", "1", "3")),
    "column twice but for its case": (b"id,name,ID\n1,a,2\n", ("'ID'", "1", "3")),
    "blank header": (b"\n1,a,2\n", ("header", "first line")),
    "header of commas": (b",,\n1,a,2\n", ("header",)),
    "empty file": (b"", ("empty",)),
    "only a byte order mark": (b"\xef\xbb\xbf", ("header",)),
    "only blank lines": (b"\n\n\n", ("header",)),
    "quote never closed": (_HEAD + b'1,"a,2\n2,b,3\n', ("quote", "line 2")),
    "quote never closed in the header": (b'id,"name,amount\n1,a,2\n', ("quote", "line 1")),
    "text after a closing quote": (_HEAD + b'1,"a"b,2\n', ("line 2",)),
    "Parquet named CSV": (b"PAR1\x15\x04\x15\x00" + b"\x00" * 50 + b"PAR1", ("Parquet",)),
    "a zip file": (b"PK\x03\x04\x14\x00\x00\x00" + bytes(range(256)), ()),
    "too many columns": (b",".join(b"c%d" % i for i in range(10_001)) + b"\n", ("10001 columns", "10000")),
}


def _refusal(ingested: Ingested) -> str:
    error = ingested.result.error
    assert error is not None, ingested.rows[:5]
    assert error.code == ErrorCode.VALIDATION_ERROR, error
    assert error.suggestion
    assert "schema" not in error.suggestion, "that is advice for queries"
    assert "orders.csv" in error.message
    return f"{error.message} {error.suggestion}"


@pytest.mark.parametrize(("content", "words"), _REFUSED.values(), ids=list(_REFUSED))
async def test_a_bad_file_is_refused(intake: Intake, content: bytes, words: tuple[str, ...]) -> None:
    said = _refusal(await intake(content))
    for word in words:
        assert word in said
    assert len(said) < 1500


_ROWS = [(1, "a", 2.5), (2, "b", 3.5)]
_READ: dict[str, tuple[bytes, list[tuple[Any, ...]]]] = {
    "plain": (b"id,name,amount\n1,a,2.5\n2,b,3.5\n", _ROWS),
    "a row that looks like a comment": (
        b"id,name,amount\n#1,a,2.5\n2,b,3.5\n",
        [("#1", "a", 2.5), ("2", "b", 3.5)],
    ),
    "no newline at the end": (b"id,name,amount\n1,a,2.5\n2,b,3.5", _ROWS),
    "CRLF": (b"id,name,amount\r\n1,a,2.5\r\n2,b,3.5\r\n", _ROWS),
    "semicolons": (b"id;name;amount\n1;a;2.5\n2;b;3.5\n", _ROWS),
    "tabs": (b"id\tname\tamount\n1\ta\t2.5\n2\tb\t3.5\n", _ROWS),
    "pipes": (b"id|name|amount\n1|a|2.5\n2|b|3.5\n", _ROWS),
    "byte order mark": (b"\xef\xbb\xbfid,name,amount\n1,a,2.5\n2,b,3.5\n", _ROWS),
    "quoted header and fields": (b'"id","name","amount"\n"1","a","2.5"\n"2","b","3.5"\n', _ROWS),
    "commas in quotes": (b'id,name\n1,"a, b"\n2,"c"\n', [(1, "a, b"), (2, "c")]),
    "newline in quotes": (b'id,name\n1,"a\nb"\n2,c\n', [(1, "a\nb"), (2, "c")]),
    "quotes in quotes": (b'id,name\n1,"say ""hi"""\n', [(1, 'say "hi"')]),
    "semicolon header with commas in it": (b'"a,b";c\n1;2\n', [(1, 2)]),
    "empty fields are missing values": (b"id,name\n1,\n,b\n", [(1, None), (None, "b")]),
    "one column": (b"id\n1\n2\n", [(1,), (2,)]),
    "header only": (b"id,name\n", []),
    "header only, no newline": (b"id,name", []),
    "leading zeros stay text": (b"zip\n01234\n99999\n", [("01234",), ("99999",)]),
    "dates": (b"day\n2024-02-29\n2024-03-01\n", [(dt.date(2024, 2, 29),), (dt.date(2024, 3, 1),)]),
    "long integers": (b"n\n9007199254740993\n1\n", [(9007199254740993,), (1,)]),
    "spaces stay": (b"id,name\n1, a \n", [(1, " a ")]),
    "UTF-16": ("id,name\n1,ä\n".encode("utf-16"), [(1, "ä")]),
    "Latin-1": (b"id,name,amount\n" + "1,Müller,2\n".encode("latin-1"), [(1, "Müller", 2)]),
    "column without a name": (b"id,,amount\n1,a,2\n", [(1, "a", 2)]),
    "a decimal comma": (b"id;amount\n1;2,5\n2;1.234,75\n", [(1, 2.5), (2, 1234.75)]),
    "dates of two kinds": (
        b"a,b\n12/25/2020,25.12.2020\n",
        [(dt.date(2020, 12, 25), dt.date(2020, 12, 25))],
    ),
    "text beyond ASCII": ("id,name\n1,漢字 🦆\n".encode(), [(1, "漢字 🦆")]),
}


@pytest.mark.parametrize(("content", "rows"), _READ.values(), ids=list(_READ))
async def test_a_good_file_keeps_its_values(
    intake: Intake, content: bytes, rows: list[tuple[Any, ...]]
) -> None:
    ingested = await intake(content)
    assert ingested.result.status == "succeeded", ingested.result.error
    assert ingested.rows == rows
    assert ingested.table["rows"] == len(rows)


async def test_a_type_that_changes_late_becomes_text(intake: Intake) -> None:
    ingested = await intake(b"id,code\n" + b"1,7\n" * 60_000 + b"2,X7\n")
    assert ingested.columns == [("id", "BIGINT"), ("code", "VARCHAR")]
    assert ingested.rows[-1] == (2, "X7")
    assert ingested.rows[0] == (1, "7")


_NAMES = [
    "select",
    "from",
    "größe",
    "a b",
    'quo"te',
    "it's",
    "x;--",
    "日本",
    "1st",
    "a.b",
    "é" * 60,
    "{x}",
    "%s",
]


async def test_names_are_kept_as_they_are(intake: Intake) -> None:
    header = ",".join('"' + name.replace('"', '""') + '"' for name in _NAMES)
    ingested = await intake(f"{header}\n{','.join(str(i) for i in range(len(_NAMES)))}\n".encode())
    assert ingested.result.status == "succeeded", ingested.result.error
    assert [name for name, _ in ingested.columns] == _NAMES
    assert ingested.rows == [tuple(range(len(_NAMES)))]


async def test_a_name_with_a_newline(intake: Intake) -> None:
    """Read whole or refused, but never cut in two."""
    ingested = await intake(b'"a\nb",c\n1,2\n')
    if ingested.result.status == "succeeded":
        assert [name for name, _ in ingested.columns] == ["a\nb", "c"]
        assert ingested.rows == [(1, 2)]
    else:
        assert "line" in _refusal(ingested)


async def test_many_columns(intake: Intake) -> None:
    header = ",".join(f"c{index}" for index in range(_WIDE))
    row = ",".join(str(index) for index in range(_WIDE))
    # The time and the memory of the plan grow with the number of columns; these are the limits of a server.
    ingested = await intake(
        f"{header}\n{row}\n{row}\n".encode(), limits=Limits(wall_ms=90_000, memory_mb=2048)
    )
    assert ingested.result.status == "succeeded", ingested.result.error
    assert len(ingested.columns) == _WIDE
    assert ingested.rows[1] == tuple(range(_WIDE))


async def test_columns_that_do_not_fit_into_memory_are_named(intake: Intake) -> None:
    header = ",".join(f"c{index}" for index in range(_WIDE))
    row = ",".join(["1.5"] * _WIDE)
    said = _refusal(await intake(f"{header}\n{row}\n".encode(), limits=Limits(wall_ms=90_000, memory_mb=256)))
    assert "5,000 columns" in said and "256 MB" in said


@pytest.mark.parametrize("where", ["first line", "later line", "in quotes"])
async def test_an_endless_line_is_refused_soon(intake: Intake, tmp_path: Path, where: str) -> None:
    """Hundreds of megabytes without a line end: refused in seconds, in little memory."""
    path = tmp_path / "long.csv"
    block = b"x" * (1 << 20)
    with path.open("wb") as file:
        file.write(
            b"" if where == "first line" else b"id,name\n1,a\n2," + (b'"' if where == "in quotes" else b"")
        )
        for _ in range(300):
            file.write(block)
    started = time.perf_counter()
    ingested = await intake(path)
    assert time.perf_counter() - started < 60
    assert "MB" in _refusal(ingested)
    assert ingested.result.metrics["peak_kb"] < 300_000


_LATE: dict[str, tuple[bytes, tuple[str, ...]]] = {
    "NUL": (b"4,a\x00b,5\n", ("NUL", "line 3000002")),
    "short row": (b"4,a\n", ("line 3000002", "2 fields")),
    "endless line": (b"4,a" + b"x" * (17 << 20) + b",5\n", ("line 3000002", "MB")),
    "cut inside a character": ("4,ä".encode()[:-1], ("UTF-8",)),
}


@pytest.mark.parametrize(("last", "words"), _LATE.values(), ids=list(_LATE))
async def test_trouble_far_below_the_first_rows(intake: Intake, last: bytes, words: tuple[str, ...]) -> None:
    """Files are used before they were read to their end; what is wrong there is named all the same."""
    said = _refusal(await intake(_HEAD + b"1,abcdef,2.50\n" * 3_000_000 + last))
    assert all(word in said for word in words)


async def test_a_character_of_another_encoding_far_below_the_first_rows(intake: Intake) -> None:
    ingested = await intake(_HEAD + b"1,abcdef,2.50\n" * 3_000_000 + "2,Müller,3\n".encode("cp1252"))
    assert ingested.rows[-1] == (2, "Müller", 3.0)
    assert "line 3000002" in ingested.table["notes"][0]


async def test_a_short_row_is_refused_before_a_question_is_asked(intake: Intake) -> None:
    assert "line 4" in _refusal(await intake(b"id,ordered\n1,03/04/2024\n2,04/05/2024\n3\n"))


async def test_a_whole_number_among_decimals_keeps_its_digits(intake: Intake) -> None:
    """A DOUBLE would be 9007199254740992."""
    ingested = await intake(b"id,amount\n" + b"1,2.5\n" * 30 + b"2,9007199254740993\n")
    assert ingested.rows[-1] == (2, "9007199254740993")


async def test_declared_columns_rule(intake: Intake) -> None:
    ingested = await intake(b"id,code\n1,007\n", columns=[["id", "INTEGER"], ["code", "VARCHAR"]])
    assert ingested.columns == [("id", "INTEGER"), ("code", "VARCHAR")]
    assert ingested.rows == [(1, "007")]


async def test_a_question_leaves_no_table(intake: Intake) -> None:
    ingested = await intake(b"id,ordered\n1,03/04/2024\n")
    (question,) = ingested.result.output["questions"]
    assert question["id"] == "orders.ordered"
    assert ingested.table["output"] is None
    assert not ingested.parquet.exists()


async def test_a_late_cell_that_opens_a_question_leaves_no_table(intake: Intake) -> None:
    """The sample takes whole numbers; all rows say that the marks are in doubt."""
    ingested = await intake(b"n\n" + b"7\n" * 60_000 + b"1.234\n")
    (question,) = ingested.result.output["questions"]
    assert (question["id"], ingested.table["output"]) == ("orders.n", None)
    assert not ingested.parquet.exists()


async def test_what_was_taken_for_empty_is_said(intake: Intake) -> None:
    ingested = await intake(b"id,price\n1,N/A\n2,-\n3,N/A\n4,12.50\n")
    assert ingested.rows == [(1, None), (2, None), (3, None), (4, 12.5)]
    assert ingested.table["notes"] == ["Cells of column price are empty where they say - (1), N/A (2)."]
    recipe = Recipe.model_validate(ingested.table["recipe"])
    assert [(column.read_as, column.reason) for column in recipe.columns] == [
        ("integer", "all 4 rows"),
        ("decimal", "its only row"),
    ]
    assert not recipe.plain


async def test_a_plain_file_has_a_plain_recipe(intake: Intake) -> None:
    ingested = await intake(b"id;day;note;ok\n1;2024-01-02;a;true\n")
    assert Recipe.model_validate(ingested.table["recipe"]).plain


_UNDECLARED = {
    "another name": (b"id,kode\n1,2\n", ("kode", "code")),
    "another order": (b"code,id\n1,2\n", ("code", "id")),
    "one more": (b"id,code,x\n1,2,3\n", ("x",)),
    "another type": (b"id,code\n1,2\nabc,3\n", ("line 3",)),
}


@pytest.mark.parametrize(("content", "words"), _UNDECLARED.values(), ids=list(_UNDECLARED))
async def test_a_file_must_be_as_declared(intake: Intake, content: bytes, words: tuple[str, ...]) -> None:
    said = _refusal(await intake(content, columns=[["id", "INTEGER"], ["code", "VARCHAR"]]))
    for word in words:
        assert word in said


async def test_a_folder_in_the_name_leads_nowhere(intake: Intake) -> None:
    ingested = await intake(b"id\n1\n", name="orders.csv")
    assert ingested.result.status == "succeeded"
    result = (await intake(b"id\n1\n", name="x'; COPY (SELECT 1) TO 'y.csv")).result
    assert result.status == "succeeded", result.error


async def test_long_lines_do_not_cost_many_times_their_size(intake: Intake) -> None:
    row = b"word " * 400 + b",1\n"
    limits = Limits(wall_ms=20_000, memory_mb=288)
    done = await intake(b"text,number\n" + row * 60_000, limits=limits)
    assert done.result.error is None
    assert done.table["rows"] == 60_000
