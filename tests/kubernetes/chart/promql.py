"""A small parser of PromQL: enough to notice what Prometheus would not take, and to find metrics with their labels.

It knows the parts of the language that the chart uses; what else there is, it refuses.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""(?P<space>\s+)|(?P<string>"[^"\\]*"|'[^'\\]*')|(?P<range>\[\d+[smhd]\])|(?P<number>\d+(?:\.\d+)?)
    |(?P<name>[A-Za-z_:][\w:]*)|(?P<op>=~|!~|!=|==|<=|>=|[-+*/%^=<>(){},])""",
    re.VERBOSE,
)
_AGGREGATES = {"sum", "max", "min", "avg", "count", "topk"}
_FUNCTIONS = {"rate", "increase", "histogram_quantile", "absent"}
_OF_RANGES = {"rate", "increase"}
_BINARY = ({"or"}, {"and", "unless"}, {"==", "!=", "<=", "<", ">=", ">"}, {"+", "-"}, {"*", "/", "%"})
_MATCHES = {"=", "!=", "=~", "!~"}


class NotPromql(ValueError):
    pass


@dataclass
class Used:
    """A metric as an expression uses it: labels by which it is selected or grouped."""

    name: str
    labels: dict[str, str] = field(default_factory=dict)
    """With the pattern of each matcher; empty for a grouping."""
    ranged: bool = False


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens: list[tuple[str, str]] = []
        at = 0
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise NotPromql(f"{text[at : at + 10]!r} in {text!r}")
            at = match.end()
            if match.lastgroup != "space":
                self._tokens.append((str(match.lastgroup), match.group()))
        self._at = 0
        self.used: list[Used] = []

    def whole(self) -> None:
        self._binary(0)
        if self._at < len(self._tokens):
            raise NotPromql(f"unexpected {self._tokens[self._at][1]!r}")

    def _peek(self) -> str:
        return self._tokens[self._at][1] if self._at < len(self._tokens) else ""

    def _kind(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else ""

    def _take(self, expected: str | None = None) -> str:
        token = self._peek()
        if not token or (expected is not None and token != expected):
            raise NotPromql(f"{expected or 'something'} expected, found {token!r}")
        self._at += 1
        return token

    def _binary(self, level: int) -> None:
        if level == len(_BINARY):
            self._unary()
            return
        self._binary(level + 1)
        while self._peek() in _BINARY[level]:
            self._take()
            if self._peek() in ("on", "ignoring"):
                self._take()
                self._names()
            self._binary(level + 1)

    def _unary(self) -> None:
        if self._peek() == "(":
            self._within(lambda: self._binary(0))
        elif self._kind() == "number":
            self._take()
        elif self._kind() == "name":
            name = self._take()
            if name in _AGGREGATES:
                self._aggregate(name)
            elif self._peek() == "(":
                self._call(name)
            else:
                self._selector(name)
        else:
            raise NotPromql(f"an operand expected, found {self._peek()!r}")

    def _within(self, inner: Callable[[], None]) -> None:
        self._take("(")
        inner()
        self._take(")")

    def _aggregate(self, name: str) -> None:
        before, groups = len(self.used), []
        if self._peek() in ("by", "without"):
            self._take()
            groups = self._names()

        def arguments() -> None:
            if name == "topk":
                self._binary(0)
                self._take(",")
            self._binary(0)

        self._within(arguments)
        if self._peek() in ("by", "without"):
            self._take()
            groups += self._names()
        for used in self.used[before:]:
            used.labels |= {group: used.labels.get(group, "") for group in groups}

    def _call(self, name: str) -> None:
        if name not in _FUNCTIONS:
            raise NotPromql(f"no function {name!r} is known")
        before = len(self.used)

        def arguments() -> None:
            if name == "histogram_quantile":
                self._binary(0)
                self._take(",")
            self._binary(0)

        self._within(arguments)
        if name in _OF_RANGES and not self.used[before].ranged:
            raise NotPromql(f"{name} takes a range")

    def _selector(self, name: str) -> None:
        used = Used(name)
        self.used.append(used)
        if self._peek() == "{":
            self._take("{")
            while self._peek() != "}":
                label = self._take()
                if self._take() not in _MATCHES or self._kind() != "string":
                    raise NotPromql(f"the label {label!r} is not matched with a text")
                used.labels[label] = self._take()[1:-1]
                re.compile(used.labels[label])
                if self._peek() != "}":
                    self._take(",")
            self._take("}")
        if self._kind() == "range":
            self._take()
            used.ranged = True

    def _names(self) -> list[str]:
        names: list[str] = []
        self._take("(")
        while self._peek() != ")":
            names.append(self._take())
            if self._peek() == ",":
                self._take()
        self._take(")")
        return names


def metrics_in(text: str) -> list[Used]:
    """Raises NotPromql."""
    parser = _Parser(text)
    parser.whole()
    return parser.used
