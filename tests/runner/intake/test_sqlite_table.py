"""Columns of SQLite databases: what the types of their values make of them, and moments that are counted."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.runner.intake.cells import Bench
from tests.runner.intake.databases import Row, sqlite
from tests.runner.intake.ingest_job import Job

_DAY = 1_700_000_000
# The declared type, values, the type of the column, and its values.
_COLUMNS: dict[str, tuple[str, list[object], str, list[object]]] = {
    "whole numbers": ("INTEGER", [1, None, -(2**63), 2**63 - 1], "BIGINT", [1, None, -(2**63), 2**63 - 1]),
    "without a declared type": ("", [1, 2], "BIGINT", [1, 2]),
    "decimals": ("REAL", [1, 2.5, None], "DOUBLE", [1.0, 2.5, None]),
    "amounts, some whole": ("DECIMAL(10,2)", [10, 9.99], "DOUBLE", [10.0, 9.99]),
    "whole numbers too large for decimals": ("NUM", [2**53 + 1, 0.5], "VARCHAR", [str(2**53 + 1), "0.5"]),
    "infinity": ("REAL", [1.5, math.inf], "VARCHAR", ["1.5", "inf"]),
    "declared as boolean": ("BOOLEAN", [1, 0, None], "BOOLEAN", [True, False, None]),
    "declared as boolean, with a 2": ("BOOLEAN", [1, 2], "BIGINT", [1, 2]),
    "text": ("TEXT", ["a", "", None, "N/A", "NULL", "\\N"], "VARCHAR", ["a", "", None, "N/A", "NULL", "\\N"]),
    "text with line ends and marks": ("TEXT", ["a\r\nb", "\r", '"', ",", " x "], "VARCHAR",
                                      ["a\r\nb", "\r", '"', ",", " x "]),
    "numbers as text": ("TEXT", ["1", "", "12"], "BIGINT", [1, None, 12]),
    "leading zeros": ("TEXT", ["01067", "50667"], "VARCHAR", ["01067", "50667"]),
    "money": ("TEXT", ["€ 1.50", "€ 2.00"], "DECIMAL(18,2)", ["1.50", "2.00"]),
    "dates": ("DATE", ["2024-01-31", None], "DATE", ["2024-01-31", None]),
    "moments": ("DATETIME", ["2024-01-31 10:00:00"], "TIMESTAMP", ["2024-01-31 10:00:00"]),
    "a moment in decimals": ("DATETIME", [2460341.5], "DOUBLE", [2460341.5]),
    "numbers that no one declared as moments": ("INTEGER", [_DAY], "BIGINT", [_DAY]),
    "numbers and an empty text": ("INTEGER", [1, "", 3], "BIGINT", [1, None, 3]),
    "numbers and words": ("INTEGER", [1, "two"], "VARCHAR", ["1", "two"]),
    "short binary values": ("BLOB", [b"\x00\xff", None], "VARCHAR", ["00ff", None]),
    "nothing, declared as INTEGER": ("INTEGER", [None], "BIGINT", [None]),
    "nothing, declared as FLOAT": ("FLOAT", [None], "DOUBLE", [None]),
    "nothing, declared as DATE": ("DATE", [None], "DATE", [None]),
    "nothing, declared as TIMESTAMP": ("TIMESTAMP", [None], "TIMESTAMP", [None]),
    "nothing, declared as BOOL": ("BOOL", [None], "BOOLEAN", [None]),
    "nothing at all": ("", [None], "VARCHAR", [None]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("declared", "values", "sql_type", "expected"), _COLUMNS.values(), ids=list(_COLUMNS)
)
def test_a_column_is_what_its_values_are(
    job: Job, declared: str, values: list[object], sql_type: str, expected: list[object]
) -> None:
    found = job(sqlite(f"CREATE TABLE t (x {declared})", {"t": [(value,) for value in values]}))
    assert not found.answer["questions"]
    assert found.types == {"t": {"x": sql_type}}
    plain = [value if type(value).__module__ == "builtins" else str(value) for (value,) in found.rows["t"]]
    assert plain == expected


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=30))
@example([5e-324, 1.7976931348623157e308, 1e22, 1e16, 0.1, -0.0, 123456789012345680.0])
def test_a_decimal_keeps_every_bit(values: list[float]) -> None:
    bench = Bench()
    reading = {"read_as": "decimal", "format": "", "unit": "", "empty": [""], "misfits": "refuse"}
    usual = [value for value in values if math.isfinite(value) and (not value or abs(value) >= 1e-300)]
    if usual:
        column = {"header": "x", "name": "x", "true": [], "false": [], "reason": "", **reading}
        typed = bench.decide({"x": [repr(value) for value in usual]}, given=[column])
        assert [struct.pack("d", each) for each in typed.values["x"]] == [struct.pack("d", v) for v in usual]


def test_text_that_is_a_key_is_no_number(job: Job) -> None:
    script = """
    CREATE TABLE products (code TEXT PRIMARY KEY, pack TEXT);
    CREATE TABLE sales (product TEXT REFERENCES products(code), day TEXT PRIMARY KEY);
    """
    rows: dict[str, list[Row]] = {"products": [("1", "6"), ("A2", "12")], "sales": [("1", "2024-01-31")]}
    found = job(sqlite(script, rows))
    assert found.types["products"] == {"code": "VARCHAR", "pack": "BIGINT"}
    assert found.types["sales"] == {"product": "VARCHAR", "day": "DATE"}


_EVENTS = "CREATE TABLE events (created DATETIME, updated TIMESTAMP, n INT)"


def test_counted_moments_are_asked_about_once_for_a_table(job: Job) -> None:
    content = sqlite(_EVENTS, {"events": [(_DAY, _DAY + 60, 1), (0, None, 2)]})
    (question,) = job(content).answer["questions"]
    assert question["id"] == "events.created"
    assert "columns created and updated" in question["text"]
    assert [choice["answer"] for choice in question["choices"]] == [
        "unix-seconds", "unix-milliseconds", "integer",
    ]  # fmt: skip
    assert question["choices"][0]["label"] == "14 November 2023 22:13 (seconds since 1970)"
    seconds = job(content, {"events.created": "unix-seconds"})
    assert seconds.types["events"] == {"created": "TIMESTAMP", "updated": "TIMESTAMP", "n": "BIGINT"}
    assert [str(value) for value in seconds.rows["events"][0][:2]] == [
        "2023-11-14 22:13:20",
        "2023-11-14 22:14:20",
    ]
    assert seconds.column("events", "updated")["reason"] == "as in column created"
    numbers = job(content, {"events.created": "integer"})
    assert set(numbers.types["events"].values()) == {"BIGINT"}
    again = job(content, recipes=seconds.recipes)
    assert again.rows == seconds.rows


@pytest.mark.parametrize(
    ("value", "choices"),
    [
        (_DAY * 1000, ["unix-milliseconds", "unix-microseconds", "integer"]),
        (_DAY * 1_000_000, ["unix-microseconds", "integer"]),
    ],
)
def test_only_units_that_give_a_year_are_offered(job: Job, value: int, choices: list[str]) -> None:
    content = sqlite(_EVENTS, {"events": [(value, None, 1)]})
    (question,) = job(content).answer["questions"]
    assert [choice["answer"] for choice in question["choices"]] == choices
    found = job(content, {"events.created": choices[0]})
    assert str(found.rows["events"][0][0]) == "2023-11-14 22:13:20"


def test_a_number_that_is_no_moment_is_not_asked_about(job: Job) -> None:
    assert job(sqlite(_EVENTS, {"events": [(2**62, None, 1)]})).types["events"]["created"] == "BIGINT"


def test_any_column_can_be_read_in_another_way(job: Job) -> None:
    content = sqlite("CREATE TABLE t (at INT, flag BOOLEAN, code INT)", {"t": [(_DAY, 1, 7)]})
    found = job(content, {"t.at": "timestamp:unix-seconds", "t.flag": "integer", "t.code": "text"})
    assert found.types["t"] == {"at": "TIMESTAMP", "flag": "BIGINT", "code": "VARCHAR"}
