"""The schema in a prompt: what the catalog says about names, units, aggregates and the calendar."""

from __future__ import annotations

from typing import Any

from sandtable.agent.prompting.schema import described_dataset
from sandtable.catalog.model import Dataset
from tests.planner.ground import World


def test_what_the_catalog_says_is_in_the_prompt(worlds: dict[str, World]) -> None:
    world = worlds["ecommerce"]
    orders = next(t for t in world.dataset.tables if t.name == "orders")
    total = orders.column("order_total")
    assert total is not None
    said = total.model_copy(update={"synonyms": ("turnover",), "measure": "averaged", "unit": "EUR"})
    table = orders.model_copy(
        update={
            "synonyms": ("purchases",),
            "columns": tuple(said if c.name == said.name else c for c in orders.columns),
        }
    )
    metric = world.dataset.metrics[0].model_copy(update={"synonyms": ("quota",)})
    dataset = world.dataset.model_copy(
        update={"tables": (table,), "metrics": (metric,), "week_start": "sunday", "fiscal_month": 4}
    )
    made = shown(dataset, world)
    assert (made["week_start"], made["fiscal_year_start"]) == ("sunday", "april")
    assert made["tables"][0]["synonyms"] == ["purchases"]
    column = next(c for c in made["tables"][0]["columns"] if c["name"] == "order_total")
    assert (column["synonyms"], column["unit"], column["aggregate"]) == (["turnover"], "EUR", "average")
    assert made["metrics"][0]["synonyms"] == ["quota"]


def test_a_usual_calendar_and_no_synonyms_take_no_room(worlds: dict[str, World]) -> None:
    world = worlds["ecommerce"]
    made = str(shown(world.dataset, world))
    assert not any(word in made for word in ("synonyms", "week_start", "fiscal"))


def shown(dataset: Dataset, world: World) -> dict[str, Any]:
    assert world.index.profile is not None
    return described_dataset(dataset, world.index.profile, samples=False, words=True)
