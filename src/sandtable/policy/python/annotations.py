"""Annotations name types. Libraries evaluate string annotations as code when they inspect a class.

Invariant: what stands in an annotation, or in a variable used in one, is a name, a subscript, a union of such,
or a text with nothing else in it. Evaluated, it calls nothing.
"""

from __future__ import annotations

import re

from sandtable.policy.python.code import Code, Finding
from sandtable.policy.python.spots import Spot
from sandtable.policy.python.words import forbidden_word
from sandtable.policy.tree import Node, as_node, listed, under

_FIELDS = ("annotation", "returns")
_TYPE = re.compile(r"""[\w\s.,|\[\]'"]*""")
_WORD = re.compile(r"(?P<dot>\.\s*)?(?P<word>[^\W\d]\w*)")
_MAKERS = ("typing.", "collections.namedtuple", "enum.")
"""Functions that make a type."""


def annotation_finding(spot: Spot, code: Code) -> Finding | None:
    if spot.field not in _FIELDS:
        return None
    pending, seen = [spot], {id(spot.node)}
    while pending:
        parts = _parts(pending.pop(), code) if code.may_follow() else None
        if parts is None:
            hint = "Name a type: int, list[str], pd.DataFrame; or leave the annotation out"
            return Finding(spot, "annotation", "An annotation may only name a type.", hint)
        pending += [part for part in parts if id(part.node) not in seen]
        seen |= {id(part.node) for part in parts}
    return None


def _parts(spot: Spot, code: Code) -> list[Spot] | None:
    """The parts of a type that are types themselves; None for what is no type."""
    match spot.kind:
        case "Constant":
            return [] if _is_plain_constant(spot.node, code) else None
        case "Name":
            return _values(spot, code)
        case "Attribute":
            return [] if code.members(spot, spot.node) else None
        case "Subscript":
            is_literal = "typing.Literal" in code.members(spot, under(spot.node, "value"))
            nodes = [under(spot.node, "value"), *([] if is_literal else [under(spot.node, "slice")])]
        case "Tuple" | "List":
            nodes = [as_node(node) for node in listed(spot.node, "elts")]
        case "Starred":
            nodes = [under(spot.node, "value")]
        case "BinOp" if spot.node.get("op") == "BitOr":
            nodes = [under(spot.node, "left"), under(spot.node, "right")]
        case "Call":
            return (
                []
                if any(m.startswith(_MAKERS) for m in code.members(spot, under(spot.node, "func")))
                else None
            )
        case _:
            return None
    return [Spot(node, spot, "", spot.scope) for node in nodes]


def _is_plain_constant(node: Node, code: Code) -> bool:
    if node.get("kind") != "str":
        return True
    text = str(node.get("value"))
    if node.get("cut") or not _TYPE.fullmatch(text):
        return False
    for found in _WORD.finditer(text):
        word = found.group("word")
        if word.startswith("_") or (found.group("dot") and forbidden_word(word, code.columns)):
            return False
    return True


def _values(spot: Spot, code: Code) -> list[Spot] | None:
    """What a name in an annotation stands for: classes and imports are types; a variable is what it was given."""
    found: list[Spot] = []
    for binding in code.meaning(spot).bindings:
        if binding.kind != "data":
            continue
        if binding.value is None or binding.steps or binding.scope is None:
            return None
        if not _is_given_later(spot, binding.value):
            found.append(Spot(binding.value, spot, "", binding.scope))
    return found


def _is_given_later(spot: Spot, value: Node) -> bool:
    """`date: date = None` reads the name before it is bound to that value, unless a loop repeats it."""
    return any(
        above.kind == "AnnAssign"
        and value is above.node.get("value")
        and above.parent is not None
        and above.parent.kind in ("ClassDef", "Module")
        for above in spot.above()
    )
