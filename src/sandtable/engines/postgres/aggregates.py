"""Aggregates in PostgreSQL, with the types and the rounding of DuckDB's."""

from __future__ import annotations

from sqlglot import exp

from sandtable.engines import nodes as n
from sandtable.engines.postgres.moments import stamp
from sandtable.engines.spelling import Operand, Over

_WHOLE = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"})
_WORD = 18
"""DuckDB rounds an interpolated decimal of more digits down, others towards zero."""
_MICROSECONDS = 1_000_000
_EXACT_FLOATS = 2**53
"""Below it, every whole number is a float."""


def aggregate(function: str, operand: Operand, over: Over, *, distinct: bool, q: float) -> exp.Expr:
    node, sql_type = operand.node, operand.type()
    once = exp.Distinct(expressions=[node]) if distinct else node
    match function:
        case "sum":
            total = over(n.function("SUM", once))
            # Of whole numbers it is one that may be larger than they are, and so may what is computed with it.
            return exp.cast(total, exp.DType.DECIMAL) if sql_type in _WHOLE else total
        case "avg":
            return exp.cast(over(n.function("AVG", once)), exp.DType.DOUBLE)
        case "min" | "max" if sql_type == "BOOLEAN":
            return over(n.function("BOOL_AND" if function == "min" else "BOOL_OR", node))
        case "min" | "max":
            return over(n.function(function.upper(), node))
        case "stddev":
            return over(n.function("STDDEV_SAMP", _double(node)))
        case "median" | "quantile":
            return _quantile(node, sql_type, q if function == "quantile" else 0.5, over)
        case name:
            raise AssertionError(f"{name} is not written here")


def correlation(left: exp.Expr, right: exp.Expr, over: Over) -> exp.Expr:
    return over(n.function("CORR", _double(left), _double(right)))


def _double(node: exp.Expr) -> exp.Expr:
    return exp.cast(node, exp.DType.DOUBLE)


def _quantile(node: exp.Expr, sql_type: str, q: float, over: Over) -> exp.Expr:
    if sql_type in ("DATE", "TIMESTAMP"):
        return _of_moments(node, q, over)
    if sql_type.startswith("DECIMAL("):
        return _of_decimals(node, sql_type, q, over)
    return _continuous(_double(node), q, over)


def _continuous(node: exp.Expr, q: float, over: Over) -> exp.Expr:
    order = exp.Order(expressions=[exp.Ordered(this=node)])
    return over(exp.WithinGroup(this=n.function("PERCENTILE_CONT", n.number(q)), expression=order))


def _neighbours(node: exp.Expr, q: float, over: Over) -> tuple[exp.Expr, exp.Expr, exp.Expr]:
    """The values between which the quantile lies, and how far it is from the first to the second."""
    values = over(n.function("ARRAY_AGG", exp.Order(this=node, expressions=[exp.Ordered(this=node.copy())])))
    last = exp.Sub(this=over(exp.Count(this=node.copy())), expression=n.number(1))
    place = exp.Mul(this=_double(exp.Paren(this=last)), expression=_double(n.number(q)))
    low, high = (_element(values.copy(), n.function(name, place.copy())) for name in ("FLOOR", "CEIL"))
    return low, high, exp.Paren(this=exp.Sub(this=place, expression=n.function("FLOOR", place.copy())))


def _of_moments(node: exp.Expr, q: float, over: Over) -> exp.Expr:
    """Interpolated in microseconds, and rounded to one: a half away from 1970."""
    low, high, part = _neighbours(stamp(node), q, over)
    seconds = exp.Extract(this=exp.var("EPOCH"), expression=_between(low, high))
    micros = _double(exp.Mul(this=seconds, expression=n.number(_MICROSECONDS)))
    added = exp.Mul(this=micros, expression=part)
    half = _double(n.number(0.5))
    up = n.function("FLOOR", exp.Add(this=added, expression=half))
    down = n.function("CEIL", exp.Sub(this=added.copy(), expression=half.copy()))
    late = exp.GTE(this=low.copy(), expression=stamp(exp.Literal.string("1970-01-01")))
    step = exp.Interval(this=n.number(1), unit=exp.var("MICROSECOND"))
    rounded = exp.Case(ifs=[exp.If(this=late, true=up)], default=down)
    reached = exp.Add(this=low.copy(), expression=exp.Mul(this=rounded, expression=step))
    same = exp.EQ(this=low.copy(), expression=high)
    return exp.Case(ifs=[exp.If(this=same, true=low)], default=reached)


def _of_decimals(node: exp.Expr, sql_type: str, q: float, over: Over) -> exp.Expr:
    """PERCENTILE_CONT would make floats of both neighbours."""
    width, scale = _digits(sql_type)
    low, high, part = _neighbours(node, q, over)
    units = exp.cast(exp.Literal.number(str(10**scale)), exp.DType.DECIMAL)
    reached = _in_floats(low, high, part, units)
    if width <= _WORD:
        cut: exp.Expr = exp.cast(n.function("TRUNC", reached), exp.DType.BIGINT)
    else:
        cut = _wide(low, high, part, units, reached)
    unit = exp.cast(exp.Literal.number(f"0.{1:0{scale}}" if scale else "1"), exp.DType.DECIMAL)
    same = exp.EQ(this=low.copy(), expression=high.copy())
    return exp.Case(ifs=[exp.If(this=same, true=low)], default=exp.Mul(this=cut, expression=unit))


def _in_floats(low: exp.Expr, high: exp.Expr, part: exp.Expr, units: exp.Expr) -> exp.Expr:
    """How many units it is, as DuckDB computes it."""
    apart = exp.Mul(this=_between(low, high), expression=units.copy())
    start = _double(exp.Mul(this=low.copy(), expression=units.copy()))
    return exp.Add(this=start, expression=exp.Mul(this=_double(apart), expression=part.copy()))


def _wide(low: exp.Expr, high: exp.Expr, part: exp.Expr, units: exp.Expr, reached: exp.Expr) -> exp.Expr:
    """Of decimals that may have more digits than a float: those that do are not computed in floats."""
    larger = n.function("GREATEST", exp.Abs(this=low.copy()), exp.Abs(this=high.copy()))
    few = exp.LT(this=exp.Mul(this=larger, expression=units.copy()), expression=n.number(_EXACT_FLOATS))
    floats = exp.cast(exp.cast(n.function("FLOOR", reached), exp.DType.BIGINT), exp.DType.DECIMAL)
    added = exp.Mul(this=_between(low, high), expression=exp.cast(part.copy(), exp.DType.DECIMAL))
    exact = exp.Paren(this=exp.Add(this=low.copy(), expression=added))
    digits = n.function("FLOOR", exp.Mul(this=exact, expression=units.copy()))
    return exp.Case(ifs=[exp.If(this=few, true=floats)], default=digits)


def _between(low: exp.Expr, high: exp.Expr) -> exp.Expr:
    return exp.Paren(this=exp.Sub(this=high.copy(), expression=low.copy()))


def _digits(sql_type: str) -> tuple[int, int]:
    width, scale = sql_type.removeprefix("DECIMAL(").rstrip(")").split(",")
    return int(width), int(scale)


def _element(values: exp.Expr, place: exp.Expr) -> exp.Expr:
    """Places count from 0."""
    index = exp.Add(this=exp.cast(place, exp.DType.INT), expression=n.number(1))
    return exp.Bracket(this=exp.Paren(this=values), expressions=[index], offset=1)
