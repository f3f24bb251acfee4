"""The first look: bounds and invisible characters, in linear time."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.errors import ErrorCode
from sandtable.policy.pregate import MAX_DEPTH, MAX_JOINS, pregate

_MB = 1 << 20


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1",
        "SELECT\t1\r\n;",
        "SELECT 'Zürich', '東京', '🙂', '❤️', 'שלום'",
        "SELECT " + "(" * MAX_DEPTH + "1" + ")" * MAX_DEPTH,
        "SELECT '" + "(" * 500 + "'",
        'SELECT "' + "[" * 500 + '"',
        "SELECT 1 -- " + "(" * 500,
        "SELECT 1 /* " + "(" * 500 + " */",
        "SELECT $$" + "(" * 500 + "$$",
        "SELECT " + "(1)," * 500 + "1",
        "FROM a" + " JOIN b" * MAX_JOINS,
        "SELECT 10 / 2 - 1",
    ],
)
def test_ordinary_text_passes(text: str) -> None:
    assert pregate(text, 64 << 10) is None


@pytest.mark.parametrize(
    ("text", "construct", "position"),
    [
        ("SELECT\u00a01", "U+00A0", 6),
        ("SELECT '\u200b'", "U+200B", 8),
        ("é\u202e", "U+202E", 1),
        ("a\x00b", "U+0000", 1),
        ("a\ud800", "U+D800", 1),
        ("\ufeffSELECT 1", "U+FEFF", 0),
        ("SELECT " + "(" * (MAX_DEPTH + 1), "nesting", None),
        ("SELECT '' " + "[{(" * MAX_DEPTH, "nesting", None),
        ("FROM a" + " JOIN b" * (MAX_JOINS + 1), "JOIN", None),
        (" ; \n", "empty text", None),
        ("", "empty text", None),
    ],
)
def test_refused_with_its_place(text: str, construct: str, position: int | None) -> None:
    refused = pregate(text, 64 << 10)
    assert refused is not None
    assert (refused.construct, refused.position) == (construct, position)
    assert refused.suggestion


def test_length_is_counted_in_bytes() -> None:
    assert pregate("é" * 50, 100) is None
    refused = pregate("é" * 51, 100)
    assert refused is not None
    assert refused.code is ErrorCode.VALIDATION_ERROR


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=80))
def test_printable_ascii_is_never_called_invisible(text: str) -> None:
    refused = pregate(text, 1000)
    assert refused is None or not refused.construct.startswith("U+")


@given(st.text(max_size=50))
def test_any_text_gets_an_answer(text: str) -> None:
    refused = pregate(text, 1000)
    assert refused is None or refused.message


@pytest.mark.parametrize(
    "unit",
    ["(", "()", "'", "'a", "$", "$a$", "$a$b", "/*", "/* ", "-", "--\n", "/", "x", "join ", "\"'$/-", "é"],
)
def test_a_megabyte_takes_linear_time(unit: str) -> None:
    text = unit * (_MB // len(unit))
    started = time.process_time()
    pregate(text, 4 * _MB)
    # What is not linear takes minutes.
    assert time.process_time() - started < 20
