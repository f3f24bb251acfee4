"""How the rest of the gate reads the engine's parse tree: plain JSON, with absent keys as empty."""

from __future__ import annotations

from collections.abc import Mapping
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
