"""The code that is judged: its tree, its scopes and its dataset; and `Finding`, the result of a rule."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sandtable.catalog.model import Dataset
from sandtable.policy.python.bindings import bind_names
from sandtable.policy.python.members import CHECKED, MEMBERS
from sandtable.policy.python.names import (
    BUILTINS,
    CONNECTION,
    FORBIDDEN_BUILTINS,
    FUNCTIONS,
    MODULES,
    ONLY_TABLE,
    TABLES,
)
from sandtable.policy.python.scopes import Meaning, meaning_of
from sandtable.policy.python.spots import Places, Spot, spots_of
from sandtable.policy.tree import Node, as_node, listed, under

MAX_STEPS = 20_000
"""How often the value of an expression is followed in one text; ordinary code needs some hundreds."""
_AMBIENT = {**MODULES, CONNECTION: CONNECTION}
_AMBIENT_NAMES = frozenset({*_AMBIENT, *FUNCTIONS, *BUILTINS, *FORBIDDEN_BUILTINS, TABLES, ONLY_TABLE})
_EXCEPTIONS = ("Error", "Exception", "Exit", "Group", "Interrupt", "Iteration", "Warning")
_PLAIN_BASES = frozenset({"object", "dict", "list", "set", "frozenset", "tuple", "int", "float", "bool"})
"""Builtins that a class may inherit from without getting a method that interprets a text."""
_PLAIN_BASE_MODULES = ("collections.", "enum.", "typing.")
_TEXT_BASES = frozenset({"collections.UserString", "enum.StrEnum"})


@dataclass(frozen=True, slots=True)
class Finding:
    """Why a spot is refused."""

    spot: Spot
    construct: str
    message: str
    suggestion: str
    word: str = ""
    """The last word of the spot, when that alone is to be marked."""


class Code:
    def __init__(self, text: str, tree: Node, dataset: Dataset, names: Collection[str]) -> None:
        self.places = Places(text)
        self.spots = spots_of(tree)
        bind_names(self.spots, self.places)
        self.names = frozenset(names)
        self.tables = tuple(table.name for table in dataset.tables)
        self.columns = frozenset(column.name for table in dataset.tables for column in table.columns)
        self.attributes = frozenset(_own_attributes(self.spots))
        """Attributes that classes of the text define for their own objects."""
        self._steps_left = MAX_STEPS
        self._classes: dict[str, list[Spot]] = {}
        self._loads: dict[str, list[Spot]] = {}
        for spot in self.spots:
            if spot.kind == "ClassDef":
                self._classes.setdefault(spot.text_of("name"), []).append(spot)
            if spot.kind == "Name" and spot.node.get("ctx") == "Load":
                self._loads.setdefault(spot.text_of("id"), []).append(spot)

    def is_given(self, name: str) -> bool:
        """Whether the namespace holds it as data: a table, or what the caller says is there."""
        return name in self.tables or name in self.names

    def may_follow(self) -> bool:
        """Counts a step from an expression to where its value comes from. After too many, nothing is certain."""
        self._steps_left -= 1
        return self._steps_left >= 0

    def loads_of(self, name: str) -> list[Spot]:
        """Where a name is read, in whatever scope."""
        return self._loads.get(name, [])

    def meaning(self, spot: Spot) -> Meaning:
        """What a Name can mean at its place."""
        name = spot.text_of("id")
        found = meaning_of(name, spot.scope)
        if not found.ambient or not found.bindings:
            return found
        is_bound = any(_binds_around(above, below, name) for above, below in _steps(spot))
        return Meaning(found.bindings, ambient=self._is_ambient(name) and not is_bound)

    def _is_ambient(self, name: str) -> bool:
        """Whether a name has a meaning that the text did not give it."""
        return (
            name in _AMBIENT_NAMES
            or self.is_given(name)
            or name.startswith("__")
            or name.endswith(_EXCEPTIONS)
        )

    def modules(self, spot: Spot, node: Node) -> frozenset[str]:
        """The modules that an expression inside a spot can be: `pd`, `np.random`. Nothing else holds a module."""
        return self._dotted(spot, node, modules=True)

    def members(self, spot: Spot, node: Node) -> frozenset[str]:
        """The members of modules that an expression can be, by their full name: `numpy.random.default_rng`."""
        return self._dotted(spot, node, modules=False)

    def called(self, spot: Spot) -> frozenset[str]:
        """The members of modules that a Call can be one of, also of those that an earlier cell imported."""
        func = under(spot.node, "func")
        name = str(func.get("id"))
        is_earlier = name in self.names
        return self.members(spot, func) | {c for c in CHECKED if is_earlier and c.endswith(f".{name}")}

    def _dotted(self, spot: Spot, node: Node, *, modules: bool) -> frozenset[str]:
        path: list[str] = []
        while node.get("_") == "Attribute":
            path.append(str(node.get("attr")))
            node = under(node, "value")
        if node.get("_") != "Name":
            return frozenset()
        name = str(node.get("id"))
        # The name stands inside the spot, where its scope is the same: only a new function would change it.
        meaning = self.meaning(Spot(node, spot, "value", spot.scope))
        roots = set(meaning.targets("module"))
        if meaning.ambient and name in _AMBIENT and name not in self.names:
            roots.add(_AMBIENT[name])
        found = {".".join([root, *reversed(path)]) for root in roots}
        if modules:
            return frozenset(f for f in found if f in MEMBERS)
        found |= {".".join([target, *reversed(path)]) for target in meaning.targets("member")}
        return frozenset(f for f in found if f not in MEMBERS)

    def is_own_attribute(self, spot: Spot) -> bool:
        """Whether an attribute is read from an object of a class of the text, which has such a one."""
        attribute, value = spot.text_of("attr"), under(spot.node, "value")
        if attribute not in self.attributes:
            return False
        if value.get("_") != "Name":
            return self._is_call_of_own(spot, value)
        return self._is_self(spot, str(value.get("id")), attribute) or self._is_made_here(spot, value)

    def is_own_class(self, spot: Spot) -> bool:
        """Whether a Name is a class of the text that has nothing of a library's in it."""
        return spot.kind == "Name" and self._is_plain_name(spot, set())

    def _is_plain_name(self, spot: Spot, seen: set[str]) -> bool:
        meaning, classes = self.meaning(spot), self._classes.get(spot.text_of("id"), [])
        is_one_class = meaning.is_function and len(meaning.bindings) == len(classes) == 1
        return is_one_class and self._is_plain_class(classes[0], seen)

    def _is_plain_class(self, spot: Spot, seen: set[str]) -> bool:
        if spot.text_of("name") in seen:
            return False
        seen = seen | {spot.text_of("name")}
        decorators = [as_node(d) for d in listed(spot.node, "decorator_list")]
        return all(self.members(spot, under(d, "func") or d) for d in decorators) and all(
            self._is_plain_base(spot, as_node(base), seen) for base in listed(spot.node, "bases")
        )

    def _is_plain_base(self, spot: Spot, base: Node, seen: set[str]) -> bool:
        if base.get("_") == "Subscript":
            base = under(base, "value")
        members = self.members(spot, base)
        if members:
            return all(m.startswith(_PLAIN_BASE_MODULES) and m not in _TEXT_BASES for m in members)
        if base.get("_") != "Name":
            return False
        place, name = Spot(base, spot, "bases", spot.scope), str(base.get("id"))
        if not self.meaning(place).bindings and not self.is_given(name):
            return name in _PLAIN_BASES or name.endswith(_EXCEPTIONS)
        return self._is_plain_name(place, seen)

    def _is_made_here(self, spot: Spot, node: Node) -> bool:
        value = self.meaning(Spot(node, spot, "value", spot.scope)).only_value
        return value is not None and self._is_call_of_own(spot, value)

    def _is_call_of_own(self, spot: Spot, node: Node) -> bool:
        return node.get("_") == "Call" and self.is_own_class(
            Spot(under(node, "func"), spot, "func", spot.scope)
        )

    def _is_self(self, spot: Spot, name: str, attribute: str) -> bool:
        """The first parameter of a method, or another object that it is compared with."""
        is_compared = name == "other" and attribute.startswith("_")
        if not (is_compared or name in ("self", "cls")) or len(meaning_of(name, spot.scope).bindings) != 1:
            return False
        return any(
            above.kind == "FunctionDef"
            and above.parent is not None
            and above.parent.kind == "ClassDef"
            and self._is_plain_class(above.parent, set())
            for above in spot.above()
        )


def _steps(spot: Spot) -> list[tuple[Spot, Spot]]:
    """(outer, inner) pairs on the way out, within one scope."""
    steps: list[tuple[Spot, Spot]] = []
    below = spot
    for above in spot.above():
        if above.scope is not spot.scope:
            break
        steps.append((above, below))
        below = above
    return steps


def _binds_around(above: Spot, below: Spot, name: str) -> bool:
    """Whether a loop gives a name its value before the body that reads it."""
    target = under(above.node, "target")
    return (
        above.kind == "For"
        and below.field == "body"
        and target.get("_") == "Name"
        and target.get("id") == name
    )


def _own_attributes(spots: list[Spot]) -> set[str]:
    found: set[str] = set()
    for spot in spots:
        if spot.kind == "ClassDef":
            for member in map(as_node, listed(spot.node, "body")):
                if member.get("_") == "FunctionDef":
                    found.add(str(member.get("name")))
                targets = [under(member, "target"), *map(as_node, listed(member, "targets"))]
                found |= {str(t["id"]) for t in targets if t.get("_") == "Name"}
        elif spot.node.get("ctx") == "Store" and under(spot.node, "value").get("id") in ("self", "cls"):
            found.add(spot.text_of("attr"))
    return found
