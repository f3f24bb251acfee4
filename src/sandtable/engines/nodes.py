"""The only place that turns names and values into SQL nodes.

Invariant: a value becomes a literal node, a name a quoted identifier; neither is ever spliced into text. How a text
is written is a part of each engine's `Spelling`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Literal

from sqlglot import exp

Constant = str | int | float | bool | dt.date | dt.datetime | dt.time


def name(text: str) -> exp.Identifier:
    return exp.to_identifier(text, quoted=True)


def column(text: str, table: str | None = None) -> exp.Column:
    return exp.Column(this=name(text), table=name(table) if table else None)


def table(text: str) -> exp.Table:
    return exp.Table(this=name(text))


def number(value: int | float) -> exp.Expr:
    return exp.Literal.number(value)


def value(literal: Constant, text: Callable[[str], exp.Expr]) -> exp.Expr:
    """`text` writes a text."""
    match literal:
        case bool():
            return exp.true() if literal else exp.false()
        case int() | float():
            return number(literal)
        case str():
            return text(literal)
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


def grouped(node: exp.Expr) -> exp.Expr:
    """Parentheses around anything that binds weaker than an operand should."""
    return exp.Paren(this=node) if isinstance(node, exp.Binary | exp.Connector | exp.Not) else node
