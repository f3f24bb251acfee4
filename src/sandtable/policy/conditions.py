"""What a query restricts its rows by, for the explanation of an empty result. Pure; nothing is judged here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandtable.catalog.model import Dataset
from sandtable.engines.rules import Functions
from sandtable.policy.comparisons import Comparison, comparisons_of
from sandtable.policy.counting import CountedSelect, counted_selects
from sandtable.policy.names import fold
from sandtable.policy.tree import Node, listed, records, under


@dataclass(frozen=True, slots=True)
class SqlConditions:
    comparisons: tuple[Comparison, ...] = ()
    """In all its parts."""
    selects: tuple[CountedSelect, ...] = ()
    """Outermost first; each next one is all that the one before it reads."""
    sums_up: bool = False
    """Whether it aggregates all rows into one: that one is there for no rows, too."""


def conditions_of(
    text: str, parsed: Mapping[str, Any], dataset: Dataset, functions: Functions
) -> SqlConditions:
    """`parsed` is the answer of the runner's `parse` for a text that the gate approves."""
    written, tree = under(parsed, "tree"), under(parsed, "canonical_tree")
    return SqlConditions(
        comparisons_of(text, written, dataset),
        counted_selects(text, written, str(parsed.get("canonical") or ""), tree),
        _sums_up(under(tree, "node"), functions),
    )


def _sums_up(node: Node, functions: Functions) -> bool:
    items = listed(node, "select_list")
    if node.get("type") != "SELECT_NODE" or node.get("group_expressions") or node.get("group_sets"):
        return False
    return bool(items) and all(_aggregates(item, functions) for item in items)


def _aggregates(item: Any, functions: Functions) -> bool:
    return any(
        record.get("class") == "FUNCTION" and fold(str(record.get("function_name"))) in functions.aggregates
        for record in records(item, into_subqueries=False)
    )
