"""Library values as JSON values: strict JSON, whatever comes in."""

from __future__ import annotations

import base64
import datetime as dt
import json
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sandtable_runner.python.plain import plain

_PACKED = {"bdata": base64.b64encode(np.array([1.5, 2.5]).tobytes()).decode(), "dtype": "f8"}
_CASES: dict[str, tuple[Any, Any]] = {
    "none": (None, None),
    "bool": (True, True),
    "numpy bool": (np.bool_(True), True),
    "int": (7, 7),
    "numpy int": (np.int64(7), 7),
    "long int": (2**60, str(2**60)),
    "numpy long int": (np.int64(2**60), str(2**60)),
    "float": (1.5, 1.5),
    "float32": (np.float32(0.5), 0.5),
    "longdouble": (np.longdouble(0.5), 0.5),
    "nan": (float("nan"), None),
    "infinity": (float("-inf"), None),
    "numpy nan": (np.float64("nan"), None),
    "NA": (pd.NA, None),
    "NaT": (pd.NaT, None),
    "numpy NaT": (np.datetime64("NaT", "s"), None),
    "decimal": (Decimal("1.5"), 1.5),
    "decimal nan": (Decimal("NaN"), None),
    "date": (dt.date(2024, 1, 2), "2024-01-02"),
    "moment": (dt.datetime(2024, 1, 2, 3), "2024-01-02T03:00:00"),
    "timestamp": (pd.Timestamp("2024-01-02 03:00"), "2024-01-02T03:00:00"),
    "numpy moment": (np.datetime64("2024-01-02"), "2024-01-02T00:00:00"),
    "duration": (pd.Timedelta("90min"), "PT5400S"),
    "period": (pd.Period("2024-01"), "2024-01"),
    "array": (np.array([1, 2]), [1, 2]),
    "array of nan": (np.array([1.0, float("nan"), float("inf")]), [1.0, None, None]),
    "array of long ints": (np.array([2**60, 1]), [str(2**60), 1]),
    "array of moments": (np.array(["2024-01-02"], dtype="M8[ns]"), ["2024-01-02T00:00:00"]),
    "array of arrays": (np.array([[1.0, 2.0], [3.0, float("nan")]]), [[1.0, 2.0], [3.0, None]]),
    "array of things": (np.array(["a", None], dtype=object), ["a", None]),
    "empty array": (np.array([]), []),
    "scalar array": (np.array(3), [3]),
    "series": (pd.Series([1.0, None]), [1.0, None]),
    "index": (pd.Index(["a"]), ["a"]),
    "categories": (pd.Categorical(["a", "b"]), ["a", "b"]),
    "packed array": (_PACKED, [1.5, 2.5]),
    "packed matrix": ({**_PACKED, "shape": "2, 1"}, [[1.5], [2.5]]),
    "not really packed": ({"bdata": "x", "dtype": "nope"}, {"bdata": "x", "dtype": "nope"}),
    "nested": ({1: [(float("nan"), {"a": np.int8(1)})]}, {"1": [[None, {"a": 1}]]}),
    "set": ({3}, [3]),
    "bytes": (b"\x00", "AA=="),
}


@pytest.mark.parametrize(("value", "expected"), _CASES.values(), ids=list(_CASES))
def test_a_value(value: Any, expected: Any) -> None:
    # As JSON text: 1, 1.0 and true are equal to Python, but not to a reader.
    assert json.dumps(plain(value), allow_nan=False) == json.dumps(expected)


def test_endless_nesting_ends() -> None:
    value: list[Any] = []
    value.append(value)
    json.dumps(plain(value))


def test_a_text_of_a_class_of_its_own() -> None:
    assert plain(np.str_("a")) == "a"
