"""Frames as tables: names, the engine's types, cells, cuts and limits."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sandtable_runner.python.artifacts import Artifacts, TooMuch
from sandtable_runner.python.tabular import table_content

_LIMITS = {"rows": 3, "cell_bytes": 100, "result_bytes": 10_000}


def _table(frame: pd.DataFrame | pl.DataFrame, **limits: int) -> dict[str, Any]:
    given = _LIMITS | limits
    artifacts = Artifacts()
    artifacts.begin(given["result_bytes"])
    return table_content(frame, given, artifacts)[0]


_DAYS = pd.to_datetime(pd.Series(["2024-01-02", None]))
_TYPES: dict[str, tuple[Any, str, list[Any]]] = {
    "int": (pd.Series([1, 2]), "BIGINT", [1, 2]),
    "small int": (pd.Series([1, 2], dtype="int8"), "TINYINT", [1, 2]),
    "unsigned": (pd.Series([1, 2], dtype="uint64"), "UBIGINT", [1, 2]),
    "int with a gap": (pd.array([1, None], dtype="Int64"), "BIGINT", [1, None]),
    "float": (pd.Series([1.5, None]), "DOUBLE", [1.5, None]),
    "infinite": (pd.Series([1.5, float("inf")]), "DOUBLE", [1.5, None]),
    "float32": (pd.Series([0.5, 1], dtype="float32"), "FLOAT", [0.5, 1.0]),
    "bool": (pd.Series([True, False]), "BOOLEAN", [True, False]),
    "bool with a gap": (pd.array([True, None], dtype="boolean"), "BOOLEAN", [True, None]),
    "text": (pd.Series(["a", None]), "VARCHAR", ["a", None]),
    "day": (_DAYS, "DATE", ["2024-01-02", None]),
    "moment": (_DAYS + pd.Timedelta("1h"), "TIMESTAMP", ["2024-01-02T01:00:00", None]),
    "moment with a zone": (
        _DAYS.dt.tz_localize("UTC"),
        "TIMESTAMP WITH TIME ZONE",
        ["2024-01-02T00:00:00+00:00", None],
    ),
    "no moment at all": (pd.Series([pd.NaT, pd.NaT]), "TIMESTAMP", [None, None]),
    "duration": (pd.to_timedelta(pd.Series([1, None]), unit="s"), "INTERVAL", ["PT1S", None]),
    "category of text": (pd.Series(["a", "b"], dtype="category"), "VARCHAR", ["a", "b"]),
    "category of numbers": (pd.Series([3, 4], dtype="category"), "BIGINT", [3, 4]),
    "period": (pd.Series(pd.period_range("2024-01", periods=2, freq="M")), "VARCHAR", ["2024-01", "2024-02"]),
    "things: dates": (pd.Series([dt.date(2024, 1, 2), None], dtype=object), "DATE", ["2024-01-02", None]),
    "things: decimals": (
        pd.Series([Decimal("1.25"), Decimal("3")], dtype=object),
        "DECIMAL(38,2)",
        [1.25, 3],
    ),
    "things: lists": (pd.Series([[1, 2], [3.0]], dtype=object), "JSON", [[1, 2], [3.0]]),
    "things: bools": (pd.Series([True, None], dtype=object), "BOOLEAN", [True, None]),
    "things: numbers": (pd.Series([1, 2.5], dtype=object), "DOUBLE", [1, 2.5]),
    "things: mixed": (pd.Series([1, "a"], dtype=object), "VARCHAR", ["1", "a"]),
    "things: bool and int": (pd.Series([True, 2], dtype=object), "DOUBLE", [True, 2]),
}


@pytest.mark.parametrize(("series", "kind", "cells"), _TYPES.values(), ids=list(_TYPES))
def test_a_column(series: Any, kind: str, cells: list[Any]) -> None:
    table = _table(pd.DataFrame({"x": series}))
    assert table["columns"] == [{"name": "x", "type": kind}]
    assert [row[0] for row in table["rows"]] == cells


_POLARS: dict[str, tuple[pl.Series, str, Any]] = {
    "int": (pl.Series([1]), "BIGINT", 1),
    "float": (pl.Series([float("nan")]), "DOUBLE", None),
    "text": (pl.Series(["a"]), "VARCHAR", "a"),
    "date": (pl.Series([dt.date(2024, 1, 2)]), "DATE", "2024-01-02"),
    "moment": (pl.Series([dt.datetime(2024, 1, 2)]), "TIMESTAMP", "2024-01-02T00:00:00"),
    "list": (pl.Series([[1, 2]]), "JSON", [1, 2]),
    "decimal": (pl.Series([Decimal("1.50")], dtype=pl.Decimal(10, 2)), "DECIMAL(10,2)", 1.5),
    "missing": (pl.Series([None], dtype=pl.Int32), "INTEGER", None),
}


@pytest.mark.parametrize(("series", "kind", "cell"), _POLARS.values(), ids=list(_POLARS))
def test_a_column_of_polars(series: pl.Series, kind: str, cell: Any) -> None:
    table = _table(pl.DataFrame({"x": series}))
    assert (table["columns"], table["rows"]) == ([{"name": "x", "type": kind}], [[cell]])


def _names(frame: Any) -> list[str]:
    return [column["name"] for column in _table(frame)["columns"]]


def test_an_index_that_means_something_is_shown() -> None:
    frame = pd.DataFrame({"k": ["a", "b"], "j": [1, 2], "v": [1, 2]})
    assert _names(frame) == ["k", "j", "v"]
    assert _names(frame[frame["v"] > 1]) == ["k", "j", "v"], "row numbers are not shown"
    assert _names(frame.set_index("k")) == ["k", "j", "v"]
    assert _names(frame.set_index(["k", "j"])) == ["k", "j", "v"]
    assert _names(frame.set_index("j")) == ["j", "k", "v"], "a named index of numbers"
    assert _names(frame.describe()) == ["index", "j", "v"]
    assert _names(frame.groupby("k").agg({"v": ["min", "max"]})) == ["k", "v_min", "v_max"]


def test_names_of_any_kind() -> None:
    assert _names(pd.DataFrame([[1, 2]], columns=pd.Index([3, None], dtype=object))) == ["3", "None"]
    assert _names(pd.DataFrame([[1, 2]], columns=["a", "a"])) == ["a", "a"]


def test_rows_over_the_limit_are_cut_and_it_is_told() -> None:
    table = _table(pd.DataFrame({"x": range(4)}))
    assert (table["rows"], table["row_count"], table["truncated"]) == ([[0], [1], [2]], 3, True)
    assert _table(pd.DataFrame({"x": range(3)}))["truncated"] is False


def test_a_table_without_rows_or_columns() -> None:
    assert _table(pd.DataFrame({"x": []}))["rows"] == []
    assert _table(pd.DataFrame())["columns"] == []


def test_a_million_columns_are_refused_at_once() -> None:
    with pytest.raises(TooMuch, match="1000000 columns"):
        _table(pd.DataFrame(np.zeros((1, 1_000_000))))


def test_a_large_cell_is_refused_by_name() -> None:
    with pytest.raises(TooMuch, match="'x' has 202 bytes"):
        _table(pd.DataFrame({"x": ["a" * 200]}))


def test_a_large_table_is_refused() -> None:
    with pytest.raises(TooMuch, match="more than"):
        _table(pd.DataFrame({"x": ["a" * 90] * 3}), result_bytes=200)
