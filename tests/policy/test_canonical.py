"""The canonical text: what is added for the sake of one answer on every machine, and what is left alone."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from sandtable_runner.parse import MAX_TREE_DEPTH, parse
from tests.policy.shop import PARSER, parsed

_ORDER = [
    ("SELECT a FROM t", "SELECT a FROM t"),
    ("SELECT a FROM t WHERE b LIMIT 3", "SELECT a FROM t WHERE b LIMIT 3"),
    ("SELECT a, b FROM t ORDER BY a", "SELECT a, b FROM t ORDER BY a, 2"),
    ("SELECT a AS x, b FROM t ORDER BY x DESC", "SELECT a AS x, b FROM t ORDER BY x DESC, 2"),
    ("SELECT a AS b, b AS a FROM t ORDER BY a", "SELECT a AS b, b AS a FROM t ORDER BY a, 1"),
    ("SELECT a, b FROM t ORDER BY 2", "SELECT a, b FROM t ORDER BY 2, 1"),
    ("SELECT a, b+1 FROM t ORDER BY b+1, a", "SELECT a, (b + 1) FROM t ORDER BY (b + 1), a"),
    ("SELECT * FROM t ORDER BY a", "SELECT * FROM t ORDER BY a, COLUMNS(*)"),
    ("SELECT * FROM t ORDER BY ALL", "SELECT * FROM t ORDER BY COLUMNS(*)"),
    ("SELECT a, count(*) FROM t GROUP BY a", "SELECT a, count_star() FROM t GROUP BY a ORDER BY 1, 2"),
    ("SELECT a, count(*) FROM t GROUP BY ALL LIMIT 5",
     "SELECT a, count_star() FROM t GROUP BY ALL ORDER BY 1, 2 LIMIT 5"),
    ("SELECT count(*) FROM t", "SELECT count_star() FROM t"),
    ("SELECT DISTINCT a FROM t", "SELECT DISTINCT a FROM t ORDER BY 1"),
    ("SELECT DISTINCT ON (a) a, b FROM t ORDER BY a", "SELECT DISTINCT ON (a) a, b FROM t ORDER BY a"),
    ("SELECT a FROM t UNION SELECT b FROM u", "(SELECT a FROM t) UNION (SELECT b FROM u) ORDER BY 1"),
    ("FROM t UNION ALL FROM u", "(SELECT * FROM t) UNION ALL (SELECT * FROM u) ORDER BY COLUMNS(*)"),
    ("SELECT x.a FROM t x JOIN u USING (a)", "SELECT x.a FROM (t AS x INNER JOIN u USING (a)) ORDER BY 1"),
    ("FROM t JOIN u USING (a)", "SELECT * FROM (t INNER JOIN u USING (a)) ORDER BY COLUMNS(*)"),
    ("SELECT a FROM (SELECT a FROM t GROUP BY a)", "SELECT a FROM (SELECT a FROM t GROUP BY a) ORDER BY 1"),
    ("SELECT * FROM (SELECT a, b FROM t ORDER BY a) LIMIT 2",
     "SELECT * FROM (SELECT a, b FROM t ORDER BY a, 2) LIMIT 2"),
    ("WITH x AS (SELECT a, b FROM t ORDER BY a) FROM x",
     "WITH x AS (SELECT a, b FROM t ORDER BY a, 2) SELECT * FROM x"),
    ("WITH t AS (FROM t) FROM t", "WITH t AS (SELECT * FROM t) SELECT * FROM t"),
    ("SELECT rank() OVER (ORDER BY a) FROM t", "SELECT rank() OVER (ORDER BY a) FROM t ORDER BY 1"),
    ("VALUES (2), (1)", "SELECT * FROM (VALUES (2), (1)) AS valueslist"),
    ("SELECT unnest(l) FROM t", "SELECT unnest(l) FROM t"),
    ("SELECT a FROM t WHERE a IN (SELECT b FROM u)",
     "SELECT a FROM t WHERE (a = ANY(SELECT b FROM u)) ORDER BY 1"),
    ("SELECT 1 AS a, (SELECT max(b) FROM t) AS m", "SELECT 1 AS a, (SELECT max(b) FROM t) AS m"),
    ("DESCRIBE t", "DESCRIBE (SELECT * FROM t)"),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "canonical"), _ORDER, ids=[sql for sql, _ in _ORDER])
def test_rows_get_a_total_order_only_where_they_have_none(sql: str, canonical: str) -> None:
    assert parse(PARSER, sql, [])["canonical"] == canonical


_SUMS = [
    ("sum(f)", 'fsum(f) AS "sum(f)"'),
    ("avg(F)", 'favg(F) AS "avg(F)"'),
    ("mean(t.f)", 'favg(t.f) AS "mean(t.f)"'),
    ("sum(f) AS s", "fsum(f) AS s"),
    ("sum(i)", "sum(i)"),
    ("avg(i)", "avg(i)"),
    ("sum(i * 1.5)", "sum((i * 1.5))"),
    ("sum(i * 1e0) AS s", "fsum((i * 1e0)) AS s"),
    ("sum(i / 2) AS s", "fsum((i / 2)) AS s"),
    ("sum(i // 2)", "sum((i // 2))"),
    ("sum(i::DOUBLE) AS s", "fsum(CAST(i AS DOUBLE)) AS s"),
    ("sum(f::INT) AS s", "sum(CAST(f AS INTEGER)) AS s"),
    ("sum(CASE WHEN f / 2 > 1 THEN 1 ELSE 0 END) AS s",
     "sum(CASE  WHEN (((f / 2) > 1)) THEN (1) ELSE 0 END) AS s"),
    ("sum(CASE WHEN i > 1 THEN f END) AS s", "fsum(CASE  WHEN ((i > 1)) THEN (f) ELSE NULL END) AS s"),
    ("sum(coalesce(f, 0)) AS s", "fsum(COALESCE(f, 0)) AS s"),
    ("sum(f) FILTER (WHERE i > 1) AS s", "fsum(f) FILTER (WHERE (i > 1)) AS s"),
    ("sum(DISTINCT f) AS s", "fsum(DISTINCT f) AS s"),
    ("sum(round(f, 2)) AS s", "fsum(round(f, 2)) AS s"),
    ("sum(length(x)) AS s", "sum(length(x)) AS s"),
    ("sum(f > 1) AS s", "sum((f > 1)) AS s"),
    ("-sum(f) * 2", '((-(fsum(f))) * 2) AS "((-(sum(f))) * 2)"'),
    ("max(f)", "max(f)"),
    ("sum(COLUMNS(*))", "sum(COLUMNS(*))"),
]  # fmt: skip


@pytest.mark.parametrize(("item", "canonical"), _SUMS, ids=[item for item, _ in _SUMS])
def test_floating_sums_are_compensated_and_keep_their_names(item: str, canonical: str) -> None:
    assert parse(PARSER, f"SELECT {item} FROM t", ["f"])["canonical"] == f"SELECT {canonical} FROM t"


@pytest.mark.parametrize(
    ("sql", "part"),
    [
        ("WITH x AS (SELECT f * 2 AS y FROM t) SELECT sum(y) AS s FROM x", "SELECT fsum(y) AS s"),
        ("WITH x(y) AS (SELECT f FROM t) SELECT sum(y) AS s FROM x", "SELECT fsum(y) AS s"),
        ("SELECT sum(y) AS s FROM (SELECT f FROM t) AS x(y)", "SELECT fsum(y) AS s"),
        ("SELECT sum(m) AS s FROM (SELECT avg(i) AS m FROM t GROUP BY g)", "SELECT fsum(m) AS s"),
        ('SELECT sum("sum(f)") AS s FROM (SELECT sum(f) FROM t GROUP BY g)', 'SELECT fsum("sum(f)") AS s'),
        ("SELECT sum(f) OVER (ORDER BY i) AS s FROM t", "fsum(f) OVER (ORDER BY i) AS s"),
        (
            "SELECT g FROM t GROUP BY g HAVING sum(f) > 1 ORDER BY avg(f)",
            "HAVING (fsum(f) > 1) ORDER BY favg(f)",
        ),
        ("SELECT sum(v) AS s FROM (UNPIVOT t ON f, i INTO NAME n VALUE v)", "SELECT fsum(v) AS s"),
        ("PIVOT t ON g IN (1, 2) USING sum(f)", "PIVOT (fsum(f) FOR"),
        ("PIVOT t ON g IN (1, 2) USING sum(f), count(*)", 'PIVOT (fsum(f) AS "sum(f)", count_star() FOR'),
        ("SELECT sum(n) AS s FROM (SELECT count(f) AS n FROM t)", "SELECT sum(n) AS s"),
        ("SELECT sum(f) AS s FROM (SELECT count(*) AS f FROM t)", "SELECT sum(f) AS s"),
        ("SELECT sum(f) AS s FROM (SELECT round(f) AS f FROM t)", "SELECT fsum(f) AS s"),
        ("SELECT avg((a - b) / 2) AS s FROM t", "SELECT avg("),
        ("SELECT avg((a - f) / 2) AS s FROM t", "SELECT favg("),
        ("SELECT avg(INTERVAL 1 HOUR * f) AS s FROM t", "SELECT avg("),
    ],
)
def test_floating_columns_are_followed_through_their_names(sql: str, part: str) -> None:
    assert part in parse(PARSER, sql, ["f"])["canonical"]


@pytest.mark.parametrize(
    ("sql", "serial", "volatile"),
    [
        ("SELECT sum(a), count(*), median(a), max(a) FROM t", [], []),
        ("SELECT list(a) FROM t", ["list"], []),
        ("SELECT string_agg(a, ',' ORDER BY a) FROM t", ["string_agg"], []),
        ("SELECT arg_max(a, b), first(a), mode(a) FROM t", ["arg_max", "first", "mode"], []),
        ("SELECT stddev(a), corr(a, b) FROM t", ["corr"], []),
        ("SELECT row_number() OVER (ORDER BY a) FROM t", ["row_number"], []),
        ("SELECT rank() OVER (ORDER BY a) FROM t", [], []),
        ("SELECT sum(a) OVER (ORDER BY b) FROM t", ["sum over a running window"], []),
        ("SELECT sum(a) OVER (PARTITION BY b) FROM t", [], []),
        ("SELECT a FROM t LIMIT 3", [], []),
        ("SELECT count(*) FROM (SELECT a FROM t LIMIT 3)", ["LIMIT in a subquery"], []),
        ("SELECT DISTINCT ON (a) a, b FROM t", ["DISTINCT ON"], []),
        ("FROM t ASOF JOIN u ON t.a >= u.a", ["ASOF JOIN"], []),
        ("FROM t POSITIONAL JOIN u", ["POSITIONAL JOIN"], []),
        ("FROM t USING SAMPLE 10%", ["SAMPLE"], ["SAMPLE"]),
        ("FROM t USING SAMPLE 10% (bernoulli, 3)", ["SAMPLE"], []),
        ("SELECT random(), now(), current_date, uuid()", [], ["current_date", "now", "random", "uuid"]),
        ("SELECT age(a) FROM t", [], ["age"]),
        ("SELECT a.age() FROM t", [], ["age"]),
        ("SELECT age(a, b), a.age(b) FROM t", [], []),
        ("SUMMARIZE t", ["SUMMARIZE"], []),
        ("FROM t UNION FROM u ORDER BY a", ["ORDER BY that may tie"], []),
        ("FROM (FROM t ORDER BY a)", ["ORDER BY in a subquery"], []),
        ("SELECT sum(COLUMNS(*)) FROM t", ["sum"], []),
        ("SELECT avg((a - b) / 2) FROM t", ["avg"], []),
        ("SELECT sum(r) FROM (SELECT (a - b) / 2 AS r FROM t)", ["sum"], []),
        (
            "WITH RECURSIVE r AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM r) SELECT a FROM r LIMIT 3",
            ["LIMIT of a recursion"],
            [],
        ),
    ],
)
def test_what_depends_on_row_order_or_on_the_run_is_named(
    sql: str, serial: list[str], volatile: list[str]
) -> None:
    answer = parse(PARSER, sql, [])
    assert (answer["serial"], answer["volatile"]) == (serial, volatile)


def test_rewriting_leaves_the_query_as_written_alone() -> None:
    sql = "SELECT region, sum(amount) FROM orders GROUP BY 1"
    rewritten = parse(PARSER, sql, ["amount"])
    assert rewritten["tree"] == parsed(sql)["tree"]
    assert rewritten["canonical_tree"] != rewritten["tree"]


@pytest.mark.parametrize(
    ("sql", "error_type"),
    [
        ("SELEC 1", "parser"),
        ("DROP TABLE t", "not implemented"),
        ("SELECT 1; SELECT 2", "statements"),
        ("SELECT 1" + " + 1" * 300, "too_deep"),
        ("SELECT 1 FROM t GROUP BY CUBE (" + ", ".join(f"c{i}" for i in range(10)) + ")", "grouping_sets"),
    ],
)
def test_what_cannot_be_parsed_is_an_answer(sql: str, error_type: str) -> None:
    answer = parse(PARSER, sql, [])
    assert (answer["ok"], answer["error_type"]) == (False, error_type)
    assert set(answer) >= {"message", "position"}


def test_unwritable_query_keeps_its_tree() -> None:
    answer = parse(PARSER, "SELECT 1 OPERATOR(pg_catalog.+) 2", [])
    assert answer["ok"] and answer["canonical"] is None and answer["canonical_error"]


def test_tree_is_shallow_enough_for_those_who_read_it() -> None:
    def depth(value: Any) -> int:
        children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return 1 + max(map(depth, children), default=0)

    answer = parse(PARSER, "SELECT 1" + " + 1" * 120, [])
    assert answer["ok"] and depth(answer["tree"]) <= MAX_TREE_DEPTH + 1


def test_many_threads_give_the_same_rows_in_the_same_order() -> None:
    con = duckdb.connect()
    con.execute("CREATE TABLE t AS SELECT i % 1000 AS g, i AS n, i / 7 AS f FROM range(400_000) AS r(i)")
    sql = parse(PARSER, "SELECT g, count(*) AS c, sum(n) AS s, sum(f) AS x FROM t GROUP BY g", ["f"])[
        "canonical"
    ]
    answers = []
    for threads in (1, 2, 4, 4):
        con.execute(f"SET threads = {threads}")
        answers.append([(g, c, s, round(x, 6)) for g, c, s, x in con.execute(sql).fetchall()])
    assert all(answer == answers[0] for answer in answers)
