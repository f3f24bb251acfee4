"""Rewrites a query so that its result is the same on every run, machine and number of threads.

`make_deterministic` gives the rows a total order where the engine would leave it to the threads, makes floating-point
sums independent of the order of rows, and names what stays nondeterministic: `serial` constructs need one thread,
`volatile` ones differ from run to run. Invariant: pure over the parse tree's JSON, and idempotent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sandtable_runner.float_sums import Node, call_name, compensate, dicts, has_star, leaves

# Their values depend on the order in which rows arrive.
_ORDER_DEPENDENT = frozenset(
    """
    list array_agg string_agg group_concat listagg first last any_value arbitrary arg_min arg_max argmin
    argmax min_by max_by arg_min_null arg_max_null arg_min_nulls_last arg_max_nulls_last mode
    approx_top_k approx_quantile reservoir_quantile json_group_array json_group_object
    json_group_structure variant_group_array variant_group_object lttb row_number lag lead first_value
    last_value nth_value ntile fill
    """.split()
)
# Merging between threads changes only the last few bits, which a result's digest ignores.
_MERGED_WELL = frozenset("stddev stddev_pop stddev_samp variance var_pop var_samp sem".split())
# Floating point inside, merged in the order in which threads end: noise may reach leading digits.
_MERGED = frozenset(
    """
    skewness kurtosis kurtosis_pop entropy corr covar_pop covar_samp
    regr_avgx regr_avgy regr_intercept regr_r2 regr_slope regr_sxx regr_sxy
    regr_syy product geomean geometric_mean wavg weighted_avg
    """.split()
)
_VOLATILE = frozenset(
    """
    random uuid gen_random_uuid uuidv4 uuidv7 now today current_date current_time current_timestamp
    current_localtime current_localtimestamp get_current_time get_current_timestamp
    transaction_timestamp localtime localtimestamp ago reservoir_quantile
    """.split()
)
# Without parentheses the parser reads these as columns.
_CLOCK_WORDS = frozenset({"current_date", "current_time", "current_timestamp", "localtime", "localtimestamp"})

_AGGREGATES_OF_ONE_ROW = (
    _MERGED
    | _MERGED_WELL
    | frozenset(
        """
    count count_star count_if countif sum avg mean min max fsum favg kahan_sum sumkahan median quantile
    quantile_cont quantile_disc mad bool_and bool_or bit_and bit_or bit_xor histogram histogram_exact
    approx_count_distinct list array_agg string_agg group_concat listagg first last any_value arbitrary
    arg_min arg_max argmin argmax min_by max_by mode approx_top_k approx_quantile reservoir_quantile
    json_group_array json_group_object json_group_structure bitstring_agg regr_count sum_no_overflow
    """.split()
    )
)


def make_deterministic(
    statement: Node, float_columns: Iterable[str] | None, name_of: Callable[[Node], str] = lambda item: ""
) -> tuple[list[str], list[str]]:
    """Rewrite a statement's tree in place; returns its serial and its volatile constructs.

    `name_of` gives the name the engine would give a select item that has no alias.
    """
    node = statement["node"]
    records = list(dicts(node))
    _spell_lambdas(records)
    left_open: list[str] = []
    if float_columns is not None:
        left_open.extend(compensate(node, float_columns, name_of))
    serial, volatile = _survey(node, records)
    _order(node, {}, left_open)
    return sorted(serial | set(left_open)), sorted(volatile)


_TAKES_LAMBDA = frozenset(
    f"{prefix}{verb}"
    for prefix in ("list_", "array_", "")
    for verb in ("transform", "apply", "filter", "reduce")
)


def _spell_lambdas(records: list[Node]) -> None:
    """`x -> x + 1` as `lambda x: x + 1`: the engine parses the arrow but no longer runs it."""
    for d in records:
        if d.get("class") == "FUNCTION" and call_name(d) in _TAKES_LAMBDA:
            for argument in (d.get("arguments") or [])[1:]:
                if argument["expression"].get("syntax_type") == "SINGLE_ARROW":
                    argument["expression"]["syntax_type"] = "LAMBDA_KEYWORD"


# Order of the rows


def _order(node: Node, ctes: dict[str, Node], left_open: list[str]) -> None:
    """Give the rows of `node` a total order, unless they come in the order of a table."""
    ctes = {**ctes, **_ctes_of(node)}
    orders = _modifier(node, "ORDER_MODIFIER")
    if _is_distinct_on(node):
        left_open.append("DISTINCT ON")
    elif orders is not None:
        _break_ties(node, orders, left_open)
    else:
        kind, source = _arrival(node, ctes)
        if kind == "rounds" and _modifier(node, "LIMIT_MODIFIER"):
            # The recursion may end only by its LIMIT: ordering would wait for all of it.
            left_open.append("LIMIT of a recursion")
        elif kind in ("unordered", "rounds"):
            _order_by_everything(node)
            left_open.extend(_hidden_columns(node))
        elif kind == "ordered" and source is not None:
            left_open.append("ORDER BY in a subquery")
            _order(source, ctes, left_open)


def _ctes_of(node: Node) -> dict[str, Node]:
    entries = (node.get("cte_map") or {}).get("map") or []
    return {entry["key"].lower(): entry["value"]["query_node"] for entry in entries}


def _modifier(node: Node, kind: str) -> Node | None:
    return next((m for m in node.get("modifiers") or [] if m.get("type") == kind), None)


def _is_distinct_on(node: Node) -> bool:
    return bool((_modifier(node, "DISTINCT_MODIFIER") or {}).get("distinct_on_targets"))


def _arrival(node: Node, ctes: dict[str, Node]) -> tuple[str, Node | None]:
    """How the rows of a node without ORDER BY arrive: `stored`, `one` row, `unordered`, in the `rounds` of a recursion,
    or `ordered` because the subquery that is its source has an ORDER BY."""
    if (node.get("from_table") or {}).get("type") == "EMPTY":
        return "stored", None
    if node.get("type") == "RECURSIVE_CTE_NODE":
        return "rounds", None
    if node.get("type") != "SELECT_NODE" or _modifier(node, "DISTINCT_MODIFIER"):
        return "unordered", None
    if node.get("group_expressions") or node.get("group_sets") or _grouped_by_all(node):
        return "unordered", None
    inside = [d for d in dicts(_without_tables(node)) if "class" in d]
    if any(d["class"] in ("WINDOW", "SUBQUERY") for d in inside):
        return "unordered", None
    if any(d["class"] == "FUNCTION" and call_name(d) in _AGGREGATES_OF_ONE_ROW for d in inside):
        return "one", None
    return _source_arrival(node.get("from_table") or {}, ctes)


def _grouped_by_all(node: Node) -> bool:
    return node.get("aggregate_handling", "STANDARD_HANDLING") != "STANDARD_HANDLING"


def _without_tables(node: Node) -> list[Any]:
    return [node.get(k) for k in ("select_list", "where_clause", "having", "qualify")]


def _source_arrival(ref: Node, ctes: dict[str, Node]) -> tuple[str, Node | None]:
    source: Node | None = None
    match ref.get("type"):
        case "JOIN":
            return "unordered", None
        case "PIVOT":
            return ("unordered", None) if ref.get("aggregates") else _source_arrival(ref["source"], ctes)
        case "SUBQUERY":
            source = ref["subquery"]["node"]
        case "BASE_TABLE" if not ref.get("schema_name"):
            source = ctes.get(str(ref.get("table_name")).lower())
            # A CTE that reads a table of the same name must not be followed into itself.
            ctes = {name: n for name, n in ctes.items() if n is not source}
        case _:
            source = None
    if source is None:
        return "stored", None
    ctes = {**ctes, **_ctes_of(source)}
    if source.get("type") == "SELECT_NODE" and _modifier(source, "ORDER_MODIFIER"):
        return "ordered", source
    if source.get("type") == "SET_OPERATION_NODE" and _modifier(source, "ORDER_MODIFIER"):
        return "ordered", source
    return _arrival(source, ctes)


def _order_by_everything(node: Node) -> None:
    width = _width(node)
    every: list[Node] = [_ascending(_position(i + 1)) for i in range(width)] if width else []
    _insert_order(node, {"type": "ORDER_MODIFIER", "orders": every or [_ascending(_ALL_COLUMNS)]})


def _insert_order(node: Node, modifier: Node) -> None:
    modifiers = node.setdefault("modifiers", [])
    limit = next((i for i, m in enumerate(modifiers) if m.get("type") == "LIMIT_MODIFIER"), len(modifiers))
    modifiers.insert(limit, modifier)


def _break_ties(node: Node, modifier: Node, left_open: list[str]) -> None:
    orders = modifier["orders"]
    width = _width(node)
    if len(orders) == 1 and _is_all_columns(orders[0]["expression"]):
        return
    if width:
        items = leaves(node)[0]["select_list"]
        covered = {_covered_position(o["expression"], items) for o in orders}
        orders += [_ascending(_position(i + 1)) for i in range(width) if i + 1 not in covered]
        left_open.extend(_hidden_columns(node))
    elif not _may_order_by_columns(node):
        left_open.append("ORDER BY that may tie")
    elif not any(_is_all_columns(o["expression"]) for o in orders):
        orders.append(_ascending(_ALL_COLUMNS))


def _may_order_by_columns(node: Node) -> bool:
    """Whether `COLUMNS(*)` may appear beside other ORDER BY terms: it names the columns of the source."""
    grouped = node.get("group_expressions") or node.get("group_sets") or _grouped_by_all(node)
    sourced = (node.get("from_table") or {}).get("type", "EMPTY") != "EMPTY"
    plain = sourced and not grouped and not _modifier(node, "DISTINCT_MODIFIER")
    return node.get("type") == "SELECT_NODE" and plain and not _is_aggregated(node)


def _is_aggregated(node: Node) -> bool:
    inside = dicts([node.get("select_list"), node.get("having")])
    return any(d.get("class") == "FUNCTION" and call_name(d) in _AGGREGATES_OF_ONE_ROW for d in inside)


def _width(node: Node) -> int:
    """How many columns the node returns; 0 when a star hides it."""
    first = leaves(node)[:1]
    if not first or (node.get("type") != "SELECT_NODE" and _joins_by_name(node)):
        return 0
    items = first[0].get("select_list") or []
    return 0 if any(has_star(item) for item in items) else len(items)


def _joins_by_name(node: Node) -> bool:
    return any("BY_NAME" in str(d.get("setop_type")) for d in dicts(node) if "setop_type" in d)


def _hidden_columns(node: Node) -> list[str]:
    """`unnest` of a struct returns a column per field: positions may not reach the last ones."""
    items = [item for leaf in leaves(node) for item in leaf.get("select_list") or []]
    unnests = any(d.get("class") == "FUNCTION" and call_name(d) == "unnest" for d in dicts(items))
    return ["unnest"] if unnests else []


def _covered_position(expression: Node, items: list[Node]) -> int:
    """The output column that an ORDER BY expression already names; 0 when none."""
    literal = expression.get("literal") or {}
    if literal.get("kind") == "INTEGER":
        digits = str(literal.get("text"))
        return int(digits) if digits.isdigit() and len(digits) < 10 else 0
    if expression.get("class") == "COLUMN_REF" and len(expression["column_names"]) == 1:
        wanted = expression["column_names"][0].lower()
        for index, item in enumerate(items, start=1):
            own = item.get("alias") or (item.get("column_names") or [""])[-1]
            if own.lower() == wanted:
                return index
    plain = bare(expression)
    return next((i for i, item in enumerate(items, 1) if bare({**item, "alias": ""}) == plain), 0)


def bare(value: Any) -> Any:
    """A tree without text positions and empty aliases: equal for equal meaning."""
    if isinstance(value, dict):
        return {
            k: bare(v)
            for k, v in value.items()
            if not k.startswith("query_location") and not (k == "alias" and not v)
        }
    return [bare(v) for v in value] if isinstance(value, list) else value


_ALL_COLUMNS: Node = {"class": "STAR", "type": "STAR", "columns": True}


def _is_all_columns(e: Node) -> bool:
    """ORDER BY ALL, ORDER BY * and ORDER BY COLUMNS(*), which the engine treats alike."""
    narrowed = ("expr", "relation_name", "exclude_list", "qualified_exclude_list", "replace_list")
    return e.get("class") == "STAR" and not any(e.get(k) for k in narrowed)


def _position(index: int) -> Node:
    return {
        "class": "CONSTANT",
        "type": "VALUE_CONSTANT",
        "literal": {"kind": "INTEGER", "text": str(index)},
    }


def _ascending(expression: Node) -> Node:
    return {"type": "ORDER_DEFAULT", "null_order": "ORDER_DEFAULT", "expression": expression}


# What still depends on the order of rows or on the run


def _survey(top: Node, records: list[Node]) -> tuple[set[str], set[str]]:
    serial: set[str] = set()
    volatile: set[str] = set()
    own = {id(m) for m in top.get("modifiers") or []}
    for d in records:
        if d.get("class") in ("FUNCTION", "WINDOW"):
            _survey_call(d, serial, volatile)
        elif d.get("class") == "COLUMN_REF":
            volatile |= {w for w in (d["column_names"][-1].lower(),) if w in _CLOCK_WORDS}
        elif d.get("type") == "LIMIT_MODIFIER" and id(d) not in own:
            serial.add("LIMIT in a subquery")
        elif d.get("type") == "DISTINCT_MODIFIER" and d.get("distinct_on_targets"):
            serial.add("DISTINCT ON")
        elif d.get("type") == "SHOW_REF" and d.get("show_type") == "SUMMARY":
            serial.add("SUMMARIZE")
        elif d.get("ref_type") in ("ASOF", "POSITIONAL"):
            serial.add(f"{d['ref_type']} JOIN")
        if d.get("key_targets"):
            serial.add("USING KEY")
        if isinstance(sample := d.get("sample"), dict):
            serial.add("SAMPLE")
            if not sample.get("repeatable"):
                volatile.add("SAMPLE")
    return serial, volatile


def _survey_call(call: Node, serial: set[str], volatile: set[str]) -> None:
    name = call_name(call)
    untyped_sum = name in ("sum", "avg", "mean") and (has_star(call) or call.get("schema"))
    by_rows = "ROWS" in f"{call.get('start')} {call.get('end')}"
    if name in _ORDER_DEPENDENT or name in _MERGED or untyped_sum:
        serial.add(name)
    elif call.get("type") == "WINDOW_AGGREGATE" and (call.get("orders") or by_rows):
        serial.add(f"{name} over a running window")
    since_today = name == "age" and len(call.get("arguments") or []) + bool(call.get("schema")) == 1
    if name in _VOLATILE or since_today:
        volatile.add(name)
