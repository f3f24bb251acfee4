"""Floating-point sums that do not depend on the order of the rows.

`sum` and `avg` over floating point become the engine's compensated `fsum` and `favg`, whose results agree to the last
bit, or nearly so, for any thread order. Pure over the parse tree's JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

Node = dict[str, Any]

_COMPENSATED = {"sum": "fsum", "avg": "favg", "mean": "favg"}

# Functions that return DOUBLE for every argument type.
_ALWAYS = frozenset(
    """
    / ^ ** pow power sqrt cbrt exp ln log log2 log10 sin cos tan cot asin acos atan atan2 sinh cosh tanh
    asinh acosh atanh degrees radians pi random gamma lgamma fdiv avg mean favg fsum kahan_sum sumkahan
    wavg weighted_avg geomean geometric_mean stddev stddev_pop stddev_samp variance var_pop var_samp sem
    skewness kurtosis kurtosis_pop entropy corr covar_pop covar_samp regr_avgx regr_avgy regr_intercept
    regr_r2 regr_slope regr_sxx regr_sxy regr_syy product median quantile_cont cume_dist percent_rank
    epoch julian jaccard jaro_similarity jaro_winkler_similarity list_avg list_cosine_similarity
    list_distance list_dot_product
    """.split()
)
# Functions that never return floating point, even for floating-point arguments.
_NEVER = frozenset(
    """
    count count_star count_if countif approx_count_distinct regr_count sign hash isnan isinf isfinite
    length len strlen typeof row_number rank dense_rank rank_dense ntile grouping date_diff datediff
    contains list_contains array_contains bit_count
    """.split()
)
# Functions that return a time or an interval, which `sum` and `avg` accept and `fsum` and `favg` do not.
_TIMES = frozenset(
    """
    to_centuries to_days to_decades to_hours to_microseconds to_millennia to_milliseconds to_minutes to_months
    to_quarters to_seconds to_weeks to_years to_timestamp make_timestamp make_timestamptz make_date make_time
    date_trunc datetrunc time_bucket age date_add date_sub last_day strptime try_strptime
    """.split()
)
_TIME_TYPES = frozenset({"interval", "date", "time", "timestamp", "timestamptz", "datetime"})
_ARITHMETIC = frozenset({"+", "-", "*", "/"})
_FLOAT_TYPES = frozenset({"double", "float", "real", "float4", "float8"})


def dicts(node: Any) -> Iterator[Node]:
    """Every object of a tree, outer before inner, without recursion."""
    stack: list[Any] = [node]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            yield value
            value = value.values()
        # Skips leaves: most values of a tree are leaves.
        stack += [child for child in reversed(value) if isinstance(child, (dict, list))]


def call_name(expression: Node) -> str:
    path = (expression.get("qualified_name") or {}).get("path") or [""]
    return str(path[-1]).lower()


def arguments(call: Node) -> list[Node]:
    return [a["expression"] for a in call.get("arguments") or [] if a.get("expression")]


def has_star(expression: Node) -> bool:
    """Whether the expression may expand to several columns; a subquery in it counts as one."""
    stack: list[Any] = [expression]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            if value.get("class") in ("STAR", "POSITIONAL_REFERENCE"):
                return True
            if value.get("class") != "SUBQUERY":
                stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
    return False


def compensate(node: Node, float_columns: Iterable[str], name_of: Callable[[Node], str]) -> set[str]:
    """Rewrite the sums in place, until no newly named column makes another sum a floating-point one.

    A select item without an alias is named after its text, so it gets its old text as its alias. Returns the names of
    sums that may be floating-point, but may be of another type too.
    """
    columns = {column.lower() for column in float_columns}
    unsure = _other_meanings(node, columns)
    names = columns - unsure
    while True:
        _close_over_aliases(node, names, unsure)
        found = [d for d in dicts(node) if _is_float_sum(d, names)]
        if not found:
            unsure |= _unsure_aliases(node, names, unsure)
            left = [d for d in dicts(node) if _is_sum(d) and _is_unsure(d.get("arguments"), unsure)]
            return {call_name(d) for d in left}
        marked = {id(call) for call in found}
        for item in _named_after_their_text(node):
            if any(id(d) in marked for d in dicts(item)):
                item["alias"] = name_of(item)
        for call in found:
            name = _COMPENSATED[call_name(call)]
            call["function_name"] = name
            call["qualified_name"] = {"path": [name]}


def _is_float_sum(d: Node, names: set[str]) -> bool:
    if not _is_sum(d):
        return False
    given = arguments(d)
    plain = len(given) == 1 and not d.get("schema") and not d.get("catalog")
    return plain and not has_star(given[0]) and is_float(given[0], names)


def _is_sum(d: Node) -> bool:
    return d.get("class") in ("FUNCTION", "WINDOW") and call_name(d) in _COMPENSATED


def _is_unsure(value: Any, unsure: set[str]) -> bool:
    inside = [e for e in dicts(value) if e.get("class")]
    named = any(e["class"] == "COLUMN_REF" and e["column_names"][-1].lower() in unsure for e in inside)
    return named or any(e["class"] == "FUNCTION" and call_name(e) == "/" for e in inside)


def _unsure_aliases(node: Node, names: set[str], unsure: set[str]) -> set[str]:
    defined = [(alias, e) for alias, e in _definitions(node) if alias not in names]
    found = set(unsure)
    while grown := {alias for alias, e in defined if _is_unsure(e, found)} - found:
        found |= grown
    return found


def _other_meanings(node: Node, columns: set[str]) -> set[str]:
    """Names of columns that the query also gives to something else: `SELECT count(*) AS amount`."""
    defined = [(alias, e) for alias, e in _definitions(node) if alias in columns]
    return {alias for alias, e in defined if not is_float(e, columns)}


def _named_after_their_text(node: Node) -> Iterator[Node]:
    for d in dicts(node):
        items = d.get("select_list") or []
        if d.get("type") == "PIVOT" and len(d.get("aggregates") or []) > 1:
            items = d["aggregates"]
        yield from (item for item in items if not item.get("alias"))


def _close_over_aliases(node: Node, names: set[str], unsure: set[str]) -> None:
    """Add every alias of a floating-point expression, to a fixed point."""
    defined = [(alias, e) for alias, e in _definitions(node) if alias not in unsure]
    grown = True
    while grown:
        grown = False
        for alias, expression in defined:
            if alias not in names and is_float(expression, names):
                names.add(alias)
                grown = True


def _definitions(node: Node) -> Iterator[tuple[str, Node]]:
    for d in dicts(node):
        for item in d.get("select_list") or []:
            if item.get("alias"):
                yield item["alias"].lower(), item
        for pair in d.get("rename_list") or []:
            if isinstance(pair.get("key"), dict):
                old = {"class": "COLUMN_REF", "column_names": [str(pair["key"].get("column"))]}
                yield str(pair.get("value")).lower(), old
        yield from _positional_names(d)
        if d.get("type") == "PIVOT":
            measured = [e for p in d.get("pivots") or [] for e in p.get("entries") or []]
            for name in d.get("unpivot_names") or []:
                yield from ((name.lower(), e["star_expr"]) for e in measured if e.get("star_expr"))


def _positional_names(d: Node) -> Iterator[tuple[str, Node]]:
    """`cte(a, b) AS (SELECT x, y)`, `(SELECT x, y) AS t(a, b)` and `(VALUES …) AS t(a, b)`."""
    inner = d.get("query_node") or (d.get("subquery") or {}).get("node")
    names = d.get("aliases") or d.get("column_name_alias")
    if isinstance(inner, dict) and names:
        for branch in leaves(inner):
            yield from zip((n.lower() for n in names), branch.get("select_list") or [], strict=False)
            for row in (branch.get("from_table") or {}).get("values") or []:
                yield from zip((n.lower() for n in names), row, strict=False)
    for row in d.get("values") or []:
        yield from zip((n.lower() for n in d.get("expected_names") or []), row, strict=False)


def leaves(node: Node) -> list[Node]:
    """The plain SELECTs of a query node, first to last."""
    if node.get("type") == "SELECT_NODE":
        return [node]
    children = [*(node.get("children") or []), node.get("left"), node.get("right")]
    return [leaf for child in children if child for leaf in leaves(child)]


def is_float(e: Node, names: set[str]) -> bool:
    """Whether the value of an expression may be floating point, judging by the text."""
    match e.get("class"):
        case "COLUMN_REF":
            return any(part.lower() in names for part in e["column_names"])
        case "CONSTANT":
            literal = e.get("literal") or {}
            return literal.get("kind") == "NUMERIC" and "e" in str(literal.get("text")).lower()
        case "CAST":
            return str((e.get("type_expr") or {}).get("type_name")).lower() in _FLOAT_TYPES
        case "FUNCTION" | "WINDOW":
            return _call_is_float(e, names)
        case "CASE":
            results = [c["then_expr"] for c in e.get("case_checks") or []]
            return any(is_float(r, names) for r in [*results, e.get("else_expr") or {}])
        case "OPERATOR":
            passes = e.get("type") in ("OPERATOR_COALESCE", "ARRAY_EXTRACT", "STRUCT_EXTRACT", "OPERATOR_TRY")
            return passes and any(is_float(c, names) for c in e.get("children") or [])
        case "SUBQUERY":
            first = leaves((e.get("subquery") or {}).get("node") or {})[:1]
            scalar = e.get("subquery_type") == "SCALAR"
            return scalar and any(is_float(i, names) for n in first for i in (n.get("select_list") or [])[:1])
        case "LAMBDA":
            return is_float(e.get("expr") or {}, names)
        case _:
            return False


def _call_is_float(call: Node, names: set[str]) -> bool:
    name = call_name(call)
    given = arguments(call)
    if name in _NEVER:
        return False
    if name in ("date_part", "datepart") and given:
        return str((given[0].get("literal") or {}).get("text")).lower() in ("epoch", "julian")
    if name in _TIMES or (name in _ARITHMETIC and any(_is_time(a) for a in given)):
        return False
    if name == "/" and call_name(given[0]) == "-" and not any(is_float(a, names) for a in given):
        # A difference of times divided by a number is a time; a difference of numbers divided is floating point.
        return False
    qualifiers = (call.get("qualified_name") or {}).get("path", [])[:-1]
    return (
        name in _ALWAYS
        or any(is_float(a, names) for a in given)
        or any(q.lower() in names for q in qualifiers)
    )


def _is_time(e: Node) -> bool:
    """Whether the text shows that a value is a time or an interval."""
    if e.get("class") == "CAST":
        kind = str((e.get("type_expr") or {}).get("type_name")).lower()
        return kind.split("_")[0].split(" ")[0] in _TIME_TYPES
    if e.get("class") != "FUNCTION":
        return False
    return call_name(e) in _TIMES or (call_name(e) in _ARITHMETIC and any(map(_is_time, arguments(e))))
