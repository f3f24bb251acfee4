"""Walk a statement's parse tree by allow list, with the lexical scope of CTE names.

Invariant: `walk` returns None only if every node, type, key, function and table in the tree is
known and allowed. The walk keeps its own stack, so a deep tree cannot exhaust Python's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from sandtable.catalog.model import Dataset
from sandtable.errors import ErrorCode
from sandtable.policy import grammar as g
from sandtable.policy.functions import AGGREGATES, ALLOWED, TABLE_FUNCTIONS, WINDOW_ONLY
from sandtable.policy.names import TableNames, fold, looks_like_a_place, unknown_function
from sandtable.policy.place import refuse
from sandtable.policy.tree import Node, as_node, listed, under
from sandtable.policy.verdict import Refused
from sandtable.quoting import inert, quote

Scope = frozenset[str]
"""Folded names of the CTEs in sight; `recurring.x` stands for the previous round of a recursive x."""

_SYSTEM_SCHEMAS = frozenset({"system", "main", "temp", "memory", "pg_catalog", "information_schema"})
_SAMPLE_KEYS = frozenset({"sample_size", "is_percentage", "sample_rate", "method", "seed", "repeatable"})
_OVER_A_WINDOW = AGGREGATES | WINDOW_ONLY
_SCALAR = (str, int, float, bool, type(None))


class Walk:
    """One walk over one tree. `tables` and `functions` hold what it met."""

    def __init__(self, text: str, dataset: Dataset) -> None:
        self._text = text
        self._names = TableNames(dataset)
        self._stack: list[tuple[str, Any, Scope]] = []
        self.tables: set[str] = set()
        self.functions: set[str] = set()

    def walk(self, statement: Node) -> Refused | None:
        if not under(statement, "node"):
            return self._unknown("an empty statement", None)
        self._stack = [(g.SELECT, statement, frozenset())]
        while self._stack:
            rule, value, scope = self._stack.pop()
            if refused := self._visit(rule, value, scope):
                return refused
        return None

    def _visit(self, rule: str, value: Any, scope: Scope) -> Refused | None:
        if rule in _LISTS:
            return self._spread(_LISTS[rule], value, scope)
        if rule in _RECORDS:
            return self._keys(value, _RECORDS[rule], rule, scope)
        match rule:
            case g.EXPR:
                return self._expression(value, scope)
            case g.NODE:
                return self._query(value, scope)
            case g.TABLE:
                return self._table(value, scope)
            case g.MODIFIER:
                return self._typed(value, g.MODIFIERS_KNOWN, scope)
            case g.PAIRS:
                return self._pairs(value, scope)
            case g.NEVER:
                return self._unknown(*value)
            case _:
                return None if _is_plain(rule, value) else self._unknown(rule, None)

    def _spread(self, rule: str, values: Any, scope: Scope) -> Refused | None:
        if not isinstance(values, list):
            return self._unknown(rule, None)
        self._stack.extend((rule, value, scope) for value in reversed(cast("list[Any]", values)))
        return None

    def _keys(
        self, value: Any, shape: g.Shape, kind: str, scope: Scope, skip: Iterable[str] = ()
    ) -> Refused | None:
        """Check the keys of a record and queue what is under them."""
        if not isinstance(value, dict):
            return self._unknown(kind, None)
        record = cast("dict[str, Any]", value)
        for key in reversed(record):
            rule, child = shape.get(key), record[key]
            if rule is None:
                return self._unknown(f"{kind}.{key}", record)
            if child is None or key in skip:
                continue
            if rule == g.NEVER:
                # Queued, so that a part of the query with a place in the text is named before it.
                self._stack.extend([(g.NEVER, (key, record), scope)] if child else [])
            elif rule == g.DATA:
                if not _is_plain(rule, child):
                    return self._unknown(f"{kind}.{key}", record)
            else:
                self._stack.append((rule, child, scope))
        return None

    def _typed(self, value: Any, shapes: dict[str, g.Shape], scope: Scope) -> Refused | None:
        kind = _text_of(value, "type")
        shape = shapes.get(kind)
        return self._keys(value, shape, kind, scope) if shape else self._unknown(kind, value)

    def _pairs(self, value: Any, scope: Scope) -> Refused | None:
        for pair in cast("list[Any]", value) if isinstance(value, list) else [value]:
            key, new = as_node(pair).get("key"), as_node(pair).get("value")
            if not as_node(pair) or set(as_node(pair)) - {"key", "value"}:
                return self._unknown("* REPLACE", None)
            if not _is_plain(g.RECORDS, [key]):
                return self._unknown("* REPLACE", None)
            if as_node(new):
                self._stack.append((g.EXPR, new, scope))
            elif not isinstance(new, _SCALAR):
                return self._unknown("* REPLACE", None)
        return None

    def _expression(self, value: Any, scope: Scope) -> Refused | None:
        kind = _text_of(value, "class")
        shape = g.EXPRESSIONS.get(kind)
        if shape is None:
            return self._unknown(kind, value)
        if value.get("type") not in g.EXPRESSION_TYPES[kind]:
            return self._unknown(str(value.get("type")), value)
        if kind in ("FUNCTION", "WINDOW"):
            callable_here = _OVER_A_WINDOW if kind == "WINDOW" else ALLOWED
            if refused := self._function(value, callable_here, over=kind == "WINDOW"):
                return refused
        elif kind == "TYPE" and len(_path(value, "type_name", "schema", "catalog")) != 1:
            return self._unknown(_text_of(value, "type_name"), value)
        return self._keys(value, shape, kind, scope)

    def _function(self, call: Node, callable_here: frozenset[str], *, over: bool) -> Refused | None:
        path = _path(call, "function_name", "schema", "catalog")
        if not path:
            return self._unknown("FUNCTION", call)
        name = fold(path[-1])
        if name in callable_here and (len(path) == 1 or fold(path[0]) not in _SYSTEM_SCHEMAS):
            self.functions.add(name)
            return None
        if name in callable_here:
            return refuse(
                self._text,
                call,
                ".".join(path),
                f"Functions are called by their plain name, without {quote(path[0])} in front.",
                f"write {name}(…)",
            )
        return unknown_function(self._text, call, name, over=over)

    def _query(self, value: Any, scope: Scope) -> Refused | None:
        kind = _text_of(value, "type")
        shape = g.QUERY_NODES.get(kind)
        if shape is None:
            return self._unknown(kind, value)
        refused, inner = self._ctes(value.get("cte_map"), scope)
        if refused:
            return refused
        if kind != "RECURSIVE_CTE_NODE":
            return self._keys(value, shape, kind, inner, skip=("cte_map",))
        name = fold(_text_of(value, "cte_name"))
        self._stack.append((g.NODE, value.get("right"), inner | {name, f"recurring.{name}"}))
        return self._keys(value, shape, kind, inner, skip=("cte_map", "right"))

    def _ctes(self, value: Any, scope: Scope) -> tuple[Refused | None, Scope]:
        """Queue each CTE's body with the names that are visible there: outer ones and earlier ones."""
        if value is None:
            return None, scope
        if not isinstance(value, dict) or set(as_node(cast("object", value))) - {"map"}:
            return self._unknown("WITH", None), scope
        for entry in map(as_node, listed(as_node(cast("object", value)), "map")):
            if set(entry) != {"key", "value"}:
                return self._unknown("WITH", None), scope
            name = str(entry["key"])
            if looks_like_a_place(name):
                return refuse(
                    self._text,
                    None,
                    name,
                    f"A CTE may not be named like a file or an address: {quote(name)}.",
                    "give the CTE a plain name",
                ), scope
            if refused := self._keys(entry["value"], g.CTE, "WITH", scope):
                return refused, scope
            scope |= {fold(name)}
        return None, scope

    def _table(self, value: Any, scope: Scope) -> Refused | None:
        kind = _text_of(value, "type")
        shape = g.TABLE_REFS.get(kind)
        if shape is None:
            return self._unknown(kind, value)
        if kind == "BASE_TABLE":
            if refused := self._base_table(value, scope):
                return refused
        elif kind == "TABLE_FUNCTION":
            return self._table_function(value, shape, scope)
        elif kind == "SHOW_REF" and (refused := self._show(value)):
            return refused
        return self._keys(value, shape, kind, scope)

    def _base_table(self, ref: Node, scope: Scope) -> Refused | None:
        path = _path(ref, "table_name", "schema_name", "catalog_name")
        folded = [fold(part) for part in path]
        if len(folded) == 1 and folded[0] in scope:
            return None
        if len(folded) == 2 and folded[0] == "recurring" and ".".join(folded) in scope:
            return None
        if len(folded) == 1 or (len(folded) == 2 and folded[0] == "main"):
            table = self._names.get(folded[-1])
            if table is not None:
                self.tables.add(table)
                return None
        return self._names.unknown(self._text, ref, path, scope)

    def _table_function(self, ref: Node, shape: g.Shape, scope: Scope) -> Refused | None:
        call = under(ref, "function")
        if _text_of(call, "class") != "FUNCTION":
            return self._unknown("TABLE_FUNCTION", ref)
        if not call.get("query_location"):
            call = {**call, **{k: v for k, v in ref.items() if k.startswith("query_location")}}
        path = _path(call, "function_name", "schema", "catalog")
        if len(path) != 1 or fold(path[0]) not in TABLE_FUNCTIONS:
            return unknown_function(self._text, call, fold(path[-1]) if path else "?", table=True)
        self.functions.add(fold(path[0]))
        return self._keys(call, g.EXPRESSIONS["FUNCTION"], "FUNCTION", scope) or self._keys(
            ref, shape, "TABLE_FUNCTION", scope, skip=("function",)
        )

    def _show(self, ref: Node) -> Refused | None:
        """DESCRIBE and SUMMARIZE of a query are judged by that query; by name, only of a dataset table."""
        name = _text_of(ref, "table_name")
        path = _path(ref, "table_name", "schema_name", "catalog_name") if name else []
        known = ref.get("show_type", "DESCRIBE") in g.SHOW_TYPES
        if known and ref.get("query") and not path:
            return None
        table = self._names.get(fold(path[0])) if known and len(path) == 1 else None
        if table is not None and not ref.get("query"):
            self.tables.add(table)
            return None
        return refuse(
            self._text,
            None,
            "SHOW" if "show" in self._text.lower() else "DESCRIBE",
            "Only the dataset's own tables can be described.",
            f"DESCRIBE {self._names.example}; the tables are: {self._names.listed}",
        )

    def _unknown(self, kind: str, node: Any) -> Refused:
        construct = g.SPELLING.get(kind, kind)
        hint = "bind the value into the text" if "parameter" in construct else "ask with a plain SELECT"
        code = ErrorCode.VALIDATION_ERROR if "parameter" in construct else ErrorCode.SQL_POLICY_VIOLATION
        located = cast("Node", node) if isinstance(node, dict) else None
        return refuse(
            self._text, located, construct, f"{inert(construct)} is not allowed in a query.", hint, code
        )


