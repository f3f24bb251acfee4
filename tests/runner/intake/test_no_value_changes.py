"""The law of stage two: a typed value, written again, says what its cell says; quick checks agree with slow ones."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sandtable_runner.intake import checking, dates, numbers, words
from sandtable_runner.intake.reading import Reading
from tests.runner.intake.cells import Bench

_BENCH = Bench()
_MARKS = [("", "."), ("", ","), (",", "."), (".", ","), (" ", ","), ("'", "."), ("\u202f", ",")]
_NEGATIVE: list[Callable[[str], str]] = [
    lambda text: f"-{text}",
    lambda text: f"{text}-",
    lambda text: f"({text})",
    lambda text: f"\u2212{text}",
]
_UNITS: list[Callable[[str], str]] = [
    lambda text: text,
    lambda text: f"{text}%",
    lambda text: f"{text} %",
    lambda text: f"€{text}",
    lambda text: f"{text} EUR",
    lambda text: f"{text} €",
]


def _grouped(digits: str, mark: str) -> str:
    return f"{int(digits):,}".replace(",", mark) if mark else digits


@st.composite
def _columns_of_numbers(draw: st.DrawFn) -> list[tuple[str, Decimal]]:
    """Cells in one style, each with the number that it was written from."""
    group, decimal = draw(st.sampled_from(_MARKS))
    negative, unit = draw(st.sampled_from(_NEGATIVE)), draw(st.sampled_from(_UNITS))
    places = draw(st.integers(0, 6))
    cells: list[tuple[str, Decimal]] = []
    for _ in range(draw(st.integers(1, 6))):
        whole = str(draw(st.integers(0, 10**8)))
        fraction = "".join(draw(st.lists(st.sampled_from("0123456789"), min_size=places, max_size=places)))
        number = Decimal(f"{whole}.{fraction or 0}")
        text = _grouped(whole, group) + (f"{decimal}{fraction}" if fraction else "")
        if draw(st.booleans()):
            text, number = negative(text), -number
        cells.append((unit(text), number))
    return cells


@given(_columns_of_numbers())
def test_numbers_keep_their_value(cells: list[tuple[str, Decimal]]) -> None:
    """Read as the number, or asked, or left as text."""
    typed = _BENCH.decide({"x": [text for text, _ in cells]})
    if typed.decision.questions or typed.types["x"] == "VARCHAR":
        assert typed.values["x"] == [text for text, _ in cells]
    else:
        # The shortest text of a float is what it was written from, up to fifteen digits.
        assert [Decimal(str(value)) for value in typed.values["x"]] == [number for _, number in cells]


_FORMATS = [form or "%Y-%m-%d" for form in dates.DATES]
_CLOCKS = ["", " %H:%M", "T%H:%M:%S", " %I:%M %p", " %H:%M:%S.%f"]


@given(
    st.lists(st.datetimes(dt.datetime(1970, 1, 1), dt.datetime(2060, 1, 1)), min_size=1, max_size=6),
    st.sampled_from(_FORMATS),
    st.sampled_from(_CLOCKS),
)
def test_dates_keep_their_day(moments: list[dt.datetime], form: str, clock: str) -> None:
    cells = [moment.strftime(form + clock) for moment in moments]
    typed = _BENCH.decide({"x": cells})
    if typed.decision.questions or typed.types["x"] == "VARCHAR":
        assert typed.values["x"] == cells
        return
    expected = [dt.datetime.strptime(cell, form + clock) for cell in cells]
    assert typed.values["x"] == (expected if clock else [moment.date() for moment in expected])


_TEXT = st.text(st.sampled_from("0123456789.,-+()% eE_$€/:TZnaif'\u2212\u00a0\u0662"), max_size=12)


@given(st.lists(_TEXT, min_size=1, max_size=8))
def test_any_text_is_kept_or_read_as_one_meaning(cells: list[str]) -> None:
    """What is typed can be read by Python's own rules from the same text, or was asked."""
    typed = _BENCH.decide({"x": cells})
    if typed.types["x"] == "VARCHAR":
        kept = ["" if value is None else value for value in typed.values["x"]]
        assert kept == ["" if cell in typed.column("x")["empty"] else cell for cell in cells]
    elif typed.types["x"] in ("BIGINT", "DOUBLE") and not typed.column("x")["format"]:
        for cell, value in zip(cells, typed.values["x"], strict=True):
            trimmed = cell.strip(numbers.BLANKS)
            if trimmed in typed.column("x")["empty"]:
                assert value is None
            else:
                assert Decimal(str(value)) == _plain(trimmed), cell


