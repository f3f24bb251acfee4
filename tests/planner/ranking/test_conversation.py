"""Messages after an answer, in other words than the rules of dialogue know."""

from __future__ import annotations

from typing import Any

import pytest

from sandtable.planner.candidates.network.reader import Reader, the_reader
from sandtable.planner.outcome import EarlierTurn, Understood, Unsure
from sandtable.planner.planner import plan_question
from sandtable.planner.ranking.candidates import Field
from sandtable.planner.ranking.essence import essence
from sandtable.planner.schema.entries import Json
from tests.planner.ground import World

BY_COUNTRY: dict[str, Any] = {
    "dataset_id": "ecommerce",
    "table": "orders",
    "select": [{"column": "country"}, {"agg": "count", "as": "count"}],
    "group_by": ["country"],
    "time": {"from": "2025-01-01", "to": "2025-12-31"},
    "order_by": [{"expr": "count", "dir": "desc"}],
}
ONE_YEAR = {"from": "2024-01-01", "to": "2024-12-31"}


@pytest.fixture(scope="module")
def reader() -> Reader:
    found = the_reader()
    assert found is not None, "the extra `reader` is not installed"
    return found


def after(world: World, message: str, before: Json, reader: Reader) -> Understood | Unsure:
    return plan_question(message, world.index, EarlierTurn("", before), reader=reader)


@pytest.mark.parametrize(
    ("message", "change"),
    [
        ("now the same for 2024", {"time": ONE_YEAR}),
        ("ok but for 2024 please", {"time": ONE_YEAR}),
        (
            "could you only look at the cancelled ones",
            {"filters": [{"column": "status", "op": "=", "value": "cancelled"}]},
        ),
        (
            "can you also divide it by channel",
            {
                "select": [{"column": "country"}, {"column": "channel"}, {"agg": "count", "as": "count"}],
                "group_by": [],
            },
        ),
    ],
)
def test_a_message_changes_what_it_says_and_keeps_the_rest(
    worlds: dict[str, World], reader: Reader, message: str, change: Json
) -> None:
    world = worlds["ecommerce"]
    found = after(world, message, BY_COUNTRY, reader)
    assert isinstance(found, Understood), found
    assert found.follow_up
    wanted = {**BY_COUNTRY, **change}
    assert essence(found.plan, world.index, ordered=False) == essence(wanted, world.index, ordered=False)


def test_a_whole_question_keeps_nothing(worlds: dict[str, World], reader: Reader) -> None:
    world = worlds["ecommerce"]
    found = after(world, "What is the average list price of the products?", BY_COUNTRY, reader)
    assert isinstance(found, Understood), found
    assert not found.follow_up
    assert "time" not in found.plan and found.plan["table"] == "inventory"


@pytest.mark.parametrize("message", ["and by weather?", "only the purple ones", "hmm"])
def test_what_the_data_do_not_have_is_asked_about(
    worlds: dict[str, World], reader: Reader, message: str
) -> None:
    assert isinstance(after(worlds["ecommerce"], message, BY_COUNTRY, reader), Unsure)


def test_an_answer_is_drawn_as_the_one_before(worlds: dict[str, World], reader: Reader) -> None:
    found = after(worlds["ecommerce"], "ok but for 2024 please", {**BY_COUNTRY, "chart": "pie"}, reader)
    assert isinstance(found, Understood) and found.plan["chart"] == "pie"


def test_what_was_answered_already_is_no_candidate(worlds: dict[str, World]) -> None:
    among = Field("and now?", worlds["ecommerce"].index, before=BY_COUNTRY)
    unordered = {key: value for key, value in BY_COUNTRY.items() if key != "order_by"}
    turned = {**BY_COUNTRY, "order_by": [{"expr": "count", "dir": "asc"}]}
    for plan, likelihood in ((BY_COUNTRY, 0.5), (unordered, 0.3), (turned, 0.1)):
        candidate = among.add(plan)
        assert candidate is not None
        candidate.likelihood = likelihood
    among.without_the_answer_before()
    assert [each.plan for each in among.candidates] == [turned]
    assert among.candidates[0].likelihood == pytest.approx(0.5)


def test_the_best_is_shown_with_what_ties_with_it(worlds: dict[str, World]) -> None:
    found = plan_question("which country has the most orders?", worlds["ecommerce"].index)
    assert isinstance(found, Understood)
    assert (found.plan["limit"], found.plan["ties"]) == (1, True)
    several = plan_question("only the top 3", worlds["ecommerce"].index, EarlierTurn("", found.plan))
    assert isinstance(several, Understood)
    assert several.plan["limit"] == 3 and "ties" not in several.plan


def test_what_is_so_already_is_answered_again(worlds: dict[str, World], reader: Reader) -> None:
    ordered = {**BY_COUNTRY, "order_by": [{"expr": "count", "dir": "desc"}]}
    found = after(worlds["ecommerce"], "sort it from highest to lowest", ordered, reader)
    assert isinstance(found, Understood) and found.plan == ordered
    assert isinstance(after(worlds["ecommerce"], "show me some more", ordered, reader), Unsure)


@pytest.mark.parametrize("before", [None, EarlierTurn("how is Smith doing?", {})])
def test_someone_who_is_not_named_is_asked_about(
    worlds: dict[str, World], reader: Reader, before: EarlierTurn | None
) -> None:
    index = worlds["support"].index
    assert isinstance(plan_question("What was his average csat?", index, before, reader=reader), Unsure)
