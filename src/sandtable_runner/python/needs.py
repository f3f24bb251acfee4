"""Which tables a piece of code names, and which of their columns it can access.

Invariant: a table is read in part only when every use of its name picks columns by constant names; then the missing
columns cannot be noticed. Any other use, including one not understood, reads the whole table.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping

Need = frozenset[str] | None
"""Columns; None is the whole table."""

# Through these, a name can be looked up by its text.
_REFLECTIVE = frozenset(
    {"globals", "locals", "vars", "eval", "exec", "compile", "__builtins__", "__import__"}
)
_GROUP_OPTIONS = frozenset({"as_index", "sort", "observed", "dropna", "group_keys"})


Family = dict[ast.AST, ast.AST]
"""Every node of a text but its root → its parent."""


def family(tree: ast.Module) -> Family:
    parents: Family = {}
    todo: list[ast.AST] = [tree]
    for node in todo:
        for child in ast.iter_child_nodes(node):
            parents[child] = node
            todo.append(child)
    return parents


def names_in(nodes: Family) -> set[str]:
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def is_reflective(names: Collection[str]) -> bool:
    return not _REFLECTIVE.isdisjoint(names)


def needs(
    parents: Family,
    tables: Mapping[str, str],
    columns: Mapping[str, Collection[str]],
    methods: Collection[str],
) -> dict[str, Need]:
    """`tables`: names in the code → table. `columns`: of each table. `methods`: attributes of a frame itself."""
    if is_reflective(names_in(parents)):
        return dict.fromkeys(tables.values(), None)
    found: dict[str, Need] = {}
    for node in parents:
        for name in _named(node):
            table = tables.get(name)
            if table is None:
                continue
            picked = _picked(node, parents, methods) if isinstance(node, ast.Name) else None
            before = found.get(table, frozenset[str]())
            if picked is None or before is None or not picked <= set(columns[table]):
                found[table] = None
            else:
                found[table] = before | picked
    return found


def _named(node: ast.AST) -> Iterator[str]:
    """Names that a node reads or binds."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.Global | ast.Nonlocal):
        yield from node.names


def _picked(name: ast.Name, parents: Family, methods: Collection[str]) -> frozenset[str] | None:
    """The columns that this one use can access; None for all."""
    use = parents.get(name)
    if not isinstance(name.ctx, ast.Load):
        return None
    if isinstance(use, ast.Subscript) and use.value is name:
        return _selected(use)
    if not isinstance(use, ast.Attribute):
        return None
    if use.attr == "groupby":
        return _grouped(use, parents, methods)
    return frozenset({use.attr}) if isinstance(use.ctx, ast.Load) and use.attr not in methods else None


def _selected(use: ast.Subscript) -> frozenset[str] | None:
    return _constants(use.slice) if isinstance(use.ctx, ast.Load) else None


def _grouped(use: ast.Attribute, parents: Family, methods: Collection[str]) -> frozenset[str] | None:
    """`t.groupby("a")["b"]` and `t.groupby(["a", "c"]).b`."""
    call = parents.get(use)
    if not isinstance(call, ast.Call) or call.func is not use or len(call.args) != 1:
        return None
    if any(keyword.arg not in _GROUP_OPTIONS for keyword in call.keywords):
        return None
    keys = _constants(call.args[0])
    after = parents.get(call)
    if isinstance(after, ast.Subscript) and after.value is call:
        values = _selected(after)
    elif isinstance(after, ast.Attribute) and after.attr not in methods and after.attr not in _GROUP_METHODS:
        values = frozenset({after.attr})
    else:
        return None
    return None if keys is None or values is None else keys | values


# Attributes of a grouped frame beyond those of a frame.
_GROUP_METHODS = frozenset({"groups", "indices", "ngroup", "ngroups", "get_group", "nth", "ohlc", "grouper"})


def _constants(node: ast.expr) -> frozenset[str] | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return frozenset({node.value})
    if isinstance(node, ast.List):
        values = [item.value if isinstance(item, ast.Constant) else None for item in node.elts]
        if all(isinstance(value, str) for value in values):
            return frozenset(str(value) for value in values)
    return None
