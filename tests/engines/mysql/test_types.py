"""What each type of MariaDB and MySQL becomes."""

from __future__ import annotations

import pytest

from sandtable.engines.duckdb.types import column_type
from sandtable.engines.landing import Landing, Measured
from sandtable.engines.mysql.types import MysqlType, landing_of, measure_of

NOTHING = Measured()


@pytest.mark.parametrize(
    ("column", "landing"),
    [
        (MysqlType("int", "int(11)"), Landing("INTEGER")),
        (MysqlType("int", "int(10) unsigned zerofill"), Landing("BIGINT")),
        (MysqlType("tinyint", "tinyint(3) unsigned"), Landing("SMALLINT")),
        (MysqlType("tinyint", "tinyint(4)"), Landing("TINYINT")),
        (MysqlType("bigint", "bigint unsigned"), Landing("UBIGINT")),
        (MysqlType("decimal", "decimal(38,10)", 38, 10), Landing("DECIMAL(38,10)")),
        (MysqlType("float", "float"), Landing("FLOAT", "double")),
        (MysqlType("bit", "bit(1)", 1), Landing("BOOLEAN", "bits")),
        (MysqlType("bit", "bit(63)", 63), Landing("BIGINT", "bits")),
        (MysqlType("bit", "bit(64)", 64), Landing("UBIGINT", "bits")),
        (MysqlType("enum", "enum('unsigned')"), Landing("VARCHAR", "text")),
        (MysqlType("json", "json"), Landing("VARCHAR", "text", "kept as text: it is json in the database")),
    ],
    ids=lambda value: value.shown if isinstance(value, MysqlType) else "",
)
def test_a_type_has_one_place(column: MysqlType, landing: Landing) -> None:
    assert measure_of(column) is None
    assert landing_of(column) == landing


def test_what_must_be_measured_is() -> None:
    for name, shown, precision in (
        ("date", "date", 0),
        ("datetime", "datetime(6)", 0),
        ("timestamp", "timestamp", 0),
        ("time", "time", 0),
        ("tinyint", "tinyint(1)", 3),
        ("decimal", "decimal(39,0)", 39),
    ):
        column = MysqlType(name, shown, precision)
        assert measure_of(column) is not None
        with pytest.raises(ValueError, match="not measured"):
            landing_of(column)
        assert landing_of(column, NOTHING).note == ""


def test_values_without_a_place_are_counted() -> None:
    truth = MysqlType("tinyint", "tinyint(1)")
    assert landing_of(truth, NOTHING) == Landing("BOOLEAN")
    assert landing_of(truth, Measured(special=2)).sql_type == "TINYINT"
    assert "2 of its cells are neither 0 nor 1" in landing_of(truth, Measured(special=2)).note
    date = MysqlType("date", "date")
    landing = landing_of(date, Measured(special=1, distant=3))
    assert (landing.sql_type, landing.note) == (
        "VARCHAR",
        "kept as text: one of its cells is zero or no day of the calendar and 3 of its cells are in the year 0",
    )
    wide = MysqlType("decimal", "decimal(65,30)", 65, 30)
    assert landing_of(wide, Measured(scale=2, whole_digits=9)).sql_type == "DECIMAL(18,2)"
    assert landing_of(wide, Measured(scale=30, whole_digits=9)).sql_type == "VARCHAR"


def test_what_is_no_text_is_left_out() -> None:
    for name in ("blob", "varbinary", "point", "vector", "a_type_of_tomorrow"):
        landing = landing_of(MysqlType(name, name))
        assert landing.sql_type == ""
        assert landing.note.startswith(f"left out: {name} is ")


def test_all_that_it_names_are_types_of_duckdb() -> None:
    names = "int bigint tinyint smallint mediumint float double year date datetime timestamp time text set uuid json"
    for name in names.split():
        assert column_type(landing_of(MysqlType(name, name), NOTHING).sql_type) != "other", name
