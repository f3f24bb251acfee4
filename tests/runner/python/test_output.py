"""Output is bounded while it is written."""

from __future__ import annotations

import sys

import pytest

from sandtable_runner.python.output import Output, captured


def _written(limit: int, *parts: str) -> str:
    output = Output(limit)
    for part in parts:
        output.write(part)
    return output.text()


_NOTE = "\n… [output truncated at 5 bytes]"
_CASES = {
    "nothing": ((), ""),
    "up to the limit": (("ab", "cde"), "abcde"),
    "over it": (("abcdef",), "abcde" + _NOTE),
    "over it in parts": (("abc", "def", "ghi"), "abcde" + _NOTE),
    "a character cut in two": (("abcd€",), "abcd" + _NOTE),
    "nothing after a cut": (("abcd€", "x"), "abcd" + _NOTE),
    "a lone surrogate": (("a\ud800",), "a?"),
}


@pytest.mark.parametrize(("parts", "text"), _CASES.values(), ids=list(_CASES))
def test_what_is_kept(parts: tuple[str, ...], text: str) -> None:
    assert _written(5, *parts) == text


def test_a_limit_of_nothing() -> None:
    assert _written(0, "a") == "\n… [output truncated at 0 bytes]"


def test_a_flood_is_not_kept() -> None:
    output = Output(1000)
    for _ in range(10_000):
        output.write("x" * 1000)
    assert sum(len(part) for part in output._parts) == 1000


def test_writing_tells_the_length_even_when_cut() -> None:
    assert Output(1).write("abc") == 3


def test_only_text_is_written() -> None:
    with pytest.raises(TypeError, match="bytes"):
        Output(9).write(b"x")  # pyright: ignore[reportArgumentType] the mistake under test


def test_both_streams_are_given_back() -> None:
    before = sys.stdout, sys.stderr
    with captured(100) as (stdout, stderr):
        print("out")
        print("err", file=sys.stderr)
    assert (stdout.text(), stderr.text()) == ("out\n", "err\n")
    assert (sys.stdout, sys.stderr) == before


@pytest.mark.parametrize(("text", "start"), [("", True), ("a", False), ("a\n", True), ("a\nb", False)])
def test_whether_a_line_has_begun(text: str, start: bool) -> None:
    output = Output(100)
    output.write(text)
    assert output.at_line_start is start
