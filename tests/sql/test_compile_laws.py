"""What holds for every plan: compiling is a function, and its SQL is one harmless SELECT that runs."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings

from sandtable.catalog.model import Column, ColumnType, Dataset, Relationship, Table
from sandtable.errors import InvalidInput
from sandtable.plan.result_columns import describe
from sandtable.plan.validate import parse_plan
from sandtable.quoting import INVISIBLE_CHARACTERS
from sandtable.sql.compile import compile_plan
from tests.plan.shop import SHOP, connect, create_tables
from tests.plan.strategies import plans

REUSED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def _table(name: str, *columns: tuple[str, ColumnType, str], time_column: str | None = None) -> Table:
    made = tuple(Column(name=c, type=t, sql_type=s) for c, t, s in columns)
    return Table(name=name, file="f.csv", sha256="0" * 64, columns=made, time_column=time_column)


ODD = Dataset(
    id="odd",
    tables=(
        _table(
            "grouped",
            ("base", ColumnType.INTEGER, "BIGINT"),
            ("select", ColumnType.TEXT, "VARCHAR"),
            ('quo"te', ColumnType.FLOAT, "FLOAT"),
            ("a.b", ColumnType.DECIMAL, "DECIMAL(18,3)"),
            ("Ünï", ColumnType.BOOLEAN, "BOOLEAN"),
            ("when", ColumnType.TIMESTAMP, "TIMESTAMP"),
            time_column="when",
        ),
        _table("base", ("id", ColumnType.INTEGER, "BIGINT"), ("grouped", ColumnType.DATE, "DATE")),
        _table("derived", ("list", ColumnType.OTHER, "INTEGER[]"), ("day", ColumnType.DATE, "DATE")),
    ),
    relationships=(
        Relationship(many_table="grouped", many_column="base", one_table="base", one_column="id"),
    ),
    version="sha256:" + "1" * 64,
)


@pytest.fixture(scope="module")
def shop() -> Iterator[duckdb.DuckDBPyConnection]:
    with connect() as connection:
        yield connection


@pytest.fixture(scope="module")
def unoptimized() -> Iterator[duckdb.DuckDBPyConnection]:
    with connect() as connection:
        connection.execute("PRAGMA disable_optimizer")
        yield connection


@pytest.fixture(scope="module")
def odd() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        create_tables(connection, ODD)
        yield connection


def tree(sql: str, connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    found = connection.execute("SELECT json_serialize_sql(?)", [sql]).fetchone()
    assert found is not None
    return json.loads(found[0])


def check_text(sql: str, connection: duckdb.DuckDBPyConnection) -> None:
    serialized = tree(sql, connection)
    assert serialized["error"] is False, sql
    assert [s["node"]["type"] for s in serialized["statements"]] == ["SELECT_NODE"]
    kinds = {m["type"] for m in serialized["statements"][0]["node"]["modifiers"]}
    assert kinds == {"ORDER_MODIFIER", "LIMIT_MODIFIER"}
    assert not re.search(f"[{INVISIBLE_CHARACTERS}]", sql.replace("\n", ""))
    assert not re.search(r"\b(now|current_\w+|today|random|uuid)\b\s*\(", re.sub(r"'[^']*'", "", sql), re.I)


@REUSED
@given(plan=plans(SHOP))
def test_every_plan_runs(
    plan: dict[str, Any], shop: duckdb.DuckDBPyConnection, unoptimized: duckdb.DuckDBPyConnection
) -> None:
    compiled = compile_plan(parse_plan(plan), SHOP)
    check_text(compiled.sql, shop)
    result = shop.execute(compiled.sql)
    assert [d[0] for d in result.description] == [c.name for c in describe(parse_plan(plan), SHOP)]
    rows = result.fetchall()
    assert len(rows) <= compiled.limit <= 200
    assert _alike(rows, unoptimized.execute(compiled.sql).fetchall())


def _alike(left: list[tuple[Any, ...]], right: list[tuple[Any, ...]]) -> bool:
    """Equal but for the last bits of floats."""
    if [len(row) for row in left] != [len(row) for row in right]:
        return False
    pairs = [(x, y) for a, b in zip(left, right, strict=True) for x, y in zip(a, b, strict=True)]
    return all(
        math.isclose(x, y, rel_tol=1e-9) or (math.isnan(x) and math.isnan(y))
        if isinstance(x, float)
        else x == y
        for x, y in pairs
    )


@REUSED
@given(plan=plans(ODD))
def test_odd_names_change_nothing(plan: dict[str, Any], odd: duckdb.DuckDBPyConnection) -> None:
    compiled = compile_plan(parse_plan(plan), ODD)
    check_text(compiled.sql, odd)
    returned = [d[0] for d in odd.execute(compiled.sql).description]
    assert returned == [c.name for c in describe(parse_plan(plan), ODD)]


@given(plans(SHOP))
def test_compiling_is_deterministic(obj: dict[str, Any]) -> None:
    plan = parse_plan(obj)
    once = compile_plan(plan, SHOP)
    assert compile_plan(plan, SHOP) == once
    assert compile_plan(parse_plan(json.loads(json.dumps(plan.to_json()))), SHOP) == once


def test_a_plan_that_does_not_fit_is_not_compiled() -> None:
    plan = parse_plan({"dataset_id": "shop", "table": "orders", "select": [{"column": "nope"}]})
    with pytest.raises(InvalidInput, match="no column `nope` in orders"):
        compile_plan(plan, SHOP)


def test_the_largest_plan_compiles(shop: duckdb.DuckDBPyConnection) -> None:
    leaf = {"column": "item_id", "op": "!=", "value": -1}
    plan = {
        "dataset_id": "shop",
        "table": "order_items",
        "select": [{"agg": "sum", "column": "quantity"}] * 100,
        "filters": [{"any": [leaf] * 5}] * 100,
    }
    compiled = compile_plan(parse_plan(plan), SHOP)
    rows = shop.execute(compiled.sql).fetchall()
    assert rows == [(30,) * 100]


def test_the_longest_chain_of_named_tables_compiles(shop: duckdb.DuckDBPyConnection) -> None:
    names = ["order_items", *(f"t{n}" for n in range(16))]
    define = [
        {"name": name, "plan": {"table": before, "select": [{"column": "item_id"}, {"column": "quantity"}]}}
        for before, name in pairwise(names)
    ]
    plan = {
        "dataset_id": "shop",
        "define": define,
        "table": "t15",
        "select": [{"agg": "sum", "column": "quantity"}],
    }
    assert shop.execute(compile_plan(parse_plan(plan), SHOP).sql).fetchall() == [(30,)]


def test_the_servers_maximum_does_not_cut_what_is_only_read_on(shop: duckdb.DuckDBPyConnection) -> None:
    inner = {"table": "order_items", "select": [{"column": "item_id"}]}
    plan = {
        "dataset_id": "shop",
        "define": [{"name": "ids", "plan": inner}],
        "table": "ids",
        "select": [{"agg": "count"}],
    }
    compiled = compile_plan(parse_plan(plan), SHOP, max_rows=3)
    assert shop.execute(compiled.sql).fetchall() == [(10,)]
    rows = compile_plan(parse_plan({**plan, "select": [{"column": "item_id"}]}), SHOP, max_rows=3)
    assert len(shop.execute(rows.sql).fetchall()) == rows.limit == 3


@pytest.mark.parametrize(("max_rows", "limit", "warned"), [(10, 10, True), (500, 300, False)])
def test_max_rows_caps_the_limit(max_rows: int, limit: int, warned: bool) -> None:
    plan = {"dataset_id": "shop", "table": "suppliers", "select": [{"column": "country"}], "limit": 300}
    compiled = compile_plan(parse_plan(plan), SHOP, max_rows=max_rows)
    assert (compiled.limit, bool(compiled.warnings)) == (limit, warned)
    assert compiled.sql.endswith(f"LIMIT {limit}")


MEASURES: list[dict[str, Any]] = [
    {"metric": "revenue"},
    {"agg": "count"},
    {"metric": "return_rate"},
    {"agg": "avg", "column": "quantity"},
    {"agg": "avg", "column": "discount", "where": [{"column": "quantity", "op": ">", "value": 1}]},
    {"op": "/", "left": {"metric": "revenue"}, "right": {"agg": "sum", "column": "quantity"}},
]


@pytest.mark.parametrize("measure", MEASURES, ids=json.dumps)
def test_contributions_add_up_to_the_change(measure: dict[str, Any], shop: duckdb.DuckDBPyConnection) -> None:
    windows = {"before": {"to": "2024-03-31"}, "after": {"from": "2024-04-01"}}
    by = ["category", "orders.region", "orders.channel", "returned"]
    plan = {"dataset_id": "shop", "table": "order_items", "why": {"of": measure, **windows, "by": by}}
    compiled = compile_plan(parse_plan(plan), SHOP)
    names = [column.name for column in describe(parse_plan(plan), SHOP)]
    rows = [dict(zip(names, row, strict=True)) for row in shop.execute(compiled.sql).fetchall()]
    (whole,) = [row for row in rows if row["dimension"] == "(all)"]
    assert float(whole["contribution"]) == pytest.approx(float(whole["after"]) - float(whole["before"]))
    for dimension in by:
        parts = [row for row in rows if row["dimension"] == dimension]
        assert sum(float(row["contribution"]) for row in parts) == pytest.approx(float(whole["contribution"]))
        if "mix_effect" in whole:
            effects = [(row["rate_effect"] + row["mix_effect"], row["contribution"]) for row in parts]
            assert all(both == pytest.approx(one) for both, one in effects)
    values = {(row["dimension"], row["member"]): row for row in rows}
    assert len(values) == len(rows)
