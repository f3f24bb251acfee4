"""Which numbers may be added, which only averaged, which neither; and which end of them is bad."""

from __future__ import annotations

import pytest

from sandtable.catalog.measures import MeasureKind, bad_end, measure_kind
from sandtable.catalog.model import Column, ColumnType, Metric
from sandtable.catalog.profile import ColumnProfile
from sandtable.catalog.registry import load_catalog, registry_folder
from sandtable.catalog.units import canonical, conversion, unit_of_column, units_like
from sandtable.engines.duckdb.types import column_type

ADDITIVE, AVERAGED, IDENTIFIER = MeasureKind.ADDITIVE, MeasureKind.AVERAGED, MeasureKind.IDENTIFIER
INTEGER, FLOAT = ColumnType.INTEGER, ColumnType.FLOAT


def column(name: str, type_: ColumnType = INTEGER, unit: str = "", **more: object) -> Column:
    return Column.model_validate({"name": name, "type": type_, "sql_type": "X", "unit": unit, **more})


KINDS = [
    ("amount", ADDITIVE), ("revenue", ADDITIVE), ("line_total", ADDITIVE), ("quantity", ADDITIVE), ("cost", ADDITIVE),
    ("number_of_orders", ADDITIVE), ("total_minutes", ADDITIVE), ("total price", ADDITIVE), ("population", ADDITIVE),
    ("Goals", ADDITIVE), ("weight_kg", ADDITIVE), ("visitors", ADDITIVE), ("salesAmount", ADDITIVE),
    ("discount_rate", AVERAGED), ("battery_pct", AVERAGED), ("csat", AVERAGED), ("Rating", AVERAGED), ("age", AVERAGED),
    ("unit_price", AVERAGED), ("unit_cost", AVERAGED), ("price", AVERAGED), ("cost_per_click", AVERAGED),
    ("resolution_minutes", AVERAGED), ("lap_time", AVERAGED), ("avg_order_value", AVERAGED),
    ("temperature_c", AVERAGED),
    ("years_of_experience", AVERAGED), ("gdp_per_capita", AVERAGED), ("testScore", AVERAGED),
    ("order_id", IDENTIFIER), ("customerID", IDENTIFIER), ("zip_code", IDENTIFIER), ("year", IDENTIFIER),
    ("Order Number", IDENTIFIER), ("phone", IDENTIFIER), ("season", IDENTIFIER), ("week", IDENTIFIER),
]  # fmt: skip


@pytest.mark.parametrize(("name", "kind"), KINDS, ids=[name for name, _ in KINDS])
def test_a_name_tells_the_kind(name: str, kind: MeasureKind) -> None:
    assert measure_kind(column(name)) is kind


def test_the_unit_tells_what_the_name_does_not() -> None:
    assert measure_kind(column("wait", unit="minutes")) is AVERAGED
    assert measure_kind(column("wind", FLOAT, unit="m/s")) is AVERAGED
    assert measure_kind(column("load", FLOAT, unit="kg")) is ADDITIVE


def test_what_is_declared_decides() -> None:
    assert measure_kind(column("price", measure="additive")) is ADDITIVE
    assert measure_kind(column("amount", measure="identifier")) is IDENTIFIER


def test_other_types_are_not_added() -> None:
    assert measure_kind(column("returned", ColumnType.BOOLEAN)) is AVERAGED
    assert measure_kind(column("amount", ColumnType.TEXT)) is IDENTIFIER
    assert measure_kind(column("amount", ColumnType.DATE)) is IDENTIFIER


def test_the_values_tell_a_discount_in_euros_from_a_fraction() -> None:
    def profile(high: float) -> ColumnProfile:
        return ColumnProfile(name="discount", nulls=0, distinct=9, minimum=0, maximum=high)

    assert measure_kind(column("discount", FLOAT), profile(0.5)) is AVERAGED
    assert measure_kind(column("discount", FLOAT), profile(250)) is ADDITIVE
    assert measure_kind(column("discount", FLOAT)) is ADDITIVE


def test_metrics() -> None:
    metrics = {m.name: m for m in load_catalog(registry_folder(), column_type).get("ecommerce").metrics}
    assert measure_kind(metrics["revenue"]) is ADDITIVE
    assert measure_kind(metrics["return_rate"]) is AVERAGED
    assert bad_end(metrics["return_rate"]) == "high"
    assert bad_end(metrics["revenue"]) == "low"


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("return_rate", "high"), ("csat", "low"), ("sla_breach_rate", "high"), ("error_count", "high"),
        ("satisfaction_score", "low"), ("resolution_minutes", "high"), ("retention", "low"), ("complaintRate", "high"),
        ("height", None), ("region", None),
    ],
)  # fmt: skip
def test_which_end_is_bad(name: str, end: str | None) -> None:
    assert bad_end(column(name)) == end


def test_the_declared_good_end_decides() -> None:
    assert bad_end(column("csat", better="low")) == "high"
    declared = Metric(name="return_rate", table="t", numerator={"agg": "count"}, better="high")
    assert bad_end(declared) == "low"


@pytest.mark.parametrize(
    ("unit", "wanted", "value", "expected"),
    [
        ("minutes", "hours", 90, 1.5), ("minutes", "h", 90, 1.5), ("hours", "minutes", 2, 120),
        ("ms", "seconds", 500, 0.5),
        ("days", "weeks", 14, 2), ("fraction", "%", 0.25, 25), ("kg", "g", 2, 2000), ("km", "miles", 1.609344, 1),
        ("EUR cents", "EUR", 250, 2.5), ("°C", "°F", 100, 212), ("fahrenheit", "celsius", 32, 0),
        ("MB", "GB", 1500, 1.5),
    ],
)  # fmt: skip
def test_units_convert(unit: str, wanted: str, value: float, expected: float) -> None:
    way = conversion(unit, wanted)
    assert way is not None
    assert float(way.factor) * value + float(way.offset) == pytest.approx(expected)


def test_units_of_different_kinds_do_not_convert() -> None:
    assert conversion("minutes", "kg") is None
    assert conversion("EUR", "USD") is None
    assert conversion("points", "hours") is None
    assert "hours" in units_like("minutes")
    assert units_like("points") == ()


def test_the_unit_of_a_column_is_declared_or_in_its_name() -> None:
    assert unit_of_column(column("wait_minutes")) == "minutes"
    assert unit_of_column(column("wait_minutes", unit="hours")) == "hours"
    assert canonical("hrs") == "hours"
    assert canonical("stars") == "stars"
