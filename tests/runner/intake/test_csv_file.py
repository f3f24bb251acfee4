"""CSV files as people have them: every cell as text, or refused with the place and a way out."""

from __future__ import annotations

import time

import pytest

from tests.runner.intake.desk import Desk, Rows, ids

_HEAD = b"id,name,amount\n"

# title → bytes, words that the message must contain, repairs that are offered
_REFUSED: dict[str, tuple[bytes, tuple[str, ...], list[str]]] = {
    "short row": (_HEAD + b"1,a,2\n2,b\n3,c,4\n", ("line 3", "2 fields"), ["pad-rows", "drop-rows"]),
    "long row": (_HEAD + b"1,a,2\n2,b,3,extra\n3,c,4\n", ("line 3", "4 fields"), ["drop-rows"]),
    "short and long rows": (_HEAD + b"1,a\n1,a,2,3\n1,b,2\n", ("line 2", "2 lines in all"), ["drop-rows"]),
    "every row too long": (b"a,b\n1,2,3\n4,5,6\n", ("line 2",), ["drop-rows"]),
    "every row too short": (b"a,b,c\n1,2\n3,4\n", ("line 2",), ["pad-rows", "drop-rows"]),
    "long row at the very end": (_HEAD + b"1,a,2\n" * 5000 + b"1,a,2,3", ("line 5002",), ["drop-rows"]),
    "short row after many": (
        _HEAD + b"1,a,2\n" * 30_000 + b"1,a\n" + b"1,a,2\n",
        ("line 30002",),
        ["pad-rows", "drop-rows"],
    ),
    "totals below the table": (
        _HEAD + b"1,a,2\nTotal: 2\n",
        ("line 3", "1 field"),
        ["pad-rows", "drop-rows"],
    ),
    "NUL byte": (_HEAD + b"1,a\x00b,2\n", ("NUL", "line 2"), []),
    "NUL bytes only": (b"\x00" * 100, ("NUL",), []),
    "column twice": (b"id,name,id\n1,a,2\n", ("'id'", "1", "3"), ["rename-duplicates"]),
    "column twice but for its case": (b"id,name,ID\n1,a,2\n", ("'ID'",), ["rename-duplicates"]),
    "blank header": (b"\n1,a,2\n", ("header", "first line"), []),
    "blank lines above the header": (b"\n\nid,name\n1,a\n", ("header", "blank"), ["skip-rows:2"]),
    "header of commas": (b",,\n1,a,2\n", ("header",), []),
    "empty file": (b"", ("empty",), []),
    "only a byte order mark": (b"\xef\xbb\xbf", ("header",), []),
    "only blank lines": (b"\n\n\n", ("header",), []),
    "quote never closed": (_HEAD + b'1,"a,2\n2,b,3\n', ("quote", "line 2"), []),
    "quote never closed in the header": (b'id,"name,amount\n1,a,2\n', ("quote", "line 1"), []),
    "text after a closing quote": (_HEAD + b'1,"a"b,2\n', ("line 2",), []),
    "title": (
        b"Sales 2024\n\nid,name,amount\n1,a,2\n2,b,3\n",
        ("title", "line 1", "line 3"),
        ["skip-rows:2"],
    ),
    "title filled up with commas": (b"Sales,,\n,,\nid,name,amount\n1,a,2\n", ("title",), ["skip-rows:2"]),
    "too many columns": (b",".join(b"c%d" % i for i in range(10_001)) + b"\n", ("10001", "10000"), []),
    "Parquet": (b"PAR1\x15\x04\x15\x00" + b"\x00" * 50 + b"PAR1", ("Parquet",), []),
    "zip": (b"PK\x03\x04\x14\x00\x00\x00" + bytes(range(256)), ("zip archive",), []),
    "web page": (b"\n<!DOCTYPE html>\n<html></html>", ("HTML",), []),
    "JSON error page": (b'{"error": "not found"}', ("JSON",), []),
    "PDF": (b"%PDF-1.7\n1 0 obj", ("PDF",), []),
    "old Office file": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), ("Office", ".xlsx"), []),
    "XML": (b'<?xml version="1.0"?><a/>', ("XML",), []),
}


