"""A carrier with its drivers and meters, invented for these tests: durations, amounts, rates of bad things, dates."""

from __future__ import annotations

from typing import Any

from sandtable.catalog.model import Column, ColumnType, Dataset, Metric, Relationship, Table
from sandtable.catalog.profile import ColumnProfile, Profile, TableProfile, ValueCount
from sandtable.planner.schema.index import SchemaIndex


def _column(name: str, kind: ColumnType, unit: str = "") -> Column:
    return Column(name=name, type=kind, sql_type=kind.value.upper(), unit=unit)


_DELIVERIES = Table(
    name="deliveries",
    file="deliveries.csv",
    sha256="0" * 64,
    rows=500,
    time_column="ordered_on",
    columns=(
        _column("delivery_no", ColumnType.INTEGER),
        _column("ordered_on", ColumnType.TIMESTAMP),
        _column("delivered_on", ColumnType.TIMESTAMP),
        _column("promised_on", ColumnType.TIMESTAMP),
        _column("driver_id", ColumnType.INTEGER),
        _column("carrier", ColumnType.TEXT),
        _column("outcome", ColumnType.TEXT),
        _column("article", ColumnType.TEXT),
        _column("qty", ColumnType.INTEGER),
        _column("weight_kg", ColumnType.DECIMAL),
        _column("distance_km", ColumnType.DECIMAL),
        _column("fee_eur", ColumnType.DECIMAL),
        _column("profit_eur", ColumnType.DECIMAL),
        _column("top_speed", ColumnType.DECIMAL),
        _column("score", ColumnType.INTEGER),
        _column("damaged", ColumnType.BOOLEAN),
        _column("cause", ColumnType.TEXT),
    ),
)
_DRIVERS = Table(
    name="drivers",
    file="drivers.csv",
    sha256="1" * 64,
    rows=40,
    columns=(
        _column("driver_id", ColumnType.INTEGER),
        _column("driver_name", ColumnType.TEXT),
        _column("hired_on", ColumnType.DATE),
        _column("hourly_wage", ColumnType.DECIMAL),
        _column("vacation_days", ColumnType.INTEGER),
        _column("vegan", ColumnType.BOOLEAN),
    ),
)
_METERS = Table(
    name="meters",
    file="meters.csv",
    sha256="3" * 64,
    rows=12,
    columns=(_column("meter_no", ColumnType.INTEGER), _column("district", ColumnType.TEXT)),
)
DATASET = Dataset(
    id="carrier",
    title="Carrier",
    tables=(_DELIVERIES, _DRIVERS, _METERS),
    relationships=(
        Relationship(
            many_table="deliveries", many_column="driver_id", one_table="drivers", one_column="driver_id"
        ),
    ),
    metrics=(
        Metric(
            name="no_show_rate",
            table="deliveries",
            numerator={"agg": "count", "where": [{"column": "outcome", "op": "=", "value": "absent"}]},
            denominator={"agg": "count"},
            format="percent",
        ),
    ),
    as_of="2025-06-30",
    version="sha256:" + "2" * 64,
)


def _held(name: str, values: tuple[Any, ...], nulls: int = 0) -> ColumnProfile:
    counted = tuple(ValueCount(value=v, count=3) for v in values)
    return ColumnProfile(
        name=name,
        nulls=nulls,
        distinct=len(values),
        minimum=min(values) if values else None,
        maximum=max(values) if values else None,
        values=counted,
        complete=True,
    )


INDEX = SchemaIndex.build(
    DATASET,
    Profile(
        version=DATASET.version,
        tables=(
            TableProfile(
                name="deliveries",
                rows=500,
                columns=(
                    _held("delivered_on", (), nulls=9),
                    _held("carrier", ("Swift", "Tortoise")),
                    _held("outcome", ("absent", "delivered", "failed", "pending")),
                    _held("article", ("Juice", "Rice")),
                    _held("damaged", (False, True)),
                    _held("cause", ("Rain", "Traffic"), nulls=400),
                ),
            ),
            TableProfile(
                name="drivers",
                rows=40,
                columns=(
                    _held("driver_id", tuple(range(40))),
                    _held("driver_name", tuple(f"Driver {n}" for n in range(40))),
                    _held("vegan", (False, True)),
                ),
            ),
            TableProfile(name="meters", rows=12, columns=(_held("district", ("Nord", "Sued")),)),
        ),
    ),
)

COUNT: dict[str, Any] = {"agg": "count", "as": "count"}


def plan(table: str = "deliveries", **fields: Any) -> dict[str, Any]:
    """A plan over the carrier; rows of the table are counted when nothing is selected."""
    return {"dataset_id": "carrier", "table": table, "select": [COUNT], **fields}


def of(agg: str, column: str, **fields: Any) -> dict[str, Any]:
    return {"agg": agg, "column": column, "as": f"{agg}_{column}", **fields}


def passed(
    agg: str = "avg", unit: str = "day", start: str = "ordered_on", end: str = "delivered_on"
) -> dict[str, Any]:
    """The time between two dates, averaged."""
    return {"agg": agg, "of": {"elapsed": unit, "from": start, "to": end}, "as": "passed"}


def by(column: str, measure: dict[str, Any] = COUNT, **fields: Any) -> dict[str, Any]:
    table = fields.pop("table", "deliveries")
    return plan(table, select=[{"column": column}, measure], group_by=[column], **fields)


def rows(*columns: str, table: str = "deliveries", **fields: Any) -> dict[str, Any]:
    return plan(table, select=[{"column": column} for column in columns], **fields)


def ranked(plan_: dict[str, Any], expr: str, way: str = "desc", limit: int | None = 1) -> dict[str, Any]:
    return {**plan_, "order_by": [{"expr": expr, "dir": way}], **({} if limit is None else {"limit": limit})}


def where(column: str, op: str, value: Any = None) -> dict[str, Any]:
    return {"column": column, "op": op} | ({} if value is None else {"value": value})


def share(*conditions: dict[str, Any]) -> dict[str, Any]:
    return {
        "op": "/",
        "left": {"agg": "count", "where": list(conditions)},
        "right": {"agg": "count"},
        "as": "share",
    }
