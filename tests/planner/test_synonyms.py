"""Synonyms of the catalog: other names for tables, columns and metrics, in whole questions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from sandtable.catalog.model import Dataset
from sandtable.planner.conscience import account
from sandtable.planner.language.reading import Reading
from sandtable.planner.outcome import EarlierTurn, Outcome, Understood, Unsure
from sandtable.planner.planner import plan_question
from sandtable.planner.schema.index import SchemaIndex
from tests.planner.ground import World

SYNONYMS: dict[str, tuple[str, ...]] = {
    "orders": ("purchases",),
    "orders.order_total": ("turnover", "gross sales"),
    "orders.channel": ("route to market",),
    "return_rate": ("send-back quota",),
}


def described(dataset: Dataset, synonyms: dict[str, tuple[str, ...]]) -> Dataset:
    """The dataset with synonyms for tables, columns (`table.column`) and metrics."""

    def also(item: Any, name: str) -> Any:
        return item.model_copy(update={"synonyms": synonyms.get(name, ())})

    tables = tuple(
        also(
            table.model_copy(
                update={"columns": tuple(also(c, f"{table.name}.{c.name}") for c in table.columns)}
            ),
            table.name,
        )
        for table in dataset.tables
    )
    metrics = tuple(also(metric, metric.name) for metric in dataset.metrics)
    return dataset.model_copy(update={"tables": tables, "metrics": metrics})


@pytest.fixture(scope="module")
def shop(worlds: dict[str, World]) -> SchemaIndex:
    return index_with(worlds, SYNONYMS)


def index_with(worlds: dict[str, World], synonyms: dict[str, tuple[str, ...]]) -> SchemaIndex:
    world = worlds["ecommerce"]
    return SchemaIndex.build(described(world.dataset, synonyms), world.index.profile)


def plan_of(outcome: Outcome) -> dict[str, Any]:
    assert isinstance(outcome, Understood), outcome
    return outcome.plan


PAIRS = [
    ("total turnover by region", "total order total by region"),
    ("gross sales by month", "order total by month"),
    ("how many purchases by route to market", "how many orders by channel"),
    ("send-back quota by category", "return rate by category"),
    ("average gross sales per route to market in 2025", "average order total per channel in 2025"),
    ("which channel has the highest turnover", "which channel has the highest order total"),
]


@pytest.mark.parametrize(("said", "plainly"), PAIRS)
def test_a_synonym_counts_as_its_target(
    said: str, plainly: str, shop: SchemaIndex, worlds: dict[str, World]
) -> None:
    outcome = plan_question(said, shop)
    assert plan_of(outcome) == plan_of(plan_question(plainly, worlds["ecommerce"].index))
    assert isinstance(outcome, Understood) and any("read as" in used for used in outcome.used)


@pytest.mark.parametrize(("said", "plainly"), PAIRS)
def test_every_word_of_the_question_is_accounted_for(said: str, plainly: str, shop: SchemaIndex) -> None:
    outcome = plan_question(said, shop)
    assert isinstance(outcome, Understood) and outcome.account is not None
    assert words_in(outcome.account.parts) | set(outcome.account.aside) == set(range(len(Reading.of(said))))
    held = account(said, outcome.plan, shop)
    assert held.clean
    assert words_in(held.parts) == words_in(outcome.account.parts)


def words_in(parts: Iterable[Any]) -> set[int]:
    return {at for part in parts for at in part.words}


def test_a_word_that_no_part_means_is_named_as_it_was_written(shop: SchemaIndex) -> None:
    plan = plan_of(plan_question("total turnover by region", shop))
    found = account("gross sales by region for unicorns", plan, shop)
    assert "unicorns" in [each.text for each in found.unbound]


def test_a_real_name_comes_first(worlds: dict[str, World]) -> None:
    index = index_with(worlds, {"orders.country": ("region",), "orders.coupon_code": ("category",)})
    before = worlds["ecommerce"].index
    for question in ("order total by region", "return rate by category"):
        assert plan_question(question, index) == plan_question(question, before)


def test_a_synonym_within_a_longer_name_is_that_name(worlds: dict[str, World]) -> None:
    index = index_with(worlds, {"order_items.unit_price": ("price", "total")})
    question = "average list price by category"
    assert plan_question(question, index) == plan_question(question, worlds["ecommerce"].index)


def test_a_synonym_of_two_columns_is_asked_about(worlds: dict[str, World]) -> None:
    index = index_with(worlds, {"orders.order_total": ("takings",), "order_items.unit_price": ("takings",)})
    outcome = plan_question("total takings by region", index)
    assert isinstance(outcome, Unsure)
    assert "takings" in outcome.reason and "order_total" in outcome.reason
    assert len(outcome.choices) == 2


def test_a_synonym_that_is_a_value_is_asked_about(worlds: dict[str, World]) -> None:
    index = index_with(worlds, {"orders.region": ("Europe",)})
    outcome = plan_question("how many orders by europe", index)
    assert isinstance(outcome, Unsure)
    assert "the value" in outcome.reason and len(outcome.choices) == 2


def test_words_in_quotes_are_no_synonym(shop: SchemaIndex) -> None:
    outcome = plan_question('how many orders with coupon code "turnover"', shop)
    assert [(each["column"], each["value"]) for each in plan_of(outcome)["filters"]] == [
        ("coupon_code", "turnover")
    ]


def test_a_follow_up_may_use_a_synonym(shop: SchemaIndex) -> None:
    first = plan_of(plan_question("total turnover by region", shop))
    outcome = plan_question("and by route to market", shop, EarlierTurn("total turnover by region", first))
    assert "channel" in str(plan_of(outcome)["group_by"])
