"""What reaches a terminal cannot drive it; a caret stands under its construct."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.cli import show


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m", id="colour"),
        pytest.param("a\rb\x07", r"a\rb\x07", id="return and bell"),
        pytest.param("abc\u202ecba", r"abc\u202ecba", id="right to left"),
        pytest.param("\x9b2J", r"\x9b2J", id="C1"),
        pytest.param("a\nb", r"a\nb", id="newline"),
        pytest.param("naïve 東京 🏖", "naïve 東京 🏖", id="ordinary text"),
        pytest.param("\ud800", r"\ud800", id="lone surrogate"),
    ],
)
def test_clean(text: str, shown: str) -> None:
    assert show.clean(text) == shown


@given(st.text(st.characters()))
def test_clean_text_is_printable(text: str) -> None:
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in show.clean(text))
    show.clean(text).encode("utf-8")


@pytest.mark.parametrize(
    ("text", "construct", "line", "under"),
    [
        pytest.param(
            "SELECT * FROM read_csv('x')", "read_csv", "1 | SELECT * FROM read_csv('x')", "read_csv", id="one"
        ),
        pytest.param("SELECT *\nFROM t\nWHERE bad()", "bad", "3 | WHERE bad()", "bad", id="third line"),
        pytest.param("x" * 500 + " bad " + "y" * 500, "bad", None, "bad", id="long line"),
        pytest.param("SELECT '\x1b' + bad", "bad", "1 | SELECT '\\x1b' + bad", "bad", id="escaped before"),
    ],
)
def test_caret(text: str, construct: str, line: str | None, under: str) -> None:
    shown, marks = show.caret(text, text.index(construct), len(construct))
    assert line is None or shown == line
    start = marks.index("^")
    assert shown[start : start + marks.count("^")] == under
    assert len(shown) < 400


@given(st.text(), st.integers(-5, 200), st.integers(-5, 200))
def test_caret_is_total(text: str, position: int, length: int) -> None:
    shown, marks = show.caret(text, position, length)
    assert "\n" not in shown and "^" in marks


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, ""),
        (True, "true"),
        (1.5, "1.5"),
        ([1, "a"], '[1, "a"]'),
        ("\t", r"\t"),
        ("x" * 5000, "x" * 2000 + "…"),
    ],
    ids=["null", "bool", "float", "list", "tab", "long"],
)
def test_cell(value: object, shown: str) -> None:
    assert show.cell(value) == shown


def test_rows_for_programs_are_tab_separated(capsys: pytest.CaptureFixture[str]) -> None:
    show.print_rows([("a", "INTEGER"), ("b", "VARCHAR")], [(1, "x\ty"), (None, "z")])
    assert capsys.readouterr().out == "a\tb\n1\tx\\ty\n\tz\n"


def test_rows_for_people_are_a_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(show, "on_terminal", lambda: True)
    show.print_rows([("name", "VARCHAR"), ("n", "BIGINT")], [("[bold]x[/bold]\x1b[1m", 1), (None, 22)])
    out = capsys.readouterr().out
    assert "[bold]x[/bold]\\x1b[1m" in out and "null" in out and "\x1b" not in out
    assert [line.rstrip()[-2:] for line in out.splitlines()[3:5]] == [" 1", "22"], "numbers are right-aligned"


def test_json_can_say_anything(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    show.print_json({"x": "\ud800 é"}, indent=None)
    out = capsysbinary.readouterr().out
    assert json.loads(out) == {"x": "\ud800 é"}
