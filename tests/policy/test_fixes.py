"""Refusals mended: what is offered, what is not, and that everything offered passes the gate."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sandtable.capsule.query import Query, SqlQuery
from sandtable.catalog.model import Dataset
from sandtable.engines.duckdb.rules import RULES
from sandtable.policy.binder_fixes import binder_candidates
from sandtable.policy.fix_case import MOST_FIXES
from sandtable.policy.fixes import LONGEST, candidates
from sandtable.policy.tokens import tokens_of
from sandtable.policy.verdict import Approved, Fix, Refused, Verdict
from sandtable.runs.fixes import with_fixes
from sandtable_runner.complaint import explain
from tests.policy.shop import ENGINE, SHOP, verdict

CORPUS = Path(__file__).parent / "corpus"


async def check(dataset: Dataset, query: Query) -> Verdict:
    assert isinstance(query, SqlQuery)
    return verdict(query.sql)


async def offered(sql: str) -> tuple[Fix, ...]:
    judged = await with_fixes(check, SHOP, verdict(sql), SqlQuery(sql), RULES)
    assert isinstance(judged, Refused), "this text needs no fix"
    return judged.fixes


LISTED = (
    "SELECT * FROM (VALUES ('orders', 600), ('order_items', 1200), ('inventory', 41), ('tickets', 500), "
    "('readings', 900)) AS t(table_name, row_count)"
)

MENDED: list[tuple[str, list[tuple[str, str]]]] = [
    # An unknown table: everywhere it stands, with what else has to change.
    ("SELECT count(*) FROM oders", [("Use `orders`", "SELECT count(*) FROM orders")]),
    ("SELECT oders.amount FROM oders WHERE oders.amount > 1 AND channel <> 'oders'",
     [("Use `orders`", "SELECT orders.amount FROM orders WHERE orders.amount > 1 AND channel <> 'oders'")]),
    ("SELECT count(*) FROM oders -- not oders.x", [("Use `orders`", "SELECT count(*) FROM orders -- not oders.x")]),
    ("SELECT count(*) FROM \"Oders\" o", [("Use `orders`", "SELECT count(*) FROM orders o")]),
    ("SELECT count(*) FROM order_item", [("Use `order_items`", "SELECT count(*) FROM order_items")]),
    ("WITH recent AS (SELECT * FROM orders WHERE amount > 9) SELECT count(*) FROM recnt",
     [("Use `recent`", "WITH recent AS (SELECT * FROM orders WHERE amount > 9) SELECT count(*) FROM recent")]),
    ("SELECT * FROM oders", [("Use `orders`, add LIMIT 50", "SELECT * FROM orders LIMIT 50")]),
    ("SELECT count(*) FROM größe.oders", [("Use `orders`", "SELECT count(*) FROM orders")]),
    ("SELECT '😀', count(*) FROM oders", [("Use `orders`", "SELECT '😀', count(*) FROM orders")]),
    ("SELECT count(*) FROM order", [("Use `orders`", "SELECT count(*) FROM orders")]),
    ("DESCRIBE oders", [("Use `orders`", "DESCRIBE orders")]),
    # A schema in front.
    ("SELECT shop.orders.amount FROM shop.orders WHERE shop.orders.amount > 1",
     [("Use `orders`", "SELECT orders.amount FROM orders WHERE orders.amount > 1")]),
    ("SELECT count(*) FROM dbo.oders", [("Use `orders`", "SELECT count(*) FROM orders")]),
    ("SELECT pg_catalog.sum(amount), pg_catalog.max(amount) FROM orders",
     [("Write `sum(…)`", "SELECT sum(amount), max(amount) FROM orders")]),
    ("SELECT main.summ(amount) FROM orders",
     [("Use `sum`, write `sum(…)`", "SELECT sum(amount) FROM orders")]),
    # Functions.
    ("SELECT summ(amount), 'summ(' FROM orders", [("Use `sum`", "SELECT sum(amount), 'summ(' FROM orders")]),
    ("SELECT nvl(coupon, 'none') FROM orders", [("Use `coalesce`", "SELECT coalesce(coupon, 'none') FROM orders")]),
    ("SELECT stdev(amount) FROM orders", [("Use `stddev`", "SELECT stddev(amount) FROM orders")]),
    ("SELECT date_truncc('month', ordered_at) FROM orders",
     [("Use `date_trunc`", "SELECT date_trunc('month', ordered_at) FROM orders")]),
    # Dumps.
    ("SELECT * FROM orders",
     [("Add LIMIT 50", "SELECT * FROM orders LIMIT 50"),
      ("Count the rows", "SELECT count(*) AS row_count FROM (SELECT * FROM orders)")]),
    ("SELECT * FROM orders ; -- all",
     [("Add LIMIT 50", "SELECT * FROM orders LIMIT 50 ; -- all"),
      ("Count the rows", "SELECT count(*) AS row_count FROM (SELECT * FROM orders)")]),
    ("SELECT * FROM orders LIMIT 100000",
     [("Lower the LIMIT to 50", "SELECT * FROM orders LIMIT 50"),
      ("Count the rows", "SELECT count(*) AS row_count FROM (SELECT * FROM orders LIMIT 100000)")]),
    ("FROM orders",
     [("Add LIMIT 50", "FROM orders LIMIT 50"),
      ("Count the rows", "SELECT count(*) AS row_count FROM (FROM orders)")]),
    ("SELECT list(amount) FROM orders", [("Keep 50 values", "SELECT list(amount)[1:50] FROM orders")]),
    # Several statements, and what follows a semicolon.
    ("SELECT 1; SELECT 'a;b'", [("Keep the first SELECT", "SELECT 1"), ("Keep the last SELECT", "SELECT 'a;b'")]),
    ("SELECT 1; thank you", [("Keep only the SELECT", "SELECT 1")]),
    ("SET threads = 4; SELECT count(*) FROM orders;", [("Keep only the SELECT", "SELECT count(*) FROM orders")]),
    ("BEGIN; SELECT 1; COMMIT", [("Keep only the SELECT", "SELECT 1")]),
    # Looking around.
    ("SHOW TABLES", [("List the tables", LISTED)]),
    ("SHOW ALL TABLES;", [("List the tables", LISTED)]),
    ("SELECT * FROM information_schema.tables", [("List the tables", LISTED)]),
    ("SELECT name FROM sqlite_master WHERE type = 'table'", [("List the tables", LISTED)]),
    ("SHOW COLUMNS FROM orders", [("Describe `orders`", "DESCRIBE orders")]),
    ("PRAGMA table_info('orders')", [("Describe `orders`", "DESCRIBE orders")]),
    ("\\d orders", [("Describe `orders`", "DESCRIBE orders")]),
    ("EXPLAIN SELECT count(*) FROM orders", [("Run the SELECT itself", "SELECT count(*) FROM orders")]),
    # Files that a table was made from.
    ("SELECT count(*) FROM read_csv('data/orders.csv', header = true)",
     [("Use `orders`", "SELECT count(*) FROM orders")]),
    ("SELECT count(*) FROM 'Orders.parquet' o", [("Use `orders`", "SELECT count(*) FROM orders o")]),
    ("SELECT count(*) FROM orders.csv", [("Use `orders`", "SELECT count(*) FROM orders")]),
    # Other dialects.
    ("SELECT TOP 5 channel FROM orders", [("Write LIMIT instead of TOP", "SELECT channel FROM orders LIMIT 5")]),
    ("SELECT DISTINCT TOP (5) channel FROM orders ORDER BY 1;",
     [("Write LIMIT instead of TOP", "SELECT DISTINCT channel FROM orders ORDER BY 1 LIMIT 5;")]),
    ("SELECT count(*) FROM (SELECT TOP 5 channel FROM orders) AS t",
     [("Write LIMIT instead of TOP", "SELECT count(*) FROM (SELECT channel FROM orders LIMIT 5) AS t")]),
    ("SELECT [channel], 1 FROM [orders]", [("Write names without brackets", "SELECT channel, 1 FROM orders")]),
    ("SELECT TOP 3 [channel] FROM [orders]",
     [("Write it in DuckDB's dialect", "SELECT channel FROM orders LIMIT 3")]),
    ("SELECT channel FROM orders LIMIT 5, 10",
     [("Write LIMIT … OFFSET …", "SELECT channel FROM orders LIMIT 10 OFFSET 5")]),
    ("SELECT channel FROM orders WHERE channel = ‘north west’",
     [("Use straight quotes", "SELECT channel FROM orders WHERE channel = 'north west'")]),
    ("SELECT channel FROM orders MINUS SELECT 'web'",
     [("Write EXCEPT instead of MINUS", "SELECT channel FROM orders EXCEPT SELECT 'web'")]),
    ("SELECT channel FROM orders WITH (NOLOCK)", [("Leave the lock out", "SELECT channel FROM orders")]),
    ("```sql\nSELECT 1\n```", [("Remove the code fence", "SELECT 1")]),
    ("SELECT\u00a0channel\u200b FROM orders", [("Remove invisible characters", "SELECT channel FROM orders")]),
    ("PIVOT orders ON region USING sum(amount) AS total GROUP BY channel",
     [("Group instead of pivoting",
       "SELECT channel, region, sum(amount) AS total FROM orders GROUP BY ALL ORDER BY ALL")]),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "expected"), MENDED, ids=[sql for sql, _ in MENDED])
async def test_a_refusal_comes_with_its_correction(sql: str, expected: list[tuple[str, str]]) -> None:
    fixes = await offered(sql)
    assert [(fix.title, fix.text) for fix in fixes] == expected
    for fix in fixes:
        assert fix.text is not None
        ENGINE.execute(fix.text).fetchall()


NOT_MENDED = [
    "DROP TABLE orders",
    "ATTACH 'x.db'",
    "COPY orders TO 'x.csv'",
    "COPY orders FROM 'orders.csv'",
    "INSERT INTO orders SELECT * FROM orders",
    "CREATE TABLE t AS SELECT count(*) FROM orders",
    "DELETE FROM orders",
    "UPDATE orders SET amount = 0",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SELECT 1; DROP TABLE orders",
    "DROP TABLE orders; SELECT 1",
    "SELECT 1; ATTACH 'orders.csv'; SELECT 2",
    "SELECT 1; COPY orders TO 'x'",
    "SELECT count(*) FROM 'https://example.com/orders.csv'",
    "SELECT count(*) FROM read_parquet('s3://bucket/orders.parquet')",
    "SELECT count(*) FROM read_csv('/etc/passwd')",
    "SELECT count(*) FROM read_csv('*.csv')",
    "SELECT count(*) FROM glob('orders.csv')",
    "SELECT count(*) FROM read_text('orders')",
    "SELECT getenv('HOME')",
    "SELECT current_setting('threads')",
    "SELECT count(*) FROM completely_else",
    "SELECT nosuch(1)",
    "SHOW DATABASES",
    "USE other",
    "SELECT user FROM orders",
    "SELECT 'a\u200bb'",
    "SELECT TOP 5 PERCENT channel FROM orders",
    "SELECT TOP 5 channel FROM orders UNION SELECT 'web'",
    "SELECT string_agg(channel, ',') FROM orders",
    "SELECT",
    "",
    "what are the best channels?",
]


@pytest.mark.parametrize("sql", NOT_MENDED)
async def test_nothing_is_offered_where_nothing_is_certain(sql: str) -> None:
    assert await offered(sql) == ()


def _attacks() -> list[str]:
    lines = (CORPUS / "attacks.jsonl").read_text(encoding="utf-8").splitlines()
    return [str(json.loads(line)["sql"]) for line in lines if line.strip()]


async def test_whatever_is_offered_for_an_attack_passes_the_gate() -> None:
    many = 0
    for sql in _attacks():
        judged = verdict(sql)
        if isinstance(judged, Refused):
            mended = await with_fixes(check, SHOP, judged, SqlQuery(sql), RULES)
            assert isinstance(mended, Refused) and len(mended.fixes) <= MOST_FIXES
            many += len(mended.fixes)
            for fix in mended.fixes:
                assert isinstance(verdict(fix.text or ""), Approved), (sql, fix)
    assert many


@given(st.text("SELECT *FROM,()';\"`[]-/.$oders1=‘’\n", max_size=60))
@example("'")
def test_any_text_has_candidates_or_none_but_no_error(text: str) -> None:
    tokens = tokens_of(text)
    assert all(text[t.start : t.end] == t.text for t in tokens)
    assert all(before.end <= after.start for before, after in pairwise(tokens))
    judged = verdict(text)
    if isinstance(judged, Refused):
        for fix in candidates(text, judged, SHOP, RULES.functions):
            assert fix.title and fix.text and fix.text != text


def test_a_very_long_text_is_left_alone() -> None:
    sql = "SELECT * FROM orders" + " " * LONGEST
    judged = verdict(sql)
    assert isinstance(judged, Refused) and candidates(sql, judged, SHOP, RULES.functions) == []


UNBOUND: list[tuple[str, list[tuple[str, str]]]] = [
    ("SELECT categry, count(*) FROM order_items GROUP BY categry",
     [("Use `category`", "SELECT category, count(*) FROM order_items GROUP BY category")]),
    ("SELECT i.categry, 'categry' FROM order_items i",
     [("Use `category`", "SELECT i.category, 'categry' FROM order_items i")]),
    ("SELECT oi.category FROM order_items i", [("Use `i`", "SELECT i.category FROM order_items i")]),
    ('SELECT count(*) FROM orders WHERE channel = "web"',
     [("Use the text `'web'`", "SELECT count(*) FROM orders WHERE channel = 'web'")]),
    ("SELECT count(*) FROM orders WHERE channel = ‘web’",
     [("Use straight quotes", "SELECT count(*) FROM orders WHERE channel = 'web'")]),
    ("SELECT channel, sum(amount) FROM orders ORDER BY 2 DESC",
     [("Add GROUP BY ALL", "SELECT channel, sum(amount) FROM orders GROUP BY ALL ORDER BY 2 DESC")]),
    ("SELECT channel, region, sum(amount) FROM orders GROUP BY channel LIMIT 5",
     [("Group by `region` too", "SELECT channel, region, sum(amount) FROM orders GROUP BY channel, region LIMIT 5")]),
    ("SELECT order_id FROM orders JOIN order_items ON true LIMIT 3",
     [("Use `orders.order_id`", "SELECT orders.order_id FROM orders JOIN order_items ON true LIMIT 3"),
      ("Use `order_items.order_id`", "SELECT order_items.order_id FROM orders JOIN order_items ON true LIMIT 3")]),
    ("SELECT zzz FROM orders", []),
    ("SELECT channel AS chanl, chanel, 1 AS chanel FROM orders", []),
    ("SELECT sum(channel) FROM orders", []),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "expected"), UNBOUND, ids=[sql for sql, _ in UNBOUND])
def test_what_the_engine_cannot_bind_comes_with_its_correction(
    sql: str, expected: list[tuple[str, str]]
) -> None:
    with pytest.raises(duckdb.Error) as caught:
        ENGINE.execute(f"SELECT * FROM ({sql}\n) LIMIT 5").fetchall()
    fixes = binder_candidates(sql, *explain(str(caught.value)), SHOP)
    assert [(fix.title, fix.text) for fix in fixes] == expected
    for fix in fixes:
        assert isinstance(verdict(fix.text or ""), Approved)
        ENGINE.execute(str(fix.text)).fetchall()
