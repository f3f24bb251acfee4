"""How the rest of the gate reads the engine's parse tree: plain JSON, with absent keys as empty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

Node = Mapping[str, Any]

_NOTHING: Node = {}


def as_node(value: Any) -> Node:
    """The record itself; an empty one for anything else."""
    return cast("Node", value) if isinstance(value, dict) else _NOTHING


def under(node: Node, key: str) -> Node:
    return as_node(node.get(key))


def listed(node: Node, key: str) -> list[Any]:
    value = node.get(key)
    return cast("list[Any]", value) if isinstance(value, list) else []


def records(value: Any, *, into_subqueries: bool = True) -> Iterator[Node]:
    """Every record of a tree, outer before inner; without those of its subqueries where asked."""
    stack: list[Any] = [value]
    while stack:
        found = stack.pop()
        if isinstance(found, dict):
            record = cast("Node", found)
            yield record
            if not into_subqueries and record.get("class") == "SUBQUERY":
                continue
            found = record.values()
        elif not isinstance(found, list):
            continue
        # Most values of a tree are leaves, which are not visited again.
        stack += [v for v in reversed(cast("list[Any]", found)) if isinstance(v, (dict, list))]
