"""The shapes of DuckDB's parse tree that the gate knows: every node kind, every key."""

from __future__ import annotations

from sandtable.engines.rules import (
    ARGUMENT,
    ARGUMENTS,
    CASES,
    CTES,
    DATA,
    ENTRIES,
    ENTRY,
    EXPR,
    EXPRS,
    LITERAL,
    MODIFIER,
    MODIFIERS,
    NEVER,
    NODE,
    NODES,
    ORDER,
    ORDERS,
    PAIRS,
    PATH,
    PIVOT,
    PIVOTS,
    RECORDS,
    ROWS,
    SAMPLE,
    SELECT,
    TABLE,
    WHEN,
    Grammar,
    Shape,
)

_LOCATED: Shape = {"query_location": DATA, "query_location_length": DATA}
_EXPRESSION: Shape = {"class": DATA, "type": DATA, "alias": DATA, **_LOCATED}
_NAMED: Shape = {"schema": DATA, "catalog": DATA, "qualified_name": PATH}

_EXPRESSIONS: dict[str, Shape] = {
    "BETWEEN": {**_EXPRESSION, "input": EXPR, "lower": EXPR, "upper": EXPR},
    "CASE": {**_EXPRESSION, "case_checks": CASES, "else_expr": EXPR},
    "CAST": {**_EXPRESSION, "child": EXPR, "try_cast": DATA, "type_expr": EXPR},
    "COLLATE": {**_EXPRESSION, "child": EXPR, "collation": DATA},
    "COLUMN_REF": {**_EXPRESSION, "column_names": DATA},
    "COMPARISON": {**_EXPRESSION, "left": EXPR, "right": EXPR},
    "CONJUNCTION": {**_EXPRESSION, "children": EXPRS},
    "CONSTANT": {**_EXPRESSION, "literal": LITERAL},
    "FUNCTION": {
        **_EXPRESSION,
        **_NAMED,
        "function_name": DATA,
        "arguments": ARGUMENTS,
        "filter": EXPR,
        "order_bys": MODIFIER,
        "distinct": DATA,
        "is_operator": DATA,
        "export_state": NEVER,
    },
    "LAMBDA": {**_EXPRESSION, "lhs": EXPR, "expr": EXPR, "syntax_type": DATA},
    "OPERATOR": {**_EXPRESSION, "children": EXPRS},
    "POSITIONAL_REFERENCE": {**_EXPRESSION, "index": DATA},
    "STAR": {
        **_EXPRESSION,
        "relation_name": DATA,
        "exclude_list": DATA,
        "qualified_exclude_list": RECORDS,
        "replace_list": PAIRS,
        "rename_list": PAIRS,
        "columns": DATA,
        "expr": EXPR,
    },
    "SUBQUERY": {
        **_EXPRESSION,
        "child": EXPR,
        "comparison_type": DATA,
        "subquery": SELECT,
        "subquery_type": DATA,
    },
    "TYPE": {**_EXPRESSION, **_NAMED, "type_name": DATA, "children": EXPRS},
    "WINDOW": {
        **_EXPRESSION,
        **_NAMED,
        "function_name": DATA,
        "arguments": ARGUMENTS,
        "partitions": EXPRS,
        "orders": ORDERS,
        "arg_orders": ORDERS,
        "start": DATA,
        "end": DATA,
        "start_expr": EXPR,
        "end_expr": EXPR,
        "offset_expr": EXPR,
        "default_expr": EXPR,
        "filter_expr": EXPR,
        "ignore_nulls": DATA,
        "has_ignore_nulls": DATA,
        "distinct": DATA,
        "exclude_clause": DATA,
    },
}

_EXPRESSION_TYPES: dict[str, frozenset[str]] = {
    "BETWEEN": frozenset({"COMPARE_BETWEEN"}),
    "CASE": frozenset({"CASE_EXPR"}),
    "CAST": frozenset({"OPERATOR_CAST"}),
    "COLLATE": frozenset({"COLLATE"}),
    "COLUMN_REF": frozenset({"COLUMN_REF"}),
    "COMPARISON": frozenset(
        {
            "COMPARE_EQUAL",
            "COMPARE_NOTEQUAL",
            "COMPARE_LESSTHAN",
            "COMPARE_GREATERTHAN",
            "COMPARE_LESSTHANOREQUALTO",
            "COMPARE_GREATERTHANOREQUALTO",
            "COMPARE_DISTINCT_FROM",
            "COMPARE_NOT_DISTINCT_FROM",
        }
    ),
    "CONJUNCTION": frozenset({"CONJUNCTION_AND", "CONJUNCTION_OR"}),
    "CONSTANT": frozenset({"VALUE_CONSTANT"}),
    "FUNCTION": frozenset({"FUNCTION"}),
    "LAMBDA": frozenset({"LAMBDA"}),
    "OPERATOR": frozenset(
        {
            "ARRAY_CONSTRUCTOR",
            "ARRAY_EXTRACT",
            "ARRAY_SLICE",
            "COMPARE_IN",
            "COMPARE_NOT_IN",
            "GROUPING_FUNCTION",
            "OPERATOR_COALESCE",
            "OPERATOR_IS_NOT_NULL",
            "OPERATOR_IS_NULL",
            "OPERATOR_NOT",
            "OPERATOR_NULLIF",
            "OPERATOR_TRY",
            "OPERATOR_UNPACK",
            "STRUCT_EXTRACT",
        }
    ),
    "POSITIONAL_REFERENCE": frozenset({"POSITIONAL_REFERENCE"}),
    "STAR": frozenset({"STAR"}),
    "SUBQUERY": frozenset({"SUBQUERY"}),
    "TYPE": frozenset({"TYPE"}),
    "WINDOW": frozenset(
        f"WINDOW_{name}"
        for name in (
            "AGGREGATE ROW_NUMBER RANK RANK_DENSE PERCENT_RANK CUME_DIST NTILE LAG LEAD FIRST_VALUE "
            "LAST_VALUE NTH_VALUE FILL"
        ).split()
    ),
}

