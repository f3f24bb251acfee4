"""Examples for a chat model: made from the dataset at hand, valid, answerable, and without cells where those are kept
back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.agent.prompting.examples import examples
from sandtable.catalog.model import Column, ColumnType, Dataset, Table
from sandtable.catalog.profile import Profile
from sandtable.plan.validate import check_plan, parse_plan
from tests.agent.models.asking import CANARY, CANARY_DAY, CANARY_NUMBER, shop, shop_profile
from tests.planner.ground import World

SQL_TYPES = {
    ColumnType.TEXT: "VARCHAR",
    ColumnType.INTEGER: "BIGINT",
    ColumnType.DECIMAL: "DECIMAL(10,2)",
    ColumnType.FLOAT: "DOUBLE",
    ColumnType.BOOLEAN: "BOOLEAN",
    ColumnType.DATE: "DATE",
    ColumnType.TIMESTAMP: "TIMESTAMP",
    ColumnType.TIME: "TIME",
    ColumnType.OTHER: "VARCHAR[]",
}


def _plans(made: list[dict[str, Any]], dataset: Dataset) -> list[dict[str, Any]]:
    assert all(one["reply"].keys() == {"intent", "plan"} for one in made)
    return [{"dataset_id": dataset.id, **one["reply"]["plan"]} for one in made]


def _known(dataset: Dataset) -> Profile:
    return Profile(version=dataset.version, tables=())


@pytest.mark.parametrize("name", ["ecommerce", "support", "sensors"])
@pytest.mark.parametrize("privacy", ["off", "schema"])
def test_built_in_datasets_have_four_that_run(name: str, privacy: Any, worlds: dict[str, World]) -> None:
    world = worlds[name]
    assert world.index.profile is not None
    plans = _plans(examples(world.dataset, world.index.profile, privacy), world.dataset)
    assert len(plans) == 4
    for plan in plans:
        assert check_plan(parse_plan(plan), world.dataset) == []
        assert world.run_plan(plan), plan
    assert any("time" in plan for plan in plans) and any("limit" in plan for plan in plans)
    metrics = {item["metric"] for plan in plans for item in plan["select"] if "metric" in item}
    assert metrics and all(world.dataset.metric(metric) for metric in metrics)
    joined = any("." in item.get("column", "") for plan in plans for item in plan["select"])
    assert joined == bool(world.dataset.relationships)


def test_an_uploaded_file_has_its_own(shelf: dict[str, World]) -> None:
    for name, world in shelf.items():
        assert world.index.profile is not None
        made = examples(world.dataset, world.index.profile, "off")
        assert 3 <= len(made) <= 4, name
        for plan in _plans(made, world.dataset):
            assert check_plan(parse_plan(plan), world.dataset) == [], plan
            assert world.run_plan(plan), plan


def test_a_condition_has_a_value_of_the_data_where_it_may_be_seen(worlds: dict[str, World]) -> None:
    world = worlds["ecommerce"]
    assert world.index.profile is not None
    [condition] = [
        one for plan in _plans(examples(world.dataset, world.index.profile, "off"), world.dataset)
        for one in plan.get("filters", ())
    ]  # fmt: skip
    assert world.run_sql(
        f"SELECT count(*) > 0 FROM order_items WHERE {condition['column']} = '{condition['value']}'"
    ) == [(True,)]


def test_none_holds_a_cell_where_cells_are_kept_back() -> None:
    shown = json.dumps(examples(shop(), shop_profile(), "off"))
    hidden = json.dumps(examples(shop(), shop_profile(), "schema"))
    assert CANARY in shown
    for cell in (CANARY, "North", "Barbara", str(CANARY_NUMBER), CANARY_DAY):
        assert cell not in hidden


_NAMES = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12).filter(str.strip)


@given(st.dictionaries(_NAMES, st.sampled_from(sorted(SQL_TYPES)), min_size=1, max_size=6))
def test_every_table_has_examples_that_are_valid(given: dict[str, ColumnType]) -> None:
    columns = {
        name.lower(): Column(name=name, type=kind, sql_type=SQL_TYPES[kind]) for name, kind in given.items()
    }
    table = Table(name="things", file="things.csv", sha256="0" * 64, columns=tuple(columns.values()))
    dataset = Dataset(id="d", tables=(table,), version=f"sha256:{'0' * 64}")
    for privacy in ("off", "schema"):
        made = examples(dataset, _known(dataset), privacy)
        assert 1 <= len(made) <= 4 and len({one["question"] for one in made}) == len(made)
        for plan in _plans(made, dataset):
            assert check_plan(parse_plan(plan), dataset) == []
