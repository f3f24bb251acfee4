"""The types of DuckDB's results: of arithmetic, of aggregates, of constants."""

from __future__ import annotations

import re

from sandtable.catalog.model import ColumnType
from sandtable.engines.duckdb.types import NAMES, facts
from sandtable.engines.types import NUMERIC

OF_LOGICAL = NAMES
_WIDTHS = {"TINYINT": 3, "SMALLINT": 5, "INTEGER": 10, "BIGINT": 19, "HUGEINT": 38}
"""The digits of whole numbers, the smallest type first."""
_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
_WORD, _MOST = 18, 38
"""The digits of a decimal in one machine word, and of any."""
_TOO_FINE = f"DECIMAL({_MOST},20)"
"""DuckDB itself refuses such a product. Another engine computes it, and most results have fewer digits."""
_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_FLOATS = ("FLOAT", "DOUBLE")


def integer(value: int) -> str:
    """The type of a whole number that is written as a constant."""
    return next((name for name in ("INTEGER", "BIGINT") if holds(name, value)), "HUGEINT")


def fraction(text: str) -> str:
    """The type of a number with a fraction that is written as a constant."""
    digits = text.lstrip("-")
    if not re.fullmatch(r"\d+\.\d+", digits) or len(digits) - 1 > _MOST:
        return "DOUBLE"
    return f"DECIMAL({len(digits) - 1},{len(digits.partition('.')[2])})"


def holds(sql_type: str, value: int) -> bool:
    """Whether a type of whole numbers holds this one."""
    half = 1 << (_BITS[sql_type] - 1) if sql_type in _BITS else 0
    return -half <= value < half


def digits_of(sql_type: str) -> tuple[int, int] | None:
    """How many digits, and how many of them after the point; None for what is no exact number."""
    if found := _DECIMAL.fullmatch(sql_type):
        return int(found[1]), int(found[2])
    return (_WIDTHS[sql_type], 0) if sql_type in _WIDTHS else None


def result(op: str, left: str, right: str) -> str:
    """Of `+`, `-` and `*`; of `-` between two moments, too."""
    if facts(left).logical not in NUMERIC or facts(right).logical not in NUMERIC:
        return "BIGINT" if left == right == "DATE" else "INTERVAL"
    if left in _FLOATS or right in _FLOATS:
        return "FLOAT" if {left, right} == {"FLOAT"} else "DOUBLE"
    if left in _WIDTHS and right in _WIDTHS:
        return max(left, right, key=_WIDTHS.__getitem__)
    one, other = digits_of(left), digits_of(right)
    if one is None or other is None:
        raise ValueError(f"no arithmetic is known between {left} and {right}")
    if op != "*":
        scale = max(one[1], other[1])
        whole = max(one[0] - one[1], other[0] - other[1])
        return f"DECIMAL({min(scale + whole + 1, _MOST)},{scale})"
    width, scale = one[0] + other[0], one[1] + other[1]
    if scale > _MOST:
        return _TOO_FINE
    if width > _WORD >= max(one[0], other[0]) and scale < _WORD:
        width = _WORD
    return f"DECIMAL({min(width, _MOST)},{scale})"


def aggregate(function: str, operand: str) -> str:
    """`function` is a name of the plan language."""
    match function:
        case "count" | "count_distinct":
            return "BIGINT"
        case "min" | "max":
            return operand
        case "sum" if (digits := _DECIMAL.fullmatch(operand)) is not None:
            return f"DECIMAL({_MOST},{digits[2]})"
        case "sum":
            return "HUGEINT" if operand in _WIDTHS else "DOUBLE"
        case "median" | "quantile" if facts(operand).logical in (ColumnType.DATE, ColumnType.TIMESTAMP):
            return "TIMESTAMP"
        case "median" | "quantile" if _DECIMAL.fullmatch(operand):
            return operand
        case _:
            return "DOUBLE"
