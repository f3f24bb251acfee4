"""Which results come from the dataset's tables, and which a query brings along itself."""

from __future__ import annotations

import pytest

from sandtable.engines.duckdb.rules import RULES
from sandtable.policy.gate import judge
from sandtable.policy.provenance import ALL_CONSTANT, CONSTANT_BRANCH, NO_TABLE
from sandtable.policy.verdict import NOT_FROM_DATA, Approved
from tests.policy.shop import SHOP, parsed


def approved(sql: str) -> Approved:
    verdict = judge(sql, parsed(sql), SHOP, RULES, guard_dumps=False)
    assert isinstance(verdict, Approved), verdict
    return verdict


@pytest.mark.parametrize(
    ("why", "sql"),
    [
        (NO_TABLE, "SELECT 42 AS revenue"),
        (NO_TABLE, "SELECT 1 + 1"),
        (NO_TABLE, "SELECT * FROM (VALUES (1), (2)) AS t(revenue)"),
        (NO_TABLE, "FROM range(10)"),
        (NO_TABLE, "SELECT unnest([1, 2, 3])"),
        (NO_TABLE, "WITH t AS (SELECT 42 AS revenue) SELECT revenue FROM t"),
        (NO_TABLE, "WITH orders AS (SELECT 42 AS revenue) SELECT revenue FROM orders"),
        (NO_TABLE, "SELECT 'proof' UNION ALL SELECT 'signed'"),
        (NO_TABLE, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) FROM n"),
        (NO_TABLE, "DESCRIBE SELECT 1 AS revenue"),
        (ALL_CONSTANT, "SELECT 42 AS revenue FROM orders LIMIT 1"),
        (ALL_CONSTANT, "SELECT max(42) FROM orders"),
        (ALL_CONSTANT, "SELECT avg(42) AS revenue FROM orders GROUP BY region"),
        (ALL_CONSTANT, "SELECT max(42) OVER () AS revenue FROM orders LIMIT 1"),
        (ALL_CONSTANT, "SELECT any_value('proof') FROM orders"),
        (ALL_CONSTANT, "SELECT 42 AS revenue WHERE EXISTS (SELECT 1 FROM orders)"),
        (ALL_CONSTANT, "SELECT (SELECT max(42) FROM orders) AS revenue"),
        (ALL_CONSTANT, "WITH u AS (SELECT * FROM orders) SELECT 42 AS revenue"),
        (ALL_CONSTANT, "WITH u AS (SELECT * FROM orders) SELECT range FROM range(3)"),
        (ALL_CONSTANT, "WITH t AS (SELECT 42 AS revenue) SELECT revenue FROM t, orders LIMIT 1"),
        (ALL_CONSTANT, "SELECT t.* FROM (SELECT 42 AS revenue) AS t, orders LIMIT 1"),
        (ALL_CONSTANT, "SELECT revenue * 2 AS r FROM (SELECT 42 AS revenue) AS t CROSS JOIN orders LIMIT 1"),
        (ALL_CONSTANT, "SELECT max(x) FROM (SELECT 42 AS x FROM orders)"),
        (ALL_CONSTANT, "SELECT a, a + 1 AS b FROM (SELECT 1 AS a) AS t, orders LIMIT 1"),
        (ALL_CONSTANT, "SELECT random() AS revenue FROM orders LIMIT 1"),
        (CONSTANT_BRANCH, "SELECT amount FROM orders WHERE false UNION SELECT 42"),
        (
            CONSTANT_BRANCH,
            "SELECT region, amount FROM orders WHERE false UNION ALL SELECT 'x', 42 FROM orders",
        ),
        (CONSTANT_BRANCH, "SELECT * FROM (SELECT sum(amount) FROM orders UNION ALL SELECT 1000000)"),
        (CONSTANT_BRANCH, "SELECT sum(a) FROM (SELECT amount AS a FROM orders UNION ALL SELECT 1000000)"),
        (
            CONSTANT_BRANCH,
            "WITH t AS (SELECT amount FROM orders UNION ALL VALUES (42)) SELECT max(amount) FROM t",
        ),
    ],
)
def test_what_is_not_from_the_data_is_told(why: str, sql: str) -> None:
    verdict = approved(sql)
    assert verdict.not_from_data == why
    assert f"{NOT_FROM_DATA}: {why}." in verdict.warnings


@pytest.mark.parametrize(
    ("column", "sql"),
    [
        ("`revenue`", "SELECT region, 42 AS revenue FROM orders LIMIT 5"),
        ("`status`", "SELECT 'proof: verified' AS status, sum(amount) FROM orders"),
        ("`amount`", "SELECT * REPLACE (42 AS amount) FROM orders LIMIT 5"),
        (
            "`label`",
            "SELECT 'a' AS label, sum(amount) FROM orders UNION ALL SELECT 'b', sum(amount) FROM orders",
        ),
        (
            "`name`",
            "SELECT m.name, count(*) FROM orders JOIN (VALUES ('web', 'W')) m(c, name) ON c = channel GROUP BY 1",
        ),
        ("`a`, `b`", "SELECT 42 AS a, a + 1 AS b, amount FROM orders LIMIT 5"),
        ("`x`", "WITH p AS (SELECT 1 AS x) SELECT x, region FROM orders, p LIMIT 5"),
    ],
)
def test_single_constant_columns_are_named(column: str, sql: str) -> None:
    verdict = approved(sql)
    assert verdict.not_from_data == ""
    assert any(text.startswith(f"{NOT_FROM_DATA}: {column} come") for text in verdict.warnings), (
        verdict.warnings
    )


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM orders",
        "SELECT count(42), sum(1) FROM orders",
        "SELECT region, sum(amount) FROM orders GROUP BY ALL",
        "SELECT (SELECT sum(amount) FROM orders) AS total",
        "SELECT EXISTS (SELECT 1 FROM orders WHERE amount > 5) AS any",
        "SELECT 5 IN (SELECT order_id FROM orders) AS there",
        "SELECT row_number() OVER () FROM orders LIMIT 5",
        "SELECT o FROM orders o LIMIT 5",
        "FROM orders LIMIT 5",
        "SELECT region.upper() FROM orders LIMIT 5",
        "WITH orders AS (SELECT * FROM orders) SELECT region FROM orders LIMIT 5",
        "WITH t AS (SELECT * FROM orders UNION ALL SELECT * FROM orders) SELECT sum(amount) FROM t",
        "SELECT x FROM (SELECT amount AS x, 42 AS y FROM orders) LIMIT 5",
        "SELECT unnest([amount, discount]) FROM orders LIMIT 5",
        "DESCRIBE orders",
        "SUMMARIZE orders",
        "PIVOT orders ON channel IN ('web', 'store') USING sum(amount) GROUP BY region",
        "SELECT COLUMNS('a.*') FROM orders LIMIT 5",
        "SELECT amount AS a, a * 2 AS b FROM orders LIMIT 5",
        "SELECT r.i FROM orders, range(order_id) AS r(i) LIMIT 5",
    ],
)
def test_what_is_from_the_data_has_no_label(sql: str) -> None:
    verdict = approved(sql)
    assert verdict.not_from_data == ""
    assert not [text for text in verdict.warnings if text.startswith(NOT_FROM_DATA)]
