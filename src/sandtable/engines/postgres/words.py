"""Texts in PostgreSQL: constants, collations, and texts without their case.

Invariant: whatever the database's collation is, texts are compared byte by byte, as DuckDB does, and their case is
that of Unicode.
"""

from __future__ import annotations

from sqlglot import exp

from sandtable.engines import nodes as n
from sandtable.engines.spelling import MatchKind, Operand
from sandtable.errors import InvalidInput
from sandtable.quoting import quote

_SPACES = "".join(map(chr, (0x20, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)))
"""What DuckDB's TRIM takes away."""
_BLANKS = "[ \t\n\f\r]*"
_SEPARATORS = f"{_BLANKS}[,;|]{_BLANKS}"
_FEWEST_WITH_EXPONENT, _MOST_WITHOUT = 1e15, 1e16


def constant(value: str) -> exp.Expr:
    """InvalidInput for a text that PostgreSQL cannot hold."""
    if "\0" in value:
        message = f"{quote(value)} holds the character NUL, and no text of PostgreSQL does"
        raise InvalidInput(message, suggestion="Leave that character out.")
    if any("\ud800" <= char <= "\udfff" for char in value):
        message = f"{quote(value)} holds half of a character, and no text of PostgreSQL does"
        raise InvalidInput(message, suggestion="Leave that character out.")
    return exp.Literal.string(value)


def by_bytes(node: exp.Expr) -> exp.Expr:
    return exp.Collate(this=n.grouped(node), expression=n.name("C"))


def folded(node: exp.Expr) -> exp.Expr:
    """In lower case, each character by itself. ICU alone would make two characters of İ, and another one of Σ at the
    end of a word; the collation C knows the case of ASCII only."""
    single = n.function("TRANSLATE", node, exp.Literal.string("İΣ"), exp.Literal.string("iσ"))
    lower = n.function("LOWER", exp.Collate(this=single, expression=n.name("und-x-icu")))
    return by_bytes(lower)


def found(kind: MatchKind, node: exp.Expr, text: str) -> exp.Expr:
    whole, part = folded(node), folded(constant(text))
    match kind:
        case "contains":
            return exp.GT(this=n.function("STRPOS", whole, part), expression=n.number(0))
        case "startswith":
            return n.function("STARTS_WITH", whole, part)
        case "endswith":
            end = n.function("RIGHT", whole, n.function("LENGTH", part))
            return exp.EQ(this=end, expression=part.copy())


def listed(node: exp.Expr) -> exp.Expr:
    trimmed = n.function("BTRIM", node, exp.Literal.string(_SPACES))
    parts = n.function("REGEXP_SPLIT_TO_ARRAY", trimmed, exp.Literal.string(_SEPARATORS))
    empty = exp.EQ(this=trimmed.copy(), expression=exp.Literal.string(""))
    none = exp.cast(exp.Array(expressions=[]), exp.DataType.build("TEXT[]", dialect="postgres"))
    return exp.Case(ifs=[exp.If(this=empty, true=none)], default=parts)


def as_text(operand: Operand) -> exp.Expr:
    """As DuckDB writes it; no setting of the session has a part in it, apart from `extra_float_digits`."""
    node, sql_type = operand.node, operand.type()
    if sql_type == "VARCHAR":
        return node
    if sql_type == "DATE":
        made = n.function("TO_CHAR", _stamp(node), exp.Literal.string("YYYY-MM-DD"))
    elif sql_type == "TIMESTAMP":
        form = exp.Literal.string("YYYY-MM-DD HH24:MI:SS.US")
        whole = n.function("RTRIM", n.function("TO_CHAR", node, form), exp.Literal.string("0"))
        made = n.function("RTRIM", whole, exp.Literal.string("."))
    elif sql_type.startswith("DECIMAL("):
        # This adds zeros to a number whose column declares no scale; none has more digits than its type here.
        scale = n.number(int(sql_type.rstrip(")").rpartition(",")[2]))
        made = exp.cast(n.function("ROUND", node, scale), exp.DType.TEXT)
    elif sql_type == "DOUBLE":
        made = _float(node)
    else:
        made = exp.cast(node, exp.DType.TEXT)
    return by_bytes(made)


def _stamp(node: exp.Expr) -> exp.Expr:
    return exp.cast(node, exp.DType.TIMESTAMP)


def _float(node: exp.Expr) -> exp.Expr:
    """`100.0` and `1e+20`; PostgreSQL writes `100`, and an exponent from 1e15 on."""

    def text(value: exp.Expr) -> exp.Expr:
        return exp.cast(value, exp.DType.TEXT)

    def like(value: str) -> exp.Expr:
        constant = exp.cast(exp.Literal.string(value), exp.DType.DOUBLE)
        return exp.EQ(this=node.copy(), expression=constant)

    size = exp.Abs(this=node.copy())
    digits = text(exp.cast(text(node.copy()), exp.DType.DECIMAL))
    long = exp.And(
        this=exp.GTE(this=size, expression=n.number(_FEWEST_WITH_EXPONENT)),
        expression=exp.LT(this=size.copy(), expression=n.number(_MOST_WITHOUT)),
    )
    written = exp.Case(ifs=[exp.If(this=long, true=digits)], default=text(node.copy()))
    marks = [n.function("STRPOS", written.copy(), exp.Literal.string(mark)) for mark in ".e"]
    whole = exp.EQ(this=exp.Add(this=marks[0], expression=marks[1]), expression=n.number(0))
    ifs = [
        exp.If(this=like("NaN"), true=exp.Literal.string("nan")),
        exp.If(this=like("Infinity"), true=exp.Literal.string("inf")),
        exp.If(this=like("-Infinity"), true=exp.Literal.string("-inf")),
        exp.If(this=whole, true=n.function("CONCAT", written, exp.Literal.string(".0"))),
    ]
    return exp.Case(ifs=ifs, default=written.copy())