_QUERY_NODES: dict[str, Shape] = {
    "SELECT_NODE": {
        "type": DATA,
        "modifiers": MODIFIERS,
        "cte_map": CTES,
        "select_list": EXPRS,
        "from_table": TABLE,
        "where_clause": EXPR,
        "group_expressions": EXPRS,
        "group_sets": DATA,
        "aggregate_handling": DATA,
        "having": EXPR,
        "sample": SAMPLE,
        "qualify": EXPR,
    },
    "SET_OPERATION_NODE": {
        "type": DATA,
        "modifiers": MODIFIERS,
        "cte_map": CTES,
        "setop_type": DATA,
        "setop_all": DATA,
        "left": NODE,
        "right": NODE,
        "children": NODES,
    },
    "RECURSIVE_CTE_NODE": {
        "type": DATA,
        "modifiers": MODIFIERS,
        "cte_map": CTES,
        "cte_name": DATA,
        "aliases": DATA,
        "union_all": DATA,
        "key_targets": EXPRS,
        "payload_aggregates": EXPRS,
        "left": NODE,
        "right": NODE,
    },
}

_CTE: Shape = {
    "aliases": DATA,
    "materialized": DATA,
    "query_node": NODE,
    "key_targets": EXPRS,
    "payload_aggregates": EXPRS,
}

_TABLE_REF: Shape = {"type": DATA, "alias": DATA, "sample": SAMPLE, **_LOCATED}

_TABLE_REFS: dict[str, Shape] = {
    "EMPTY": _TABLE_REF,
    "BASE_TABLE": {
        **_TABLE_REF,
        "schema_name": DATA,
        "catalog_name": DATA,
        "table_name": DATA,
        "column_name_alias": DATA,
        "qualified_name": PATH,
        "at_clause": NEVER,
    },
    "EXPRESSION_LIST": {
        **_TABLE_REF,
        "values": ROWS,
        "expected_names": DATA,
        "expected_types": NEVER,
    },
    "JOIN": {
        **_TABLE_REF,
        "left": TABLE,
        "right": TABLE,
        "condition": EXPR,
        "join_type": DATA,
        "ref_type": DATA,
        "using_columns": DATA,
        "delim_flipped": NEVER,
        "duplicate_eliminated_columns": NEVER,
        "is_implicit": DATA,
        "ranking_expression": EXPR,
        "nearest_count": DATA,
        "nearest_order_type": DATA,
        "nearest_approx": DATA,
    },
    "PIVOT": {
        **_TABLE_REF,
        "source": TABLE,
        "aggregates": EXPRS,
        "pivots": PIVOTS,
        "groups": DATA,
        "unpivot_names": DATA,
        "include_nulls": DATA,
        "column_name_alias": DATA,
    },
    "SHOW_REF": {
        **_TABLE_REF,
        "schema_name": DATA,
        "catalog_name": DATA,
        "table_name": DATA,
        "qualified_name": PATH,
        "query": NODE,
        "show_type": DATA,
    },
    "SUBQUERY": {**_TABLE_REF, "subquery": SELECT, "column_name_alias": DATA},
    "TABLE_FUNCTION": {
        **_TABLE_REF,
        "function": EXPR,
        "column_name_alias": DATA,
        "with_ordinality": DATA,
    },
}

_SHOW_TYPES: frozenset[str] = frozenset({"DESCRIBE", "SUMMARY", "SHOW", "SHOW_UNQUALIFIED"})

_MODIFIERS: dict[str, Shape] = {
    "ORDER_MODIFIER": {"type": DATA, "orders": ORDERS},
    "LIMIT_MODIFIER": {"type": DATA, "limit": EXPR, "offset": EXPR, "limit_type": DATA},
    "DISTINCT_MODIFIER": {"type": DATA, "distinct_on_targets": EXPRS},
}

_RECORDS: dict[str, Shape] = {
    ARGUMENT: {"name": DATA, "expression": EXPR},
    WHEN: {"when_expr": EXPR, "then_expr": EXPR},
    ORDER: {"type": DATA, "null_order": DATA, "expression": EXPR},
    PIVOT: {"pivot_expressions": EXPRS, "entries": ENTRIES, "unpivot_names": DATA, "pivot_enum": NEVER},
    ENTRY: {"alias": DATA, "star_expr": EXPR, "values": NEVER},
    SELECT: {"node": NODE, "named_param_map": NEVER},
}

_SPELLING: dict[str, str] = {
    "INSERT_QUERY_NODE": "INSERT",
    "UPDATE_QUERY_NODE": "UPDATE",
    "DELETE_QUERY_NODE": "DELETE",
    "MERGE_QUERY_NODE": "MERGE",
    "COPY_QUERY_NODE": "COPY",
    "PARAMETER": "a parameter",
    "DEFAULT": "DEFAULT",
    "at_clause": "AT",
    "named_param_map": "a parameter",
    "export_state": "EXPORT_STATE",
    "pivot_enum": "PIVOT … IN an enum",
}

GRAMMAR = Grammar(
    expressions=_EXPRESSIONS,
    expression_types=_EXPRESSION_TYPES,
    query_nodes=_QUERY_NODES,
    table_refs=_TABLE_REFS,
    modifiers=_MODIFIERS,
    records=_RECORDS,
    cte=_CTE,
    sample_keys=frozenset({"sample_size", "is_percentage", "sample_rate", "method", "seed", "repeatable"}),
    show_types=_SHOW_TYPES,
    spelling=_SPELLING,
)
