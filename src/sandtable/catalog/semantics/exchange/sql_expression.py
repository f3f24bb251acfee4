"""An SQL expression of another semantic layer as a tree: columns, literals, calls, arithmetic, conditions, CASE.

A small grammar of its own: what it does not read could not be used here, either, and its work is bounded. Nothing is
executed. Invariant: `parse` returns a tree or raises NotRead with the reason in words.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Literal

from sandtable.catalog.semantics.exchange.sql_tree import (
    Arithmetic,
    Call,
    Case,
    Cast,
    Compared,
    Constant,
    Joined,
    Name,
    Not,
    NotRead,
    Star,
    Tree,
)
from sandtable.quoting import quote

_LONGEST = 20_000
_DEEPEST = 60
_MOST_NESTED = 150
"""Operators and casts: a chain of them is as deep as it is long."""
_TOKEN = re.compile(
    r"""\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<name>[^\W\d][\w$]*)
    |"(?P<double>(?:[^"]|"")*)"|`(?P<back>[^`]*)`|\[(?P<bracket>[^\]]*)\]|'(?P<text>(?:[^']|'')*)'
    |(?P<sign>::|<>|!=|<=|>=|\|\||[-+*/%(),.=<>]))""",
    re.VERBOSE,
)
_COMPARISONS = {"=": "=", "<>": "!=", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_WORDS = frozenset(
    "and or not is null in between like ilike case when then else end true false cast as distinct from over".split()
)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: Literal["number", "word", "name", "text", "sign", "end"]
    text: str


def parse(text: str) -> Tree:
    if len(text) > _LONGEST:
        raise NotRead(f"the expression has more than {_LONGEST:,} characters")
    parser = _Parser(_tokens(text))
    tree = parser.expression()
    parser.done()
    return tree


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            raise NotRead(f"{quote(text[at:].strip()[:40])} is not read")
        at = match.end()
        kind, part = match.lastgroup, match[match.lastgroup or 0]
        match kind:
            case "number" | "sign":
                found.append(_Token(kind, part))
            case "text":
                found.append(_Token("text", part.replace("''", "'")))
            case "double":
                found.append(_Token("name", part.replace('""', '"')))
            case "name" if part.lower() in _WORDS:
                found.append(_Token("word", part.lower()))
            case _:
                found.append(_Token("name", part))
    return [*found, _Token("end", "the end")]


class _Parser:
    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0
        self._nested = 0

    @property
    def _here(self) -> _Token:
        return self._tokens[self._at]

    def _take(self, *texts: str) -> str | None:
        """The sign or word that stands here, if it is one of these."""
        here = self._here
        if here.kind in ("sign", "word") and here.text in texts:
            self._at += 1
            return here.text
        return None

    def _nest(self) -> None:
        self._nested += 1
        if self._nested > _MOST_NESTED:
            raise NotRead(f"the expression has more than {_MOST_NESTED} operators")

    def _name_is(self, *words: str) -> bool:
        return self._here.kind == "name" and self._here.text.lower() in words

    def _need(self, text: str) -> None:
        if not self._take(text):
            raise NotRead(f"{quote(text)} is missing before {quote(self._here.text)}")

    def done(self) -> None:
        if self._here.kind != "end":
            raise NotRead(f"{quote(self._here.text)} is not read there")

    def expression(self) -> Tree:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise NotRead(f"the expression is more than {_DEEPEST} levels deep")
        found = self._joined("or")
        self._depth -= 1
        return found

    def _joined(self, word: Literal["and", "or"]) -> Tree:
        parts = [self._joined("and") if word == "or" else self._negated()]
        while self._take(word):
            parts.append(self._joined("and") if word == "or" else self._negated())
        return parts[0] if len(parts) == 1 else Joined(word, tuple(parts))

    def _negated(self) -> Tree:
        times = 0
        while self._take("not"):
            times += 1
        found = self._comparison()
        return Not(found) if times % 2 else found

    def _comparison(self) -> Tree:
        left = self._sum()
        if sign := self._take(*_COMPARISONS):
            return Compared(_COMPARISONS[sign], left, (self._sum(),))
        if self._take("is"):
            return self._is(left)
        negated = bool(self._take("not"))
        found = self._listed(left)
        if found is None:
            if negated:
                raise NotRead(f"{quote(self._here.text)} is not read after NOT")
            return left
        return Not(found) if negated else found

    def _is(self, left: Tree) -> Tree:
        negated = bool(self._take("not"))
        if self._take("null"):
            return Compared("not_null" if negated else "is_null", left, ())
        word = self._take("true", "false")
        if word is None or negated:
            raise NotRead(f"IS {quote(self._here.text)} is not read")
        return Compared("=", left, (Constant(word == "true"),))

    def _listed(self, left: Tree) -> Tree | None:
        if self._take("in"):
            self._need("(")
            values = [self._sum()]
            while self._take(","):
                values.append(self._sum())
            self._need(")")
            return Compared("in", left, tuple(values))
        if self._take("between"):
            low = self._sum()
            self._need("and")
            return Compared("between", left, (low, self._sum()))
        if word := self._take("like", "ilike"):
            return Compared(word, left, (self._sum(),))
        return None

    def _sum(self) -> Tree:
        found = self._product()
        while sign := self._take("+", "-"):
            self._nest()
            found = Arithmetic("+" if sign == "+" else "-", found, self._product())
        return found

    def _product(self) -> Tree:
        found = self._signed()
        while sign := self._take("*", "/", "%", "||"):
            if sign not in ("*", "/"):
                raise NotRead(f"the operator {quote(sign)} cannot be computed here")
            self._nest()
            found = Arithmetic("*" if sign == "*" else "/", found, self._signed())
        return found

    def _signed(self) -> Tree:
        negative = False
        while sign := self._take("+", "-"):
            negative ^= sign == "-"
        found = self._casted()
        if not negative:
            return found
        match found:
            case Constant(value=int() | float() as number) if not isinstance(number, bool):
                return Constant(-number)
            case _:
                return Arithmetic("-", Constant(0), found)

    def _casted(self) -> Tree:
        found = self._primary()
        while self._take("::"):
            self._nest()
            found = Cast(found, self._type())
        return found

    def _type(self) -> str:
        words = [self._word()]
        while self._here.kind == "name":
            words.append(self._word())
        text = " ".join(words)
        if self._take("("):
            while not self._take(")"):
                text += self._here.text
                self._step()
            return f"{text}(…)"
        return text

    def _word(self) -> str:
        if self._here.kind != "name":
            raise NotRead(f"{quote(self._here.text)} is not a name")
        word = self._here.text.lower()
        self._at += 1
        return word

    def _step(self) -> None:
        if self._here.kind == "end":
            raise NotRead("a parenthesis is not closed")
        self._at += 1

    def _primary(self) -> Tree:
        here = self._here
        if here.kind in ("number", "text"):
            self._at += 1
            return Constant(_number(here.text) if here.kind == "number" else here.text)
        if word := self._take("true", "false", "null"):
            return Constant({"true": True, "false": False, "null": None}[word])
        if self._take("("):
            found = self.expression()
            self._need(")")
            return found
        if self._take("case"):
            return self._case()
        if self._take("cast"):
            self._need("(")
            found = self.expression()
            self._need("as")
            cast = Cast(found, self._type())
            self._need(")")
            return cast
        if here.kind == "name":
            return self._named()
        raise NotRead(f"{quote(here.text)} is not read there")

    def _named(self) -> Tree:
        if self._name_is("date", "timestamp") and self._tokens[self._at + 1].kind == "text":
            self._at += 2
            return Constant(self._tokens[self._at - 1].text)
        parts = [self._here.text]
        self._at += 1
        while self._take("."):
            if self._here.kind not in ("name", "word"):
                raise NotRead(f"{quote(self._here.text)} is not a name")
            parts.append(self._here.text)
            self._at += 1
        if len(parts) == 1 and self._take("("):
            return self._call(parts[0].lower())
        return Name(tuple(parts))

    def _call(self, function: str) -> Tree:
        distinct = bool(self._take("distinct"))
        arguments: list[Tree] = []
        while not self._take(")"):
            if arguments:
                self._need(",")
            arguments.append(Star() if self._take("*") else self.expression())
        ordered = self._clause(("within", "group"), ("order", "by"))
        where = self._clause(("filter",), ("where",))
        if self._take("over"):
            raise NotRead("window functions (OVER) cannot be computed here")
        return Call(function, tuple(arguments), distinct, where, ordered)

    def _clause(self, before: tuple[str, ...], inside: tuple[str, ...]) -> Tree | None:
        if not self._name_is(before[0]):
            return None
        for word in before:
            self._keyword(word)
        self._need("(")
        for word in inside:
            self._keyword(word)
        found = self.expression()
        self._need(")")
        return found

    def _keyword(self, word: str) -> None:
        if not self._name_is(word):
            raise NotRead(f"{quote(word.upper())} is missing before {quote(self._here.text)}")
        self._at += 1

    def _case(self) -> Tree:
        subject = None if self._here == _Token("word", "when") else self.expression()
        branches: list[tuple[Tree, Tree]] = []
        while self._take("when"):
            condition = self.expression()
            if subject is not None:
                condition = Compared("=", subject, (condition,))
            self._need("then")
            branches.append((condition, self.expression()))
        otherwise = self.expression() if self._take("else") else None
        self._need("end")
        if not branches:
            raise NotRead("a CASE has no WHEN")
        return Case(tuple(branches), otherwise)


def _number(text: str) -> int | float:
    if text.isdigit() and len(text) <= 18:
        return int(text)
    if not math.isfinite(float(text)):
        raise NotRead(f"the number {quote(text)} is too large")
    return float(text)
