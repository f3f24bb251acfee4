"""Resolved conditions → SQL predicates."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from sandtable.catalog.model import ColumnType
from sandtable.engines import nodes as w
from sandtable.plan.resolved import (
    Between,
    Compare,
    Condition,
    Every,
    Expr,
    Has,
    IsIn,
    IsNull,
    Negation,
    Some,
    TextMatch,
)
from sandtable.sql.expressions import ExpressionWriter

_COMPARATORS: Mapping[str, type[exp.Binary]] = {
    "=": exp.EQ, "!=": exp.NEQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE,
}  # fmt: skip


def predicate(writer: ExpressionWriter, condition: Condition) -> exp.Expr:
    match condition:
        case Every(parts=parts):
            return _joined(exp.And, writer, parts)
        case Some(parts=parts):
            return _joined(exp.Or, writer, parts)
        case Negation(part=part):
            return exp.Not(this=w.grouped(predicate(writer, part)))
        case Compare(left=left, op=op, right=right):
            sides = _comparable(writer, left), _comparable(writer, right)
            return _COMPARATORS[op](this=sides[0], expression=sides[1])
        case IsNull(left=left, negated=negated):
            test = exp.Is(this=writer.write(left), expression=exp.Null())
            return exp.Not(this=test) if negated else test
        case IsIn(left=left, values=values, negated=negated):
            listed = [writer.spelling.value(v.value) for v in values]
            member = exp.In(this=_comparable(writer, left), expressions=listed)
            return exp.Not(this=member) if negated else member
        case Between(left=left, low=low, high=high):
            ends = writer.spelling.value(low.value), writer.spelling.value(high.value)
            return exp.Between(this=_comparable(writer, left), low=ends[0], high=ends[1])
        case Has():
            return _has(writer, condition)
        case TextMatch(left=left, kind=kind, text=text):
            return writer.spelling.found(kind, _comparable(writer, left), text)


def _joined(
    connector: type[exp.Connector], writer: ExpressionWriter, parts: tuple[Condition, ...]
) -> exp.Expr:
    nodes = [predicate(writer, part) for part in parts]
    wrapped = [exp.Paren(this=n) if isinstance(n, exp.Connector) else n for n in nodes]
    joined = wrapped[0]
    for node in wrapped[1:]:
        joined = connector(this=joined, expression=node)
    return joined


def _comparable(writer: ExpressionWriter, expr: Expr) -> exp.Expr:
    """Types without a literal form are compared as text."""
    node = writer.by_the_clock(expr)
    return exp.cast(node, exp.DType.VARCHAR) if expr.type is ColumnType.OTHER else node


def _has(writer: ExpressionWriter, condition: Has) -> exp.Expr:
    """Elements of a text are compared regardless of case, as texts are searched."""
    spelling = writer.spelling
    value = spelling.value(condition.value.value)
    if condition.typed:
        return spelling.holds(writer.write(condition.left), value)
    listed = spelling.listed(spelling.folded(writer.write(condition.left)))
    return spelling.holds(listed, spelling.folded(value))
