"""Values in another unit: the number is converted, and the output column carries the unit."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.catalog.model import Column, ColumnType, Dataset, Table
from sandtable.plan.result_columns import describe
from sandtable.plan.validate import check_plan, parse_plan
from sandtable.sql.compile import compile_plan
from sandtable_runner import engine

COLUMNS = (
    Column(name="team", type=ColumnType.TEXT, sql_type="VARCHAR"),
    Column(name="handling", type=ColumnType.INTEGER, sql_type="INTEGER", unit="minutes"),
    Column(name="wait_seconds", type=ColumnType.INTEGER, sql_type="INTEGER"),
    Column(name="price", type=ColumnType.DECIMAL, sql_type="DECIMAL(10,2)", unit="EUR cents"),
    Column(name="heat", type=ColumnType.FLOAT, sql_type="DOUBLE", unit="°C"),
    Column(name="rate", type=ColumnType.FLOAT, sql_type="DOUBLE", unit="fraction"),
)
DESK = Dataset(
    id="desk",
    tables=(Table(name="calls", file="calls.csv", sha256="0" * 64, columns=COLUMNS),),
    version="sha256:" + "0" * 64,
)


def plan_of(item: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"dataset_id": "desk", "table": "calls", "select": [item], **more}


def run(plan: dict[str, Any]) -> list[tuple[Any, ...]]:
    with engine.connect() as connection:
        connection.execute(
            "CREATE TABLE calls (team VARCHAR, handling INTEGER, wait_seconds INTEGER, price DECIMAL(10,2), "
            "heat DOUBLE, rate DOUBLE)"
        )
        connection.execute(
            "INSERT INTO calls VALUES ('a', 30, 90, 250, 0, 0.25), ('b', 150, 30, 150, 20, 0.75)"
        )
        return connection.execute(compile_plan(parse_plan(plan), DESK).sql).fetchall()


CASES: dict[str, tuple[dict[str, Any], float, str, str]] = {
    "an average": ({"agg": "avg", "column": "handling", "unit": "hours"}, 1.5, "hours", "avg_handling_hours"),
    "a sum": ({"agg": "sum", "column": "handling", "unit": "hr"}, 3.0, "hours", "sum_handling_hours"),
    "a unit that only the name tells": (
        {"agg": "max", "column": "wait_seconds", "unit": "minutes"}, 1.5, "minutes", "max_wait_minutes",
    ),
    "into smaller units": (
        {"agg": "max", "column": "handling", "unit": "seconds"}, 9000, "seconds", "max_handling_seconds",
    ),
    "cents": ({"agg": "sum", "column": "price", "unit": "euros"}, 4.0, "EUR", "sum_price_EUR"),
    "degrees": ({"agg": "avg", "column": "heat", "unit": "°F"}, 50.0, "°F", "avg_heat_°F"),
    "a spread of degrees has no zero": (
        {"agg": "stddev", "column": "heat", "unit": "°F", "as": "x"}, 25.45584412, "°F", "x",
    ),
    "percent": ({"agg": "avg", "column": "rate", "unit": "percent"}, 50.0, "%", "avg_rate_percent"),
    "arithmetic": (
        {"op": "/", "left": {"agg": "sum", "column": "handling"}, "right": {"agg": "count"}, "unit": "h", "as": "x"},
        1.5, "hours", "x",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("item", "value", "unit", "name"), CASES.values(), ids=CASES)
def test_a_value_in_another_unit(item: dict[str, Any], value: float, unit: str, name: str) -> None:
    plan = plan_of(item)
    (column,) = describe(parse_plan(plan), DESK)
    assert (column.unit, column.name) == (unit, name)
    assert float(run(plan)[0][0]) == pytest.approx(value)


def test_rows_and_conditions_in_another_unit() -> None:
    rows = plan_of(
        {"column": "handling", "unit": "hours", "as": "hours"}, order_by=[{"expr": "hours"}], limit=5
    )
    assert run(rows) == [(0.5,), (2.5,)]
    kept = [{"of": {"column": "handling", "unit": "hours"}, "op": ">", "value": 1}]
    assert run(plan_of({"column": "team"}, filters=kept, limit=5)) == [("b",)]


@pytest.mark.parametrize(
    ("item", "message", "hint"),
    [
        ({"agg": "avg", "column": "handling", "unit": "kg"}, "`minutes` cannot be given in `kg`", "hours"),
        ({"agg": "count", "unit": "hours"}, "has no known unit", ""),
        ({"agg": "sum", "column": "heat", "unit": "°F"}, "has another zero", "average"),
    ],
)
def test_what_cannot_be_converted_is_explained(item: dict[str, Any], message: str, hint: str) -> None:
    (problem,) = check_plan(parse_plan(plan_of(item)), DESK)
    assert problem.field == "select[0].unit"
    assert message in problem.message
    assert hint in problem.suggestion


def test_a_sum_of_what_does_not_add_up_is_warned_of() -> None:
    def warnings(item: dict[str, Any]) -> str:
        return " ".join(compile_plan(parse_plan(plan_of(item)), DESK).warnings)

    assert "use its average" in warnings({"agg": "sum", "column": "rate"})
    assert warnings({"agg": "avg", "column": "rate"}) == ""
