"""What the gate tells its reader: code, construct, place, advice; and how fast."""

from __future__ import annotations

import time

import pytest

from sandtable.engines.duckdb.rules import RULES
from sandtable.errors import ErrorCode
from sandtable.policy.gate import judge
from sandtable.policy.hints import syntax_hint
from sandtable.policy.verdict import Approved, Refused
from tests.policy.shop import SHOP, parsed, verdict

_POLICY, _INVALID = ErrorCode.SQL_POLICY_VIOLATION, ErrorCode.VALIDATION_ERROR

_REFUSALS = [
    ("SELECT * FROM oders LIMIT 1", _INVALID, "oders", 14, "did you mean `orders`?"),
    ("SELECT * FROM 'x.csv' LIMIT 1", _POLICY, "x.csv", 14, "orders, order_items"),
    ("SELECT * FROM information_schema.tables", _POLICY, "information_schema.tables", 14, "orders"),
    ("SELECT 'Zürich 🙂', getenv('HOME')", _POLICY, "getenv", 19, "Leave it out"),
    ("SELECT 'é', 'é' FROM \"é.csv\"", _POLICY, "é.csv", 21, "orders"),
    ("WITH x AS (DELETE FROM orders RETURNING 1) FROM x", _POLICY, "DELETE", 11, "SELECT"),
    ("DROP TABLE orders", _POLICY, "DROP", 0, "SELECT"),
    ("/* hi */ COPY orders TO 'x'", _POLICY, "COPY", 9, "SELECT"),
    ("SELECT 1; SELECT 2", _POLICY, ";", 8, "one SELECT"),
    ("SELECT 1; DROP TABLE orders", _POLICY, "DROP", 10, "SELECT"),
    ("-- nothing", _INVALID, "empty text", None, "SELECT"),
    ("SELECT order_id FROM orders WHERE order_id = $1", _INVALID, "a parameter", 45, "value"),
    ("SELECT abss(1)", _INVALID, "abss", 7, "abs()"),
    ("SELECT NVL(coupon, '') FROM orders", _INVALID, "nvl", 7, "coalesce"),
    ("SELECT ISNULL(coupon, '') FROM orders", _INVALID, "isnull", 7, "coalesce"),
    ("SELECT TOP 10 order_id FROM orders", _INVALID, "10", 11, "LIMIT"),
    ("SELECT order_id FROM orders LIMIT 5, 10", _INVALID, None, None, "OFFSET"),
    ("SELECT [order_id] FROM [orders]", _INVALID, None, None, '"column name"'),
    ("PIVOT orders ON region USING sum(amount)", _INVALID, "PIVOT", 0, "orders ON region IN ('a', 'b')"),
    ("FROM (PIVOT (FROM orders) ON region USING max(amount))", _INVALID, "PIVOT", 6, "DISTINCT region"),
    ("WITH a AS (SELECT 1) UPDATE orders SET amount = 0", _POLICY, "UPDATE", 21, "SELECT"),
    ("SELECT 1 FROM orders USING SAMPLE " + "9" * 50, _INVALID, "syntax", None, "spelling"),
    ("SELECT region, user FROM orders", _INVALID, "user", 15, "column of the dataset"),
    ("SELECT listagg(region) WITHIN GROUP (ORDER BY 1) FROM orders", _INVALID, None, None, "string_agg(x"),
    ("SELECT lag(region) IGNORE NULLS OVER (ORDER BY 1) FROM orders", _INVALID, "IGNORE", 19, "lag(x IGNORE"),
    ("SELECT count(*) FROM orders GROUP BY region WITH ROLLUP", _INVALID, "WITH", 44, "ROLLUP (a, b)"),
    ("SELECT row_number() FROM orders", _INVALID, "row_number", 7, "OVER"),
    ("SELECT abs(1) OVER ()", _INVALID, "abs", 7, "without OVER"),
    ("SELECT * FROM abs(1)", _POLICY, "abs", 14, "unnest"),
    ("SHOW TABLES", _POLICY, "SHOW", 0, "order_items"),
    ("SELECT main.abs(1)", _POLICY, "main.abs", 7, "write abs"),
    ('WITH "f.csv" AS (SELECT 1 AS a) SELECT a FROM "f.csv"', _POLICY, "f.csv", 6, "plain name"),
    ("SELECT setseed(0.5)", _POLICY, "setseed", 7, "Leave it out"),
]


