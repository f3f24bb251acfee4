"""What an edition of the catalog says about columns and tables changes how a question is read."""

from __future__ import annotations

from typing import Any

from sandtable.catalog.model import Dataset
from sandtable.planner.outcome import Understood
from sandtable.planner.planner import plan_question
from sandtable.planner.schema.index import SchemaIndex
from tests.planner.ground import World


def edition(dataset: Dataset, table: str, *, column: str = "", said: dict[str, Any], **more: Any) -> Dataset:
    """The dataset with another description of a column, or of the table itself."""
    home = dataset.table(table)
    assert home is not None
    columns = tuple(c.model_copy(update=said) if c.name == column else c for c in home.columns)
    made = home.model_copy(update={"columns": columns} if column else said)
    tables = tuple(made if t.name == table else t for t in dataset.tables)
    return dataset.model_copy(update={"tables": tables, **more})


def plan_of(question: str, dataset: Dataset, world: World) -> dict[str, Any]:
    outcome = plan_question(question, SchemaIndex.build(dataset, world.index.profile))
    assert isinstance(outcome, Understood), outcome
    return outcome.plan


def test_the_default_aggregate(worlds: dict[str, World]) -> None:
    world = worlds["ecommerce"]
    question = "order total by region"
    averaged = edition(world.dataset, "orders", column="order_total", said={"measure": "averaged"})
    assert aggregates(plan_of(question, world.dataset, world)) == ["sum"]
    assert aggregates(plan_of(question, averaged, world)) == ["avg"]


def aggregates(plan: dict[str, Any]) -> list[str]:
    return [item["agg"] for item in plan["select"] if "agg" in item]


def test_the_time_column(worlds: dict[str, World]) -> None:
    world = worlds["ecommerce"]
    question = "number of orders by month"
    delivered = edition(world.dataset, "orders", said={"time_column": "delivered_date"})
    assert bucketed(plan_of(question, world.dataset, world)) == ["order_date"]
    assert bucketed(plan_of(question, delivered, world)) == ["delivered_date"]


def bucketed(plan: dict[str, Any]) -> list[str]:
    return [item["column"] for item in plan["select"] if "bucket" in item]


def test_the_unit(worlds: dict[str, World]) -> None:
    """Hours can be asked for where the catalog says that the numbers are minutes."""
    world = worlds["ecommerce"]
    question = "average quantity in hours by category"
    minutes = edition(world.dataset, "order_items", column="quantity", said={"unit": "minutes"})
    (measure,) = [item for item in plan_of(question, minutes, world)["select"] if "agg" in item]
    assert measure["unit"] == "hours"
    assert not isinstance(plan_question(question, world.index), Understood)