_LISTS = {
    g.EXPRS: g.EXPR,
    g.ROWS: g.EXPRS,
    g.ARGUMENTS: "argument",
    g.CASES: "when",
    g.ORDERS: "order",
    g.MODIFIERS: g.MODIFIER,
    g.NODES: g.NODE,
    g.PIVOTS: "pivot",
    "entries": "entry",
}
_RECORDS = {
    "argument": g.ARGUMENT,
    "when": g.WHEN,
    "order": g.ORDER,
    "pivot": g.PIVOT,
    "entry": g.PIVOT_ENTRY,
    g.SELECT: g.STATEMENT,
}


def _text_of(value: Any, key: str) -> str:
    found = cast("Node", value).get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def _path(node: Node, name: str, schema: str, catalog: str) -> list[str]:
    """The qualified name; empty when the two ways in which the tree spells it disagree."""
    path = under(node, "qualified_name").get("path")
    spelled = [str(node[key]) for key in (catalog, schema, name) if node.get(key)]
    return spelled if path == spelled else []


def _is_plain(rule: str, value: Any) -> bool:
    if isinstance(value, _SCALAR):
        return True
    if rule == g.DATA:
        return isinstance(value, list) and all(_is_plain(rule, v) for v in cast("list[Any]", value))
    if rule == g.PATH:
        return isinstance(value, dict) and set(cast("Node", value)) <= {"path"}
    if rule == g.LITERAL:
        return isinstance(value, dict) and set(cast("Node", value)) <= {"kind", "text"}
    if rule == g.SAMPLE:
        return isinstance(value, dict) and set(cast("Node", value)) <= _SAMPLE_KEYS
    if rule == g.RECORDS:
        return isinstance(value, list) and all(
            isinstance(record, _SCALAR)
            or (
                isinstance(record, dict)
                and all(isinstance(v, _SCALAR) for v in cast("Node", record).values())
            )
            for record in cast("list[Any]", value)
        )
    return False
