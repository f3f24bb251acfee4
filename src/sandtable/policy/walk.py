"""Walk a statement's parse tree by allow list, with the lexical scope of CTE names.

Invariant: `walk` returns None only if every node, type, key, function and table in the tree is
known and allowed. The walk keeps its own stack, so a deep tree cannot exhaust Python's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from sandtable.catalog.model import Dataset
from sandtable.engines import rules as r
from sandtable.errors import ErrorCode
from sandtable.policy.names import TableNames, fold, looks_like_a_place, unknown_function
from sandtable.policy.place import refuse
from sandtable.policy.tree import Node, as_node, listed, under
from sandtable.policy.verdict import Refused
from sandtable.quoting import inert, quote

Scope = frozenset[str]
"""Folded names of the visible CTEs; `recurring.x` stands for the previous round of a recursive x."""

_SCALAR = (str, int, float, bool, type(None))


class Walk:
    """One walk over one tree. `tables` and `functions` hold what it met."""

    def __init__(self, text: str, dataset: Dataset, rules: r.Rules) -> None:
        self._text = text
        self._names = TableNames(dataset, rules.system)
        self._grammar, self._functions, self._system = rules.grammar, rules.functions, rules.system
        self._stack: list[tuple[str, Any, Scope]] = []
        self.tables: set[str] = set()
        self.functions: set[str] = set()

    def walk(self, statement: Node) -> Refused | None:
        if not under(statement, "node"):
            return self._unknown("an empty statement", None)
        self._stack = [(r.SELECT, statement, frozenset())]
        while self._stack:
            rule, value, scope = self._stack.pop()
            if refused := self._visit(rule, value, scope):
                return refused
        return None

    def _visit(self, rule: str, value: Any, scope: Scope) -> Refused | None:
        if rule in _LISTS:
            return self._spread(_LISTS[rule], value, scope)
        if rule in self._grammar.records:
            return self._keys(value, self._grammar.records[rule], rule, scope)
        match rule:
            case r.EXPR:
                return self._expression(value, scope)
            case r.NODE:
                return self._query(value, scope)
            case r.TABLE:
                return self._table(value, scope)
            case r.MODIFIER:
                return self._typed(value, self._grammar.modifiers, scope)
            case r.PAIRS:
                return self._pairs(value, scope)
            case r.NEVER:
                return self._unknown(*value)
            case _:
                return None if self._is_plain(rule, value) else self._unknown(rule, None)

    def _spread(self, rule: str, values: Any, scope: Scope) -> Refused | None:
        if not isinstance(values, list):
            return self._unknown(rule, None)
        self._stack.extend((rule, value, scope) for value in reversed(cast("list[Any]", values)))
        return None

    def _keys(
        self, value: Any, shape: r.Shape, kind: str, scope: Scope, skip: Iterable[str] = ()
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
            if rule == r.NEVER:
                # Queued, so that a part of the query with a place in the text is named before it.
                self._stack.extend([(r.NEVER, (key, record), scope)] if child else [])
            elif rule == r.DATA:
                if not self._is_plain(rule, child):
                    return self._unknown(f"{kind}.{key}", record)
            else:
                self._stack.append((rule, child, scope))
        return None

    def _typed(self, value: Any, shapes: Mapping[str, r.Shape], scope: Scope) -> Refused | None:
        kind = _text_of(value, "type")
        shape = shapes.get(kind)
        return self._keys(value, shape, kind, scope) if shape else self._unknown(kind, value)

    def _pairs(self, value: Any, scope: Scope) -> Refused | None:
        for pair in cast("list[Any]", value) if isinstance(value, list) else [value]:
            key, new = as_node(pair).get("key"), as_node(pair).get("value")
            if not as_node(pair) or set(as_node(pair)) - {"key", "value"}:
                return self._unknown("* REPLACE", None)
            if not self._is_plain(r.RECORDS, [key]):
                return self._unknown("* REPLACE", None)
            if as_node(new):
                self._stack.append((r.EXPR, new, scope))
            elif not isinstance(new, _SCALAR):
                return self._unknown("* REPLACE", None)
        return None

    def _expression(self, value: Any, scope: Scope) -> Refused | None:
        kind = _text_of(value, "class")
        shape = self._grammar.expressions.get(kind)
        if shape is None:
            return self._unknown(kind, value)
        if value.get("type") not in self._grammar.expression_types[kind]:
            return self._unknown(str(value.get("type")), value)
        if kind in ("FUNCTION", "WINDOW"):
            callable_here = self._functions.over_a_window if kind == "WINDOW" else self._functions.allowed
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
        if name in callable_here and (len(path) == 1 or fold(path[0]) not in self._system.schemas):
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
        return unknown_function(self._text, call, name, self._functions, over=over)

    def _query(self, value: Any, scope: Scope) -> Refused | None:
        kind = _text_of(value, "type")
        shape = self._grammar.query_nodes.get(kind)
        if shape is None:
            return self._unknown(kind, value)
        refused, inner = self._ctes(value.get("cte_map"), scope)
        if refused:
            return refused
        if kind != "RECURSIVE_CTE_NODE":
            return self._keys(value, shape, kind, inner, skip=("cte_map",))
        name = fold(_text_of(value, "cte_name"))
        self._stack.append((r.NODE, value.get("right"), inner | {name, f"recurring.{name}"}))
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
            if refused := self._keys(entry["value"], self._grammar.cte, "WITH", scope):
                return refused, scope
            scope |= {fold(name)}
        return None, scope

    def _table(self, value: Any, scope: Scope) -> Refused | None:
        kind = _text_of(value, "type")
        shape = self._grammar.table_refs.get(kind)
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

    def _table_function(self, ref: Node, shape: r.Shape, scope: Scope) -> Refused | None:
        call = under(ref, "function")
        if _text_of(call, "class") != "FUNCTION":
            return self._unknown("TABLE_FUNCTION", ref)
        if not call.get("query_location"):
            call = {**call, **{k: v for k, v in ref.items() if k.startswith("query_location")}}
        path = _path(call, "function_name", "schema", "catalog")
        if len(path) != 1 or fold(path[0]) not in self._functions.table_functions:
            return unknown_function(
                self._text, call, fold(path[-1]) if path else "?", self._functions, table=True
            )
        self.functions.add(fold(path[0]))
        return self._keys(call, self._grammar.expressions["FUNCTION"], "FUNCTION", scope) or self._keys(
            ref, shape, "TABLE_FUNCTION", scope, skip=("function",)
        )

    def _show(self, ref: Node) -> Refused | None:
        """DESCRIBE and SUMMARIZE of a query are judged by that query; by name, only of a dataset table."""
        name = _text_of(ref, "table_name")
        path = _path(ref, "table_name", "schema_name", "catalog_name") if name else []
        known = ref.get("show_type", "DESCRIBE") in self._grammar.show_types
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
        construct = self._grammar.spelling.get(kind, kind)
        hint = "Bind the value into the text" if "parameter" in construct else "Ask with a plain SELECT"
        code = ErrorCode.VALIDATION_ERROR if "parameter" in construct else ErrorCode.SQL_POLICY_VIOLATION
        located = cast("Node", node) if isinstance(node, dict) else None
        return refuse(
            self._text, located, construct, f"{inert(construct)} is not allowed in a query.", hint, code
        )

    def _is_plain(self, rule: str, value: Any) -> bool:
        if isinstance(value, _SCALAR):
            return True
        if rule == r.DATA:
            return isinstance(value, list) and all(self._is_plain(rule, v) for v in cast("list[Any]", value))
        if rule == r.PATH:
            return isinstance(value, dict) and set(cast("Node", value)) <= {"path"}
        if rule == r.LITERAL:
            return isinstance(value, dict) and set(cast("Node", value)) <= {"kind", "text"}
        if rule == r.SAMPLE:
            return isinstance(value, dict) and set(cast("Node", value)) <= self._grammar.sample_keys
        if rule == r.RECORDS:
            return isinstance(value, list) and all(
                isinstance(record, _SCALAR)
                or (
                    isinstance(record, dict)
                    and all(isinstance(v, _SCALAR) for v in cast("Node", record).values())
                )
                for record in cast("list[Any]", value)
            )
        return False


_LISTS = {
    r.EXPRS: r.EXPR,
    r.ROWS: r.EXPRS,
    r.ARGUMENTS: r.ARGUMENT,
    r.CASES: r.WHEN,
    r.ORDERS: r.ORDER,
    r.MODIFIERS: r.MODIFIER,
    r.NODES: r.NODE,
    r.PIVOTS: r.PIVOT,
    r.ENTRIES: r.ENTRY,
}


def _text_of(value: Any, key: str) -> str:
    found = cast("Node", value).get(key) if isinstance(value, dict) else None
    return found if isinstance(found, str) else ""


def _path(node: Node, name: str, schema: str, catalog: str) -> list[str]:
    """The qualified name; empty when the two ways in which the tree spells it disagree."""
    path = under(node, "qualified_name").get("path")
    spelled = [str(node[key]) for key in (catalog, schema, name) if node.get(key)]
    return spelled if path == spelled else []
