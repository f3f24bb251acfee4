"""Values of pandas, NumPy and Polars as JSON values. Missing, NaN and infinite are all null."""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from sandtable_runner.encode import encode

_DEEPEST = 60
_SAFE = 1 << 53


def _float(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _decimal(value: Decimal) -> Any:
    return encode(value) if value.is_finite() else None


def _moment(value: dt.datetime) -> str | None:
    return None if value is pd.NaT else value.isoformat()


_SIMPLE: dict[type, Callable[[Any], Any]] = {
    type(None): lambda value: None,
    type(pd.NA): lambda value: None,
    type(pd.NaT): lambda value: None,
    bool: bool,
    int: encode,
    float: _float,
    Decimal: _decimal,
    str: str,
    dt.date: dt.date.isoformat,
    dt.datetime: _moment,
    pd.Timestamp: _moment,
    pd.Timedelta: lambda value: encode(value.to_pytimedelta()),
}


def plain(value: Any, depth: int = 0) -> Any:
    """One value, however nested. Unknown types become their text."""
    simple = _SIMPLE.get(type(value))
    if simple is not None:
        return simple(value)
    if depth == _DEEPEST:
        return str(value)[:200]
    if isinstance(value, dict):
        if {"bdata", "dtype"} <= value.keys() and (array := _typed_array(value)) is not None:
            return plain(array, depth)
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, np.ndarray):
        return _array(value, depth)
    if isinstance(value, np.generic):
        return plain(_item(value), depth + 1)
    if isinstance(value, pd.Series | pd.Index | pd.api.extensions.ExtensionArray):
        return [plain(item, depth + 1) for item in value.tolist()]
    simple = next((_SIMPLE[kind] for kind in type(value).__mro__ if kind in _SIMPLE), None)
    return encode(value) if simple is None else simple(value)


def _array(value: np.ndarray, depth: int) -> Any:
    if value.ndim and ((value.dtype.kind in "iub" and value.dtype.itemsize < 8) or _is_harmless(value)):
        return value.tolist()
    if value.dtype.kind == "M":
        return [plain(item, depth + 1) for item in pd.to_datetime(value.ravel())]
    return [plain(item, depth + 1) for item in (value.tolist() if value.ndim else [value.item()])]


def _is_harmless(value: np.ndarray) -> bool:
    """Whether its numbers are the same in JSON, checked without reading each of them."""
    if value.dtype.kind == "f" and value.dtype.itemsize <= 8:
        return bool(np.isfinite(value).all())
    return (
        value.dtype.kind in "iu"
        and value.size > 0
        and int(value.max()) <= _SAFE
        and int(value.min()) >= -_SAFE
    )


def _item(value: np.generic) -> Any:
    if isinstance(value, np.datetime64):
        return pd.Timestamp(value)
    if isinstance(value, np.timedelta64):
        return pd.Timedelta(value)
    item = value.item()
    # `item` of a longdouble returns a longdouble.
    return (
        float(item) if isinstance(item, np.floating) else str(item) if isinstance(item, np.generic) else item
    )


def _typed_array(value: dict[Any, Any]) -> np.ndarray | None:
    """Plotly packs arrays as base64; every version of Plotly.js reads lists."""
    try:
        array = np.frombuffer(base64.b64decode(value["bdata"]), dtype=value["dtype"])
        shape = value.get("shape")
        return array.reshape([int(part) for part in str(shape).split(",")]) if shape else array
    except (TypeError, ValueError, binascii.Error):
        return None