@pytest.mark.parametrize(("content", "words", "repairs"), _REFUSED.values(), ids=list(_REFUSED))
def test_a_bad_file_is_refused(
    desk: Desk, content: bytes, words: tuple[str, ...], repairs: list[str]
) -> None:
    error = desk.refusal(content)
    for word in words:
        assert word in f"{error.message} {error.suggestion}"
    assert ids(error) == repairs


_ROWS: Rows = [("1", "a", "2.5"), ("2", "b", "3.5")]
_READ: dict[str, tuple[bytes, Rows]] = {
    "plain": (b"id,name,amount\n1,a,2.5\n2,b,3.5\n", _ROWS),
    "no newline at the end": (b"id,name,amount\n1,a,2.5\n2,b,3.5", _ROWS),
    "CRLF": (b"id,name,amount\r\n1,a,2.5\r\n2,b,3.5\r\n", _ROWS),
    "CR only": (b"id,name,amount\r1,a,2.5\r2,b,3.5\r", _ROWS),
    "semicolons": (b"id;name;amount\n1;a;2.5\n2;b;3.5\n", _ROWS),
    "tabs": (b"id\tname\tamount\n1\ta\t2.5\n2\tb\t3.5\n", _ROWS),
    "pipes": (b"id|name|amount\n1|a|2.5\n2|b|3.5\n", _ROWS),
    "byte order mark": (b"\xef\xbb\xbfid,name,amount\n1,a,2.5\n2,b,3.5\n", _ROWS),
    "blank lines": (b"id,name,amount\n\n1,a,2.5\n\n\n2,b,3.5\n\n", _ROWS),
    "quoted": (b'"id","name","amount"\n"1","a","2.5"\n"2","b","3.5"\n', _ROWS),
    "Excel's sep line": (b"sep=;\nid;name;amount\n1;a;2.5\n2;b;3.5\n", _ROWS),
    "decimal commas": (b"a;b\n1,5;2,5\n3,5;4,5\n", [("1,5", "2,5"), ("3,5", "4,5")]),
    "semicolons in a text column": (
        b"id,text\n1,a;b\n2,c;d\n3,e;f\n",
        [("1", "a;b"), ("2", "c;d"), ("3", "e;f")],
    ),
    "commas in quotes": (b'id,name\n1,"a, b"\n2,"c"\n', [("1", "a, b"), ("2", "c")]),
    "newline in quotes": (b'id,name\r\n1,"a\nb"\r\n2,c\r\n', [("1", "a\nb"), ("2", "c")]),
    "quotes in quotes": (b'id,name\n1,"say ""hi"""\n', [("1", 'say "hi"')]),
    "header with commas in quotes": (b'"a,b";c\n1;2\n', [("1", "2")]),
    "newline in the header": (b'"a\nb",c\n1,2\n', [("1", "2")]),
    "empty cells": (b'id,name\n1,\n"",b\n', [("1", None), (None, "b")]),
    "blank lines of one column": (b"id\n1\n\n2\n", [("1",), (None,), ("2",)]),
    "header only": (b"id,name\n", []),
    "spaces and zeros stay": (b"id,name\n007, a \n", [("007", " a ")]),
    "a row like a comment": (b"id,name\n#1,a\n", [("#1", "a")]),
}


@pytest.mark.parametrize(("content", "rows"), _READ.values(), ids=list(_READ))
def test_a_clean_file_is_read_where_it_is(desk: Desk, content: bytes, rows: Rows) -> None:
    table = desk.table(content)
    assert desk.rows(table) == rows
    assert list(desk.out.iterdir()) == []
    assert table.notes == ()
    assert table.name == ""


def test_line_ends_of_several_kinds_are_written_again(desk: Desk) -> None:
    table = desk.table(b'id,name\r\n1,a\n2,"b\nc"\r\n')
    assert desk.rows(table) == [("1", "a"), ("2", "b\nc")]
    assert str(desk.out) in table.relation


def test_the_reading_of_a_plain_file_says_no_more_than_its_kind(desk: Desk) -> None:
    assert desk.table(b"id,name\n1,a\n").reading == {
        "kind": "csv",
        "compression": "",
        "member": "",
        "sheet": "",
        "encoding": "utf-8",
        "delimiter": ",",
        "skipped_rows": 0,
        "header": True,
        "ragged": "refuse",
        "repairs": [],
    }


