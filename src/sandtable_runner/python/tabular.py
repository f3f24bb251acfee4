"""A frame as the table that is shown: columns with the engine's type names, rows of JSON values."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from sandtable_runner.encode import json_size, text_size
from sandtable_runner.python.artifacts import Artifacts, TooMuch
from sandtable_runner.python.plain import plain

_LEAST_COLUMN_BYTES = 24
_LONGEST_NUMBER = 32
_SHORT = frozenset({int, float, bool, type(None)})
"""Types whose JSON is short: integers with more digits than a float holds are already text."""
_NUMBERS = {
    "int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT",
    "uint8": "UTINYINT", "uint16": "USMALLINT", "uint32": "UINTEGER", "uint64": "UBIGINT",
    "float16": "FLOAT", "float32": "FLOAT", "float64": "DOUBLE", "bool": "BOOLEAN", "boolean": "BOOLEAN",
}  # fmt: skip
_OBJECTS: tuple[tuple[tuple[type, ...], str], ...] = (
    ((bool, np.bool_), "BOOLEAN"),
    ((int, np.integer), "BIGINT"),
    ((int, float, np.integer, np.floating), "DOUBLE"),
    ((str,), "VARCHAR"),
    ((dt.datetime,), "TIMESTAMP"),
    ((dt.date,), "DATE"),
    ((dt.time,), "TIME"),
    ((dt.timedelta,), "INTERVAL"),
    ((bytes, bytearray, memoryview), "BLOB"),
    ((list, tuple, dict, set, np.ndarray), "JSON"),
)
Column = tuple[str, str, list[Any]]


def table_content(
    value: pd.DataFrame | pl.DataFrame, limits: dict[str, int], artifacts: Artifacts
) -> tuple[dict[str, Any], int]:
    """The artifact's fields and its size. Raises TooMuch."""
    width = value.shape[1]
    if width * _LEAST_COLUMN_BYTES > artifacts.left:
        raise artifacts.too_large(f"a table of {width} columns")
    most = limits["rows"]
    columns = _of_polars(value, most) if isinstance(value, pl.DataFrame) else _of_pandas(value, most)
    listed = [{"name": name, "type": kind} for name, kind, _ in columns]
    size = sum(text_size(c["name"]) + text_size(c["type"]) + 20 for c in listed)
    if size > artifacts.left:
        raise artifacts.too_large(f"the names of {width} columns have {size} bytes")
    for name, _, cells in columns:
        size += _size(name, cells, limits["cell_bytes"])
        if size > artifacts.left:
            raise artifacts.too_large(f"the table has more than {size} bytes")
    rows = [list(row) for row in zip(*(cells for _, _, cells in columns), strict=True)]
    content = {
        "columns": listed,
        "rows": rows,
        "row_count": len(rows),
        "truncated": value.shape[0] > len(rows),
    }
    return content, size


def _size(name: str, cells: list[Any], limit: int) -> int:
    """Approximate bytes of JSON of the column. Raises TooMuch for a cell over the limit."""
    if limit >= _LONGEST_NUMBER and _SHORT.issuperset(map(type, cells)):
        return len(repr(cells))
    total = 0
    for cell in cells:
        size = json_size(cell)
        if size > limit:
            raise TooMuch(
                f"a value of column {name!r} has {size} bytes; the limit of one cell is {limit}",
                "shorten it, for example with .str[:200]",
            )
        total += size + 1
    return total


def _of_pandas(frame: pd.DataFrame, most: int) -> list[Column]:
    frame = frame.head(most)
    body = [(label, frame.iloc[:, position]) for position, label in enumerate(frame.columns)]
    return [(_name(label), *_typed(series)) for label, series in [*_keys(frame.index), *body]]


def _keys(index: pd.Index) -> list[tuple[Any, pd.Series]]:
    """A meaningful index (a group's key, a date, a label) is shown; row numbers are not."""
    if index.nlevels == 1 and index.name is None and index.dtype.kind in "iu":
        return []
    names = [
        name if name is not None else "index" if index.nlevels == 1 else f"level_{level}"
        for level, name in enumerate(index.names)
    ]
    return [(name, index.get_level_values(level).to_series()) for level, name in enumerate(names)]


