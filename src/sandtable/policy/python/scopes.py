"""What a name can mean where it is read, by Python's scope rules, whatever the order of execution.

Invariant: a name loses its ambient meaning (a module, a builtin) only where that is
certain. When in doubt it has both meanings, and the stricter rules apply.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from sandtable.policy.tree import Node

Kind = Literal["data", "function", "module", "member"]


@dataclass(frozen=True, slots=True)
class Binding:
    kind: Kind
    target: str = ""
    """The dotted name that an import gives."""
    value: Node | None = None
    """The expression that its value is taken from, where the text has one."""
    steps: tuple[int | None, ...] = ()
    """How it is taken from there: a number stands for the item at that place, None for each item in turn."""
    scope: Scope | None = None
    """Where that expression is read."""


@dataclass(slots=True)
class Scope:
    kind: Literal["module", "function", "comprehension", "class"]
    outer: Scope | None
    bound: dict[str, list[Binding]] = field(default_factory=dict[str, list[Binding]])
    elsewhere: dict[str, Scope] = field(default_factory=dict[str, "Scope"])
    """Names that `global` sends to another scope."""
    outward: set[str] = field(default_factory=set[str])
    """Names that `nonlocal` takes from a function around."""
    deferred: list[tuple[str, Binding]] = field(default_factory=list[tuple[str, Binding]])
    settled: set[str] = field(default_factory=set[str])
    """Module scope: names that have their new meaning before anything reads them."""

    def bind(self, name: str, binding: Binding) -> None:
        if name in self.outward:
            self.deferred.append((name, binding))
        else:
            self.elsewhere.get(name, self).bound.setdefault(name, []).append(binding)

    def bind_deferred(self) -> None:
        """Once all else is bound: what `nonlocal` names belongs to the nearest function that has the name."""
        for name, binding in self.deferred:
            holder = self.outer
            while holder is not None and (holder.kind == "class" or name not in holder.bound):
                holder = holder.outer
            if holder is not None:
                holder.bound[name].append(binding)
        self.deferred.clear()

    @property
    def module(self) -> Scope:
        scope = self
        while scope.outer is not None:
            scope = scope.outer
        return scope

    @property
    def of_names(self) -> Scope:
        """Where `:=` binds: comprehensions have no names of their own for it."""
        scope = self
        while scope.kind == "comprehension" and scope.outer is not None:
            scope = scope.outer
        return scope


@dataclass(frozen=True, slots=True)
class Meaning:
    bindings: tuple[Binding, ...]
    ambient: bool
    """It may be what the namespace or the builtins hold under this name."""

    def targets(self, kind: Kind) -> set[str]:
        return {b.target for b in self.bindings if b.kind == kind}

    @property
    def is_function(self) -> bool:
        """Certainly a function or class of the text itself."""
        return not self.ambient and all(b.kind == "function" for b in self.bindings)

    @property
    def only_value(self) -> Node | None:
        """The one value that it is ever given."""
        if self.ambient or len(self.bindings) != 1 or self.bindings[0].steps:
            return None
        return self.bindings[0].value


def meaning_of(name: str, scope: Scope) -> Meaning:
    return _look_up(name, scope)[0]


def is_of_module(name: str, scope: Scope) -> bool:
    """Whether a name read here may be that of the module scope, and not one of a function around it."""
    return _look_up(name, scope)[1]


def _look_up(name: str, scope: Scope) -> tuple[Meaning, bool]:
    bindings: list[Binding] = []
    at: Scope | None = scope
    first = True
    while at is not None:
        if name in at.elsewhere:
            at = at.elsewhere[name]
        if at.kind == "class":
            # A class body reads its own names and, before they are bound, those outside; functions in it
            # do not see them.
            if first:
                bindings += at.bound.get(name, ())
        elif found := at.bound.get(name):
            ambient = at.kind == "module" and name not in at.settled
            return Meaning((*bindings, *found), ambient), at.kind == "module"
        first = False
        at = at.outer
    return Meaning(tuple(bindings), True), True
