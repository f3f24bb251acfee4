"""Two things that are named side by side are two results: neither may be bound to the other's part."""

from __future__ import annotations

import pytest

from sandtable.planner.outcome import Understood, Unsure
from sandtable.planner.planner import plan_question
from tests.planner.ground import World

DROPPED = {
    "a table beside a metric": ("ecommerce", "revenue and orders by region", "orders"),
    "a table before a metric": ("ecommerce", "orders and revenue per month", "orders"),
    "two columns read as one": ("ecommerce", "average price and quantity by category", "quantity"),
    "a second thing to count": ("ecommerce", "number of customers and orders by country", "orders"),
    "a key that should be counted": ("ecommerce", "customers and revenue by region", "customers"),
    "rows beside an average": ("support", "tickets and average csat by channel", "tickets"),
    "rows beside a rate": ("support", "tickets and reopen rate by channel", "tickets"),
}
MEANT = {
    "two metrics": ("ecommerce", "revenue and units sold by region"),
    "three metrics": ("ecommerce", "revenue, units sold and return rate by category"),
    "two keys": ("ecommerce", "revenue by region and category"),
    "two ends of one column": ("ecommerce", "lowest and highest unit price by category"),
    "a counted table": ("ecommerce", "revenue and number of orders by region"),
    "two values": ("ecommerce", "revenue from Germany and France in 2025"),
    "columns of a list": ("ecommerce", "list order id, customer and order total of the 5 largest orders"),
    "counted rows beside a rate": ("support", "number of tickets and reopen rate by channel"),
}


@pytest.mark.parametrize(("dataset", "question", "word"), DROPPED.values(), ids=list(DROPPED))
def test_what_has_no_part_of_its_own_is_asked_about(
    worlds: dict[str, World], dataset: str, question: str, word: str
) -> None:
    outcome = plan_question(question, worlds[dataset].index)
    assert isinstance(outcome, Unsure)
    assert f"`{word}`" in outcome.reason


@pytest.mark.parametrize(("dataset", "question"), MEANT.values(), ids=list(MEANT))
def test_what_has_a_part_of_its_own_is_answered(
    worlds: dict[str, World], dataset: str, question: str
) -> None:
    assert isinstance(plan_question(question, worlds[dataset].index), Understood)
