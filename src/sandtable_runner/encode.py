"""Engine values as JSON values, the same on every machine.

null, booleans and text stay unchanged. Integers up to 2^53 and decimals of up to 15 digits are numbers, longer ones
text. Floats are numbers; NaN and infinities are text. Dates and times are ISO 8601, blobs base64, lists are arrays,
structs and maps with text keys objects, other maps arrays of pairs. Intervals, nanoseconds and infinite dates are the
engine's text: Python cannot represent them.
"""

from __future__ import annotations

import base64
import datetime as dt
import json
import math
import re
import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Any

_SAFE_INTEGER = 1 << 53
SAFE_DIGITS = 15

# The driver returns these for infinite dates, and for real ones with the same value.
_EDGES: dict[type, tuple[Any, ...]] = {
    dt.date: (dt.date.min, dt.date.max),
    dt.datetime: (dt.datetime.min, dt.datetime.max),
}
_MOMENT = re.compile(r"^(\d{4}-\d\d-\d\d) (\d\d:)")


class Inexact(Exception):
    """A value that Python cannot represent: its column must be fetched as text."""


class CellTooLarge(Exception):
    """A value longer than the limit of one cell."""


def _integer(value: int) -> int | str:
    return value if -_SAFE_INTEGER <= value <= _SAFE_INTEGER else str(value)


def _decimal(value: Decimal) -> float | int | str:
    if not value.is_finite():
        return str(value)
    if len(value.as_tuple().digits) > SAFE_DIGITS:
        return format(value, "f")
    return int(value) if value == value.to_integral_value() else float(value)


def _float(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _interval(value: dt.timedelta) -> str:
    """ISO 8601 duration in seconds with fractions: `PT5400S`."""
    micros = value // dt.timedelta(microseconds=1)
    sign = "-" if micros < 0 else ""
    seconds, rest = divmod(abs(micros), 1_000_000)
    return f"{sign}PT{seconds}" + (f".{rest:06d}".rstrip("0") if rest else "") + "S"


def _blob(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _struct(value: dict[Any, Any]) -> Any:
    if all(isinstance(key, str) for key in value):
        return {key: encode(item) for key, item in value.items()}
    return [[encode(key), encode(item)] for key, item in value.items()]


_ENCODERS: dict[type, Callable[[Any], Any]] = {
    bool: bool,
    str: str,
    int: _integer,
    float: _float,
    Decimal: _decimal,
    dt.datetime: dt.datetime.isoformat,
    dt.date: dt.date.isoformat,
    dt.time: dt.time.isoformat,
    dt.timedelta: _interval,
    bytes: _blob,
    bytearray: _blob,
    memoryview: _blob,
    uuid.UUID: str,
    list: lambda value: [encode(item) for item in value],
    tuple: lambda value: [encode(item) for item in value],
    dict: _struct,
}


def encode(value: Any) -> Any:
    if value is None:
        return None
    encoder = _ENCODERS.get(type(value))
    return encoder(value) if encoder else str(value)


def encode_row(row: tuple[Any, ...], cell_bytes: int, texts: set[int] | None = None) -> tuple[list[Any], int]:
    """The row and its approximate size in bytes of JSON. `texts`: columns that are the engine's text.

    Raises CellTooLarge or Inexact with the column's index.
    """
    cells: list[Any] = []
    total = 2
    for index, value in enumerate(row):
        if type(value) in _EDGES and value in _EDGES[type(value)]:
            raise Inexact(index)
        cell = iso(value) if texts and index in texts and value is not None else encode(value)
        size = json_size(cell)
        if size > cell_bytes:
            raise CellTooLarge(index, size)
        cells.append(cell)
        total += size + 1
    return cells, total


def iso(text: str) -> str:
    """`2025-01-02 03:04:05.000000001` with a T, like other timestamps; anything else unchanged."""
    return _MOMENT.sub(r"\1T\2", text)


def text_size(text: str) -> int:
    """Bytes of JSON: a control character takes six."""
    if text.isascii() and text.isprintable():
        return len(text) + 2 + text.count('"') + text.count("\\")
    return len(json.dumps(text, ensure_ascii=False).encode(errors="replace"))


def json_size(cell: Any) -> int:
    """Approximate size of a JSON value in bytes."""
    if isinstance(cell, str):
        return text_size(cell)
    if isinstance(cell, list):
        return 2 + sum(json_size(item) + 1 for item in cell)
    if isinstance(cell, dict):
        return 2 + sum(text_size(key) + 2 + json_size(item) for key, item in cell.items())
    return len(repr(cell))
