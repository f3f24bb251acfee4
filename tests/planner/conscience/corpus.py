"""A repair shop and its customers, invented for these tests, and one plan after another to be held against words."""

from __future__ import annotations

from typing import Any

from sandtable.catalog.model import Column, ColumnType, Dataset, Metric, Relationship, Table
from sandtable.catalog.profile import ColumnProfile, Profile, TableProfile, ValueCount
from sandtable.planner.schema.index import SchemaIndex


def _column(name: str, kind: ColumnType, unit: str = "") -> Column:
    return Column(name=name, type=kind, sql_type=kind.value.upper(), unit=unit)


_JOBS = Table(
    name="repairs",
    file="repairs.csv",
    sha256="0" * 64,
    rows=90,
    time_column="opened_on",
    columns=(
        _column("repair_no", ColumnType.INTEGER),
        _column("opened_on", ColumnType.DATE),
        _column("finished_on", ColumnType.DATE),
        _column("client_id", ColumnType.INTEGER),
        _column("mechanic", ColumnType.TEXT),
        _column("status", ColumnType.TEXT),
        _column("kind_of_job", ColumnType.TEXT),
        _column("labour_min", ColumnType.INTEGER),
        _column("parts_eur", ColumnType.DECIMAL),
        _column("stars", ColumnType.INTEGER),
        _column("warranty", ColumnType.BOOLEAN),
        _column("year_built", ColumnType.INTEGER),
        _column("coupon", ColumnType.TEXT),
    ),
)
_CLIENTS = Table(
    name="clients",
    file="clients.csv",
    sha256="1" * 64,
    rows=30,
    columns=(
        _column("client_id", ColumnType.INTEGER),
        _column("client_name", ColumnType.TEXT),
        _column("town", ColumnType.TEXT),
        _column("age", ColumnType.INTEGER),
    ),
)
DATASET = Dataset(
    id="workshop",
    title="Workshop",
    tables=(_JOBS, _CLIENTS),
    relationships=(
        Relationship(
            many_table="repairs", many_column="client_id", one_table="clients", one_column="client_id"
        ),
    ),
    metrics=(
        Metric(
            name="return_rate",
            table="repairs",
            numerator={"agg": "count", "where": [{"column": "status", "op": "=", "value": "reopened"}]},
            denominator={"agg": "count"},
            format="percent",
        ),
    ),
    as_of="2025-06-30",
    version="sha256:" + "2" * 64,
)


def _held(name: str, values: tuple[Any, ...], nulls: int = 0, distinct: int | None = None) -> ColumnProfile:
    counted = tuple(ValueCount(value=v, count=3) for v in values)
    return ColumnProfile(
        name=name,
        nulls=nulls,
        distinct=len(values) if distinct is None else distinct,
        minimum=min(values) if values else None,
        maximum=max(values) if values else None,
        values=counted,
        complete=distinct is None,
    )


INDEX = SchemaIndex.build(
    DATASET,
    Profile(
        version=DATASET.version,
        tables=(
            TableProfile(
                name="repairs",
                rows=90,
                columns=(
                    _held("repair_no", tuple(range(1, 91))),
                    _held("finished_on", (), nulls=12),
                    _held("mechanic", ("Ada Horn", "Bo Lind", "Cleo Park")),
                    _held("status", ("done", "open", "reopened", "no show")),
                    _held("kind_of_job", ("brakes", "oil change", "A")),
                    _held("labour_min", (15, 30, 60, 90, 240)),
                    _held("stars", (1, 2, 3, 4, 5)),
                    _held("warranty", (False, True)),
                    _held("year_built", (1999, 2010, 2020)),
                    _held("coupon", ("SPRING10",), nulls=70),
                ),
            ),
            TableProfile(
                name="clients",
                rows=30,
                columns=(
                    _held("client_id", tuple(range(1, 31))),
                    _held("client_name", tuple(f"Client {n}" for n in range(1, 31))),
                    _held("town", ("Linz", "Wels", "Graz")),
                    _held("age", (20, 41, 77)),
                ),
            ),
        ),
    ),
)


def plan(table: str = "repairs", **fields: Any) -> dict[str, Any]:
    """A plan over the workshop; rows of the table are counted when nothing is selected."""
    return {"dataset_id": "workshop", "table": table, "select": [COUNT], **fields}


COUNT: dict[str, Any] = {"agg": "count", "as": "count"}
ROWS: dict[str, Any] = {"column": "repair_no"}


def total(column: str) -> dict[str, Any]:
    return {"agg": "sum", "column": column, "as": f"total_{column}"}


def average(column: str) -> dict[str, Any]:
    return {"agg": "avg", "column": column, "as": f"average_{column}"}


def where(column: str, op: str, value: Any = None) -> dict[str, Any]:
    return {"column": column, "op": op} | ({} if value is None else {"value": value})


def by(column: str, measure: dict[str, Any] = COUNT, **fields: Any) -> dict[str, Any]:
    return plan(select=[{"column": column}, measure], group_by=[column], **fields)


def month_by(measure: dict[str, Any] = COUNT, **fields: Any) -> dict[str, Any]:
    bucket = {"bucket": "month", "column": "opened_on", "as": "month"}
    return plan(select=[bucket, measure], group_by=["month"], **fields)


def first(plan_: dict[str, Any], expr: str, way: str = "desc", limit: int = 1) -> dict[str, Any]:
    return {**plan_, "order_by": [{"expr": expr, "dir": way}], "limit": limit}


SHARE_OF_WARRANTY: dict[str, Any] = {
    "op": "/",
    "left": {"agg": "count", "where": [where("warranty", "=", True)]},
    "right": {"agg": "count"},
    "as": "share",
}
IN_HOURS: dict[str, Any] = {"op": "/", "left": average("labour_min"), "right": {"value": 60}, "as": "hours"}


def having(*conditions: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Whether there are repairs that pass the conditions."""
    return {"exists": {"table": "repairs", **({"where": list(conditions)} if conditions else {}), **fields}}


def without(*conditions: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"not": having(*conditions, **fields)}
