"""The statements that count what each condition of a query leaves: the gate approves them, and they count right."""

from __future__ import annotations

import pytest

from sandtable.policy.counting import CountedSelect, counted_selects
from sandtable.policy.verdict import Approved
from tests.policy.shop import ENGINE, parsed, verdict


def execute(sql: str) -> list[tuple[int, ...]]:
    return ENGINE.execute(sql).fetchall()


def counted(sql: str) -> tuple[CountedSelect, ...]:
    answer = parsed(sql)
    return counted_selects(sql, answer["tree"], answer["canonical"], answer["canonical_tree"])


@pytest.mark.parametrize(
    ("sql", "numbers", "conditions"),
    [
        ("SELECT sum(amount) FROM orders WHERE region = 'north'", (600, 150), ["region = 'north'"]),
        (
            "SELECT 1 FROM orders WHERE region = 'north' AND (channel = 'web' OR false) AND amount BETWEEN -2 AND -1",
            (600, 150, 50, 0),
            ["region = 'north'", "channel = 'web' OR false", "amount BETWEEN -2 AND -1"],
        ),
        (
            "SELECT o.region FROM orders o JOIN order_items i USING (order_id) WHERE i.category LIKE 'z%' GROUP BY 1",
            (1200, 0),
            ["i.category LIKE 'z%'"],
        ),
        (
            "SELECT 1 FROM orders WHERE EXISTS (SELECT 1 FROM order_items i WHERE i.order_id = orders.order_id) "
            "AND region IN (SELECT warehouse FROM inventory)",
            (600, 600, 0),
            [
                "EXISTS (SELECT 1 FROM order_items i WHERE i.order_id = orders.order_id)",
                "region IN (SELECT warehouse FROM inventory)",
            ],
        ),
        ("FROM orders WHERE CASE WHEN region = 'x' AND is_gift THEN true END", (600, 0), None),
        ("SELECT 1 FROM orders WHERE is_gift AND NOT is_gift ORDER BY ALL LIMIT 3", (600, 66, 0), None),
        (
            "SELECT 1 FROM orders o, order_items i WHERE o.order_id = i.item_id AND false",
            (720000, 600, 0),
            None,
        ),
    ],
)
def test_rows_are_counted_before_and_after_each_condition(
    sql: str, numbers: tuple[int, ...], conditions: list[str] | None
) -> None:
    [select] = counted(sql)
    assert isinstance(verdict(select.sql), Approved)
    assert execute(select.sql) == [numbers]
    assert conditions is None or list(select.conditions) == conditions


def test_what_a_query_reads_is_counted_too() -> None:
    sql = """
        WITH r AS (SELECT region, amount FROM orders WHERE region = 'nroth'),
             s(name, total) AS MATERIALIZED (
                 SELECT region, sum(amount) FROM r WHERE amount > 3 GROUP BY ALL HAVING count(*) > 1
             )
        SELECT max(total) FROM (SELECT * FROM s WHERE name <> 'x') AS t WHERE total > 0
    """
    selects = counted(sql)
    assert [select.conditions for select in selects] == [
        ("total > 0",), ("name <> 'x'",), ("amount > 3",), ("region = 'nroth'",)
    ]  # fmt: skip
    assert [execute(select.sql) for select in selects] == [[(0, 0)], [(0, 0)], [(0, 0)], [(600, 0)]]
    assert [select.table for select in selects] == ["", "", "", "orders"]
    assert selects[2].passed == "count(*) > 1"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM orders",
        "SELECT 1 FROM orders WHERE false UNION SELECT 2 FROM orders WHERE false",
        "SELECT 1 FROM orders USING SAMPLE 5 ROWS",
        "SELECT 1 FROM orders TABLESAMPLE 10% WHERE region = 'x'",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT i FROM n WHERE i > 20",
        "SELECT 1 WHERE false",
    ],
)
def test_what_cannot_be_counted_is_left_alone(sql: str) -> None:
    assert all(execute(select.sql) for select in counted(sql))
    if "RECURSIVE" not in sql:
        assert counted(sql) == ()


def test_words_of_the_language_in_strings_and_names_do_not_mislead() -> None:
    sql = """SELECT "from" FROM (SELECT region AS "from", status AS "where" FROM orders) AS "and"
             WHERE "where" = 'x AND (y' AND "and"."from" = 'group by' -- AND more"""
    outer = counted(sql)[0]
    assert outer.conditions == ("\"where\" = 'x AND (y'", '"and"."from" = \'group by\'')
    assert execute(outer.sql) == [(600, 0, 0)]