def _plain(text: str) -> Decimal:
    bare = text.replace("%", "").strip(" \u00a0").replace("\u2212", "-").replace(" ", "")
    if bare.startswith("("):
        return -Decimal(bare.strip("()"))
    return -Decimal(bare[:-1]) if bare.endswith("-") else Decimal(bare)


_READINGS = [
    Reading("integer"),
    Reading("decimal"),
    Reading("decimal", ",."),
    Reading("date"),
    Reading("date", "%d/%m/%Y"),
    Reading("date", "%d/%m/%y"),
    Reading("timestamp"),
    Reading("time"),
    Reading("boolean"),
    words.boolean(("yes",), ("no",)),
]
_NEARLY = st.one_of(
    _TEXT,
    st.integers().map(str),
    st.floats().map(str),
    st.floats(allow_nan=False).map(lambda number: f"{number:.20g}"),
    st.decimals(allow_nan=True).map(str),
    st.dates().map(str),
    st.dates().map(lambda day: day.strftime("%d/%m/%Y")),
    st.dates().map(lambda day: f"{day.day}/{day.month}/{day.year % 100:02}"),
    st.datetimes().map(str),
    st.times().map(str),
    st.from_regex(r"[0-9]{1,5}-[0-9]{1,2}-[0-9]{1,2}( \(BC\))?", fullmatch=True),
    st.from_regex(r"[0-9]{1,2}:[0-9]{2}(:[0-9]{2})?", fullmatch=True),
    st.sampled_from(
        [
            "true",
            "TRUE",
            "yes",
            "no ",
            "infinity",
            "-inf",
            "nan",
            "epoch",
            "0x1F",
            "1e5",
            "00.5",
            "NaN",
            *(
                "Infinity",
                "-Infinity",
                "9007199254740993",
                "0.10000000000000001",
                "1e-310",
                "14.142857142857142",
            ),
        ]
    ),
)


@example(Reading("decimal"), "1e-310")
@example(Reading("decimal"), "-Infinity")
@example(Reading("decimal"), "9007199254740993")
@given(st.sampled_from(_READINGS), _NEARLY)
def test_quick_checks_agree_with_slow_ones(reading: Reading, cell: str) -> None:
    sql = checking.in_sql(reading, "x")
    for condition, quick in sql.quick:
        items = f"coalesce({condition}, false), {quick}, coalesce({sql.fits}, false), {sql.value}"
        row = _BENCH.connection.execute(f"SELECT {items} FROM (SELECT ?::VARCHAR AS x)", [cell]).fetchone()
        assert row is not None
        holds, value, fits, slow = row
        if holds:
            assert fits and value == slow, (reading, cell)


@given(st.sampled_from(_READINGS), _NEARLY)
def test_python_proposes_what_the_engine_accepts(reading: Reading, cell: str) -> None:
    """A reading that the engine accepts matches the pattern, so a sample never rules out what all rows would prove."""
    trimmed = cell.strip(numbers.BLANKS)
    fits = checking.fits(reading, "x")
    row = _BENCH.connection.execute(f"SELECT {fits} FROM (SELECT ?::VARCHAR AS x)", [cell]).fetchone()
    if row == (True,):
        if reading.read_as == "boolean":
            assert reading in words.readings_of(trimmed)
        else:
            pattern = numbers.pattern if reading.read_as in ("integer", "decimal") else dates.pattern
            assert re.fullmatch(pattern(reading), trimmed), (reading, cell)


