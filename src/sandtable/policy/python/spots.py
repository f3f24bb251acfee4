"""The syntax tree as a flat list of spots: each node with its parent and the scope it is read in.

The tree is untrusted JSON. Nothing here recurses, and a missing key reads as empty.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from sandtable.policy.python.scopes import Scope
from sandtable.policy.tree import Node, as_node, listed, under

FUNCTIONS = ("FunctionDef", "AsyncFunctionDef", "Lambda")
COMPREHENSIONS = ("ListComp", "SetComp", "DictComp", "GeneratorExp")

_LINE_END = re.compile(r"\r\n|\r|\n")
_NAMED = ("FunctionDef", "AsyncFunctionDef", "ClassDef")
_DEFINED = re.compile(r"(?:async\s+)?(?:def|class)\s+(\w+)")
_LAST_WORD = re.compile(r"\w+\Z")


@dataclass(slots=True)
class Spot:
    node: Node
    parent: Spot | None
    field: str
    """The field of the parent that holds the node."""
    scope: Scope
    kind: str = ""
    """The type of the node."""

    def __post_init__(self) -> None:
        self.kind = str(self.node.get("_"))

    @property
    def is_called(self) -> bool:
        return self.parent is not None and self.field == "func" and self.parent.kind == "Call"

    def above(self) -> Iterator[Spot]:
        """What the node stands in, from the inside out."""
        spot = self.parent
        while spot is not None:
            yield spot
            spot = spot.parent

    def text_of(self, key: str) -> str:
        value = self.node.get(key)
        return value if isinstance(value, str) else ""


def spots_of(tree: Node) -> list[Spot]:
    """Every node, outer before inner. Scopes are created here, without their bindings."""
    root = Scope("module", None)
    found: list[Spot] = []
    stack: list[Spot] = [Spot(tree, None, "", root)]
    while stack:
        spot = stack.pop()
        found.append(spot)
        stack.extend(reversed(list(_inside(spot))))
    return found


def _inside(spot: Spot) -> Iterator[Spot]:
    inner = _inner_scope(spot)
    for field, value in spot.node.items():
        for child in cast("list[Any]", value) if isinstance(value, list) else (value,):
            if isinstance(child, dict) and "_" in child:
                yield Spot(as_node(child), spot, field, _scope_of(spot, field, inner))


def _inner_scope(spot: Spot) -> Scope:
    if spot.kind in FUNCTIONS:
        return Scope("function", spot.scope)
    if spot.kind in COMPREHENSIONS:
        return Scope("comprehension", spot.scope)
    if spot.kind == "ClassDef":
        return Scope("class", spot.scope)
    return spot.scope


def _scope_of(spot: Spot, field: str, inner: Scope) -> Scope:
    """Where a child is read: in the scope that its parent opens, but for decorators, defaults, annotations,
    bases, and the first source of a comprehension."""
    match spot.kind:
        case "FunctionDef" | "AsyncFunctionDef" | "Lambda":
            return inner if field in ("body", "args") else spot.scope
        case "ClassDef":
            return inner if field == "body" else spot.scope
        case "arguments" if field in ("defaults", "kw_defaults"):
            return spot.scope.outer or spot.scope
        case "arg" if field == "annotation":
            return spot.scope.outer or spot.scope
        case "comprehension" if field == "iter" and spot.parent is not None:
            first = listed(spot.parent.node, "generators")[0]
            return spot.parent.scope if first is spot.node else spot.scope
        case _:
            return inner


class Places:
    """Lines and columns as offsets into the text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(found.end() for found in _LINE_END.finditer(text))]

    def offset(self, line: Any, column: Any) -> int:
        if not isinstance(line, int) or not isinstance(column, int) or not 1 <= line <= len(self._starts):
            return 0
        return max(0, min(self._starts[line - 1] + column, len(self._text)))

    def span(self, node: Node) -> tuple[int, int] | None:
        at = listed(node, "at")
        if len(at) != 4:
            return None
        start, end = self.offset(at[0], at[1]), self.offset(at[2], at[3])
        return (start, end) if start < end else None

    def of(self, spot: Spot, word: str = "") -> tuple[int | None, int]:
        """Offset and length of a node; of its last word when that word is what matters.

        Places inside an f-string can be wrong: then it is the f-string that is shown.
        """
        for place in (spot, *spot.above()):
            span = self.span(place.node)
            if span is None:
                continue
            start, end = span
            if place.kind in _NAMED and (named := _name_after(self._text, start, end)):
                return named
            if not word:
                return start, end - start
            last = _LAST_WORD.search(self._text, start, end)
            if last and unicodedata.normalize("NFKC", last.group()) == word:
                return last.start(), len(last.group())
            if place.kind not in ("Attribute", "Name", "FormattedValue"):
                return start, end - start
        return None, 0


def _name_after(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The place of the name in a definition: the whole block would mark too much."""
    found = _DEFINED.match(text, start, end)
    return (found.start(1), len(found.group(1))) if found else None


def call_arguments(call: Node) -> tuple[list[Node], dict[str, Node], bool]:
    """Positional and keyword arguments of a call, and whether some are hidden behind `*` or `**`."""
    positional = [as_node(a) for a in listed(call, "args")]
    keywords = [as_node(k) for k in listed(call, "keywords")]
    named = {str(k["arg"]): under(k, "value") for k in keywords if "arg" in k}
    hidden = any(a.get("_") == "Starred" for a in positional) or len(named) < len(keywords)
    return positional, named, hidden
