"""A column that no table of the query has: whether a value was meant, and which other table has it."""

from __future__ import annotations

import pytest

from sandtable.catalog.model import Relationship
from sandtable.policy.unknown_columns import UnknownColumn, as_a_value, in_another_table, unknown_column
from tests.policy.shop import SHOP

LINKED = SHOP.model_copy(
    update={
        "relationships": (
            Relationship(
                many_table="order_items", many_column="order_id", one_table="orders", one_column="order_id"
            ),
        )
    }
)


@pytest.mark.parametrize(
    ("sql", "compared", "quoted"),
    [
        ('SELECT 1 FROM orders WHERE region = "x"', True, True),
        ('SELECT 1 FROM orders WHERE region IN ("a", "x")', True, True),
        ("SELECT 1 FROM orders WHERE region = x", True, False),
        ('SELECT "x" FROM orders', False, True),
        ('SELECT "x" FROM orders WHERE region = "x"', False, True),
        ("SELECT 1 FROM orders WHERE region = x.y", False, False),
    ],
)
def test_where_a_name_may_be_a_value(sql: str, compared: bool, quoted: bool) -> None:
    message = 'there is no column "x" in the tables of this query'
    assert unknown_column(sql, message) == UnknownColumn("x", compared, quoted)


def test_other_messages_are_about_no_column() -> None:
    assert unknown_column("SELECT 1", "cannot add text") is None
    found = unknown_column("SELECT o.x FROM orders o", 'Table "o" does not have a column named "x"')
    assert found is not None and found.name == "x"


def test_a_value_is_written_in_single_quotes() -> None:
    assert as_a_value("it's", ["orders.region", "tickets.region"]) == (
        "Write `it's`, which is a value of `orders.region`, `tickets.region`, in single quotes: `'it''s'`."
    )
    assert as_a_value("x", []) == "Write a text in single quotes: `'x'`. Double quotes are for names."


def test_the_table_that_has_the_column() -> None:
    assert in_another_table("Category", ["orders"], LINKED) == (
        "Join `order_items` by `order_items.order_id = orders.order_id` to use `order_items.category`."
    )
    assert in_another_table("product", ["orders"], SHOP) == (
        "Join `order_items` to use `order_items.product`. It is also in `inventory.product`."
    )
    assert in_another_table("category", ["order_items"], SHOP) == ""
    assert in_another_table("nothing", ["orders"], SHOP) == ""
