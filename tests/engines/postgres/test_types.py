"""What each of PostgreSQL's types becomes."""

from __future__ import annotations

import pytest

from sandtable.engines.duckdb.types import column_type
from sandtable.engines.postgres.types import (
    Landing,
    Measured,
    PostgresType,
    landing_of,
    live_landing_of,
    measure_of,
)

ALL = Measured()


def numeric(precision: int, scale: int) -> PostgresType:
    return PostgresType("numeric", f"numeric({precision},{scale})", (precision << 16 | scale & 0x7FF) + 4)


@pytest.mark.parametrize(
    ("precision", "scale", "sql_type"),
    [(10, 2, "DECIMAL(10,2)"), (38, 38, "DECIMAL(38,38)"), (3, -2, "DECIMAL(5,0)"), (2, 5, "DECIMAL(5,5)")],
)
def test_declared_digits_are_kept(precision: int, scale: int, sql_type: str) -> None:
    assert landing_of(numeric(precision, scale), ALL) == Landing(sql_type)


@pytest.mark.parametrize(
    ("scale", "whole", "sql_type"),
    [(0, 0, "DECIMAL(18,0)"), (2, 16, "DECIMAL(18,2)"), (2, 17, "DECIMAL(38,2)"), (20, 18, "DECIMAL(38,20)")],
)
def test_undeclared_digits_are_those_that_occur(scale: int, whole: int, sql_type: str) -> None:
    free = PostgresType("numeric", "numeric")
    assert landing_of(free, Measured(scale=scale, whole_digits=whole)) == Landing(sql_type)


def test_too_many_digits_are_text() -> None:
    landing = landing_of(PostgresType("numeric", "numeric"), Measured(scale=20, whole_digits=19))
    assert (landing.sql_type, landing.note) == ("VARCHAR", "kept as text: it has numbers of 39 digits")
    # `numeric(50,2)` may hold fewer.
    assert landing_of(numeric(50, 2), Measured(scale=2, whole_digits=9)) == Landing("DECIMAL(18,2)")


def test_a_column_that_must_be_measured_is() -> None:
    for name in ("numeric", "date", "timestamp", "timestamptz", "time"):
        column = PostgresType(name, name)
        assert measure_of(column) is not None
        with pytest.raises(ValueError, match="not measured"):
            landing_of(column)
    assert measure_of(PostgresType("int4", "integer")) is None


def test_types_of_others_are_text_whatever_they_are_called() -> None:
    for column in (
        PostgresType("int4", "mine.int4", built_in=False),
        PostgresType("_int4", "integer[]", category="A"),
        PostgresType("int4range", "int4range", kind="r"),
        PostgresType("geometry", "geometry", built_in=False),
        PostgresType("point", "point"),
    ):
        assert measure_of(column) is None
        landing = landing_of(column)
        assert landing == Landing("VARCHAR", note=f"kept as text: it is {column.shown} in the database")
    assert landing_of(PostgresType("mood", "mood", kind="e", built_in=False)) == Landing("VARCHAR")
    assert landing_of(PostgresType("bytea", "bytea")).sql_type == ""


def test_all_that_it_names_are_types_of_duckdb() -> None:
    for name in "int2 int4 int8 float4 float8 bool text date timestamp timestamptz time uuid oid".split():
        found = landing_of(PostgresType(name, name), ALL)
        assert column_type(found.sql_type) != "other", name


@pytest.mark.parametrize(
    ("column", "landing"),
    [
        (numeric(10, 2), Landing("DECIMAL(10,2)")),
        (PostgresType("float4", "real"), Landing("DOUBLE", "double")),
        (PostgresType("timestamptz", "timestamp with time zone"), Landing("TIMESTAMP", "utc")),
        (PostgresType("date", "date"), Landing("DATE")),
        (PostgresType("time", "time"), Landing("TIME")),
        (PostgresType("int4", "integer"), Landing("INTEGER")),
        (PostgresType("bpchar", "character(3)"), Landing("VARCHAR", "text")),
        (PostgresType("mood", "mood", kind="e", built_in=False), Landing("VARCHAR")),
    ],
    ids=lambda value: value.shown if isinstance(value, PostgresType) else "",
)
def test_a_live_column_is_not_measured(column: PostgresType, landing: Landing) -> None:
    assert live_landing_of(column) == landing


@pytest.mark.parametrize(
    ("column", "sql_type", "digits"),
    [
        (PostgresType("numeric", "numeric"), "DECIMAL(38,20)", "18 digits before the point and 20 after it"),
        (numeric(50, 2), "DECIMAL(38,2)", "36 digits before the point and 2 after it"),
    ],
)
def test_a_live_number_without_bounds_says_what_an_answer_holds(
    column: PostgresType, sql_type: str, digits: str
) -> None:
    landing = live_landing_of(column)
    assert landing.sql_type == sql_type
    assert digits in landing.note


def test_live_columns_that_have_no_type_here_are_text_or_left_out() -> None:
    assert live_landing_of(PostgresType("_int4", "integer[]", category="A")).sql_type == "VARCHAR"
    assert live_landing_of(PostgresType("inet", "inet")).sql_type == "VARCHAR"
    assert live_landing_of(PostgresType("bytea", "bytea")).sql_type == ""
