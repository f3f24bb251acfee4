"""The only place that turns names and values into SQL nodes.

Invariant: a value becomes a literal node, a name a quoted identifier; neither is ever spliced into
text. Invisible characters are spelled `CHR(n)`, so the text holds none that a reader and a
tokenizer could see differently.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Literal

from sqlglot import exp

from sandtable.plan.resolved import LiteralValue
from sandtable.quoting import INVISIBLE_CHARACTERS

_RUNS = re.compile(f"([{INVISIBLE_CHARACTERS}])")


def name(text: str) -> exp.Identifier:
    return exp.to_identifier(text, quoted=True)


def column(text: str, table: str | None = None) -> exp.Column:
    return exp.Column(this=name(text), table=name(table) if table else None)


def table(text: str) -> exp.Table:
    return exp.Table(this=name(text))


def number(value: int | float) -> exp.Expr:
    return exp.Literal.number(value)


def string(value: str) -> exp.Expr:
    """A text literal; CONCAT of literals and CHR(n) for invisible characters."""
    parts = [part for part in _RUNS.split(value) if part]
    nodes: list[exp.Expr] = [
        function("CHR", number(ord(part))) if _RUNS.fullmatch(part) else exp.Literal.string(part)
        for part in parts
    ]
    if len(nodes) > 1:
        # Flat on purpose: a chain of || would nest as deep as the value is long.
        return function("CONCAT", *nodes)
    return nodes[0] if nodes else exp.Literal.string("")


def value(literal: LiteralValue) -> exp.Expr:
    match literal:
        case bool():
            return exp.true() if literal else exp.false()
        case int() | float():
            return number(literal)
        case str():
            return string(literal)
        case dt.datetime():
            return exp.cast(exp.Literal.string(literal.isoformat(sep=" ")), exp.DType.TIMESTAMP)
        case dt.date():
            return exp.cast(exp.Literal.string(literal.isoformat()), exp.DType.DATE)
        case dt.time():
            return exp.cast(exp.Literal.string(literal.isoformat()), exp.DType.TIME)


def function(name_: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name_, expressions=list(arguments))


def later(node: exp.Expr, count: int, unit: Literal["DAY", "MONTH"]) -> exp.Expr:
    """A moment, so many days or months later, or earlier where `count` is negative."""
    if not count:
        return node
    span = exp.Interval(this=number(abs(count)), unit=exp.var(unit))
    operator = exp.Add if count > 0 else exp.Sub
    return operator(this=grouped(node), expression=span)


def divided(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """left / right, null where right is zero."""
    nullif = exp.Nullif(this=right, expression=exp.Literal.number(0))
    return exp.Div(this=grouped(left), expression=nullif)


def grouped(node: exp.Expr) -> exp.Expr:
    """Parentheses around anything that binds weaker than an operand should."""
    return exp.Paren(this=node) if isinstance(node, exp.Binary | exp.Connector | exp.Not) else node
