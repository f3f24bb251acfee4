"""Settings that a connection gets whatever those of the role and of the database are.

Invariant: names and values are constants without quotes.
"""

from __future__ import annotations

WRITTEN = {
    "client_encoding": "UTF8",
    "datestyle": "ISO, YMD",
    "intervalstyle": "iso_8601",
    "timezone": "UTC",
    "bytea_output": "hex",
    "extra_float_digits": "1",
    "lc_monetary": "C",
    "xmlbinary": "base64",
    # Otherwise, a scan of a large table may begin in its middle, and the same rows come in another order.
    "synchronize_seqscans": "off",
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "0",
}
"""Values are written in the same way everywhere."""
MEANT = {
    **WRITTEN,
    # Names are looked up where their schema says, and functions and operators in the database's own catalog.
    "search_path": "pg_catalog",
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
    "lc_numeric": "C",
    "lc_time": "C",
    "idle_in_transaction_session_timeout": "60s",
}
"""A query means the same everywhere."""


def in_transaction(settings: dict[str, str]) -> str:
    """A statement that sets these until the transaction ends, and `statement_timeout` to its parameter."""
    listed = [f"pg_catalog.set_config('{name}', '{value}', true)" for name, value in settings.items()]
    return f"SELECT {', '.join(listed)}, pg_catalog.set_config('statement_timeout', $1, true)"
