"""How a plan is written for DuckDB. Invisible characters are spelled `CHR(n)`, so the text holds none that a reader and
a tokenizer could see differently.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from sandtable.engines import nodes as n
from sandtable.engines.spelling import MatchKind, Operand, Over
from sandtable.quoting import INVISIBLE_CHARACTERS

_RUNS = re.compile(f"([{INVISIBLE_CHARACTERS}])")
_ESCAPE = "\\"
_PARTS = {"day_of_week": "ISODOW", "month_of_year": "MONTH", "hour_of_day": "HOUR"}
_NAMES = {"day_name": "DAYNAME", "month_name": "MONTHNAME"}
_SEPARATORS = r"\s*[,;|]\s*"
_MICROSECONDS = {
    "second": 1_000_000, "minute": 60_000_000, "hour": 3_600_000_000, "day": 86_400_000_000, "week": 604_800_000_000,
}  # fmt: skip


class DuckDBSpelling:
    qualifies = True
    windows_any = True

    def text(self, value: str) -> exp.Expr:
        """A text literal; CONCAT of literals and CHR(n) for invisible characters."""
        parts = [part for part in _RUNS.split(value) if part]
        made: list[exp.Expr] = [
            n.function("CHR", n.number(ord(part))) if _RUNS.fullmatch(part) else exp.Literal.string(part)
            for part in parts
        ]
        if len(made) > 1:
            # Flat on purpose: a chain of || would nest as deep as the value is long.
            return n.function("CONCAT", *made)
        return made[0] if made else exp.Literal.string("")

    def label(self, value: str) -> exp.Expr:
        return self.text(value)

    def value(self, value: n.Constant) -> exp.Expr:
        return n.value(value, self.text)

    def as_text(self, operand: Operand) -> exp.Expr:
        return exp.cast(operand.node, exp.DType.VARCHAR)

    def quotient(self, left: exp.Expr, right: exp.Expr) -> exp.Expr:
        nullif = exp.Nullif(this=right, expression=exp.Literal.number(0))
        return exp.Div(this=n.grouped(left), expression=nullif)

    def aggregate(
        self, function: str, operand: Operand, over: Over, *, distinct: bool = False, q: float = 0
    ) -> exp.Expr:
        match function:
            case "stddev":
                return over(exp.StddevSamp(this=operand.node))
            case "quantile":
                return over(n.function("QUANTILE_CONT", operand.node, n.number(q)))
            case name:
                once = exp.Distinct(expressions=[operand.node]) if distinct else operand.node
                return over(n.function(name.upper(), once))

    def correlation(self, left: exp.Expr, right: exp.Expr, over: Over) -> exp.Expr:
        # Without variance the engine returns NaN: there is no correlation.
        nan = exp.cast(exp.Literal.string("NaN"), exp.DType.DOUBLE)
        return exp.Nullif(this=over(n.function("CORR", left, right)), expression=nan)

    def period(self, unit: str, moment: exp.Expr, shift: int) -> exp.Expr:
        """The engine's weeks begin on Monday and its years in January: others are cut in time that is moved there, and
        moved back."""
        count, step = (shift, "DAY") if unit == "week" else (-shift, "MONTH")
        cut = n.function("DATE_TRUNC", exp.Literal.string(unit), n.later(moment, count, step))
        return n.later(cut, -count, step)

    def part(self, unit: str, moment: exp.Expr) -> exp.Expr:
        if unit in _PARTS:
            return exp.Extract(this=exp.var(_PARTS[unit]), expression=moment)
        if unit in _NAMES:
            return n.function(_NAMES[unit], moment)
        hour = exp.cast(exp.Extract(this=exp.var("HOUR"), expression=moment), exp.DType.VARCHAR)
        padded = n.function("LPAD", hour, n.number(2), exp.Literal.string("0"))
        return n.function("CONCAT", padded, exp.Literal.string(":00"))

    def place(self, names: Sequence[str], node: exp.Expr) -> exp.Expr:
        listed = exp.Array(expressions=[exp.Literal.string(name) for name in names])
        return n.function("LIST_POSITION", listed, node)

    def complete(self, unit: str, start: exp.Expr, end: exp.Expr) -> exp.Expr:
        return n.function("DATE_SUB", exp.Literal.string(unit), start, end)

    def between_days(self, unit: str, start: exp.Expr, end: exp.Expr) -> exp.Expr:
        return self.crossed(unit, start, end)

    def exactly(self, unit: str, start: Operand, end: Operand) -> exp.Expr:
        exact = self.crossed("microsecond", start.node, end.node)
        return exp.Div(this=exact, expression=n.number(_MICROSECONDS[unit]))

    def crossed(self, unit: str, start: exp.Expr, end: exp.Expr) -> exp.Expr:
        return n.function("DATE_DIFF", exp.Literal.string(unit), start, end)

    def found(self, kind: MatchKind, node: exp.Expr, text: str) -> exp.Expr:
        escaped = "".join(_ESCAPE + char if char in "%_\\" else char for char in text)
        before = "" if kind == "startswith" else "%"
        after = "" if kind == "endswith" else "%"
        like = exp.ILike(this=node, expression=self.text(before + escaped + after))
        if escaped == text:
            return like
        return exp.Escape(this=like, expression=exp.Literal.string(_ESCAPE))

    def folded(self, node: exp.Expr) -> exp.Expr:
        return n.function("LOWER", node)

    def listed(self, node: exp.Expr) -> exp.Expr:
        trimmed = n.function("TRIM", node)
        parts = n.function("STRING_SPLIT_REGEX", trimmed, exp.Literal.string(_SEPARATORS))
        empty = exp.EQ(this=trimmed.copy(), expression=exp.Literal.string(""))
        return exp.Case(ifs=[exp.If(this=empty, true=exp.Array(expressions=[]))], default=parts)

    def holds(self, elements: exp.Expr, value: exp.Expr) -> exp.Expr:
        return n.function("LIST_CONTAINS", elements, value)

    def each(self, elements: exp.Expr) -> exp.Expr:
        return n.function("UNNEST", elements)

    def count(self, elements: exp.Expr) -> exp.Expr:
        return n.function("LEN", elements)


DUCKDB = DuckDBSpelling()