def _name(label: Any) -> str:
    parts = label if isinstance(label, tuple) else (label,)
    return "_".join(str(part) for part in parts if str(part))


def _typed(series: pd.Series) -> tuple[str, list[Any]]:
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _typed(series.astype(dtype.categories.dtype if len(dtype.categories) else object))
    kind = _NUMBERS.get(str(dtype).lower())
    if kind is not None:
        held = series.to_numpy() if isinstance(dtype, np.dtype) else series.tolist()
        return kind, plain(held)
    if dtype.kind == "M":
        return _moments(series)
    if dtype.kind == "m":
        return "INTERVAL", [plain(value) for value in series.tolist()]
    if isinstance(dtype, pd.StringDtype):
        return "VARCHAR", [plain(value) for value in series.tolist()]
    if dtype.kind == "O" and isinstance(dtype, np.dtype):
        return _of_objects(series.tolist())
    return "VARCHAR", [None if value is pd.NaT or value is pd.NA else str(value) for value in series.tolist()]


def _moments(series: pd.Series) -> tuple[str, list[Any]]:
    """Timestamps that are all at midnight are dates, as pandas prints them."""
    if series.dt.tz is not None:
        return "TIMESTAMP WITH TIME ZONE", [plain(value) for value in series.tolist()]
    known = series.dropna()
    if len(known) and bool((known == known.dt.normalize()).all()):
        return "DATE", [None if value is pd.NaT else value.date().isoformat() for value in series.tolist()]
    return "TIMESTAMP", [plain(value) for value in series.tolist()]


def _of_objects(values: Iterable[Any]) -> tuple[str, list[Any]]:
    values = list(values)
    known = [value for value in values if not _is_missing(value)]
    if known and all(isinstance(value, Decimal) for value in known):
        scale = max((-int(exponent) for value in known if isinstance(exponent := value.as_tuple().exponent, int)),
                    default=0)  # fmt: skip
        return f"DECIMAL(38,{min(max(scale, 0), 38)})", [plain(value) for value in values]
    for kinds, name in _OBJECTS:
        if known and all(isinstance(value, kinds) for value in known):
            if name == "BIGINT" and any(isinstance(value, bool) for value in known):
                continue
            return name, [None if _is_missing(value) else plain(value) for value in values]
    return "VARCHAR", [None if _is_missing(value) else _text(value) for value in values]


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and value != value)


def _text(value: Any) -> str:
    found = plain(value)
    return found if isinstance(found, str) else str(value)


_POLARS = {
    "Int8": "TINYINT", "Int16": "SMALLINT", "Int32": "INTEGER", "Int64": "BIGINT", "Int128": "HUGEINT",
    "UInt8": "UTINYINT", "UInt16": "USMALLINT", "UInt32": "UINTEGER", "UInt64": "UBIGINT",
    "Float32": "FLOAT", "Float64": "DOUBLE", "Boolean": "BOOLEAN", "Date": "DATE", "Time": "TIME",
    "Duration": "INTERVAL", "Binary": "BLOB", "List": "JSON", "Array": "JSON", "Struct": "JSON",
}  # fmt: skip


def _of_polars(frame: pl.DataFrame, most: int) -> list[Column]:
    columns: list[Column] = []
    for series in frame.head(most).get_columns():
        values = series.to_list()
        dtype = series.dtype
        if isinstance(dtype, pl.Decimal):
            kind = f"DECIMAL({dtype.precision or 38},{dtype.scale})"
        elif isinstance(dtype, pl.Datetime):
            kind = "TIMESTAMP WITH TIME ZONE" if dtype.time_zone else "TIMESTAMP"
        else:
            kind = _POLARS.get(str(dtype.base_type()), "VARCHAR")
        columns.append((_name(series.name), kind, [plain(value) for value in values]))
    return columns
