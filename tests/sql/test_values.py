"""A value is a value: whatever it holds, it matches literally and leaves the statement's shape alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings

from sandtable.plan.validate import parse_plan
from sandtable.sql.compile import compile_plan
from tests.plan.shop import SHOP, connect
from tests.plan.strategies import TEXTS

REUSED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
BENIGN = "benign"
PLACES = ("query_location", "query_location_length", "qualified_name")

HOSTILE = {
    "quote": "it's",
    "closing quote": "x' OR '1'='1",
    "statement": "'; DROP TABLE order_items; --",
    "comment": "/* -- */",
    "dollar quoting": "$$x$$",
    "identifier quote": '"; SELECT 1',
    "percent": "100%",
    "underscore": "a_b",
    "backslash": "a\\b",
    "escaped wildcard": "\\%\\_",
    "line break": "a\nb\r\nc",
    "NUL": "a\x00b",
    "only NUL": "\x00",
    "zero width": "a\u200bb",
    "direction": "a\u202eb",
    "byte order mark": "\ufeffa",
    "no-break space": "a\u00a0b",
    "template": "{{ 1 }} {% x %} {# y #}",
    "parameter": "? $1 :name @x",
    "the pretty printer's own mark": "__SQLGLOT__LB__",
    "escape string": "E'\\x41'",
    "emoji": "👩\u200d👧 🎁\ufe0f",
    "private use": "\ue000",
    "many invisible": "\x01" * 1000,
    "long": "x" * 10_000,
    "empty": "",
}


@pytest.fixture(scope="module")
def notes() -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(rows=False) as connection:
        yield connection


def compiled(op: str, value: str) -> str:
    given_value: Any = [value, BENIGN] if op in ("in", "not_in") else value
    plan = {
        "dataset_id": "shop",
        "table": "order_items",
        "select": [{"agg": "count"}],
        "filters": [{"column": "note", "op": op, "value": given_value}],
    }
    return compile_plan(parse_plan(plan), SHOP).sql


def shape(sql: str, connection: duckdb.DuckDBPyConnection) -> Any:
    found = connection.execute("SELECT json_serialize_sql(?)", [sql]).fetchone()
    assert found is not None
    return _folded(json.loads(found[0]))


def _folded(node: Any) -> Any:
    """The tree without places and texts: CONCAT of characters is a text, LIKE … ESCAPE is LIKE."""
    if isinstance(node, list):
        return [_folded(item) for item in node]
    if not isinstance(node, dict):
        return node
    if node.get("type") == "FUNCTION" and node["function_name"] in ("concat", "chr"):
        return "text"
    if node.get("type") == "VALUE_CONSTANT" and node["literal"]["kind"] == "STRING":
        return "text"
    folded = {key: _folded(value) for key, value in node.items() if key not in PLACES}
    if node.get("type") == "FUNCTION" and node["function_name"] == "ilike_escape":
        assert node["arguments"][2]["expression"]["literal"]["text"] == "\\"
        folded |= {"function_name": "~~*", "arguments": folded["arguments"][:2]}
    return folded


def matches(op: str, value: str, stored: str, connection: duckdb.DuckDBPyConnection) -> bool:
    connection.execute("DELETE FROM order_items")
    connection.execute("INSERT INTO order_items (note) VALUES (?)", [stored])
    found = connection.execute(compiled(op, value)).fetchone()
    return found == (1,)


def check(value: str, connection: duckdb.DuckDBPyConnection) -> None:
    for op in ("=", "!=", "in", "contains", "startswith", "endswith"):
        assert shape(compiled(op, value), connection) == shape(compiled(op, BENIGN), connection), op
    assert matches("=", value, value, connection)
    assert matches("in", value, value, connection)
    assert not matches("!=", value, value, connection)
    assert matches("contains", value, f"<{value}>", connection)
    assert matches("startswith", value, f"{value}>", connection)
    assert matches("endswith", value, f"<{value}", connection)
    assert not matches("=", value, f"{value}x", connection)
    if value:
        assert not matches("contains", value, "qqqq", connection)


@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_values(value: str, notes: duckdb.DuckDBPyConnection) -> None:
    check(value, notes)


@REUSED
@given(value=TEXTS)
def test_any_text(value: str, notes: duckdb.DuckDBPyConnection) -> None:
    check(value, notes)


@pytest.mark.parametrize(
    ("value", "other"), [("a_c", "abc"), ("a%c", "abbc"), ("\\", "x"), ("%", ""), ("_", "x"), ("", None)]
)
def test_wildcards_match_only_themselves(
    value: str, other: str | None, notes: duckdb.DuckDBPyConnection
) -> None:
    for op in ("contains", "startswith", "endswith"):
        if other is not None:
            assert not matches(op, value, other, notes)


@pytest.mark.parametrize(
    "number", [0, -1, 2**63, -(2**127) + 1, 0.1, -2.5, 1e300, 5e-324, 1e16, 123456789.123456789]
)
def test_numbers_are_exact(number: float, notes: duckdb.DuckDBPyConnection) -> None:
    plan = {
        "dataset_id": "shop",
        "table": "order_items",
        "select": [{"agg": "count"}],
        "filters": [{"column": "discount", "op": "=", "value": number}],
    }
    notes.execute("DELETE FROM order_items")
    notes.execute("INSERT INTO order_items (discount) VALUES (?)", [float(number)])
    assert notes.execute(compile_plan(parse_plan(plan), SHOP).sql).fetchone() == (1,)
