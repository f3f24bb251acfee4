"""What the columns of a plan's result are said to be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import duckdb
import pytest

from sandtable.catalog.model import Dataset
from sandtable.catalog.registry import load_catalog, registry_folder
from sandtable.engines.duckdb.types import column_type
from sandtable.plan.model import QueryPlan
from sandtable.plan.result_columns import ColumnMeaning, describe, describe_by_plan, describe_result
from sandtable.plan.units import FRACTION
from sandtable.plan.validate import parse_plan
from sandtable.sql.compile import compile_plan
from tests.plan.shop import SHOP, connect
from tests.sql.corpus import Case, cases

CORPUS = [pytest.param(case, id=name) for name, case in cases()]


@pytest.fixture(scope="module")
def shop() -> Iterator[duckdb.DuckDBPyConnection]:
    with connect() as connection:
        yield connection


def plan_of(**fields: Any) -> QueryPlan:
    return parse_plan({"dataset_id": "shop", "table": "order_items", **fields})


@pytest.mark.parametrize("case", CORPUS)
def test_the_described_columns_are_those_of_the_query(case: Case, shop: duckdb.DuckDBPyConnection) -> None:
    plan = parse_plan(case["plan"])
    returned = shop.execute(compile_plan(plan, SHOP).sql).description
    described = describe(plan, SHOP)
    assert [column.name for column in described] == [name for name, *_ in returned]
    assert all(column.role != "unknown" and column.type is not None for column in described)


@pytest.mark.parametrize("case", CORPUS)
def test_the_plan_alone_says_the_same_but_for_what_the_dataset_knows(case: Case) -> None:
    plan = parse_plan(case["plan"])
    full = describe(plan, SHOP)
    alone = describe_by_plan(plan, [column.name for column in full])
    if alone is None:
        assert any(column.item is None for column in full)
        return
    for known, said in zip(full, alone, strict=True):
        assert said.unit in ("", known.unit)
        if said.item is known.item and said.item is not None:
            # The dataset has the spelling of names, and the names that the plan leaves out.
            assert _without_dataset(known, said) == said


def _without_dataset(known: ColumnMeaning, said: ColumnMeaning) -> ColumnMeaning:
    names = {"column": said.column, "of": said.of, "earlier": said.earlier}
    assert all(
        bool(value) == bool(getattr(known, field)) for field, value in names.items() if field != "column"
    )
    return replace(known, unit=said.unit, type=None, **names)


MONTH = {"bucket": "month", "column": "orders.ordered_at", "as": "month"}
REVENUE = {"metric": "revenue", "as": "revenue"}
SELECTED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a group key": ({"column": "category"}, {"role": "key", "column": "category"}),
    "a key of another table": ({"column": "orders.region"}, {"role": "key", "column": "region"}),
    "a time bucket": (MONTH, {"role": "bucket", "grain": "month", "named": True}),
    "an aggregate": (
        {"agg": "avg", "column": "discount"},
        {"role": "measure", "aggregate": "avg", "column": "discount", "named": False},
    ),
    "a rate": ({"metric": "return_rate"}, {"role": "measure", "is_fraction": True}),
    "a ratio": (
        {"op": "/", "left": {"agg": "count"}, "right": {"agg": "sum", "column": "quantity"}},
        {"role": "measure", "aggregate": None, "is_fraction": False},
    ),
    "a value of each row": ({"agg": "max", "column": "quantity", "within": []}, {"role": "key", "aggregate": None}),
}  # fmt: skip


@pytest.mark.parametrize(("item", "expected"), SELECTED.values(), ids=SELECTED)
def test_a_selected_column_of_groups(item: dict[str, Any], expected: dict[str, Any]) -> None:
    described = describe(plan_of(select=[{"agg": "count", "as": "n"}, item]), SHOP)[1]
    assert {field: getattr(described, field) for field in expected} == expected


DERIVED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a share": ({"share_of_total": "REVENUE"}, {"role": "share_of_total", "is_fraction": True, "of": "revenue"}),
    "a rank": ({"rank": "revenue"}, {"role": "rank", "is_fraction": False, "of": "revenue"}),
    "a relative change": (
        {"change": "revenue", "along": "month", "kind": "percent"},
        {"role": "change", "is_fraction": True, "of": "revenue", "earlier": ""},
    ),
    "a change between columns": (
        {"change": "revenue", "from": "cost"},
        {"role": "change", "is_fraction": False, "of": "revenue", "earlier": "cost"},
    ),
    "a running total": ({"running_total": "revenue", "along": "month"}, {"role": "running_total", "of": "revenue"}),
    "a run": (
        {"run": [{"column": "revenue", "op": ">", "value": 1}], "along": "month", "step": "month"},
        {"role": "run", "unit": "months", "of": ""},
    ),
    "a test": ({"holds": [{"column": "revenue", "op": ">", "value": 1}]}, {"role": "holds"}),
    "arithmetic": (
        {"op": "-", "left": {"column": "revenue"}, "right": {"column": "cost"}},
        {"role": "expression", "of": ""},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("item", "expected"), DERIVED.values(), ids=DERIVED)
def test_a_derived_column(item: dict[str, Any], expected: dict[str, Any]) -> None:
    cost = {"agg": "sum", "column": "quantity", "as": "cost"}
    described = describe(plan_of(select=[MONTH, REVENUE, cost], derive=[item]), SHOP)
    assert [column.derived for column in described] == [False, False, False, True]
    assert {field: getattr(described[3], field) for field in expected} == expected


def test_keys_that_are_not_selected_come_first() -> None:
    plan = plan_of(
        select=[{"agg": "count"}], group_by=["category", {"bucket": "month", "column": "orders.ordered_at"}]
    )
    described = describe(plan, SHOP)
    assert [(column.role, column.grain) for column in described] == [
        ("key", None), ("bucket", "month"), ("measure", None),
    ]  # fmt: skip
    alone = describe_by_plan(plan, [column.name for column in described])
    assert alone is not None and [column.role for column in alone] == ["key", "key", "measure"]


def test_the_columns_of_why() -> None:
    periods = {"before": {"to": "2024-03-31"}, "after": {"from": "2024-04-01"}}
    plan = plan_of(why={"of": {"metric": "return_rate"}, **periods, "by": ["category"]})
    described = describe(plan, SHOP)
    assert [(column.role, column.is_fraction) for column in described] == [
        ("dimension", False), ("member", False), ("before", True), ("after", True), ("contribution", True),
        ("effect", True), ("effect", True), ("share_of_change", True),
    ]  # fmt: skip


def test_a_result_that_is_not_of_the_plan_is_not_described() -> None:
    assert describe_by_plan(plan_of(select=[{"column": "*"}]), ["a", "b"]) is None
    assert describe_by_plan(plan_of(select=[{"column": "category"}, {"agg": "count"}]), ["n"]) is None


def test_the_unit_of_the_registry_is_not_of_the_plan() -> None:
    plan = plan_of(select=[{"metric": "return_rate"}, {"agg": "avg", "column": "discount", "unit": "%"}])
    alone = describe_by_plan(plan, ["return_rate", "avg_discount_percent"])
    assert alone is not None and [column.unit for column in alone] == ["", "%"]


_SHARES: dict[str, Any] = {
    "dataset_id": "shop",
    "table": "orders",
    "select": [{"bucket": "month", "as": "month"}, {"agg": "sum", "column": "total", "as": "revenue"}],
    "derive": [
        {"change": "revenue", "along": "month", "as": "change"},
        {"change": "revenue", "along": "month", "kind": "percent", "as": "growth"},
        {"share_of_total": "revenue", "as": "share"},
    ],
}
_NAMES = ("month", "revenue", "change", "growth", "share")


def _units(plan: dict[str, Any] | None, names: Sequence[str], dataset: Dataset | None = None) -> list[str]:
    described = describe_result(plan, names, dataset)
    assert [column.name for column in described] == list(names)
    return [column.unit for column in described]


def test_shares_and_relative_changes_are_fractions_without_the_dataset() -> None:
    assert _units(_SHARES, _NAMES) == ["", "", "", FRACTION, FRACTION]


def test_units_are_those_of_the_dataset_where_the_result_is_what_the_plan_gives() -> None:
    shop = load_catalog(registry_folder(), column_type).get("ecommerce")
    select = [{"column": "category"}, {"metric": "return_rate"}, {"agg": "avg", "column": "unit_price"}]
    plan = {"dataset_id": "ecommerce", "table": "order_items", "select": select, "group_by": ["category"]}
    names = ("category", "return_rate", "avg_unit_price")
    assert _units(plan, names, shop) == ["", FRACTION, "EUR"]
    assert _units(plan, names) == ["", "", ""], "only the dataset declares a metric in percent"
    assert _units(plan, ("a", "b", "c"), shop) == ["", "", ""], "another result than the plan's"


@pytest.mark.parametrize(
    "plan", [None, {}, {**_SHARES, "select": [{"column": "*"}]}], ids=["SQL", "none", "all columns"]
)
def test_what_no_plan_describes_is_unknown(plan: dict[str, Any] | None) -> None:
    assert describe_result(plan, _NAMES) == tuple(map(ColumnMeaning, _NAMES))
