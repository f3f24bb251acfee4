from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.engines.duckdb.cell_types import CellType, ListOf, MapOf, Scalar, Struct, TupleOf, parse_type

FLOAT, INT, TEXT, ANY = Scalar("float"), Scalar("int"), Scalar("text"), Scalar("any")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("DOUBLE", FLOAT),
        ("FLOAT", FLOAT),
        ("BIGINT", INT),
        ("BOOLEAN", Scalar("bool")),
        ("DECIMAL(10,2)", Scalar("decimal")),
        ("TIMESTAMP WITH TIME ZONE", Scalar("time")),
        ("TIMESTAMP WITH TIME ZONE[]", ListOf(Scalar("time"))),
        ("ENUM('a', 'b,)''')", TEXT),
        ("DOUBLE[]", ListOf(FLOAT)),
        ("DOUBLE[3][]", ListOf(ListOf(FLOAT))),
        ("DECIMAL(4,1)[]", ListOf(Scalar("decimal"))),
        ('STRUCT(a INTEGER, "b ""c" FLOAT[])', Struct((("a", INT), ('b "c', ListOf(FLOAT))))),
        ("STRUCT(x STRUCT(y DOUBLE))[]", ListOf(Struct((("x", Struct((("y", FLOAT),))),)))),
        ("MAP(VARCHAR, DOUBLE)", MapOf(TEXT, FLOAT)),
        ("MAP(INTEGER, MAP(VARCHAR, FLOAT[]))", MapOf(INT, MapOf(TEXT, ListOf(FLOAT)))),
        ("TUPLE(DOUBLE, INTEGER)", TupleOf((FLOAT, INT))),
        ("UNION(a DOUBLE)", ANY),
        ('"NULL"', ANY),
        ("VARIANT", ANY),
        ("", ANY),
        ("DOUBLE[", ANY),
        ("STRUCT(a", ANY),
        ("MAP(", ANY),
    ],
)
def test_parse_type(name: str, expected: CellType) -> None:
    assert parse_type(name) == expected


@given(st.text(alphabet="STRUCTMAPDOUBLE()[],\"' 0a", max_size=30))
def test_every_name_is_some_type(name: str) -> None:
    parse_type(name)
