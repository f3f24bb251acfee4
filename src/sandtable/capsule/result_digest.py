"""The digest of a result: one value for repeats, thread counts, tiers and machines.

Rows are a multiset: each row is encoded, the encodings are sorted, so row order does not matter.
Everything is exact but floats, whose last bits depend on the order in which threads add. They are
snapped to a grid of 26 significant bits (steps of 1.5e-8 to 3e-8, relative). The grid matters:

- Rounding to decimal digits is wrong. 12345678.25 lies on a decimal rounding boundary, as every
  cent, half and quarter does somewhere, so one ulp of noise flips the value that people have most.
- Rounding the mantissa alone is wrong too: powers of two are the boundary of `frexp`, and short
  binary fractions the ties of the rounding.
- So a value is first scaled by K, which has no short form in either base. Natural numbers then lie
  inside a cell of the grid, and noise of a few ulp crosses an edge about once in 10^7 values.

A float below 2^-40 of its column's largest is what cancellation left of a zero, and encodes as zero.
The format is described in docs/capsule.md; changing it makes a new capsule version.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from sandtable.capsule.canonical import canonical, plain
from sandtable.engines.duckdb.cell_types import CellType, ListOf, MapOf, Scalar, Struct, TupleOf, parse_type
from sandtable.engines.types import DigestFamily

K = 1.1283791670955126
BITS = 26
NOISE = 2.0**-40

Columns = Sequence[tuple[str, str]]
"""Name and DuckDB type of each column."""
Rows = Sequence[Sequence[Any]]


def result_digest(columns: Columns, rows: Rows) -> str:
    head = canonical({"format": "sandtable.result/1", "columns": [[name, kind] for name, kind in columns]})
    seen = hashlib.sha256(head)
    for line in sorted(encode_rows(columns, rows)):
        seen.update(b"\n" + line)
    return "sha256:" + seen.hexdigest()


def encode_rows(columns: Columns, rows: Rows) -> list[bytes]:
    types = [parse_type(kind) for _, kind in columns]
    if any(len(row) != len(types) for row in rows):
        raise ValueError("a row has more or fewer cells than there are columns")
    floors = [float_scale([row[i] for row in rows], kind) * NOISE for i, kind in enumerate(types)]
    return [
        json.dumps(
            [encode_cell(cell, kind, floor) for cell, kind, floor in zip(row, types, floors, strict=True)],
            separators=(",", ":"),
        ).encode()
        for row in rows
    ]


def snap(value: float, floor: float = 0.0) -> str:
    """`f:<26-bit integer>:<exponent>`; zero for values below `floor`."""
    if math.isnan(value):
        return "f:NaN"
    if math.isinf(value):
        return "f:Infinity" if value > 0 else "f:-Infinity"
    if value == 0 or abs(value) < floor:
        return "f:0"
    mantissa, exponent = math.frexp(value)
    # Scale the mantissa and not the value: the largest double times K would overflow.
    mantissa, carry = math.frexp(mantissa * K)
    return f"f:{round(mantissa * (1 << BITS))}:{exponent + carry}"


def encode_cell(cell: Any, kind: CellType, floor: float) -> Any:
    if cell is None:
        return None
    match kind:
        case Scalar(family):
            return _encode_scalar(cell, family, floor)
        case ListOf(item) if isinstance(cell, Sequence) and not isinstance(cell, str):
            return ["l", *(encode_cell(part, item, floor) for part in cell)]
        case TupleOf(items) if isinstance(cell, Sequence) and len(cell) == len(items):
            return ["l", *(encode_cell(part, item, floor) for part, item in zip(cell, items, strict=True))]
        case Struct(fields) if isinstance(cell, Mapping):
            return ["r", *([name, encode_cell(cell.get(name), item, floor)] for name, item in fields)]
        case MapOf() if (pairs := map_pairs(cell)) is not None:
            return _encode_map(pairs, kind, floor)
        case _:
            return _encode_scalar(cell, "any", floor)


def map_pairs(cell: Any) -> list[tuple[Any, Any]] | None:
    """A map is encoded as an object when its keys are text, and as an array of pairs otherwise."""
    if isinstance(cell, Mapping):
        return list(cell.items())
    if isinstance(cell, Sequence) and not isinstance(cell, str):
        pairs = [pair for pair in cell if isinstance(pair, Sequence) and len(pair) == 2]
        return [(pair[0], pair[1]) for pair in pairs] if len(pairs) == len(cell) else None
    return None


def _encode_map(pairs: list[tuple[Any, Any]], kind: MapOf, floor: float) -> list[Any]:
    made = [[encode_cell(k, kind.key, floor), encode_cell(v, kind.value, floor)] for k, v in pairs]
    return ["m", *sorted(made, key=json.dumps)]


def _encode_scalar(cell: Any, family: DigestFamily, floor: float) -> Any:
    if isinstance(cell, bool):
        return f"b:{str(cell).lower()}"
    number = as_float(cell) if family in ("float", "any") else None
    if number is not None:
        return snap(number, floor)
    if family == "int" and _is_integer(cell):
        return f"i:{int(cell)}"
    if family == "decimal":
        return _encode_decimal(cell)
    if isinstance(cell, str):
        return f"{'t' if family == 'time' else 's'}:{plain(cell)}"
    return _encode_untyped(cell, floor)


def _encode_untyped(cell: Any, floor: float) -> Any:
    any_kind = Scalar("any")
    if isinstance(cell, Mapping):
        made = [[plain(str(key)), encode_cell(part, any_kind, floor)] for key, part in cell.items()]
        return ["r", *sorted(made, key=json.dumps)]
    if isinstance(cell, Sequence):
        return ["l", *(encode_cell(part, any_kind, floor) for part in cell)]
    number = as_float(cell)
    return f"s:{plain(str(cell))}" if number is None else snap(number, floor)


_DIGITS = re.compile(r"-?[0-9]{1,1000}")


def _is_integer(cell: Any) -> bool:
    if isinstance(cell, str):
        return _DIGITS.fullmatch(cell) is not None
    return isinstance(cell, int) or (isinstance(cell, float) and cell.is_integer())


_MOST_DIGITS = 10_000


def _encode_decimal(cell: Any) -> str:
    """Exact for any number of digits: a short decimal is encoded as a number, a long one as text."""
    try:
        value = Decimal(repr(cell) if isinstance(cell, float) else str(cell))
    except InvalidOperation:
        return f"s:{plain(str(cell))}"
    if not value.is_finite():
        return f"d:{value}"
    if abs(value.adjusted()) > _MOST_DIGITS:
        # No engine has such a decimal, and its digits written out would fill the memory.
        return f"s:{plain(str(cell))}"
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "d:0" if text in ("-0", "0", "") else f"d:{text}"


_WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def as_float(cell: Any) -> float | None:
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        try:
            return float(cell)
        except OverflowError:
            return math.copysign(math.inf, cell)
    return _WORDS.get(cell) if isinstance(cell, str) else None


def float_scale(cells: Sequence[Any], kind: CellType) -> float:
    """The largest finite magnitude among the floats of a column, however deeply nested."""
    if isinstance(kind, Scalar) and kind.family not in ("float", "any"):
        return 0.0
    return max((abs(x) for cell in cells for x in floats_in(cell, kind) if math.isfinite(x)), default=0.0)


def floats_in(cell: Any, kind: CellType) -> Iterator[float]:
    match kind:
        case Scalar(family):
            if family in ("float", "any"):
                yield from _numbers_in(cell)
        case ListOf(item) if isinstance(cell, Sequence) and not isinstance(cell, str):
            for part in cell:
                yield from floats_in(part, item)
        case TupleOf(items) if isinstance(cell, Sequence):
            for part, item in zip(cell, items, strict=False):
                yield from floats_in(part, item)
        case Struct(fields) if isinstance(cell, Mapping):
            for name, item in fields:
                yield from floats_in(cell.get(name), item)
        case MapOf(key, value):
            for k, v in map_pairs(cell) or ():
                yield from floats_in(k, key)
                yield from floats_in(v, value)
        case _:
            yield from _numbers_in(cell)


def _numbers_in(cell: Any) -> Iterator[float]:
    number = as_float(cell)
    if number is not None:
        yield number
    elif isinstance(cell, Mapping):
        for part in cell.values():
            yield from _numbers_in(part)
    elif isinstance(cell, Sequence) and not isinstance(cell, str):
        for part in cell:
            yield from _numbers_in(part)
