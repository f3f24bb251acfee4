"""SQL expressions of metrics: read into the plan language with their meaning, or not at all; and written again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.catalog.semantics.exchange import sql_tree as sql
from sandtable.catalog.semantics.exchange.metric_reading import ColumnOf, ReadMetric, read_metric
from sandtable.catalog.semantics.exchange.metric_writing import NotWritten, metric_sql
from sandtable.catalog.semantics.exchange.sql_expression import parse
from sandtable.catalog.semantics.exchange.sql_tree import NotRead
from sandtable.catalog.semantics.model import MetricSemantics

TABLES = {
    "a": "orders",
    "b": "orders",
    "flag": "orders",
    "day": "orders",
    "odd name": "orders",
    "tier": "customers",
}


def resolve(name: sql.Name) -> ColumnOf | sql.Tree:
    last = name.parts[-1]
    if last == "total":
        return parse("a * b")
    if last == "endless":
        return parse("endless + 1")
    if last not in TABLES:
        raise NotRead(f"no {last}")
    return ColumnOf(TABLES[last], last)


def read(text: str, home: str | None = "orders", *, fixed: bool = False) -> ReadMetric:
    return read_metric(
        parse(text), resolve, lambda many, one: (many, one) == ("orders", "customers"), home, fixed=fixed
    )


def a_is(op: str, value: Any) -> dict[str, Any]:
    return {"column": "a", "op": op, "value": value}


READ: dict[str, tuple[Any, Any]] = {
    "SUM(a)": ({"agg": "sum", "column": "a"}, None),
    "sum(orders.a)": ({"agg": "sum", "column": "a"}, None),
    'AVG("odd name")': ({"agg": "avg", "column": "odd name"}, None),
    "MIN(day)": ({"agg": "min", "column": "day"}, None),
    "COUNT(*)": ({"agg": "count"}, None),
    "COUNT(1)": ({"agg": "count"}, None),
    "SUM(1)": ({"agg": "count"}, None),
    "COUNT(a)": ({"agg": "count", "column": "a"}, None),
    "COUNT(DISTINCT a)": ({"agg": "count_distinct", "column": "a"}, None),
    "SUM(DISTINCT a)": ({"agg": "sum", "column": "a", "distinct": True}, None),
    "MEDIAN(a)": ({"agg": "median", "column": "a"}, None),
    "CORR(a, b)": ({"agg": "correlation", "column": "a", "with": "b"}, None),
    "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY a)": ({"agg": "quantile", "column": "a", "q": 0.9}, None),
    "SUM(a * b - 1)": (
        {
            "agg": "sum",
            "of": {
                "op": "-",
                "left": {"op": "*", "left": {"column": "a"}, "right": {"column": "b"}},
                "right": {"value": 1},
            },
        },
        None,
    ),
    "SUM(total)": (
        {"agg": "sum", "of": {"op": "*", "left": {"column": "a"}, "right": {"column": "b"}}},
        None,
    ),
    "SUM(CASE WHEN a > 1 THEN b END)": ({"agg": "sum", "column": "b", "where": [a_is(">", 1)]}, None),
    "SUM(CASE WHEN a > 1 THEN b ELSE 0 END)": ({"agg": "sum", "column": "b", "where": [a_is(">", 1)]}, None),
    "SUM(CASE WHEN a > 1 THEN 1 ELSE 0 END)": ({"agg": "count", "where": [a_is(">", 1)]}, None),
    "COUNT(CASE a WHEN 5 THEN 1 END)": ({"agg": "count", "where": [a_is("=", 5)]}, None),
    "COUNT(*) FILTER (WHERE a <> 2)": ({"agg": "count", "where": [a_is("!=", 2)]}, None),
    "COUNT_IF(2 < a)": ({"agg": "count", "where": [a_is(">", 2)]}, None),
    "AVG(CASE WHEN a > 1 THEN 1 ELSE 0 END)": (
        {"op": "/", "left": {"agg": "count", "where": [a_is(">", 1)]}, "right": {"agg": "count"}},
        None,
    ),
    "COUNT(DISTINCT CASE WHEN flag THEN a END)": (
        {"agg": "count_distinct", "column": "a", "where": [{"column": "flag", "op": "=", "value": True}]},
        None,
    ),
    "SUM(a) / COUNT(*)": ({"agg": "sum", "column": "a"}, {"agg": "count"}),
    "SUM(a)::double / NULLIF(COUNT(b), 0)": ({"agg": "sum", "column": "a"}, {"agg": "count", "column": "b"}),
    "SAFE_DIVIDE(SUM(a), 2)": (
        {"op": "/", "left": {"agg": "sum", "column": "a"}, "right": {"value": 2}},
        None,
    ),
    "100.0 * SUM(a) / SUM(b)": (
        {"op": "*", "left": {"value": 100.0}, "right": {"agg": "sum", "column": "a"}},
        {"agg": "sum", "column": "b"},
    ),
    "SUM(CASE WHEN customers.tier = 'gold' THEN a END)": (
        {"agg": "sum", "column": "a", "where": [{"column": "customers.tier", "op": "=", "value": "gold"}]},
        None,
    ),
}


@pytest.mark.parametrize("text", READ)
def test_what_is_read(text: str) -> None:
    found = read(text)
    assert (found.table, found.numerator, found.denominator) == ("orders", *READ[text])


CONDITIONS: dict[str, Any] = {
    "a = 1 AND b IS NULL": [a_is("=", 1), {"column": "b", "op": "is_null"}],
    "a = 1 OR NOT (b IS NOT NULL)": [{"any": [a_is("=", 1), {"not": {"column": "b", "op": "not_null"}}]}],
    "a IN (1, -2.5)": [a_is("in", [1, -2.5])],
    "a NOT IN ('it''s')": [a_is("not_in", ["it's"])],
    "a BETWEEN 1 AND 2 AND flag IS TRUE": [
        a_is("between", [1, 2]),
        {"column": "flag", "op": "=", "value": True},
    ],
    "a NOT BETWEEN 1 AND 2": [{"not": a_is("between", [1, 2])}],
    "day >= DATE '2024-01-01'": [{"column": "day", "op": ">=", "value": "2024-01-01"}],
    "a < b": [{"column": "a", "op": "<", "other_column": "b"}],
    "a < b * 2": [
        {"column": "a", "op": "<", "than": {"op": "*", "left": {"column": "b"}, "right": {"value": 2}}}
    ],
    "a - b > 3": [
        {
            "of": {"op": "-", "left": {"column": "a"}, "right": {"column": "b"}},
            "op": ">",
            "value": 3,
        }
    ],
    "tier ILIKE 'go%'": [{"column": "customers.tier", "op": "startswith", "value": "go"}],
    "(a = 1 AND flag) OR a = 2": [
        {"any": [{"all": [a_is("=", 1), {"column": "flag", "op": "=", "value": True}]}, a_is("=", 2)]}
    ],
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_what_conditions_are_read_as(condition: str) -> None:
    assert read(f"SUM(b) FILTER (WHERE {condition})").numerator["where"] == CONDITIONS[condition]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a", "outside of an aggregate"),
        ("1", "has no aggregate"),
        ("SUM(SUM(a))", "an aggregate inside another one"),
        ("SUM(a) OVER (PARTITION BY b)", "window functions"),
        ("AVG(CASE WHEN a > 1 THEN b ELSE 0 END)", "this ELSE"),
        ("SUM(CASE WHEN a > 1 THEN b WHEN a > 2 THEN a END)", "several branches"),
        ("ROUND(SUM(a), 2)", "the function `round`"),
        ("SUM(a)::decimal(10,2)", "a cast to"),
        ("APPROX_COUNT_DISTINCT(a)", "cannot be computed here"),
        ("SUM(a) FILTER (WHERE tier LIKE 'x%')", "LIKE distinguishes case"),
        ("SUM(a) FILTER (WHERE tier ILIKE 'x_y%')", "pattern"),
        ("SUM(a) FILTER (WHERE a = NULL)", "NULL holds for no row"),
        ("SUM(a) FILTER (WHERE lower(tier) = 'x')", "the function `lower`"),
        ("SUM(a) + SUM(customers.tier)", "rows of `customers` and `orders`"),
        ("SUM(unknown)", "no unknown"),
        ("SUM(endless)", "defined by itself"),
        ("SUM(a", "is missing"),
        ("SUM(a); DROP TABLE x", "is not read"),
        ("SELECT SUM(a) FROM t", "is not read there"),
        ("a || b", "cannot be computed"),
        ("(" * 100 + "SUM(a)" + ")" * 100, "levels deep"),
        ("SUM(a) + " * 5000 + "1", "characters"),
        ("a+" * 9000 + "1", "more than 150 operators"),
        ("SUM(a" + "::real" * 3000 + ")", "more than 150 operators"),
        ("SUM(a) * 1e999", "too large"),
        ("", "is not read"),
        ("{{ metric }}", "is not read"),
        ("MAX(DISTINCT a)", "DISTINCT"),
        ("CORR(a)", "arguments"),
    ],
)
def test_what_cannot_be_used_has_a_reason(text: str, reason: str) -> None:
    with pytest.raises(NotRead, match=reason):
        read(text)


def test_the_table_whose_rows_are_counted() -> None:
    with pytest.raises(NotRead, match="which table's rows"):
        read("COUNT(*)", None)
    assert read("COUNT(CASE WHEN tier = 'x' THEN 1 END)").table == "customers"
    assert read("COUNT(CASE WHEN tier = 'x' THEN 1 END)", fixed=True).table == "orders"


columns = st.sampled_from(["a", "b", "odd name"])
numbers = st.one_of(st.integers(-1000, 1000), st.floats(-1000, 1000).map(lambda n: round(n, 3)))
texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
COMPARISONS = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
LISTS = st.sampled_from(["in", "not_in"])
AGGREGATES = st.sampled_from(["sum", "avg", "min", "max", "median", "stddev", "count_distinct", "count"])
values = st.one_of(numbers, st.booleans(), texts)
leaves = st.one_of(
    st.fixed_dictionaries({"column": columns, "op": COMPARISONS, "value": values}),
    st.fixed_dictionaries({"column": columns, "op": st.sampled_from(["is_null", "not_null"])}),
    st.fixed_dictionaries({"column": columns, "op": LISTS, "value": st.lists(values, min_size=1, max_size=3)}),
    st.fixed_dictionaries({"column": columns, "op": st.just("<"), "other_column": columns}),
)  # fmt: skip
conditions = st.one_of(
    leaves,
    st.fixed_dictionaries({"any": st.lists(leaves, min_size=2, max_size=3)}),
    st.fixed_dictionaries({"not": leaves.filter(lambda leaf: leaf["op"] not in ("in", "not_in"))}),
)
wheres = st.fixed_dictionaries({}, optional={"where": st.lists(conditions, min_size=1, max_size=3)})
rows = st.recursive(
    st.one_of(columns.map(lambda name: {"column": name}), numbers.map(lambda number: {"value": number})),
    lambda inner: st.fixed_dictionaries(
        {"op": st.sampled_from(["+", "-", "*", "/"]), "left": inner, "right": inner}
    ),
    max_leaves=4,
).filter(lambda row: "op" in row and "column" in str(row))
aggregates = st.one_of(
    wheres.map(lambda where: {"agg": "count", **where}),
    st.tuples(AGGREGATES, columns, wheres).map(
        lambda parts: {"agg": parts[0], "column": parts[1], **parts[2]}
    ),
    st.tuples(rows, wheres).map(lambda parts: {"agg": "sum", "of": parts[0], **parts[1]}),
    columns.map(lambda name: {"agg": "quantile", "column": name, "q": 0.5}),
)  # fmt: skip
sides = st.recursive(
    aggregates,
    lambda inner: st.fixed_dictionaries(
        {"op": st.sampled_from(["+", "-", "*"]), "left": inner, "right": inner}
    ),
    max_leaves=3,
)


@given(numerator=sides, denominator=st.one_of(st.none(), sides))
def test_what_is_written_is_read_again(numerator: Any, denominator: Any) -> None:
    metric = MetricSemantics(table="orders", numerator=numerator, denominator=denominator)
    found = read(metric_sql(metric, {}), fixed=True)
    assert (found.numerator, found.denominator) == (numerator, denominator)


@pytest.mark.parametrize(
    "numerator",
    [
        {"agg": "count", "where": [{"exists": {"table": "orders"}}]},
        {"agg": "count", "where": [{"column": "a", "op": "contains", "value": "x"}]},
        {"agg": "avg", "of": {"elapsed": "day", "from": "a", "to": "b"}},
        {"agg": "sum", "column": "a", "within": ["b"]},
    ],
)
def test_what_has_no_sql_form_is_not_written(numerator: Any) -> None:
    with pytest.raises(NotWritten):
        metric_sql(MetricSemantics(table="orders", numerator=numerator), {})