@pytest.mark.parametrize(
    ("sql", "code", "construct", "position", "advice"), _REFUSALS, ids=[r[0][:40] for r in _REFUSALS]
)
def test_refusal_is_written_for_its_reader(
    sql: str, code: ErrorCode, construct: str | None, position: int | None, advice: str
) -> None:
    found = verdict(sql)
    assert isinstance(found, Refused)
    assert found.code is code
    assert advice in found.suggestion
    if construct is not None:
        assert (found.construct, found.position) == (construct, position)


def test_approval_names_tables_functions_and_warnings() -> None:
    found = verdict(
        "SELECT o.region, sum(i.quantity), now() FROM ORDERS o JOIN order_items i USING (order_id) GROUP BY 1"
    )
    assert isinstance(found, Approved)
    assert found.tables == ("order_items", "orders")
    assert set(found.functions) == {"sum", "now"}
    assert found.volatile == ("now",)
    assert "now differs from run to run" in found.warnings[0]


def test_canonical_tree_is_what_decides() -> None:
    """A parse whose canonical text differs from the input's tree is judged by the canonical tree."""
    good, bad = parsed("SELECT 1"), parsed("SELECT getenv('HOME')")
    mixed = {**good, "canonical": bad["canonical"], "canonical_tree": bad["canonical_tree"]}
    assert isinstance(judge("SELECT 1", mixed, SHOP, RULES), Refused)


@pytest.mark.parametrize("missing", ["tree", "canonical", "canonical_tree"])
def test_incomplete_parse_is_refused(missing: str) -> None:
    answer = parsed("SELECT 1")
    del answer[missing]
    assert isinstance(judge("SELECT 1", answer, SHOP, RULES), Refused)


@pytest.mark.parametrize("answer", [{}, {"ok": False}, {"ok": True}, {"ok": True, "tree": []}])
def test_malformed_parse_is_refused(answer: dict[str, object]) -> None:
    assert isinstance(judge("SELECT 1", answer, SHOP, RULES), Refused)


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("SELECT a FROM t STRAIGHT_JOIN u", "JOIN"),
        ("SELECT a FROM t CROSS APPLY f(x)", "LATERAL"),
        ("SELECT a FROM t MINUS SELECT b FROM u", "EXCEPT"),
        ("SELECT \u2018a\u2019", "typographic"),
        ("SELECT a DIV b FROM t", "//"),
        ("please show me the orders", "SELECT"),
        ("SELECT FROM", "spelling"),
    ],
)
def test_hint_knows_other_dialects(sql: str, hint: str) -> None:
    assert hint in syntax_hint(sql, RULES.spellings)


@pytest.mark.parametrize("unit", ["SELECT (", "JOIN t ", "date_sub(", "a<", ", [a", "select ", " "])
def test_hint_on_a_long_text_is_quick(unit: str) -> None:
    started = time.process_time()
    assert syntax_hint(unit * 10_000, RULES.spellings)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "sql",
    [
        "/**/" * 16_000 + "ATTACH 'x'",
        "-- \n" * 16_000 + "ATTACH 'x'",
        "/**/" * 16_000,
        "SELECT * FROM " + "x" * 60_000,
        "SELECT " + "x" * 60_000 + "(1)",
        'SELECT * FROM "' + "x/" * 30_000 + '"',
        "SELECT a FROM t WHERE " + "a = 1 OR " * 5_000 + "true",
        "SELECT " + "*" * 60_000,
        "WITH c0 AS (SELECT 1 AS a), "
        + ", ".join(f"c{i} AS (SELECT * FROM c{i - 1} x, c{i - 1} y)" for i in range(1, 60))
        + " SELECT list(o) FROM c59, orders o",
        "WITH c0 AS (SELECT 1 AS a), "
        + ", ".join(f"c{i} AS (SELECT 1 AS a)" for i in range(1, 2_000))
        + " SELECT list(o) FROM c1999, orders o",
    ],
    ids=lambda sql: f"{sql[:12]}{len(sql)}",
)
def test_long_texts_are_judged_quickly_and_briefly(sql: str) -> None:
    answer = parsed(sql)
    started = time.process_time()
    found = judge(sql, answer, SHOP, RULES)
    assert time.process_time() - started < 10
    assert isinstance(found, Refused)
    assert len(found.message) < 500 and len(found.construct) <= 300


def test_judging_takes_about_a_millisecond() -> None:
    sql = (
        "SELECT category, sum(unit_price * quantity) AS revenue "
        "FROM orders JOIN order_items USING (order_id) WHERE region = 'north' "
        "GROUP BY ALL ORDER BY revenue DESC LIMIT 10"
    )
    answer = parsed(sql)
    times = []
    for _ in range(50):
        started = time.process_time()
        judge(sql, answer, SHOP, RULES)
        times.append(time.process_time() - started)
    assert sorted(times)[len(times) // 2] < 0.005