@pytest.mark.parametrize(
    ("content", "before"),
    [(b"a,b\n1,2\n", 1), (b"sep=,\na,b\n1,2\n", 2), (b'"a\nb",c\n1,2\n', 2), (b"a,b\n\n1,2\n", 1)],
    ids=["plain", "sep line", "header of two lines", "blank line"],
)
def test_lines_before_the_first_row(desk: Desk, content: bytes, before: int) -> None:
    assert desk.table(content).rows_before == before


def test_short_rows_are_filled_when_agreed(desk: Desk) -> None:
    table = desk.table(_HEAD + b"1,a,2\n2,b\n", repairs=["pad-rows"])
    assert desk.rows(table) == [("1", "a", "2"), ("2", "b", None)]
    assert (table.reading["ragged"], table.reading["repairs"]) == ("pad", ["pad-rows"])
    assert "1 row" in table.notes[0]
    assert "line 3" in table.notes[0]


def test_long_rows_cannot_be_filled(desk: Desk) -> None:
    error = desk.refusal(_HEAD + b"1,a,2,x\n2,b\n", repairs=["pad-rows"])
    assert ids(error) == ["drop-rows"]


def test_rows_are_left_out_when_agreed(desk: Desk) -> None:
    table = desk.table(_HEAD + b"1,a,2\n2,b\n3,c,4,5\nTotal\n", repairs=["drop-rows"])
    assert desk.rows(table) == [("1", "a", "2")]
    assert "3 rows" in table.notes[0]


def test_titles_are_skipped_when_agreed(desk: Desk) -> None:
    content = b"Sales 2024\n\nid,name,amount\n1,a,2\n"
    assert "id, name, amount" in desk.refusal(content).repairs[0]["label"]
    table = desk.table(content, repairs=["skip-rows:2"])
    assert table.headers == ("id", "name", "amount")
    assert desk.rows(table) == [("1", "a", "2")]
    assert (table.reading["skipped_rows"], table.rows_before) == (2, 3)


def test_names_that_occur_twice_get_numbers_when_agreed(desk: Desk) -> None:
    table = desk.table(b"amount,Amount,amount_2,amount\n1,2,3,4\n", repairs=["rename-duplicates"])
    assert table.headers == ("amount", "Amount_3", "amount_2", "amount_4")
    assert table.reading["repairs"] == ["rename-duplicates"]


def test_the_index_of_a_data_frame_is_the_number_of_the_row(desk: Desk) -> None:
    table = desk.table(b",name\n0,a\n1,b\n2,c\n")
    assert table.headers == ("row_number", "name")
    assert "row_number" in table.notes[0]


@pytest.mark.parametrize("values", [b"5,a\n1,b\n", b"00,a\n1,b\n", b"0,a\n0,b\n", b",a\n0,b\n", b""])
def test_another_column_without_a_name_has_its_position(desk: Desk, values: bytes) -> None:
    assert desk.table(b",name\n" + values).headers == ("column_1", "name")


def test_empty_names_elsewhere(desk: Desk) -> None:
    table = desk.table(b"id,,column_2, \n1,a,2,3\n")
    assert table.headers == ("id", "column_2_2", "column_2", "column_4")
    assert len(table.notes) == 2


def test_what_is_given_is_applied_exactly(desk: Desk) -> None:
    given = {**desk.table(b"a;b\n1;2\n").reading, "skipped_rows": 1, "header": False}
    table = desk.table(b"x,y,z\n1;2,5\n3;4\n", given=[given])
    assert table.headers == ("column_1", "column_2")
    assert desk.rows(table) == [("1", "2,5"), ("3", "4")]
    assert table.reading == given


def test_a_rule_for_ragged_rows_is_kept_for_a_file_without_them(desk: Desk) -> None:
    given = {**desk.table(b"a,b\n1,2\n").reading, "ragged": "pad", "repairs": ["pad-rows"]}
    assert desk.table(b"a,b\n1,2\n", given=[given]).reading == given
    assert desk.rows(desk.table(b"a,b\n1\n", given=[given])) == [("1", None)]


def test_an_endless_line_is_refused_soon(desk: Desk) -> None:
    started = time.perf_counter()
    assert "16 MB" in desk.refusal(b"id,name\n1," + b"x" * (40 << 20)).message
    assert time.perf_counter() - started < 20


def test_a_strange_file_name_leads_nowhere(desk: Desk) -> None:
    assert desk.rows(desk.table(b"id\n1\n", "x'; COPY (SELECT 1) TO 'y.csv")) == [("1",)]
