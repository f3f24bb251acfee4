"""Names that are read: modules only in front of a dot, builtins only from the list."""

from __future__ import annotations

from sandtable.policy.python.attributes import bare_module
from sandtable.policy.python.code import Code, Finding
from sandtable.policy.python.names import ABSENT, FORBIDDEN_BUILTINS, NEVER_VARIABLES, ONLY_CALLED
from sandtable.policy.python.spots import Spot

_OWN_SPECIAL = frozenset({"__slots__", "__hash__"})
"""Special names that a class body may set."""


def name_finding(spot: Spot, code: Code) -> Finding | None:
    if spot.kind != "Name":
        return None
    name = spot.text_of("id")
    if name.startswith("__"):
        return _special_finding(spot, name)
    if spot.node.get("ctx") != "Load":
        return None
    in_front_of_dot = spot.parent is not None and spot.parent.kind == "Attribute"
    if not in_front_of_dot and (modules := code.modules(spot, spot.node)):
        return bare_module(spot, min(modules), name)
    if not code.meaning(spot).ambient or code.is_given(name):
        return None
    if name in FORBIDDEN_BUILTINS:
        return Finding(spot, name, f"`{name}` may not be used.", FORBIDDEN_BUILTINS[name])
    if name in ONLY_CALLED and not spot.is_called:
        return Finding(
            spot, name, f"`{name}` may only be called in place.", "write the attribute itself: x.name"
        )
    if name in NEVER_VARIABLES:
        return Finding(spot, name, f"`{name}` is not here.", ABSENT[name])
    return None


def _special_finding(spot: Spot, name: str) -> Finding | None:
    if name == "__name__" and spot.node.get("ctx") == "Load":
        return None
    if name in _OWN_SPECIAL and spot.scope.kind == "class" and spot.node.get("ctx") == "Store":
        return None
    hint = FORBIDDEN_BUILTINS.get(name, "choose a name that does not begin with two underscores")
    return Finding(spot, name, f"`{name}` is a name of the interpreter and may not be used.", hint)
