"""What the built-in planner makes of a question reaches the chat model: its reading, its doubts, the values named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sandtable.agent.builtin import BuiltinProposer
from sandtable.agent.privacy import shown_reading
from sandtable.agent.prompting.hints import Hints, NamedValue, shown_hints
from sandtable.agent.proposer import Asked, Exchange, PlanProposal
from tests.agent.house import COUNT, Scripted, open_house
from tests.agent.models.asking import CANARY, shop, shop_profile
from tests.agent.reader import reads
from tests.planner.ground import World


async def _hints(world: World, question: str, **more: Any) -> Hints:
    assert world.index.profile is not None
    return await BuiltinProposer().hint(Asked(question, world.dataset, world.index.profile, **more))


async def test_a_reading_that_it_would_answer_by_is_sure(worlds: dict[str, World]) -> None:
    hints = await _hints(worlds["ecommerce"], "Revenue by region")
    assert hints.sure and hints.unbound == () and hints.plan is not None
    assert hints.plan["table"] == "order_items"


async def test_a_guess_below_the_threshold_comes_with_the_words_it_leaves_out(
    worlds: dict[str, World],
) -> None:
    hints = await _hints(worlds["ecommerce"], "Revenue by region for frobnicated orders")
    assert not hints.sure and hints.plan is not None and "frobnicated" in hints.unbound


async def test_a_reading_with_a_likely_part_is_not_sure(
    worlds: dict[str, World], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandtable.agent.builtin.plan_question", reads("takings", "revenue"))
    hints = await _hints(worlds["ecommerce"], "Takings by region")
    assert not hints.sure and hints.plan is not None and hints.unbound == ("Takings",)


async def test_values_that_the_question_names_are_looked_up(worlds: dict[str, World]) -> None:
    hints = await _hints(worlds["ecommerce"], "How loyal were buyers of electronics in north america?")
    found = {(one.words, one.column, one.value) for one in hints.values}
    assert found == {
        ("north america", "orders.region", "North America"),
        ("electronics", "order_items.category", "Electronics"),
        ("electronics", "inventory.category", "Electronics"),
    }


async def test_a_follow_up_is_read_as_one(worlds: dict[str, World]) -> None:
    before = {"dataset_id": "ecommerce", "table": "order_items", "select": [{"metric": "revenue"}]}
    history = (Exchange("Revenue", "It is 1.", "answered", plan=before),)
    hints = await _hints(worlds["ecommerce"], "and by region?", history=history)
    assert hints.sure and "orders.region" in json.dumps(hints.plan)


async def test_of_another_language_only_values_are_read(worlds: dict[str, World]) -> None:
    hints = await _hints(worlds["ecommerce"], "Wie viele Bestellungen gab es in Germany nach Monat?")
    assert hints.plan is None and [one.value for one in hints.values] == ["Germany"]


READING = {
    "dataset_id": "shop", "table": "orders", "select": [{"agg": "count", "as": "orders"}],
    "filters": [{"column": "region", "op": "=", "value": "North"}], "notes": "Orders of North",
}  # fmt: skip
NORTH = NamedValue("north", "orders.region", "North")


def _shown(hints: Hints, typed: str, privacy: Any) -> dict[str, Any]:
    return shown_hints(hints, shop(), shop_profile(), typed, privacy)


def test_no_value_is_shown_that_the_prompt_has_already() -> None:
    bound = Hints(READING, sure=True, values=(NORTH,))
    assert _shown(bound, "orders of north", "off").keys() == {"reading", "sure"}
    listed = NamedValue("north", "orders.region", "North")
    slip = NamedValue("norht", "orders.region", "North")
    unlisted = NamedValue("barbara liskov", "orders.customer", "Barbara Liskov")
    as_typed = NamedValue("Barbara Liskov", "orders.customer", "Barbara Liskov")
    shown = _shown(Hints(values=(listed, slip, unlisted, as_typed)), "", "off")
    assert [one.get("value") for one in shown["values"]] == [None, "North", "Barbara Liskov", None]


def test_cells_are_kept_back_with_privacy() -> None:
    hints = Hints(READING, unbound=("frobnicated",), values=(NamedValue("zan", "orders.region", CANARY),))
    assert _shown(hints, "frobnicated orders of north", "schema") == {"not_read": ["frobnicated"]}
    typed = _shown(hints, "frobnicated orders of North", "schema")
    assert typed["reading"]["filters"] == READING["filters"] and "values" not in typed


@pytest.mark.parametrize(
    ("time", "passes"),
    [
        pytest.param({"from": "2025-03-01", "to": "2025-03-31"}, True, id="a month"),
        pytest.param({"from": "2025-03-17"}, False, id="a day that nobody typed"),
        pytest.param({"last": 6, "unit": "month"}, True, id="relative"),
    ],
)
def test_a_day_that_nobody_typed_may_be_a_cell(time: dict[str, Any], passes: bool) -> None:
    plan = {"table": "orders", "select": [{"agg": "count"}], "time": time}
    assert (shown_reading(plan, "orders in march", "schema") is not None) is passes
    assert shown_reading(plan, "", "off") == plan


async def test_the_conversation_hands_them_to_the_model(tmp_path: Path) -> None:
    proposer = Scripted([PlanProposal(COUNT)])
    async with open_house(tmp_path, proposer, planner=True) as house:
        await house.ask("How many orders are there?")
    [asked] = proposer.asked
    assert asked.hints.sure and asked.hints.plan is not None
