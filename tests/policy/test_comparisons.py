"""The texts that a query compares columns with, and which column each of them is compared with."""

from __future__ import annotations

import pytest

from sandtable.policy.comparisons import MOST_COMPARISONS, Comparison, comparisons_of
from tests.policy.shop import SHOP, parsed


def compared(sql: str) -> tuple[Comparison, ...]:
    return comparisons_of(sql, parsed(sql)["tree"], SHOP)


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("SELECT 1 FROM orders WHERE region = 'x'", ["orders.region = x"]),
        ("SELECT 1 FROM orders WHERE 'x' = orders.region", ["orders.region = x"]),
        ("FROM main.orders AS o WHERE o.region <> 'x' LIMIT 1", ["orders.region ! x"]),
        ("SELECT 1 FROM orders WHERE NOT (region = 'x')", ["orders.region ! x"]),
        ("SELECT 1 FROM orders WHERE region NOT IN ('x', 'y')", ["orders.region ! x", "orders.region ! y"]),
        ("SELECT 1 FROM orders WHERE REGION IN ('x')", ["orders.region = x"]),
        ("SELECT 1 FROM orders WHERE region IS NOT DISTINCT FROM 'x'", ["orders.region = x"]),
        ("SELECT count(*) FILTER (WHERE region = 'x') FROM orders", ["orders.region = x"]),
        ("SELECT 1 FROM orders o JOIN order_items i ON i.category = 'x'", ["order_items.category = x"]),
        (
            "WITH r AS (SELECT region AS name, amount FROM orders) SELECT sum(amount) FROM r WHERE name = 'x'",
            ["orders.region = x"],
        ),
        ("WITH r(a) AS (SELECT region FROM orders) SELECT 1 FROM r WHERE a = 'x'", ["orders.region = x"]),
        ("SELECT 1 FROM (SELECT * FROM orders) t WHERE t.region = 'x'", ["orders.region = x"]),
        (
            "SELECT 1 FROM (SELECT o.* FROM orders o, tickets t) WHERE region = 'x'",
            ["orders.region = x"],
        ),
        (
            "SELECT 1 FROM orders WHERE EXISTS (SELECT 1 FROM order_items WHERE category = 'x' AND region = 'y')",
            ["order_items.category = x", "orders.region = y"],
        ),
        (
            "SELECT 1 FROM orders WHERE region IN (SELECT category FROM order_items WHERE category = 'x')",
            ["order_items.category = x"],
        ),
        (
            "SELECT 1 FROM orders WHERE region = 'x' UNION SELECT 1 FROM order_items WHERE category = 'y'",
            ["orders.region = x", "order_items.category = y"],
        ),
    ],
)
def test_the_column_that_a_text_is_compared_with(sql: str, found: list[str]) -> None:
    assert [f"{c.table}.{c.column} {'!' if c.negated else '='} {c.value}" for c in compared(sql)] == found


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM orders WHERE lower(region) = 'x'",
        "SELECT 1 FROM orders WHERE region LIKE 'x'",
        "SELECT 1 FROM orders WHERE region = channel",
        "SELECT 1 FROM orders WHERE amount = '12'",
        "SELECT 1 FROM orders WHERE region = ''",
        "SELECT 1 FROM orders WHERE region > 'x'",
        "SELECT 1 FROM (SELECT upper(region) AS region FROM orders) WHERE region = 'x'",
        "WITH orders AS (SELECT 'a' AS region) SELECT 1 FROM orders WHERE region = 'x'",
        "SELECT 1 FROM (SELECT region FROM orders UNION SELECT category FROM order_items) WHERE region = 'x'",
        "SELECT 1 FROM (SELECT * EXCLUDE (region) FROM orders) WHERE region = 'x'",
        "SELECT 1 FROM orders, unnest(['a']) AS u(region2) WHERE region2 = 'x'",
        "SELECT 1 FROM orders WHERE z.region = 'x'",
    ],
)
def test_what_is_not_certain_is_left_out(sql: str) -> None:
    assert compared(sql) == ()


def test_the_places_are_counted_in_characters() -> None:
    sql = "SELECT 'ä' AS ü FROM orders o WHERE o.region = 'it''s ö' AND o.status = 'x'"
    first, second = compared(sql)
    assert first.literal and first.name and second.literal
    assert sql[first.literal.start : first.literal.end] == "'it''s ö'" and first.value == "it's ö"
    assert sql[first.name.start : first.name.end] == "o.region"
    assert sql[second.literal.start : second.literal.end] == "'x'"


def test_many_texts_are_bounded() -> None:
    listed = ", ".join(f"'v{n}'" for n in range(200))
    sql = f"SELECT 1 FROM orders WHERE region IN ({listed}) AND status IN ({listed})"
    assert len(compared(sql)) == MOST_COMPARISONS
