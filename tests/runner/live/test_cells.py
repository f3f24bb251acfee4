"""PostgreSQL's texts as the cells that DuckDB's runner gives: nothing is rounded or cut."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable_runner import engine
from sandtable_runner.live.postgres.cells import Misfit, UnknownType, cells_of
from sandtable_runner.modes import run_sql

_LIMITS = {"rows": 100, "cell_bytes": 1 << 16, "result_bytes": 1 << 20}
# As PostgreSQL writes them, with DuckDB's literal of the same value.
_SAME = {
    "BOOLEAN": [("t", "true"), ("f", "false")],
    "TINYINT": [("-128", "-128"), ("127", "127")],
    "BIGINT": [("9007199254740993", "9007199254740993"), ("-9223372036854775808", "-9223372036854775808")],
    "HUGEINT": [("12345678901234567890123", "12345678901234567890123"), ("7.00", "7")],
    "DECIMAL(10,2)": [("1.5", "1.5"), ("-0.05", "-0.05"), ("0.00", "0"), ("12345678.900", "12345678.9")],
    "DECIMAL(38,20)": [("0", "0"), ("1.5", "1.5"), ("123456789012345678.5", "123456789012345678.5")],
    "DECIMAL(18,0)": [("1234567890123456", "1234567890123456"), ("100", "100")],
    "DOUBLE": [("0.1", "0.1"), ("-0", "-0"), ("1e+300", "1e300"), ("NaN", "nan"), ("-Infinity", "-inf")],
    "FLOAT": [("0.1", "0.1"), ("3.4028235e+38", "3.4028235e38"), ("1e-45", "1e-45"), ("Infinity", "inf")],
    "DATE": [("2024-02-29", "2024-02-29"), ("0044-03-15 BC", "0044-03-15 (BC)"), ("12345-01-01", "12345-01-01")],
    "TIMESTAMP": [
        ("2024-01-02 03:04:05", "2024-01-02 03:04:05"),
        ("2024-01-02 03:04:05.5", "2024-01-02 03:04:05.5"),
        ("0044-03-15 10:00:00.25 BC", "0044-03-15 (BC) 10:00:00.25"),
        ("12345-01-01 00:00:00.5", "12345-01-01 00:00:00.5"),
    ],
    "TIMESTAMP WITH TIME ZONE": [
        ("2024-01-02 03:04:05.5+00", "2024-01-02 03:04:05.5+00"),
        ("0001-01-01 00:00:00+00", "0001-01-01 00:00:00+00"),
        ("12345-01-01 00:00:00.5+00", "12345-01-01 00:00:00.5+00"),
    ],
    "TIME": [("00:00:00", "00:00:00"), ("12:30:00.5", "12:30:00.5"), ("24:00:00", "24:00:00")],
    "TIME WITH TIME ZONE": [("12:00:00.5+02", "12:00:00.5+02"), ("12:00:00-03:30", "12:00:00-03:30"),
                            ("24:00:00+00", "24:00:00+00")],
    "INTERVAL": [
        ("P1Y2M3DT4H5M6.5S", "1 year 2 months 3 days 4 hours 5 minutes 6.5 seconds"),
        ("PT0S", "0 s"), ("P-1Y-1M", "-13 months"), ("PT-0.000001S", "-0.000001 s"),
        ("P2Y1DT-0.5S", "2 years 1 day -0.5 s"), ("P1M-1DT100H", "1 month -1 day 100 hours"), ("P1D", "1 day"),
    ],
    "UUID": [("6ecd8c99-4036-403d-bf84-cf8400f67836", "6ECD8C99-4036-403D-BF84-CF8400F67836")],
    "BLOB": [("\\x00ff", "\\x00\\xFF"), ("\\x", "")],
    "VARCHAR": [("", ""), ("ä\nb", "ä\nb")],
}  # fmt: skip


@pytest.fixture(scope="module")
def duck() -> engine.Connection:
    return engine.connect()


def _shown_by_duckdb(duck: engine.Connection, sql_type: str, literals: list[str]) -> list[Any]:
    values = ", ".join(f"({engine.literal(each)}::{sql_type})" for each in literals)
    answer = run_sql(duck, {"text": f"SELECT * FROM (VALUES {values}) t(a)", "limits": _LIMITS})
    assert answer["status"] == "succeeded", answer
    assert [column["type"] for column in answer["columns"]] == [sql_type]
    return [row[0] for row in answer["rows"]]


@pytest.mark.parametrize("sql_type", _SAME)
def test_a_cell_is_the_one_of_duckdb(duck: engine.Connection, sql_type: str) -> None:
    pairs = _SAME[sql_type]
    shown = _shown_by_duckdb(duck, sql_type, [literal for _, literal in pairs])
    read = [cells_of(sql_type).read(text) for text, _ in pairs]
    # -0.0 == 0.0, and 1 == True.
    assert list(map(repr, read)) == list(map(repr, shown))


@pytest.mark.parametrize(
    ("sql_type", "edge", "literal"),
    [
        ("TIMESTAMP", "infinity", "infinity"),
        ("TIMESTAMP", "-infinity", "-infinity"),
        ("TIMESTAMP", "0001-01-01 00:00:00", "0001-01-01 00:00:00"),
        ("TIMESTAMP", "9999-12-31 23:59:59.999999", "9999-12-31 23:59:59.999999"),
        ("TIMESTAMP WITH TIME ZONE", "infinity", "infinity"),
    ],
)
def test_moments_beside_an_infinite_one_are_text_as_in_duckdb(
    duck: engine.Connection, sql_type: str, edge: str, literal: str
) -> None:
    zone = "+00" if "ZONE" in sql_type else ""
    others = [f"2024-01-02 03:04:05{zone}", f"2024-01-02 03:04:05.5{zone}"]
    cells = cells_of(sql_type)
    read = [cells.read(text) for text in (edge, *others)]
    assert read[0] in cells.edges
    assert list(map(cells.as_text, read)) == _shown_by_duckdb(duck, sql_type, [literal, *others])
    assert cells.as_text(None) is None


@pytest.mark.parametrize(
    ("sql_type", "text"),
    [
        ("BOOLEAN", "1"), ("TINYINT", "128"), ("UBIGINT", "-1"), ("INTEGER", "1.5"), ("INTEGER", "1e3"),
        ("BIGINT", "9" * 5000), ("DECIMAL(10,2)", "0.125"), ("DECIMAL(10,2)", "123456789.00"),
        ("DECIMAL(10,2)", "NaN"), ("DECIMAL(3,3)", "1"), ("DOUBLE", "1e400"), ("DOUBLE", "1" * 400),
        ("DOUBLE", "1_0"), ("DOUBLE", "1e-400"), ("FLOAT", "1e39"), ("FLOAT", "1e-60"), ("DATE", "infinit"),
        ("DATE", "2024-01-01 00:00:00"), ("TIMESTAMP", "2024-01-01 00:00:00+02"),
        ("TIMESTAMP", "294247-01-11 00:00:00"), ("TIMESTAMP WITH TIME ZONE", "2024-01-01 00:00:00"),
        ("TIME", "10:00:00+00"), ("TIME WITH TIME ZONE", "10:00:00"), ("INTERVAL", "infinity"),
        ("INTERVAL", "1 day"), ("UUID", "no"), ("BLOB", "abc"), ("BLOB", "\\xzz"), ('"NULL"', "x"),
    ],
)  # fmt: skip
def test_a_value_without_a_place_is_no_cell(sql_type: str, text: str) -> None:
    with pytest.raises(Misfit):
        cells_of(sql_type).read(text)


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**9), max_value=10**9))
def test_a_decimal_keeps_its_value_or_has_no_place(value: Decimal) -> None:
    try:
        cell = cells_of("DECIMAL(11,2)").read(format(value, "f"))
    except Misfit:
        assert value != round(value, 2) or abs(value) >= 10**9
    else:
        assert Decimal(str(cell)) == value


def test_types_without_cells_are_named() -> None:
    for sql_type in ("INTEGER[]", "STRUCT(a INTEGER)", "BIT", "decimal"):
        with pytest.raises(UnknownType, match=sql_type.split("(", maxsplit=1)[0].rstrip("[]")):
            cells_of(sql_type)
    assert cells_of("ENUM('a', 'b')").read("a") == "a"
