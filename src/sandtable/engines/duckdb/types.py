"""DuckDB's types: the only table of type names in the server.

Every name that DuckDB writes or accepts is here once, with all that follows from it. Lists, structs and
names that are not in the table are `OTHER`; `duckdb.cell_types` reads what is nested in them.
"""

from __future__ import annotations

from functools import lru_cache

from sandtable.catalog.model import ColumnType
from sandtable.engines.types import Axis, DigestFamily, TypeFacts

_UNKNOWN = TypeFacts(ColumnType.OTHER)


def _rows(
    names: str, logical: ColumnType, digest: DigestFamily, axis: Axis, *, zoned: bool = False
) -> dict[str, TypeFacts]:
    """`names` are separated by commas: some consist of several words."""
    return {name.strip(): TypeFacts(logical, digest, axis, zoned) for name in names.split(",")}


# Result digests read the names that DuckDB writes. Names that it only accepts, such as NUMERIC, appear in
# declarations alone; their family is "any", as it was when the digest's format was fixed.
TABLE: dict[str, TypeFacts] = {
    **_rows("VARCHAR, TEXT, STRING, CHAR, UUID, ENUM", ColumnType.TEXT, "text", "text"),
    **_rows("BPCHAR", ColumnType.TEXT, "any", "text"),
    **_rows(
        "TINYINT, SMALLINT, INTEGER, BIGINT, HUGEINT, UTINYINT, USMALLINT, UINTEGER, UBIGINT, UHUGEINT, BIGNUM, VARINT",
        ColumnType.INTEGER, "int", "number",
    ),
    **_rows("INT, INT1, INT2, INT4, INT8, LONG, SHORT, SIGNED", ColumnType.INTEGER, "any", "number"),
    **_rows("DECIMAL", ColumnType.DECIMAL, "decimal", "number"),
    **_rows("NUMERIC", ColumnType.DECIMAL, "any", "number"),
    **_rows("DOUBLE, FLOAT, REAL", ColumnType.FLOAT, "float", "number"),
    **_rows("FLOAT4, FLOAT8", ColumnType.FLOAT, "any", "number"),
    **_rows("BOOLEAN", ColumnType.BOOLEAN, "bool", "text"),
    **_rows("BOOL, LOGICAL", ColumnType.BOOLEAN, "any", "text"),
    **_rows("DATE", ColumnType.DATE, "time", "moment"),
    **_rows("TIMESTAMP, TIMESTAMP_S, TIMESTAMP_MS, TIMESTAMP_NS", ColumnType.TIMESTAMP, "time", "moment"),
    **_rows("DATETIME, TIMESTAMP_US", ColumnType.TIMESTAMP, "any", "moment"),
    **_rows("TIMESTAMP WITHOUT TIME ZONE", ColumnType.TIMESTAMP, "time", "moment"),
    **_rows(
        "TIMESTAMPTZ, TIMESTAMP WITH TIME ZONE, TIMESTAMP_NS WITH TIME ZONE",
        ColumnType.TIMESTAMP, "time", "moment", zoned=True,
    ),
    **_rows("TIMESTAMPTZ_NS", ColumnType.TIMESTAMP, "any", "moment", zoned=True),
    **_rows("TIME, TIME WITHOUT TIME ZONE", ColumnType.TIME, "time", "text"),
    **_rows("TIME WITH TIME ZONE, TIMETZ", ColumnType.TIME, "time", "text", zoned=True),
    # Charts of earlier versions leave these out, and a chart is drawn again when its capsule is verified.
    **_rows("TIME_NS", ColumnType.TIME, "time", "other"),
    **_rows("INTERVAL", ColumnType.OTHER, "time", "other"),
    **_rows("BLOB, BIT, JSON", ColumnType.OTHER, "text", "other"),
}  # fmt: skip

NAMES: dict[ColumnType, str] = {
    ColumnType.TEXT: "VARCHAR",
    ColumnType.INTEGER: "BIGINT",
    ColumnType.DECIMAL: "DECIMAL",
    ColumnType.FLOAT: "DOUBLE",
    ColumnType.BOOLEAN: "BOOLEAN",
    ColumnType.DATE: "DATE",
    ColumnType.TIMESTAMP: "TIMESTAMP",
    ColumnType.TIME: "TIME",
    ColumnType.OTHER: "OTHER",
}
"""A DuckDB type for each logical one: that of a computed column, of which only the logical type is known."""


@lru_cache(maxsize=1024)
def facts(sql_type: str) -> TypeFacts:
    """`DECIMAL(10,2)` is found as DECIMAL; a list of decimals is OTHER."""
    name = " ".join(sql_type.upper().split())
    if name.endswith("]"):
        return _UNKNOWN
    return TABLE.get(name.partition("(")[0].rstrip(), _UNKNOWN)


def column_type(sql_type: str) -> ColumnType:
    return facts(sql_type).logical


def element_type(sql_type: str) -> ColumnType | None:
    """The logical type of a list's elements; None for a type that is no list."""
    return column_type(sql_type.removesuffix("[]")) if sql_type.endswith("[]") else None
