"""One text under judgement: its tree, its scopes, the dataset it speaks of; and what a rule says of it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sandtable.catalog.model import Dataset
from sandtable.policy.python.bindings import bind_names
from sandtable.policy.python.members import MEMBERS
from sandtable.policy.python.names import CONNECTION, MODULES
from sandtable.policy.python.scopes import Meaning, meaning_of
from sandtable.policy.python.spots import Places, Spot, spots_of
from sandtable.policy.tree import Node, as_node, listed, under

_AMBIENT = {**MODULES, CONNECTION: CONNECTION}


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
        self._classes = frozenset(spot.text_of("name") for spot in self.spots if spot.kind == "ClassDef")

    def is_given(self, name: str) -> bool:
        """Whether the namespace holds it as data: a table, or what the caller says is there."""
        return name in self.tables or name in self.names

    def meaning(self, spot: Spot) -> Meaning:
        """What a Name can mean at its place."""
        name = spot.text_of("id")
        found = meaning_of(name, spot.scope)
        if (
            found.ambient
            and found.bindings
            and any(_binds_around(above, below, name) for above, below in _steps(spot))
        ):
            return Meaning(found.bindings, ambient=False)
        return found

    def modules(self, spot: Spot, node: Node) -> frozenset[str]:
        """The modules that an expression inside a spot can be: `pd`, `np.random`. Nothing else holds a module."""
        return self._dotted(spot, node, modules=True)

    def members(self, spot: Spot, node: Node) -> frozenset[str]:
        """The members of modules that an expression can be, by their full name: `numpy.random.default_rng`."""
        return self._dotted(spot, node, modules=False)

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

    def is_own_object(self, spot: Spot, node: Node) -> bool:
        """Whether an expression is an object of a class that the text itself defines."""
        if node.get("_") == "Name":
            return self._is_self(spot, str(node.get("id"))) or self._is_made_here(spot, node)
        return self._is_call_of_own(spot, node)

    def _is_made_here(self, spot: Spot, node: Node) -> bool:
        value = self.meaning(Spot(node, spot, "value", spot.scope)).only_value
        return value is not None and self._is_call_of_own(spot, value)

    def _is_call_of_own(self, spot: Spot, node: Node) -> bool:
        func = under(node, "func")
        if node.get("_") != "Call" or func.get("_") != "Name":
            return False
        meaning = self.meaning(Spot(func, spot, "func", spot.scope))
        return meaning.is_function and str(func.get("id")) in self._classes

    def _is_self(self, spot: Spot, name: str) -> bool:
        """The first parameter of a method, or another object that it is compared with."""
        bindings = meaning_of(name, spot.scope).bindings
        if name not in ("self", "cls", "other") or len(bindings) != 1:
            return False
        return any(
            above.kind == "FunctionDef" and above.parent is not None and above.parent.kind == "ClassDef"
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
