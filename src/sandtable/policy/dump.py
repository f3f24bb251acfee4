"""Dump protection: an answer is for reading, not for copying a table out.

Counts the values in the output, not its columns: a whole row inside one cell is a whole
row. Two rules, on tables that have more rows than an answer may hold:
- many columns of unfiltered rows, without LIMIT and without aggregation;
- values of unfiltered rows collected into one cell (`list(orders)`, `string_agg(id, ',')`).
A heuristic for honest mistakes; the runner's caps on rows and bytes are the boundary.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from sandtable.catalog.model import Dataset
from sandtable.engines.rules import Functions
from sandtable.policy.names import fold
from sandtable.policy.place import refuse
from sandtable.policy.tree import Node, as_node, listed, records, under
from sandtable.policy.verdict import Refused

MANY_COLUMNS = 8
MOST_ROWS = 10_000
"""A LIMIT above this is no limit."""
MOST_PERCENT = 10
MAX_DIGITS = 18
"""Digits of a number that is worth reading."""

_EVERYTHING = 1_000

Scope = Mapping[str, "Cte"]
Cte = tuple[Node, "Scope"]


def dump_of(
    text: str, statement: Node, dataset: Dataset, max_rows: int, functions: Functions
) -> Refused | None:
    """Refuse a statement that would copy a table out; None for any other."""
    large = {fold(t.name) for t in dataset.tables if t.rows is None or t.rows > max_rows}
    columns = {fold(c.name) for t in dataset.tables for c in t.columns}
    guard = _Guard(text, large, columns, functions)
    node = cast("Node", statement["node"])
    if refused := guard.wide(node, {}):
        return refused
    return guard.collected(node, {}) if _may_collect(node, functions) else None


class _Guard:
    def __init__(self, text: str, large: set[str], columns: set[str], functions: Functions) -> None:
        self._text, self._large, self._columns, self._functions = text, large, columns, functions
        # Without this, CTEs that each read another CTE twice would take exponential time.
        self._scopes: dict[int, Scope] = {}
        self._unbounded_nodes: dict[int, bool] = {}
        self._widths: dict[int, int] = {}

    def wide(self, node: Node, scope: Scope) -> Refused | None:
        """The first rule, on the rows that leave the query."""
        scope = self._with_ctes(node, scope)
        if _is_limited(node):
            return None
        if node["type"] != "SELECT_NODE":
            return next((r for branch in _branches(node) if (r := self.wide(branch, scope))), None)
        if not self._unbounded(node, scope) or self._width(node, scope) <= MANY_COLUMNS:
            return None
        star = next(
            (i for i in records(node.get("select_list"), into_subqueries=False) if i.get("class") == "STAR"),
            None,
        )
        return refuse(
            self._text,
            star,
            "*" if star is not None else "SELECT",
            "This would put out whole rows of a table without a limit, a filter or an aggregation.",
            "add LIMIT 50, filter with WHERE, or aggregate",
        )

    def collected(self, value: Any, scope: Scope) -> Refused | None:
        """The second rule, at every level of the query."""
        if isinstance(value, list):
            return next((r for v in cast("list[Any]", value) if (r := self.collected(v, scope))), None)
        if not isinstance(value, dict):
            return None
        node = as_node(cast("object", value))
        if "cte_map" in node:
            scope = self._with_ctes(node, scope)
        if node.get("type") == "SELECT_NODE" and (refused := self._collects(node, scope)):
            return refused
        return next((r for v in node.values() if (r := self.collected(v, scope))), None)

    def _collects(self, node: Node, scope: Scope) -> Refused | None:
        ref = under(node, "from_table")
        if _depends_on_columns(node.get("where_clause")) or not self._ref_unbounded(ref, scope):
            return None
        aliases = set(_aliases(ref))
        pivoted = [c for r in _refs(ref) for c in _calls(r.get("aggregates"))]
        grouped = _is_grouped(node, self._functions)
        put_out = [node.get(k) for k in ("select_list", "having", "qualify", "modifiers")]
        cut = _cut_short(put_out, self._functions)
        for call in [*_calls(put_out), *pivoted]:
            if any(call is shortened for shortened in cut):
                continue
            over_groups = grouped or call in pivoted or bool(call.get("partitions") or call.get("orders"))
            whole = self._counts(call.get("arguments"), aliases) >= _EVERYTHING
            filtered = any(_depends_on_columns(call.get(k)) for k in ("filter", "filter_expr"))
            few = filtered or (over_groups and not whole) or (bool(call.get("distinct")) and not whole)
            if _is_collector(call, self._functions, whole=whole) and not few:
                name = str(call["function_name"])
                return refuse(
                    self._text,
                    call,
                    name,
                    f"{name}() would collect a whole table into one cell.",
                    "collect per group, filter with WHERE, or collect from (SELECT … LIMIT 50)",
                )
        return None

    def _with_ctes(self, node: Node, scope: Scope) -> Scope:
        if id(node) not in self._scopes:
            for entry in map(as_node, listed(under(node, "cte_map"), "map")):
                # A recursive CTE is as large as its anchor; its reference to itself is not followed.
                body = under(under(entry, "value"), "query_node")
                body = under(body, "left") if body.get("type") == "RECURSIVE_CTE_NODE" else body
                scope = {**scope, fold(str(entry["key"])): (body, scope)}
            self._scopes[id(node)] = scope
        return self._scopes[id(node)]

    def _unbounded(self, node: Node, scope: Scope) -> bool:
        """Whether the rows of a node may be as many as those of a large table."""
        if id(node) not in self._unbounded_nodes:
            self._unbounded_nodes[id(node)] = self._is_unbounded(node, scope)
        return self._unbounded_nodes[id(node)]

    def _is_unbounded(self, node: Node, scope: Scope) -> bool:
        scope = self._with_ctes(node, scope)
        if _is_limited(node):
            return False
        if node["type"] != "SELECT_NODE":
            return any(self._unbounded(branch, scope) for branch in _branches(node))
        filtered = _depends_on_columns(node.get("where_clause")) or node.get("qualify") or node.get("sample")
        distinct = any(m.get("type") == "DISTINCT_MODIFIER" for m in listed(node, "modifiers"))
        few_values = distinct and self._width(node, scope) <= MANY_COLUMNS
        if filtered or few_values or self._is_summed_up(node):
            return False
        return self._ref_unbounded(under(node, "from_table"), scope)

    def _is_summed_up(self, node: Node) -> bool:
        return _is_grouped(node, self._functions) or _is_aggregated(node, self._functions)

    def _ref_unbounded(self, ref: Node, scope: Scope) -> bool:
        if ref.get("sample"):
            return False
        match ref.get("type"):
            case "BASE_TABLE":
                name = fold(str(ref.get("table_name")))
                if name in scope and not ref.get("schema_name"):
                    return self._unbounded(*scope[name])
                return name in self._large
            case "SUBQUERY":
                return self._unbounded(ref["subquery"]["node"], scope)
            case "JOIN" if _is_filter(ref):
                return False
            case "JOIN":
                return self._ref_unbounded(ref["left"], scope) or self._ref_unbounded(ref["right"], scope)
            case "PIVOT":
                return self._ref_unbounded(ref["source"], scope)
            case _:
                return False

    def _width(self, node: Node, scope: Scope) -> int:
        """How many columns of tables go into a row."""
        if id(node) not in self._widths:
            self._widths[id(node)] = self._counted_width(node, scope)
        return self._widths[id(node)]

    def _counted_width(self, node: Node, scope: Scope) -> int:
        if node["type"] != "SELECT_NODE":
            return max((self._width(b, self._with_ctes(node, scope)) for b in _branches(node)), default=0)
        scope = self._with_ctes(node, scope)
        ref = under(node, "from_table")
        width = 0
        for item in listed(node, "select_list"):
            if item.get("class") == "STAR" and not item.get("expr"):
                width += self._ref_width(ref, scope) - len(listed(item, "exclude_list"))
            else:
                width += self._counts(item, set(_aliases(ref)))
        return width

    def _ref_width(self, ref: Node, scope: Scope) -> int:
        match ref.get("type"):
            case "BASE_TABLE":
                name = fold(str(ref.get("table_name")))
                if name in scope and not ref.get("schema_name"):
                    return self._width(*scope[name])
                return _EVERYTHING if name in self._large else 1
            case "SUBQUERY":
                return self._width(ref["subquery"]["node"], scope)
            case "JOIN":
                return self._ref_width(ref["left"], scope) + self._ref_width(ref["right"], scope)
            case "PIVOT":
                return 1 if ref.get("aggregates") else self._ref_width(ref["source"], scope)
            case _:
                return 1

    def _counts(self, value: Any, aliases: set[str]) -> int:
        """Columns that an expression reads; a whole row (a table's name, or a star) is everything."""
        names: set[str] = set()
        for d in records(value, into_subqueries=False):
            if d.get("class") == "STAR":
                return _EVERYTHING
            if d.get("class") == "COLUMN_REF":
                path = [fold(str(part)) for part in d["column_names"]]
                if len(path) == 1 and path[0] in aliases and path[0] not in self._columns:
                    return _EVERYTHING
                names.add(path[-1])
        return len(names)


def _branches(node: Node) -> list[Node]:
    return [n for n in [*listed(node, "children"), node.get("left"), node.get("right")] if n]


def _calls(value: Any) -> list[Node]:
    return [d for d in records(value, into_subqueries=False) if d.get("class") in ("FUNCTION", "WINDOW")]


def _given(call: Node) -> list[Node]:
    """The arguments of a function, or the operands of an operator."""
    named = map(as_node, listed(call, "arguments"))
    return [under(argument, "expression") for argument in named] or listed(call, "children")


def _may_collect(node: Node, functions: Functions) -> bool:
    """Whether the query calls a collecting aggregate at all: most do not, and need no further check."""
    return any(
        d.get("class") in ("FUNCTION", "WINDOW") and _is_collector(d, functions, whole=True)
        for d in records(node)
    )


def _is_collector(call: Node, functions: Functions, *, whole: bool) -> bool:
    name = fold(str(call.get("function_name")))
    given = _given(call)
    many = len(given) >= functions.collectors_of_n.get(name, 99) and not _is_at_most(given[-1], MOST_ROWS)
    return many or name in (functions.row_collectors if whole else functions.collectors)


def _is_aggregated(node: Node, functions: Functions) -> bool:
    called = _calls([node.get("select_list"), node.get("having")])
    return any(
        c["class"] == "FUNCTION" and fold(str(c.get("function_name"))) in functions.aggregates for c in called
    )


def _is_grouped(node: Node, functions: Functions) -> bool:
    """Grouped by something: GROUP BY of constants, and a total over everything, leave one group."""
    if node.get("aggregate_handling", "STANDARD_HANDLING") != "STANDARD_HANDLING":
        return any(
            _depends_on_columns(i)
            for i in listed(node, "select_list")
            if not _is_aggregate_item(i, functions)
        )
    sets = listed(node, "group_sets")
    if any(not chosen for chosen in sets):
        return False
    items = listed(node, "select_list")
    return any(_depends_on_columns(_by_position(e, items)) for e in listed(node, "group_expressions"))


def _by_position(expression: Node, items: list[Any]) -> Any:
    literal = under(expression, "literal")
    digits = str(literal.get("text"))
    if literal.get("kind") == "INTEGER" and _is_at_most(expression, len(items)) and int(digits):
        return items[int(digits) - 1]
    return expression


def _is_aggregate_item(item: Node, functions: Functions) -> bool:
    return any(fold(str(c.get("function_name"))) in functions.aggregates for c in _calls(item))


def _is_limited(node: Node) -> bool:
    for modifier in listed(node, "modifiers"):
        by_rows = modifier.get("limit_type", "ROW_COUNT") == "ROW_COUNT"
        if _is_at_most(modifier.get("limit"), MOST_ROWS if by_rows else MOST_PERCENT):
            return True
    return False


def _is_at_most(expression: Any, most: int) -> bool:
    """Whether an expression is a written number that is not above `most`."""
    digits = str(under(as_node(expression), "literal").get("text", "")).replace("_", "")
    return digits.isdigit() and len(digits) <= MAX_DIGITS and int(digits) <= most


def _cut_short(value: Any, functions: Functions) -> list[Node]:
    """Calls of which few values stay: `list(x)[1]`, `list(x ORDER BY y)[1:3]`, `list_slice(list(x), 1, 3)`."""
    found: list[Node] = []
    for d in records(value, into_subqueries=False):
        given = _given(d)
        name = fold(str(d.get("function_name") or d.get("type")))
        upper = given[2] if name in functions.slices and len(given) == 3 else None
        if given and (name in functions.elements or _is_at_most(upper, MOST_ROWS)):
            found.append(given[0])
    return found


def _depends_on_columns(value: Any) -> bool:
    return any(
        d.get("class") in ("COLUMN_REF", "SUBQUERY", "STAR") for d in records(value, into_subqueries=False)
    )


def _is_filter(join: Node) -> bool:
    """SEMI and ANTI joins return rows of their left side only: they filter them."""
    chosen = join.get("using_columns") or _depends_on_columns(join.get("condition"))
    return join.get("join_type") in ("SEMI", "ANTI") and bool(chosen)


def _refs(ref: Node) -> Iterator[Node]:
    yield ref
    for key in ("left", "right", "source"):
        if ref.get(key):
            yield from _refs(ref[key])


def _aliases(ref: Node) -> Iterator[str]:
    for found in _refs(ref):
        name = found.get("alias") or found.get("table_name")
        if name:
            yield fold(str(name))
