"""Words without brackets that the engine treats as session functions: `user`, `current_schema`.

To the parser they are columns; the engine falls back to the function when no column has that name, so
`SELECT user FROM orders` would return the name of the engine's user instead of an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from sandtable.catalog.model import Dataset
from sandtable.errors import ErrorCode
from sandtable.policy.names import fold
from sandtable.policy.place import refuse
from sandtable.policy.tree import Node, listed, records, under
from sandtable.policy.verdict import Refused
from sandtable.quoting import quote

_NAMING = ("alias", "aliases", "column_name_alias", "expected_names", "unpivot_names")


def session_word_of(text: str, statement: Node, dataset: Dataset, words: frozenset[str]) -> Refused | None:
    """Refuse the first such word, unless the dataset or the query itself has a column of that name."""
    if not any(word in fold(text) for word in words):
        return None
    found = [(word, node) for node in records(statement) if (word := _word(node, words))]
    known = {fold(c.name) for t in dataset.tables for c in t.columns} if found else set[str]()
    known |= {fold(name) for node in records(statement) for name in _given_names(node)} if found else set()
    for word, node in found:
        if word not in known:
            message = (
                f"There is no column {quote(word)}, and what the engine knows of its session is not data."
            )
            hint = "Use a column of the dataset's tables"
            return refuse(text, node, word, message, hint, ErrorCode.VALIDATION_ERROR)
    return None


def _word(node: Node, words: frozenset[str]) -> str | None:
    """The word that a node starts with: `user`, or `user.upper()`, which calls a function of it."""
    if node.get("class") == "COLUMN_REF" and len(listed(node, "column_names")) == 1:
        word = fold(str(listed(node, "column_names")[0]))
    elif node.get("class") in ("FUNCTION", "WINDOW"):
        word = fold(str(node.get("schema") or ""))
    else:
        return None
    return word if word in words else None


def _given_names(node: Node) -> Iterator[str]:
    """Names that a node gives to columns and to the parameters of a lambda."""
    for key in _NAMING:
        value = node.get(key)
        yield from (str(v) for v in (cast("list[Any]", value) if isinstance(value, list) else [value]) if v)
    for pair in listed(node, "rename_list"):
        yield str(pair.get("value"))
    if node.get("class") == "LAMBDA":
        for parameter in records(under(node, "lhs")):
            yield from map(str, listed(parameter, "column_names"))
