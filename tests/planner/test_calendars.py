"""Weeks and fiscal years in questions, as the catalog declares them."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from sandtable.catalog.calendar import Calendar
from sandtable.planner.language import periods
from sandtable.planner.outcome import EarlierTurn, Understood, Unsure
from sandtable.planner.planner import plan_question
from sandtable.planner.schema.index import SchemaIndex
from tests.planner.ground import World

AS_OF = "2025-06-25"
"""A Wednesday."""


def index_of(worlds: dict[str, World], **said: Any) -> SchemaIndex:
    world = worlds["ecommerce"]
    return SchemaIndex.build(world.dataset.model_copy(update={"as_of": AS_OF, **said}), world.index.profile)


def plan_of(question: str, index: SchemaIndex, before: EarlierTurn | None = None) -> dict[str, Any]:
    outcome = plan_question(question, index, before)
    assert isinstance(outcome, Understood), outcome
    return outcome.plan


@pytest.mark.parametrize(
    ("start", "first", "last"),
    [
        ("monday", "2025-06-16", "2025-06-22"),
        ("sunday", "2025-06-15", "2025-06-21"),
        ("saturday", "2025-06-14", "2025-06-20"),
    ],
)
def test_last_week(worlds: dict[str, World], start: str, first: str, last: str) -> None:
    plan = plan_of("how many orders last week", index_of(worlds, week_start=start))
    assert plan["time"] == {"from": first, "to": last}


WINDOWS = [
    ("how many orders in FY2024", "2023-04-01", "2024-03-31"),
    ("how many orders in FY24", "2023-04-01", "2024-03-31"),
    ("how many orders in fiscal year 2025", "2024-04-01", "2025-03-31"),
    ("how many orders in fiscal 2025", "2024-04-01", "2025-03-31"),
    ("how many orders in fiscal Q1 2025", "2024-04-01", "2024-06-30"),
    ("how many orders in Q4 FY25", "2025-01-01", "2025-03-31"),
    ("how many orders in fiscal Q4", "2025-01-01", "2025-03-31"),
    ("how many orders this fiscal quarter", "2025-04-01", "2025-06-30"),
    ("how many orders last fiscal quarter", "2025-01-01", "2025-03-31"),
    ("how many orders last fiscal year", "2024-04-01", "2025-03-31"),
    ("how many orders last year", "2024-01-01", "2024-12-31"),
    ("how many orders in Q1 2025", "2025-01-01", "2025-03-31"),
]


@pytest.mark.parametrize(("question", "first", "last"), WINDOWS)
def test_fiscal_windows(worlds: dict[str, World], question: str, first: str, last: str) -> None:
    assert plan_of(question, index_of(worlds, fiscal_month=4))["time"] == {"from": first, "to": last}


def test_the_fiscal_year_to_date(worlds: dict[str, World]) -> None:
    plan = plan_of("how many orders fiscal year to date", index_of(worlds, fiscal_month=4))
    assert plan["time"] == {"period": "fiscal_ytd"}


@pytest.mark.parametrize(
    ("question", "bucket"),
    [
        ("number of orders by fiscal quarter", "fiscal_quarter"),
        ("number of orders per fiscal year", "fiscal_year"),
        ("which fiscal quarter had the most orders", "fiscal_quarter"),
        ("number of orders by quarter", "quarter"),
        ("number of orders by year in FY2025", "year"),
    ],
)
def test_fiscal_buckets(worlds: dict[str, World], question: str, bucket: str) -> None:
    plan = plan_of(question, index_of(worlds, fiscal_month=4))
    assert [item["bucket"] for item in plan["select"] if "bucket" in item] == [bucket]


@pytest.mark.parametrize(
    "question",
    ["how many orders in FY2024", "number of orders by fiscal quarter", "revenue this fiscal year"],
)
def test_without_a_declaration_it_is_asked_about(worlds: dict[str, World], question: str) -> None:
    outcome = plan_question(question, index_of(worlds))
    assert isinstance(outcome, Unsure)
    assert "fiscal_year_start" in outcome.reason


def test_a_column_that_is_called_fiscal_is_meant(worlds: dict[str, World]) -> None:
    world = worlds["ecommerce"]
    orders = world.dataset.tables[0]
    column = next(c for c in orders.columns if c.name == "channel").model_copy(update={"name": "fiscal_year"})
    table = orders.model_copy(update={"columns": (*orders.columns, column)})
    tables = tuple(table if t.name == orders.name else t for t in world.dataset.tables)
    plan = plan_of("number of orders by fiscal year", index_of(worlds, fiscal_month=4, tables=tables))
    assert plan["group_by"] == ["fiscal_year"]
    assert not any("bucket" in item for item in plan["select"])


def test_the_period_before() -> None:
    rules = Calendar("sunday", fiscal_month=4)
    day = dt.date(2025, 6, 18)
    for unit, first, last in (
        ("week", "2025-06-08", "2025-06-14"),
        ("fiscal_quarter", "2025-01-01", "2025-03-31"),
        ("fiscal_year", "2024-04-01", "2025-03-31"),
    ):
        mine = periods.around(day, unit, rules=rules)
        found = periods.earlier(mine, unit)
        assert found is not None and found.window == {"from": first, "to": last}
        assert periods.of_window(dict(found.window), None, rules) in (
            found,
            periods.around(found.first, "quarter"),
        )
