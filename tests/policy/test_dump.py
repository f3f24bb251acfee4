"""Dump protection: whole tables stay where they are, questions pass."""

from __future__ import annotations

import pytest

from sandtable.engines.duckdb.rules import RULES
from sandtable.policy.gate import judge
from sandtable.policy.verdict import Approved, Refused
from tests.policy.shop import SHOP, parsed, verdict

_PASS = [
    "SELECT * FROM inventory",
    "SELECT * FROM orders LIMIT 50",
    "SELECT * FROM orders LIMIT 10000",
    "SELECT * FROM orders WHERE region = 'north'",
    "SELECT * FROM orders USING SAMPLE 5",
    "SELECT * FROM orders QUALIFY row_number() OVER (PARTITION BY region ORDER BY order_id) = 1",
    "SELECT order_id, region, channel, status FROM orders",
    "SELECT DISTINCT region, channel FROM orders",
    "SELECT * FROM (SELECT region, channel FROM orders)",
    "SELECT * FROM (SELECT * FROM orders LIMIT 10)",
    "WITH a AS (FROM orders) SELECT count(*) FROM a",
    "WITH a AS (FROM orders LIMIT 10) FROM a",
    "SELECT region, list(product) FROM orders JOIN order_items USING (order_id) GROUP BY region",
    "SELECT list(DISTINCT region) FROM orders",
    "SELECT list(order_id) FROM orders WHERE region = 'north'",
    "SELECT list(order_id) FILTER (WHERE is_gift) FROM orders",
    "SELECT list(o) FROM (SELECT * FROM orders LIMIT 5) o",
    "SELECT list(i) FROM inventory i",
    "SELECT string_agg(region, ',') FROM (SELECT DISTINCT region FROM orders)",
    "SELECT string_agg(region, ',') FROM (SELECT region, count(*) FROM orders GROUP BY region)",
    "SELECT array(SELECT product FROM order_items i WHERE i.order_id = o.order_id) FROM orders o LIMIT 5",
    "SELECT count(o), count(*) FROM orders o",
    "SELECT arg_max(o, amount) FROM orders o",
    "SELECT region, arg_max(order_id, amount, 3) FROM orders GROUP BY region",
    "SELECT list(amount) OVER (ORDER BY order_id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM orders",
    "SUMMARIZE orders",
    "DESCRIBE orders",
    "SELECT * FROM range(1000000)",
]


@pytest.mark.parametrize("sql", _PASS)
def test_questions_pass(sql: str) -> None:
    found = verdict(sql)
    assert isinstance(found, Approved), found


def test_refusal_says_what_to_add() -> None:
    found = verdict("SELECT  * FROM orders")
    assert isinstance(found, Refused)
    assert (found.construct, found.position, found.length) == ("*", 8, 1)
    assert "LIMIT 50" in found.suggestion


def test_tables_that_fit_into_an_answer_may_be_shown_whole() -> None:
    sql = "SELECT * FROM orders"
    assert isinstance(judge(sql, parsed(sql), SHOP, RULES, max_rows=600), Approved)
    assert isinstance(judge(sql, parsed(sql), SHOP, RULES, max_rows=599), Refused)


def test_guard_can_be_left_out() -> None:
    sql = "SELECT * FROM orders"
    assert isinstance(judge(sql, parsed(sql), SHOP, RULES, guard_dumps=False), Approved)
