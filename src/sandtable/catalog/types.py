"""DuckDB's type names as the logical types that a plan speaks of."""

from __future__ import annotations

from sandtable.catalog.model import ColumnType

_BY_NAME: dict[ColumnType, tuple[str, ...]] = {
    ColumnType.TEXT: ("VARCHAR", "TEXT", "STRING", "CHAR", "BPCHAR", "UUID", "ENUM"),
    ColumnType.INTEGER: (
        "TINYINT", "SMALLINT", "INTEGER", "INT", "BIGINT", "HUGEINT", "BIGNUM",
        "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT",
        "INT1", "INT2", "INT4", "INT8", "LONG", "SHORT", "SIGNED",
    ),
    ColumnType.DECIMAL: ("DECIMAL", "NUMERIC"),
    ColumnType.FLOAT: ("DOUBLE", "FLOAT", "REAL", "FLOAT4", "FLOAT8"),
    ColumnType.BOOLEAN: ("BOOLEAN", "BOOL", "LOGICAL"),
    ColumnType.DATE: ("DATE",),
    ColumnType.TIMESTAMP: (
        "TIMESTAMP", "DATETIME", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_US", "TIMESTAMP_NS",
        "TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE", "TIMESTAMP WITHOUT TIME ZONE",
        "TIMESTAMP_NS WITH TIME ZONE", "TIMESTAMPTZ_NS",
    ),
    ColumnType.TIME: ("TIME", "TIMETZ", "TIME WITH TIME ZONE", "TIME WITHOUT TIME ZONE", "TIME_NS"),
}  # fmt: skip
_LOGICAL = {name: logical for logical, names in _BY_NAME.items() for name in names}


def column_type(sql_type: str) -> ColumnType:
    """`DECIMAL(10,2)` is DECIMAL; lists, structs, blobs and whatever is unknown are OTHER."""
    name = " ".join(sql_type.upper().split())
    if name.endswith("]"):
        return ColumnType.OTHER
    return _LOGICAL.get(name.partition("(")[0].rstrip(), ColumnType.OTHER)
