"""Weeks and fiscal years as the catalog declares them, in SQL and over rows; Monday changes no SQL."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from sandtable.catalog.calendar import Calendar
from sandtable.catalog.model import Dataset
from sandtable.plan.moments import start_of
from sandtable.plan.validate import check_plan, parse_plan
from sandtable.sql.compile import compile_plan
from tests.plan.shop import SHOP, connect

DAYS = [dt.date(2023, 12, 20) + dt.timedelta(days=n) for n in range(900)]


def declared(**said: Any) -> Dataset:
    return SHOP.model_copy(update=said)


def plan(*select: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"dataset_id": "shop", "table": "orders", "select": list(select), **more}


def sql_of(dataset: Dataset, *select: dict[str, Any], **more: Any) -> str:
    return compile_plan(parse_plan(plan(*select, **more)), dataset, max_rows=1000).sql


CASES = [
    ({"week_start": "sunday"}, "week"),
    ({"week_start": "saturday"}, "week"),
    ({"fiscal_month": 4}, "fiscal_year"),
    ({"fiscal_month": 4}, "fiscal_quarter"),
    ({"fiscal_month": 11}, "fiscal_quarter"),
    ({"fiscal_month": 2}, "fiscal_year"),
    ({"fiscal_month": 1}, "fiscal_year"),
]


@pytest.mark.parametrize("column", ["ordered_at", "due_on"])
@pytest.mark.parametrize(("said", "bucket"), CASES)
def test_every_day_falls_into_its_period(said: dict[str, Any], bucket: Any, column: str) -> None:
    dataset = declared(**said)
    connection = connect(rows=False)
    for day in DAYS:
        connection.execute(
            "INSERT INTO orders (order_id, ordered_at, due_on) VALUES (?, ?, ?)",
            [day.toordinal(), dt.datetime.combine(day, dt.time(23, 59, 59)), day],
        )
    sql = sql_of(
        dataset, {"column": "order_id"}, {"bucket": bucket, "column": column, "as": "start"}, limit=1000
    )
    found = dict(connection.execute(sql).fetchall())
    expected = {day.toordinal(): start_of(day, bucket, Calendar.of(dataset)) for day in DAYS}
    assert found == expected


def test_sunday_weeks_in_sql_and_in_windows() -> None:
    dataset = declared(week_start="sunday")
    sql = sql_of(dataset, {"bucket": "week"}, {"agg": "count"}, time={"period": "last_week"})
    week = """DATE_TRUNC('week', "ordered_at" + INTERVAL 1 DAY) - INTERVAL 1 DAY"""
    assert week in sql
    assert "'2024-06-23'" in sql and "'2024-06-30'" in sql
    connection = connect()
    assert connection.execute(
        sql_of(dataset, {"bucket": "week", "as": "week"}, {"agg": "count", "as": "n"})
    ).fetchall()[-2:] == [(dt.date(2024, 6, 23), 1), (dt.date(2024, 6, 30), 1)]


def test_monday_compiles_to_the_same_sql_as_without_a_declaration() -> None:
    shapes = ({"bucket": "week"}, {"bucket": "quarter"}, {"bucket": "year"})
    for shape in shapes:
        same = sql_of(declared(week_start="monday", fiscal_month=4), shape, {"agg": "count"})
        assert same == sql_of(SHOP, shape, {"agg": "count"})
    assert "DATE_TRUNC('week', \"ordered_at\")" in sql_of(SHOP, {"bucket": "week"}, {"agg": "count"})
    fiscal = sql_of(declared(fiscal_month=1), {"bucket": "fiscal_year", "as": "y"}, {"agg": "count"})
    assert fiscal == sql_of(SHOP, {"bucket": "year", "as": "y"}, {"agg": "count"})


@pytest.mark.parametrize(
    ("said", "bucket", "step"),
    [({"week_start": "sunday"}, "week", "week"), ({"fiscal_month": 2}, "fiscal_quarter", "quarter")],
)
def test_periods_that_follow_each_other_are_a_run(said: dict[str, Any], bucket: str, step: str) -> None:
    connection = connect(rows=False)
    days = (
        ["2024-03-01", "2024-03-03", "2024-06-01", "2024-06-02"]
        if step == "week"
        else ["2024-04-30", "2024-05-01"]
    )
    for day in days:
        connection.execute("INSERT INTO orders (order_id, ordered_at) VALUES (1, ?)", [day])
    run = {"run": [{"column": "n", "op": ">", "value": 0}], "along": "at", "step": step, "as": "run"}
    made = sql_of(declared(**said), {"bucket": bucket, "as": "at"}, {"agg": "count", "as": "n"}, derive=[run])
    assert [row[-1] for row in connection.execute(made).fetchall()] == [1, 2, 1, 2][: len(days)]


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"select": [{"bucket": "fiscal_year"}, {"agg": "count"}]}, "select[0].bucket"),
        ({"select": [{"agg": "count"}], "group_by": [{"bucket": "fiscal_quarter"}]}, "group_by[0].bucket"),
        ({"select": [{"agg": "count"}], "time": {"period": "this_fiscal_year"}}, "time.period"),
        ({"select": [{"agg": "count"}], "time": {"period": "fiscal_ytd"}}, "time.period"),
    ],
)
def test_a_fiscal_year_that_is_not_declared_is_refused(more: dict[str, Any], field: str) -> None:
    parsed = parse_plan({"dataset_id": "shop", "table": "orders", **more})
    (problem,) = check_plan(parsed, SHOP)
    assert problem.field == field
    assert "fiscal_year_start" in problem.suggestion
    assert not check_plan(parsed, declared(fiscal_month=4))
