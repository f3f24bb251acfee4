from __future__ import annotations

import duckdb
import pytest

from sandtable.catalog.model import ColumnType
from sandtable.engines.duckdb.types import NAMES, TABLE, column_type, element_type, facts
from sandtable.engines.types import TEMPORAL, Axis
from sandtable_runner import export, type_names

CASES = {
    ColumnType.TEXT: ["VARCHAR", "varchar", "UUID", "ENUM('a', 'b[]')"],
    ColumnType.INTEGER: [
        "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT",
        "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT",
    ],
    ColumnType.DECIMAL: ["DECIMAL(10,2)", "DECIMAL(38, 0)", "NUMERIC(4,1)", "DECIMAL"],
    ColumnType.FLOAT: ["DOUBLE", "FLOAT", "REAL"],
    ColumnType.BOOLEAN: ["BOOLEAN"],
    ColumnType.DATE: ["DATE"],
    ColumnType.TIMESTAMP: [
        "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIMESTAMP_NS", "TIMESTAMP_MS", "TIMESTAMP_S", "TIMESTAMPTZ",
    ],
    ColumnType.TIME: ["TIME", "TIME WITH TIME ZONE"],
    ColumnType.OTHER: [
        "INTEGER[]", "DECIMAL(10,2)[]", "VARCHAR[3]", "STRUCT(a INTEGER)", "MAP(VARCHAR, INTEGER)", "BLOB",
        "INTERVAL", "JSON", "BIT", "UNION(n INTEGER)", "GEOMETRY", "", "SOMETHING NEW",
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("sql_type", "expected"),
    [pytest.param(s, t, id=f"{s} is {t}") for t, sqls in CASES.items() for s in sqls],
)
def test_column_type(sql_type: str, expected: ColumnType) -> None:
    assert column_type(sql_type) is expected


@pytest.mark.parametrize("logical", [t for t in CASES if t is not ColumnType.OTHER])
def test_the_engine_writes_its_types_as_we_read_them(logical: ColumnType) -> None:
    with duckdb.connect() as engine:
        for sql_type in CASES[logical]:
            engine.execute(f"CREATE OR REPLACE TABLE t (x {sql_type})")
            spelled = engine.execute(
                "SELECT data_type FROM duckdb_columns() WHERE table_name = 't'"
            ).fetchone()
            assert spelled and column_type(spelled[0]) is logical, spelled


# Names of types that the table leaves out: they are nested, or have no cells of their own.
_LEFT_OUT = {
    "ARRAY",
    "LIST",
    "MAP",
    "STRUCT",
    "TUPLE",
    "ROW",
    "UNION",
    "VARIANT",
    "GEOMETRY",
    "TYPE",
    "NULL",
    "ENUM",
}


def _written_types() -> list[str]:
    """Each simple type of the engine, as the engine writes it in a result."""
    with duckdb.connect() as engine:
        names = {row[0].upper() for row in engine.execute("SELECT type_name FROM duckdb_types()").fetchall()}
        return sorted(
            {
                str(engine.execute(f"SELECT CAST(NULL AS {name})").description[0][1])
                for name in names - _LEFT_OUT
            }
        )


WRITTEN = _written_types()


@pytest.mark.parametrize("sql_type", WRITTEN)
def test_every_type_of_the_engine_is_in_the_table(sql_type: str) -> None:
    """An engine with a further type must not be used before the table says what that type is."""
    assert sql_type.partition("(")[0] in TABLE


def test_the_families_of_the_result_digest_are_part_of_the_capsule_format() -> None:
    """A name that changes its family would change the digest of results that are already signed."""
    families: dict[str, set[str]] = {}
    for name, known in TABLE.items():
        if " " not in name:
            families.setdefault(known.digest, set()).add(name)
    assert families.pop("any") == set(
        "BPCHAR INT INT1 INT2 INT4 INT8 LONG SHORT SIGNED NUMERIC FLOAT4 FLOAT8 BOOL LOGICAL DATETIME TIMESTAMP_US "
        "TIMESTAMPTZ_NS".split()
    )
    assert {family: " ".join(sorted(names)) for family, names in families.items()} == {
        "bool": "BOOLEAN",
        "int": "BIGINT BIGNUM HUGEINT INTEGER SMALLINT TINYINT UBIGINT UHUGEINT UINTEGER USMALLINT UTINYINT VARINT",
        "float": "DOUBLE FLOAT REAL",
        "decimal": "DECIMAL",
        "time": "DATE INTERVAL TIME TIMESTAMP TIMESTAMPTZ TIMESTAMP_MS TIMESTAMP_NS TIMESTAMP_S TIMETZ TIME_NS",
        "text": "BIT BLOB CHAR ENUM JSON STRING TEXT UUID VARCHAR",
    }


@pytest.mark.parametrize(
    ("sql_type", "axis", "zoned", "inert"),
    [
        ("UBIGINT", "number", False, True),
        ("BIGNUM", "number", False, True),
        ("DECIMAL(10,2)", "number", False, True),
        ("DATE", "moment", False, True),
        ("TIMESTAMP_NS", "moment", False, True),
        ("TIMESTAMP WITH TIME ZONE", "moment", True, True),
        ("timestamptz", "moment", True, True),
        ("TIME WITH TIME ZONE", "text", True, True),
        ("TIME_NS", "other", False, True),
        ("BOOLEAN", "text", False, True),
        ("VARCHAR", "text", False, False),
        ("ENUM('=1')", "text", False, False),
        ("INTERVAL", "other", False, False),
        ("JSON", "other", False, False),
        ("DOUBLE[]", "other", False, False),
        ("STRUCT(a DOUBLE)", "other", False, False),
    ],
)
def test_facts(sql_type: str, axis: Axis, zoned: bool, inert: bool) -> None:
    known = facts(sql_type)
    assert (known.axis, known.zoned, known.inert) == (axis, zoned, inert)


@pytest.mark.parametrize(
    ("sql_type", "expected"),
    [("VARCHAR[]", ColumnType.TEXT), ("DECIMAL(4,1)[]", ColumnType.DECIMAL), ("INTEGER[][]", ColumnType.OTHER),
     ("VARCHAR", None), ("INTEGER[3]", None)],
)  # fmt: skip
def test_element_type(sql_type: str, expected: ColumnType | None) -> None:
    assert element_type(sql_type) is expected


def test_a_name_for_a_logical_type_is_read_as_that_type() -> None:
    assert {logical: column_type(name) for logical, name in NAMES.items()} == {t: t for t in ColumnType}


@pytest.mark.parametrize("sql_type", WRITTEN)
def test_the_runner_tells_types_apart_as_the_table_does(sql_type: str) -> None:
    logical = column_type(sql_type)
    assert type_names.is_number(sql_type) == (facts(sql_type).numeric and sql_type != "BIGNUM")
    assert (sql_type in type_names.FLOATS) == (logical is ColumnType.FLOAT)
    assert type_names.is_moment(sql_type) == (logical in TEMPORAL)
    values = logical is not ColumnType.OTHER or sql_type in ("INTERVAL", "JSON")
    assert type_names.has_values(sql_type) == (values and sql_type != "BIGNUM")


def test_the_runner_knows_no_name_that_the_table_does_not_have() -> None:
    assert TABLE.keys() >= type_names.FLOATS | type_names.TEXTS | type_names.INEXACT | export.SCALARS
