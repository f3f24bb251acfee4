"""Parse a query with the engine's parser: its tree, its canonical text, the tree of that text.

Runs in a sealed, single-use process: the text is hostile until judged. The canonical text is what will run. Invariant:
it parses to the tree it was written from, and writing that tree again gives the same text; a query for which this does
not hold gets no canonical text.
"""

from __future__ import annotations

import json
import re
from typing import Any

import duckdb

from sandtable_runner.canonical import bare, make_deterministic
from sandtable_runner.engine import literal
from sandtable_runner.float_sums import Node, dicts

MAX_TREE_DEPTH = 400
"""Levels of JSON. Later readers of the tree use a stack frame per level."""

MAX_GROUPING_SETS = 512
"""Writing grouping sets back to text takes time that grows with their number times their size."""

_PREPARED = """
PREPARE read_text AS SELECT json_serialize_sql(?, skip_null := true, skip_empty := true, skip_default := true);
PREPARE write_tree AS SELECT json_deserialize_sql(?::JSON)
"""

_LOCATION = '"query_location(?:_length)?":[0-9]+'
_LOCATIONS = re.compile(f",{_LOCATION}|{_LOCATION},|{_LOCATION}")

_UNORDERED = frozenset({"exclude_list", "qualified_exclude_list", "replace_list", "rename_list"})


class _Unwritable(Exception):
    """The query has no canonical text; the message says why."""


def prepare(con: duckdb.DuckDBPyConnection) -> None:
    """Have the engine prepare its two statements once, before a text arrives."""
    con.execute(_PREPARED)


def parse(con: duckdb.DuckDBPyConnection, text: str, float_columns: list[str] | None) -> dict[str, Any]:
    """The engine's (see `prepare`) parse of a text: `{ok: true, tree, canonical, canonical_tree, serial, volatile}`, or
    `{ok: false, error_type, message, position}` with the position in bytes.

    `canonical` is None, with `canonical_error`, for a tree that cannot be written back: the gate then refuses, and can
    still name what is wrong with the tree.
    """
    try:
        written = _answer(con, "read_text", text)
        answer = json.loads(written)
    except RecursionError:
        return _failure("too_deep", "The query is nested too deep.", None)
    except duckdb.Error as error:
        return _failure(type(error).__name__, str(error), None)
    if answer["error"]:
        return _refusal_of_the_parser(con, text, answer)
    statements = answer["statements"]
    if len(statements) != 1:
        return _failure("statements", f"{len(statements)} statements", None)
    tree = statements[0]
    depth, grouping_sets = _extent(tree) if _may_be_large(written) else (0, 0)
    if depth > MAX_TREE_DEPTH:
        return _failure("too_deep", "The query is nested too deep.", None)
    if grouping_sets > MAX_GROUPING_SETS:
        return _failure("grouping_sets", f"The query has more than {MAX_GROUPING_SETS} grouping sets.", None)
    try:
        return {"ok": True, "tree": tree, **_canonical(con, _unplaced(written), float_columns)}
    except (_Unwritable, duckdb.Error) as error:
        return {"ok": True, "tree": tree, "canonical": None, "canonical_error": str(error)}


def _canonical(
    con: duckdb.DuckDBPyConnection, wanted: Node, float_columns: list[str] | None
) -> dict[str, Any]:
    """Modifies `wanted`."""
    serial, volatile = make_deterministic(wanted, float_columns, lambda item: _name_of(con, item))
    wanted = _flat_values(wanted)
    text, read = _written(con, wanted)
    if wanted != read and bare(wanted) != bare(_flat_values(read)):
        if _meaning(wanted) != _meaning(_flat_values(read)):
            raise _Unwritable("its canonical text does not read back as the same query")
        text, read = _settled(con, text, read)
    return {
        "canonical": text,
        "canonical_tree": read,
        "serial": serial,
        "volatile": volatile,
    }


def _settled(con: duckdb.DuckDBPyConnection, text: str, read: Node) -> tuple[str, Node]:
    """Write and parse until the text is stable or repeats: the engine renumbers grouping sets and keeps lists such as
    EXCLUDE unordered. Of a cycle of texts, the smallest is taken."""
    ring: dict[str, Node] = {}
    for _ in range(4):
        if text in ring:
            texts = list(ring)
            least = min(texts[texts.index(text) :])
            return least, ring[least]
        ring[text] = read
        text, read = _written(con, _flat_values(read))
    raise _Unwritable("its canonical text changes each time it is written")


def _written(con: duckdb.DuckDBPyConnection, statement: Node) -> tuple[str, Node]:
    wrapped = json.dumps({"error": False, "statements": [statement]})
    text = _answer(con, "write_tree", wrapped)
    return text, _unplaced(_answer(con, "read_text", text))


def _unplaced(written: str) -> Node:
    """The one statement of a tree in JSON, without text positions. (The pattern cannot match inside a string, where
    quotes are escaped.)"""
    answer = json.loads(_LOCATIONS.sub("", written))
    if answer["error"]:
        raise _Unwritable(f"its canonical text is not valid SQL: {answer.get('error_message')}")
    if len(answer["statements"]) != 1:
        raise _Unwritable("its canonical text is more than one statement")
    return answer["statements"][0]


