"""A plan as the network writes it: a sequence of words of a small grammar and of items that the question refers to.

A sketch is a sequence of tokens. A token is a word of the grammar (`sum`, `where`, `desc`) or an `Item`: a table,
column or metric of the dataset, or a value, number, text or time window that the question names. `GRAMMAR` is LL(1):
after any beginning of a sketch, `Writer.allowed` says which words and which kinds of items may come next, so a
network restricted to those writes only sketches that can be parsed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

ItemKind = Literal["table", "column", "metric", "value", "number", "window", "text", "unit"]
KINDS: tuple[ItemKind, ...] = ("table", "column", "metric", "value", "number", "window", "text", "unit")


@dataclass(frozen=True, slots=True)
class Item:
    """Something a sketch may point at."""

    kind: ItemKind
    table: str = ""
    name: str = ""
    """The name of a column or metric; of a value, its column; of a number, the unit that follows it."""
    value: Any = None
    """The cell, the number, the text, the unit, or the window as sorted pairs."""


Token = str | Item
Production = tuple[str, ...]

BUCKETS = ("hour", "day", "week", "month", "quarter", "year", "day_name", "month_name", "hour_of_day")
AGGREGATES = ("sum", "avg", "min", "max", "median", "stddev", "distinct", "p50", "p90", "p95", "p99")
ELAPSED = ("minutes", "hours", "days", "weeks", "months", "years")
OF_TWO = ("times", "less", "over", "added")
COMPARED = (">", ">=", "<", "<=", "==")
BETWEEN_COLUMNS = ("col>", "col>=", "col<", "col<=", "col=")
WITH_WHOLE = ("whole>", "whole<", "whole=")
TEXTS = ("contains", "startswith", "endswith")
DAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
REFERENCES = tuple(f"#{number}" for number in range(1, 9))
SMALL = ("0", "1", "2")
"""Numbers that a question implies without naming them: once, twice, any."""


def _of(words: tuple[str, ...], *rest: str) -> dict[str, Production]:
    return {word: (word, *rest) for word in words}


GRAMMAR: dict[str, dict[str, Production]] = {
    "PLAN": {
        "none": ("none",),
        "<table>": (
            "<table>", "ITEM", "ITEMS", "WHERES", "TIME", "HAVING", "DERIVES", "TOP", "ORDER", "LIMIT", "THEN",
            "end",
        ),
    },
    "ITEM": {
        "<column>": ("<column>", "IN"),
        "rows": ("rows",),
        **_of(BUCKETS, "<column>"),
        **_of(ELAPSED, "<column>", "MOMENT"),
        **_of(OF_TWO, "<column>", "<column>"),
    },
    "MEASURE": {
        "count": ("count", "IF"),
        **_of(AGGREGATES, "ARGUMENT", "IF", "IN"),
        "metric": ("metric", "<metric>", "IF", "IN"),
        "share": ("share", "CONDITION", "MORE"),
        "corr": ("corr", "<column>", "<column>"),
        "per": ("per", "MEASURE", "MEASURE"),
        "minus": ("minus", "MEASURE", "MEASURE"),
        "plus": ("plus", "MEASURE", "MEASURE"),
    },
    "ITEMS": {},
    "ARGUMENT": {
        "<column>": ("<column>",),
        **_of(OF_TWO, "<column>", "<column>"),
        **_of(ELAPSED, "<column>", "MOMENT"),
    },
    "MOMENT": {"<column>": ("<column>",), "now": ("now",)},
    "IN": {"in": ("in", "<unit>"), "": ()},
    "IF": {"if": ("if", "CONDITION", "MORE"), "": ()},
    "MORE": {"&": ("&", "CONDITION", "MORE"), "": ()},
    "WHERES": {"where": ("where", "CONDITION", "WHERES"), "": ()},
    "CONDITION": {
        "<value>": ("<value>",),
        "not": ("not", "CONDITION"),
        "either": ("either", "CONDITION", "or", "CONDITION", "OR"),
        **_of(COMPARED, "COMPARED", "NUMBER"),
        "between": ("between", "COMPARED", "NUMBER", "NUMBER"),
        "yes": ("yes", "<column>"),
        "null": ("null", "<column>"),
        **_of(BETWEEN_COLUMNS, "<column>", "<column>"),
        **_of(WITH_WHOLE, "<column>", "WHOLE"),
        **_of(TEXTS, "<column>", "<text>"),
        "weekend": ("weekend", "<column>"),
        "on_day": ("on_day", "<column>", "DAY_NAME"),
        "exists": ("exists", "<table>", "MORE"),
        "at_least": ("at_least", "NUMBER", "<table>", "MORE"),
        "when": ("when", "<window>", "ON"),
    },
    "OR": {"or": ("or", "CONDITION", "OR"), "": ()},
    "COMPARED": {"<column>": ("<column>",), **_of(ELAPSED, "<column>", "MOMENT")},
    "WHOLE": _of(("avg", "max", "min", "median")),
    "DAY_NAME": _of(DAY_NAMES),
    "NUMBER": {"<number>": ("<number>",), **_of(SMALL)},
    "TIME": {"time": ("time", "<window>", "ON"), "": ()},
    "ON": {"on": ("on", "<column>"), "": ()},
    "HAVING": {"having": ("having", "OUTPUT", "HAVING"), "": ()},
    "OUTPUT": {
        "<value>": ("<value>",),
        **_of(COMPARED, "REFERENCE", "NUMBER"),
        "above_mean": ("above_mean", "REFERENCE"),
        "below_mean": ("below_mean", "REFERENCE"),
    },
    "REFERENCE": _of(REFERENCES),
    "DERIVES": {
        **_of(("share_of", "growth", "change", "running", "rank"), "REFERENCE", "DERIVES"),
        **_of(("share_in", "diff", "pct"), "REFERENCE", "REFERENCE", "DERIVES"),
        "": (),
    },
    "TOP": {"top": ("top", "NUMBER", "REFERENCE", "DIRECTION"), "": ()},
    "DIRECTION": _of(("desc", "asc"), "KEY"),
    "ORDER": {**_of(("desc", "asc"), "KEY", "ORDER"), "": ()},
    "KEY": {"<column>": ("<column>",), **_of(REFERENCES)},
    "LIMIT": {"limit": ("limit", "NUMBER"), "": ()},
    "THEN": {"then": ("then", "OVER"), "": ()},
    "OVER": {
        "count": ("count",),
        **_of(("sum", "avg", "min", "max", "median"), "REFERENCE"),
        "share": ("share", "OUTPUT"),
    },
}  # fmt: skip
GRAMMAR["ITEM"].update(GRAMMAR["MEASURE"])
GRAMMAR["ITEMS"].update(
    {first: (*made, "ITEMS") for first, made in GRAMMAR["ITEM"].items() if first != "rows"}
)
GRAMMAR["ITEMS"][""] = ()

WORDS: tuple[str, ...] = tuple(
    sorted(
        {part for rules in GRAMMAR.values() for made in rules.values() for part in made}
        - GRAMMAR.keys()
        - {f"<{kind}>" for kind in KINDS}
    )
)
"""Every word of the grammar, in the order in which the network numbers them."""
LONGEST = 64
"""Tokens of the longest sketch."""


class Writer:
    """The state of an unfinished sketch: what is still to be written. Immutable; `after` returns the next state."""

    __slots__ = ("_stack",)

    def __init__(self, stack: tuple[str, ...] = ("PLAN",)) -> None:
        self._stack = stack

    @property
    def done(self) -> bool:
        return not self._stack

    def allowed(self) -> frozenset[str]:
        """The words, and the kinds of items as `<kind>`, that may come next."""
        return _allowed(self._stack)

    def after(self, token: Token) -> Writer:
        """The state after this token, which must be allowed."""
        first = token if isinstance(token, str) else f"<{token.kind}>"
        stack = self._stack
        while stack:
            part, stack = stack[0], stack[1:]
            rules = GRAMMAR.get(part)
            if rules is None:
                if part == first:
                    return Writer(stack)
                break
            made = rules.get(first)
            if made is not None:
                return Writer((*made[1:], *stack))
            if "" not in rules:
                break
        raise ValueError(f"{first} cannot come here; one of {sorted(self.allowed())} can")


@lru_cache(maxsize=4_000)
def _allowed(stack: tuple[str, ...]) -> frozenset[str]:
    found: set[str] = set()
    for part in stack:
        rules = GRAMMAR.get(part)
        if rules is None:
            found.add(part)
            break
        found.update(first for first in rules if first)
        if "" not in rules:
            break
    return frozenset(found)


def is_sketch(tokens: tuple[Token, ...]) -> bool:
    writer = Writer()
    for token in tokens:
        first = token if isinstance(token, str) else f"<{token.kind}>"
        if writer.done or first not in writer.allowed():
            return False
        writer = writer.after(token)
    return writer.done
