"""How a plan is written for PostgreSQL 13 and later."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from sandtable.engines import nodes as n
from sandtable.engines.postgres import aggregates, moments, words
from sandtable.engines.spelling import MatchKind, Operand, Over


class PostgresSpelling:
    qualifies = False
    windows_any = False

    def text(self, value: str) -> exp.Expr:
        return words.constant(value)

    def label(self, value: str) -> exp.Expr:
        return words.by_bytes(words.constant(value))

    def value(self, value: n.Constant) -> exp.Expr:
        return n.value(value, self.text)

    def as_text(self, operand: Operand) -> exp.Expr:
        return words.as_text(operand)

    def quotient(self, left: exp.Expr, right: exp.Expr) -> exp.Expr:
        zero = exp.Nullif(this=exp.cast(right, exp.DType.DOUBLE), expression=n.number(0))
        return exp.Div(this=exp.cast(left, exp.DType.DOUBLE), expression=zero)

    def aggregate(
        self, function: str, operand: Operand, over: Over, *, distinct: bool = False, q: float = 0
    ) -> exp.Expr:
        return aggregates.aggregate(function, operand, over, distinct=distinct, q=q)

    def correlation(self, left: exp.Expr, right: exp.Expr, over: Over) -> exp.Expr:
        return aggregates.correlation(left, right, over)

    def period(self, unit: str, moment: exp.Expr, shift: int) -> exp.Expr:
        return moments.period(unit, moment, shift)

    def part(self, unit: str, moment: exp.Expr) -> exp.Expr:
        return moments.part(unit, moment)

    def place(self, names: Sequence[str], node: exp.Expr) -> exp.Expr:
        listed = exp.Array(expressions=[exp.Literal.string(name) for name in names])
        return n.function("ARRAY_POSITION", listed, node)

    def complete(self, unit: str, start: exp.Expr, end: exp.Expr) -> exp.Expr:
        return moments.complete(unit, start, end)

    def between_days(self, unit: str, start: exp.Expr, end: exp.Expr) -> exp.Expr:
        return moments.between_days(unit, start, end)

    def exactly(self, unit: str, start: Operand, end: Operand) -> exp.Expr:
        return moments.exactly(unit, start, end)

    def crossed(self, unit: str, start: exp.Expr, end: exp.Expr) -> exp.Expr:
        return moments.crossed(unit, start, end)

    def found(self, kind: MatchKind, node: exp.Expr, text: str) -> exp.Expr:
        return words.found(kind, node, text)

    def folded(self, node: exp.Expr) -> exp.Expr:
        return words.folded(node)

    def listed(self, node: exp.Expr) -> exp.Expr:
        return words.listed(node)

    def holds(self, elements: exp.Expr, value: exp.Expr) -> exp.Expr:
        return exp.EQ(this=value, expression=exp.Any(this=exp.Paren(this=elements)))

    def each(self, elements: exp.Expr) -> exp.Expr:
        return n.function("UNNEST", elements)

    def count(self, elements: exp.Expr) -> exp.Expr:
        return n.function("CARDINALITY", elements)


POSTGRES = PostgresSpelling()
