"""DuckDB's type names, as far as this program must distinguish them.

The server's table is `sandtable.engines.duckdb.types`, which cannot be imported here; a test compares the two.
"""

from __future__ import annotations

FLOATS = frozenset({"FLOAT", "DOUBLE"})
TEXTS = frozenset({"VARCHAR", "JSON"})
INEXACT = frozenset({"INTERVAL", "TIMESTAMP_NS", "TIME_NS"})
"""Python cannot represent their values: they are fetched as the engine's text."""
_INTEGERS = frozenset(
    f"{sign}{size}" for sign in ("", "U") for size in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
)
_COMPARABLE = frozenset({"BOOLEAN", "DATE", "TIME", "TIME WITH TIME ZONE", "UUID"})


def is_number(sql_type: str) -> bool:
    """BIGNUM is left out: the driver returns its values as text."""
    return sql_type in FLOATS or sql_type in _INTEGERS or sql_type.startswith("DECIMAL(")


def is_moment(sql_type: str) -> bool:
    return sql_type == "DATE" or sql_type.startswith("TIMESTAMP")


def has_values(sql_type: str) -> bool:
    """Whether a filter can name its values: not for lists, structs, maps and blobs."""
    return (
        is_number(sql_type) or is_moment(sql_type) or sql_type in TEXTS or sql_type in _COMPARABLE | INEXACT
    )
