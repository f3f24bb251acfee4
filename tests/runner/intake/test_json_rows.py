"""JSON and NDJSON: one row for each object, one column for each field, digits as in the file."""

from __future__ import annotations

import json
import time

import pytest

from tests.runner.intake.desk import Desk, Rows

_READ: dict[str, tuple[str, bytes, tuple[str, ...], Rows]] = {
    "array of objects": (
        "json",
        b'[{"a": 1.50, "b": "x"},\n {"b": null, "c": true}]',
        ("a", "b", "c"),
        [("1.50", "x", None), (None, None, "true")],
    ),
    "numbers keep their digits": (
        "json",
        b'[{"a": 12345678901234567890.10, "b": 1E5, "c": -0}]',
        ("a", "b", "c"),
        [("12345678901234567890.10", "1E5", "-0")],
    ),
    "one array inside": ("json", b'{"n": 2, "data": [{"a": 1}, {"a": 2}]}', ("a",), [("1",), ("2",)]),
    "columns": ("json", b'{"a": [1, 2], "b": ["x", null]}', ("a", "b"), [("1", "x"), ("2", None)]),
    "columns by row": (
        "json",
        b'{"a": {"0": 1, "1": 2}, "b": {"0": "x", "1": "y"}}',
        ("a", "b"),
        [("1", "x"), ("2", "y")],
    ),
    "one object": ("json", b'{"a": 1, "b": "x"}', ("a", "b"), [("1", "x")]),
    "nested once": ("json", b'[{"a": {"b": 1, "c": "x"}}]', ("a.b", "a.c"), [("1", "x")]),
    "nested deeper": (
        "json",
        b'[{"a": {"b": {"c": 1.0}}, "d": [1, "\xc3\xa4", null]}]',
        ("a.b", "d"),
        [('{"c": 1.0}', '[1, "ä", null]')],
    ),
    "lines": ("ndjson", b'{"a": 1}\n\n{"b": "x\\ny"}\r\n', ("a", "b"), [("1", None), (None, "x\ny")]),
    "lines named JSON": ("json", b'{"a": 1}\n{"a": 2}\n', ("a",), [("1",), ("2",)]),
    "lines named jsonl": ("jsonl", b'{"a": 1}\n', ("a",), [("1",)]),
    "byte order mark": ("json", b'\xef\xbb\xbf[{"a": 1}]', ("a",), [("1",)]),
    "UTF-16": ("json", '[{"a": "ä"}]'.encode("utf-16"), ("a",), [("ä",)]),
    "quotes and delimiters": ("json", b'[{"a": "x,\\"y\\"", "b,c": 1}]', ("a", "b,c"), [('x,"y"', "1")]),
}


@pytest.mark.parametrize(("ending", "content", "headers", "rows"), _READ.values(), ids=list(_READ))
def test_rows_and_columns(
    desk: Desk, ending: str, content: bytes, headers: tuple[str, ...], rows: Rows
) -> None:
    table = desk.table(content, f"orders.{ending}")
    assert table.headers == headers
    assert desk.rows(table) == rows


_REFUSED: dict[str, tuple[bytes, tuple[str, ...]]] = {
    "a value is missing": (b'[{"a": 1},\n{"a": }]', ("line 2", "position 7")),
    "not closed": (b'[{"a": 1}', ("line 1", "ends")),
    "cut in a word": (b'[{"a": tru', ("line 1",)),
    "text after the end": (b'[{"a": 1}]\nx', ("line 2", "position 1")),
    "a bad line": (b'{"a": 1}\n{"a": 2\n', ("line 3",)),
    "another thing between lines": (b'{"a": 1}\n{"a": 2}\n[1]\n', ("line 3",)),
    "an array of numbers": (b"[1, 2]", ("element 1",)),
    "an array of arrays": (b"[[1, 2]]", ("element 1", "array")),
    "one value": (b'"x"', ("no object",)),
    "empty": (b"", ("empty",)),
    "spaces": (b" \n ", ("empty",)),
    "no rows": (b"[]", ("no fields",)),
    "columns of several lengths": (b'{"a": [1], "b": [1, 2]}', ("lengths", "b 2 values")),
    "several tables": (b'{"a": [{"x": 1}], "b": [{"y": 1}]}', ("2 arrays", "a, b")),
    "nested without end": (b"[" * 100_000, ("nested",)),
    "web page": (b"<html></html>", ("HTML",)),
    "a name twice but for its case": (b'[{"a": 1, "A": 2}]', ("'A'",)),
    "half of a pair": (b'[{"a": "\\ud800"}]', ("half", "row 1")),
}


@pytest.mark.parametrize(("content", "words"), _REFUSED.values(), ids=list(_REFUSED))
def test_a_bad_file_is_refused(desk: Desk, content: bytes, words: tuple[str, ...]) -> None:
    message = desk.refusal(content, "orders.json").message
    for word in words:
        assert word in message


def test_what_is_kept_as_json_or_left_out_is_noted(desk: Desk) -> None:
    notes = desk.table(b'{"count": 1, "rows": [{"a": [1]}]}', "orders.json").notes
    assert ["count" in notes[0], "Column a" in notes[1]] == [True, True]


@pytest.mark.parametrize("indent", [None, 1])
def test_values_across_the_pieces_that_are_read(desk: Desk, indent: int | None) -> None:
    made = [{"id": number, "text": "ä" * (number % 97), "flag": number % 2 == 0} for number in range(60_000)]
    started = time.perf_counter()
    table = desk.table(json.dumps(made, indent=indent).encode(), "orders.json")
    assert time.perf_counter() - started < 30
    rows = desk.rows(table)
    assert len(rows) == 60_000
    assert rows[50_001] == ("50001", "ä" * (50_001 % 97) or None, "false")


def test_the_place_of_a_late_fault(desk: Desk) -> None:
    content = b'{"a": "some text"}\n' * 150_000 + b'{"a" 1}\n'
    assert "line 150001, position 6" in desk.refusal(content, "orders.ndjson").message


@pytest.mark.parametrize("text", ["a\rb", "a\r\nb", "\r", 'a\n\rb,"c"'])
@pytest.mark.parametrize("cells", [0, 1], ids=["first", "later"])
def test_carriage_returns_are_part_of_a_cell(desk: Desk, text: str, cells: int) -> None:
    texts = ["plain"] * cells + [text, "end"]
    table = desk.table(json.dumps([{"text": each, "n": 1} for each in texts]).encode(), "orders.json")
    assert desk.rows(table) == [(each, "1") for each in texts]
