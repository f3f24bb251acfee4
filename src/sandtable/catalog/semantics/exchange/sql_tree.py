"""The tree of an SQL expression: columns, literals, calls, arithmetic, conditions, CASE."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal


class NotRead(Exception):
    """The reason, in words."""


@dataclass(frozen=True, slots=True)
class Name:
    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        return ".".join(self.parts)


@dataclass(frozen=True, slots=True)
class Constant:
    value: str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Call:
    function: str
    """In lower case."""
    arguments: tuple[Tree, ...]
    distinct: bool = False
    where: Tree | None = None
    """`FILTER (WHERE …)`."""
    ordered_by: Tree | None = None
    """`WITHIN GROUP (ORDER BY …)`."""


@dataclass(frozen=True, slots=True)
class Star:
    """In `COUNT(*)`."""


@dataclass(frozen=True, slots=True)
class Arithmetic:
    op: Literal["+", "-", "*", "/"]
    left: Tree
    right: Tree


@dataclass(frozen=True, slots=True)
class Compared:
    op: str
    """As in the plan language; also `like` and `ilike`."""
    left: Tree
    right: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Joined:
    word: Literal["and", "or"]
    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Not:
    part: Tree


@dataclass(frozen=True, slots=True)
class Case:
    branches: tuple[tuple[Tree, Tree], ...]
    otherwise: Tree | None


@dataclass(frozen=True, slots=True)
class Cast:
    part: Tree
    type: str
    """In lower case, with its arguments."""


Tree = Name | Constant | Call | Star | Arithmetic | Compared | Joined | Not | Case | Cast


def changed(tree: Tree, change: Callable[[Name | Call], Tree | None]) -> Tree:
    """The tree with other parts in the place of names and calls; None keeps one, and looks inside it."""

    def again(each: Tree) -> Tree:
        return changed(each, change)

    match tree:
        case Name():
            return change(tree) or tree
        case Constant() | Star():
            return tree
        case Cast():
            return Cast(again(tree.part), tree.type)
        case Not():
            return Not(again(tree.part))
        case Arithmetic():
            return Arithmetic(tree.op, again(tree.left), again(tree.right))
        case Joined():
            return Joined(tree.word, tuple(map(again, tree.parts)))
        case Compared():
            return Compared(tree.op, again(tree.left), tuple(map(again, tree.right)))
        case Case():
            branches = tuple((again(condition), again(then)) for condition, then in tree.branches)
            return Case(branches, again(tree.otherwise) if tree.otherwise else None)
        case Call():
            return change(tree) or replace(
                tree,
                arguments=tuple(map(again, tree.arguments)),
                where=again(tree.where) if tree.where else None,
                ordered_by=again(tree.ordered_by) if tree.ordered_by else None,
            )
