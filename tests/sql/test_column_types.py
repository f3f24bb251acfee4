"""The type that is said of each column of a plan is the one that DuckDB gives it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings

from sandtable.plan.validate import parse_plan, require_plan
from sandtable.sql.column_types import Types
from sandtable.sql.compile import compile_plan
from tests.plan.shop import SHOP, connect
from tests.plan.strategies import plans
from tests.sql.corpus import cases

OPERANDS = ["quantity", "unit_price", "discount"]
NUMBERS: list[Any] = [5, -5, 3_000_000_000, 10**20, 1.5, -0.001, 1e20, 1e-7]


@pytest.fixture(scope="module")
def shop() -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(rows=False) as connection:
        yield connection


def check(plan: dict[str, Any], shop: duckdb.DuckDBPyConnection) -> None:
    parsed = parse_plan(plan)
    described = shop.execute(compile_plan(parsed, SHOP).sql).description
    said = Types.of_plan(require_plan(parsed, SHOP)).columns()
    assert list(said) == [(name, str(type_)) for name, type_, *_ in described]


def test_types_of_the_corpus(shop: duckdb.DuckDBPyConnection) -> None:
    for _, case in cases():
        check(case["plan"], shop)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(plan=plans(SHOP))
def test_types_of_any_plan(plan: dict[str, Any], shop: duckdb.DuckDBPyConnection) -> None:
    check(plan, shop)


@pytest.mark.parametrize("op", ["+", "-", "*", "/"])
def test_types_of_arithmetic(op: str, shop: duckdb.DuckDBPyConnection) -> None:
    sides: list[dict[str, Any]] = [{"column": name} for name in OPERANDS]
    sides += [{"op": "*", "left": {"column": "unit_price"}, "right": {"column": "unit_price"}}]
    pairs = [
        *((one, other) for one in sides for other in sides),
        *((one, {"value": n}) for one in sides for n in NUMBERS),
    ]
    select = [
        {"op": op, "left": left, "right": right, "as": f"c{n}"} for n, (left, right) in enumerate(pairs)
    ]
    check({"dataset_id": "shop", "table": "order_items", "select": select}, shop)


def test_types_of_sums_of_computed_values(shop: duckdb.DuckDBPyConnection) -> None:
    of = [
        {"op": op, "left": {"column": "unit_price"}, "right": right}
        for op in "+*"
        for right in [*({"column": name} for name in OPERANDS), *({"value": n} for n in NUMBERS)]
    ]
    aggregates = ["sum", "avg", "min", "median", "stddev"]
    select = [{"agg": agg, "of": each, "as": f"{agg}{n}"} for agg in aggregates for n, each in enumerate(of)]
    total = {"agg": "sum", "column": "quantity"}
    select += [{"op": "*", "left": total, "right": {"value": n}, "as": f"t{n}"} for n in NUMBERS]
    check({"dataset_id": "shop", "table": "order_items", "select": select[:100]}, shop)