# What a bare cast of the engine makes of a cell, and what stage two makes of it. None: the cell does not fit.
_PITFALLS: list[tuple[str, str, Reading, str, Any, Any]] = [
    ("half a number", "1.5", Reading("integer"), "BIGINT", 2, None),
    ("an exponent", "1e3", Reading("integer"), "BIGINT", 1000, None),
    ("blanks", " 12 ", Reading("integer"), "BIGINT", 12, 12),
    ("hexadecimal", "0x10", Reading("integer"), "BIGINT", 16, None),
    ("underscores", "1_000", Reading("integer"), "BIGINT", 1000, None),
    ("leading zeros", "007", Reading("integer"), "BIGINT", 7, None),
    ("Arabic digits", "١٢", Reading("integer"), "BIGINT", None, None),
    ("infinity", "infinity", Reading("decimal"), "DOUBLE", float("inf"), None),
    ("a long decimal", "9007199254740993.0", Reading("decimal"), "DOUBLE", 9007199254740992.0, None),
    ("too near to zero", "1e-400", Reading("decimal"), "DOUBLE", 0.0, None),
    ("30 February", "2024-02-30", Reading("date"), "DATE", None, None),
    ("the word epoch", "epoch", Reading("date"), "DATE", dt.date(1970, 1, 1), None),
    ("a date with a time", "2024-01-02T10:00:00", Reading("date"), "DATE", dt.date(2024, 1, 2), None),
    ("the first year", "0001-01-01", Reading("date"), "DATE", dt.date(1, 1, 1), dt.date(1, 1, 1)),
    ("the last year", "9999-12-31", Reading("date"), "DATE", dt.date(9999, 12, 31), dt.date(9999, 12, 31)),
    ("two digits of a year", "24-01-02", Reading("date"), "DATE", dt.date(24, 1, 2), None),
    ("before Christ", "0044-03-15 (BC)", Reading("date"), "DATE", "0044-03-15 (BC)", None),
    ("an offset", "2024-01-02T10:00:00+02:00", Reading("timestamp"), "TIMESTAMP",
     dt.datetime(2024, 1, 2, 10), None),
    ("nanoseconds", "2024-01-02 10:00:00.123456789", Reading("timestamp"), "TIMESTAMP",
     dt.datetime(2024, 1, 2, 10, 0, 0, 123456), None),
    ("hour 24 of a day", "2024-01-02T24:00:00", Reading("timestamp"), "TIMESTAMP", dt.datetime(2024, 1, 3), None),
    ("hour 24", "24:00", Reading("time"), "TIME", "24:00:00", None),
    ("digits of a boolean", "1", Reading("boolean"), "BOOLEAN", True, None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("cell", "reading", "sql_type", "cast", "ours"),
    [row[1:] for row in _PITFALLS],
    ids=[row[0] for row in _PITFALLS],
)
def test_casts_of_the_engine_are_not_trusted(
    cell: str, reading: Reading, sql_type: str, cast: Any, ours: Any
) -> None:
    items = f"TRY_CAST(x AS {sql_type}), {checking.value(reading, 'x')}"
    found = _BENCH.connection.execute(f"SELECT {items} FROM (SELECT ?::VARCHAR AS x)", [cell]).fetchone()
    assert found == (cast, ours)


def test_not_a_number_is_no_number() -> None:
    found = _BENCH.connection.execute(
        f"SELECT isnan(TRY_CAST(x AS DOUBLE)), {checking.value(Reading('decimal'), 'x')} FROM (SELECT 'nan' AS x)"
    ).fetchone()
    assert found == (True, None)