def _name_of(con: duckdb.DuckDBPyConnection, item: Node) -> str:
    """The name the engine gives a select item without an alias: its text."""
    node = {"type": "SELECT_NODE", "select_list": [item], "from_table": {"type": "EMPTY"}, "cte_map": {}}
    wrapped = {"error": False, "statements": [{"node": {**node, "aggregate_handling": "STANDARD_HANDLING"}}]}
    return _answer(con, "write_tree", json.dumps(wrapped)).removeprefix("SELECT ")


def _answer(con: duckdb.DuckDBPyConnection, task: str, given: str) -> str:
    """Passes a literal: with a parameter, the engine would plan the statement again."""
    row = con.execute(f"EXECUTE {task}({literal(given)})").fetchone()
    if row is None or not isinstance(row[0], str):
        raise _Unwritable("the engine gave no text")
    return row[0]


def _refusal_of_the_parser(con: duckdb.DuckDBPyConnection, text: str, answer: Node) -> dict[str, Any]:
    """Name the statements too: 'only SELECT can be serialized' does not say what was found instead."""
    position = answer.get("position")
    failure = _failure(
        str(answer.get("error_type")),
        str(answer.get("error_message")),
        int(position) if position is not None and str(position).isdigit() else None,
    )
    if answer.get("error_type") == "not implemented":
        try:
            failure["statements"] = [s.type.name for s in con.extract_statements(text)]
        except (duckdb.Error, ValueError):
            # The client knows fewer kinds of statement than the engine.
            failure["statements"] = ["UNKNOWN"]
    return failure


def _failure(error_type: str, message: str, position: int | None) -> dict[str, Any]:
    return {"ok": False, "error_type": error_type, "message": message, "position": position}


def _may_be_large(written: str) -> bool:
    """Whether `_extent` must be computed: every level and every grouping set has a bracket."""
    return written.count("{") + written.count("[") > MAX_TREE_DEPTH


def _extent(tree: Node) -> tuple[int, int]:
    """The depth of the tree, and the largest number of grouping sets in one of its queries."""
    deepest = grouping_sets = 0
    stack: list[tuple[Any, int]] = [(tree, 1)]
    while stack:
        value, depth = stack.pop()
        deepest = max(deepest, depth)
        if isinstance(value, dict):
            grouping_sets = max(grouping_sets, len(value.get("group_sets") or ()))
            value = value.values()
        stack.extend((child, depth + 1) for child in value if isinstance(child, (dict, list)))
    return deepest, grouping_sets


def _flat_values(statement: Node) -> Node:
    return (
        _flattened(statement)
        if any(d.get("type") == "EXPRESSION_LIST" for d in dicts(statement))
        else statement
    )


def _flattened(value: Any) -> Any:
    """`(SELECT * FROM (VALUES …)) AS v(a)` as `(VALUES …) AS v(a)`: each parse wraps it once more."""
    if isinstance(value, list):
        return [_flattened(v) for v in value]
    if not isinstance(value, dict):
        return value
    flat = {key: _flattened(v) for key, v in value.items()}
    if flat.get("type") != "SUBQUERY" or "class" in flat:
        return flat
    node = flat["subquery"]["node"]
    inner = node.get("from_table") or {}
    extra = set(node) - {"type", "cte_map", "select_list", "from_table", "aggregate_handling"}
    if inner.get("type") != "EXPRESSION_LIST" or extra or node.get("cte_map"):
        return flat
    if bare(node.get("select_list")) != [{"class": "STAR", "type": "STAR"}] or flat.get("sample"):
        return flat
    names = flat.get("column_name_alias") or inner.get("expected_names")
    alias = flat.get("alias") or inner.get("alias")
    return {
        "type": "EXPRESSION_LIST",
        "alias": alias,
        "values": inner["values"],
        **({"expected_names": names} if names else {}),
    }


def _meaning(value: Any) -> Any:
    """A tree without the differences that the engine makes between writing and parsing, which have no effect."""
    if isinstance(value, list):
        return [_meaning(v) for v in value]
    if not isinstance(value, dict):
        return value
    dropped = ("query_location", "query_location_length", "is_operator", "has_ignore_nulls")
    plain = {k: _meaning(v) for k, v in value.items() if k not in dropped and not (k == "alias" and not v)}
    if plain.get("name") and "expression" in plain:
        plain["expression"] = {k: v for k, v in plain["expression"].items() if k != "alias"}
    for key in _UNORDERED & set(plain):
        plain[key] = sorted(plain[key], key=lambda entry: json.dumps(entry, sort_keys=True).lower())
    if plain.get("group_sets"):
        grouped = [json.dumps(e, sort_keys=True) for e in plain.pop("group_expressions", [])]
        plain["group_sets"] = [sorted(grouped[i] for i in chosen) for chosen in plain["group_sets"]]
    return plain
