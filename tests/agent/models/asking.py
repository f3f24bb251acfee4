"""A small shop to ask about, with its profile, and the question that every situation is tried with."""

from __future__ import annotations

from typing import Any

from sandtable.agent.proposer import Asked, Exchange
from sandtable.capsule.query import PlanQuery
from sandtable.catalog.model import Column, ColumnType, Dataset, Metric, Relationship, Table
from sandtable.catalog.profile import Cell, ColumnProfile, Profile, TableProfile, ValueCount
from sandtable.runs.model import Run, RunRequest
from sandtable.sandbox.job import Limits, ResultColumn
from sandtable.store.run_store import Status

CANARY = "Zanzibar-Quetzal"
CANARY_NUMBER = 918273645
CANARY_DAY = "1987-06-05"
_NO_DIGEST = "0" * 64
QUESTION = "How many orders by region?"
PLAN: dict[str, Any] = {
    "dataset_id": "shop",
    "table": "orders",
    "select": [{"column": "region"}, {"agg": "count", "as": "orders"}],
}
GOOD: dict[str, Any] = {"intent": "plan", "plan": PLAN}


def _column(name: str, kind: ColumnType, sql_type: str, **more: Any) -> Column:
    return Column(name=name, type=kind, sql_type=sql_type, **more)


def shop() -> Dataset:
    orders = Table(
        name="orders",
        description="One row per order.",
        file="orders.csv",
        sha256=_NO_DIGEST,
        time_column="ordered_on",
        columns=(
            _column("order_id", ColumnType.INTEGER, "BIGINT"),
            _column("ordered_on", ColumnType.DATE, "DATE"),
            _column("region", ColumnType.TEXT, "VARCHAR", description="Where it went"),
            _column("total", ColumnType.DECIMAL, "DECIMAL(10,2)", unit="EUR"),
            _column("customer", ColumnType.TEXT, "VARCHAR"),
        ),
    )
    customers = Table(
        name="customers",
        file="customers.csv",
        sha256=_NO_DIGEST,
        columns=(
            _column("customer", ColumnType.TEXT, "VARCHAR"),
            _column("age", ColumnType.INTEGER, "BIGINT"),
        ),
    )
    link = Relationship(
        many_table="orders", many_column="customer", one_table="customers", one_column="customer"
    )
    revenue = Metric(name="revenue", table="orders", numerator={"agg": "sum", "column": "total"})
    return Dataset(
        id="shop",
        tables=(orders, customers),
        relationships=(link,),
        metrics=(revenue,),
        as_of="2025-12-31",
        version=f"sha256:{_NO_DIGEST}",
    )


def _seen(name: str, *values: Cell, distinct: int = 9) -> ColumnProfile:
    known = [value for value in values if value is not None]
    return ColumnProfile(
        name=name,
        nulls=1,
        distinct=distinct,
        minimum=known[0],
        maximum=known[-1],
        values=tuple(ValueCount(value=value, count=2) for value in known),
        complete=distinct == len(known),
    )


def shop_profile() -> Profile:
    """The canaries are in cells of every kind."""
    return Profile(
        version=f"sha256:{_NO_DIGEST}",
        tables=(
            TableProfile(
                name="orders",
                rows=40,
                columns=(
                    _seen("order_id", 1, CANARY_NUMBER),
                    _seen("ordered_on", CANARY_DAY, "2025-12-30"),
                    _seen("region", CANARY, "North", "South", distinct=3),
                    _seen("total", "1.50", str(CANARY_NUMBER)),
                    _seen("customer", "Ada", CANARY, "Grace", "Linus", "Barbara Liskov"),
                ),
            ),
            TableProfile(name="customers", rows=9, columns=(_seen("customer", CANARY, "Grace"),)),
        ),
    )


def asking(question: str = QUESTION, **more: Any) -> Asked:
    return Asked(question=question, dataset=shop(), profile=shop_profile(), **more)


def exchange(question: str = "How many orders are there?", **more: Any) -> Exchange:
    given: dict[str, Any] = {"answer": f"There are {CANARY_NUMBER} orders.", "ending": "answered", **more}
    return Exchange(question=question, **given)


def ended(rows: tuple[tuple[Any, ...], ...], status: Status = "succeeded") -> Run:
    return Run(
        id="run-1",
        status=status,
        request=RunRequest(dataset_id="shop", query=PlanQuery(PLAN)),
        dataset_version=f"sha256:{_NO_DIGEST}",
        limits=Limits(),
        created_at="2026-01-01T00:00:00Z",
        columns=(ResultColumn(name="region", type="VARCHAR"), ResultColumn(name="orders", type="BIGINT")),
        rows=rows,
        row_count=len(rows),
    )
