"""Whether two results are equal, up to the noise of floating-point addition.

The result digest almost always agrees across that noise; this decides the rest, when a float fell on an edge of the
digest's grid. Everything but floats must be equal.
"""

from __future__ import annotations

import json
import math
from typing import Any

from sandtable.capsule.result_digest import (
    NOISE,
    Columns,
    Rows,
    as_float,
    encode_cell,
    float_scale,
    floats_in,
)
from sandtable.engines.duckdb.cell_types import CellType, parse_type

TOLERANCE = 1e-9

_Row = tuple[str, tuple[float, ...], tuple[float, ...]]
"""The exact part, the floats in order, and the tolerance of each by its column's scale."""


def agree(columns: Columns, left: Rows, right: Rows) -> bool:
    if len(left) != len(right):
        return False
    types = [parse_type(kind) for _, kind in columns]
    floors = [
        max(float_scale([row[i] for row in rows], kind) for rows in (left, right)) * NOISE
        for i, kind in enumerate(types)
    ]
    ours, theirs = ([_split(row, types, floors) for row in rows] for rows in (left, right))
    return _same(ours, theirs) or _same(sorted(ours), sorted(theirs))


def same_figure(left: Any, right: Any) -> bool:
    """Whether two figures in JSON form are equal in everything but the last digits of their numbers."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same_figure(left[name], right[name]) for name in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same_figure, left, right))
    ours, theirs = as_float(left), as_float(right)
    if ours is None or theirs is None:
        return type(left) is type(right) and left == right
    return _close(ours, theirs, 0.0)


def _split(row: Any, types: list[CellType], floors: list[float]) -> _Row:
    exact = json.dumps([_skeleton(cell, kind) for cell, kind in zip(row, types, strict=True)])
    floats = [list(floats_in(cell, kind)) for cell, kind in zip(row, types, strict=True)]
    slack = tuple(floor for values, floor in zip(floats, floors, strict=True) for _ in values)
    return exact, tuple(value for values in floats for value in values), slack


def _skeleton(cell: Any, kind: CellType) -> Any:
    """The cell's encoding with every finite float as zero."""
    return encode_cell(cell, kind, math.inf)


def _same(left: list[_Row], right: list[_Row]) -> bool:
    return all(
        a[0] == b[0] and len(a[1]) == len(b[1]) and all(map(_close, a[1], b[1], a[2]))
        for a, b in zip(left, right, strict=True)
    )


def _close(a: float, b: float, slack: float) -> bool:
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or abs(a - b) <= max(TOLERANCE * max(abs(a), abs(b)), slack)
