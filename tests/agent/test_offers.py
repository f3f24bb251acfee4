"""A question back offers readings. Taking one runs its plan as the answer to the question, recorded as the reader's."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from sandtable.agent.builtin import BuiltinProposer
from sandtable.agent.events import Event, Planned
from sandtable.agent.model_trouble import ModelTrouble
from sandtable.agent.offers import offers_of
from sandtable.agent.proposer import AskBack, PlanProposal
from sandtable.agent.read_as.model import Aligned, Offer, ReadAs, Words
from sandtable.capsule.query import plan_of
from sandtable.capsule.trust import READER
from sandtable.planner.candidates.network.reader import the_reader
from tests.agent.house import BAD, COUNT, SHOP, House, Scripted, kinds, last, open_house
from tests.agent.reader import Reader

QUESTION = "size of an order"
SIZE = (Words(text="size", start=0, end=4),)
AVERAGE = {"table": "orders", "select": [{"agg": "avg", "column": "amount", "as": "average_amount"}]}


def _reading(plan: dict[str, Any], **more: Any) -> PlanProposal:
    alignment = Aligned(question=QUESTION, likely=((("select", 0), SIZE),), **more)
    return PlanProposal(plan, ("a remark",), 0.3, alignment)


ASKS = AskBack("I am not sure.", ("Revenue by region",), (_reading(COUNT), _reading(AVERAGE)))


def _asking(*further: Any) -> Scripted:
    return Scripted([ASKS, *further], name="builtin")


async def _offered(house: House) -> tuple[Offer, ...]:
    asked = last(await house.ask(QUESTION))
    assert asked.ending == "asked" and asked.run_ids == ()
    return asked.choices


def _read(events: list[Event]) -> ReadAs:
    read = next(event.read_as for event in events if isinstance(event, Planned))
    assert read is not None
    return read


async def _is_recorded_as_chosen(house: House, events: list[Event], plan: dict[str, Any]) -> None:
    """The run and its capsule have the question that was asked, the plan, and the reader as its proposer."""
    assert last(events).ending == "answered"
    run = await house.runs.get(last(events).run_ids[0])
    assert run.request.origin is not None
    assert (run.request.question, run.request.origin.proposer) == (QUESTION, READER)
    assert plan_of(run.request.query) == {"dataset_id": "shop", **plan}
    sealed = json.loads(base64.b64decode((await house.runs.capsule(run.id))["payload"]))["predicate"]
    assert sealed["origin"]["proposer"] == READER


async def test_readings_are_offered_with_words(tmp_path: Path) -> None:
    async with open_house(tmp_path, _asking()) as house:
        asked = last(await house.ask(QUESTION))
        assert [each.label for each in asked.choices] == ["Number of orders", "Average amount"]
        assert asked.text == (
            "I am not sure.\n\nWhich of these do you mean?\n1. Number of orders\n2. Average amount\n\n"
            "You could ask:\n- Revenue by region"
        )
        assert asked.suggestions == ("Revenue by region",) and not house.executor.jobs
        message = (await house.state()).values["messages"][-1]
        kept = message.additional_kwargs["sandtable"]["choices"]
        assert kept == [each.model_dump(mode="json") for each in asked.choices]


async def test_a_chosen_reading_runs_as_the_answer(tmp_path: Path) -> None:
    async with open_house(tmp_path, _asking(PlanProposal(COUNT))) as house:
        choice = (await _offered(house))[1]
        events = await house.ask(choice.message, plan=choice.plan)
        assert kinds(events)[:3] == ["plan", "sql", "run"] and len(house.proposer.asked) == 1
        await _is_recorded_as_chosen(house, events, AVERAGE)
        read = _read(events)
        assert read.question == QUESTION and read.trust == ("proposed_by_model",)
        measure = read.parts[0]
        assert (measure.label, measure.source, measure.words) == ("average amount", "likely", SIZE)
        # What comes next builds on it as on any answer.
        await house.ask("and now?")
        before = house.proposer.asked[-1].history[-1]
        assert (before.question, before.ending) == (QUESTION, "answered")
        assert before.plan == choice.plan and before.likely == (("measure", "average amount"),)


@pytest.mark.parametrize(
    "said",
    [
        "2",
        "2.",
        "#2",
        "the second",
        "The second one, please",
        "option 2",
        "average  amount",
        "“Average amount”",
        "Read it as “Average amount”",
    ],
)
async def test_it_is_taken_by_number_or_label(tmp_path: Path, said: str) -> None:
    async with open_house(tmp_path, _asking()) as house:
        await _offered(house)
        await _is_recorded_as_chosen(house, await house.ask(said), AVERAGE)


@pytest.mark.parametrize("said", ["3", "the third", "2 orders", "amount", "yes", "second amount"])
async def test_anything_else_is_a_question(tmp_path: Path, said: str) -> None:
    async with open_house(tmp_path, _asking()) as house:
        await _offered(house)
        await house.ask(said)
        assert [asked.question for asked in house.proposer.asked] == [QUESTION, said]


async def test_a_single_reading_is_confirmed(tmp_path: Path) -> None:
    script = Scripted([AskBack("Not sure.", (), (_reading(AVERAGE),))], name="builtin")
    async with open_house(tmp_path, script) as house:
        asked = last(await house.ask(QUESTION))
        assert asked.text == "Not sure.\n\nDo you mean this?\n1. Average amount" and not asked.suggestions
        await _is_recorded_as_chosen(house, await house.ask("Yes!"), AVERAGE)


async def test_an_older_offer_is_taken_by_its_message_and_its_plan(tmp_path: Path) -> None:
    async with open_house(tmp_path, _asking(PlanProposal(COUNT))) as house:
        count, average = await _offered(house)
        await house.ask("number of orders?")
        await _is_recorded_as_chosen(house, await house.ask(average.message, plan=average.plan), AVERAGE)
        # The same plan as the choice of a part is a person's own, and a number means nothing any more.
        events = await house.ask("Read “average amount” as “number of orders”", plan=count.plan)
        assert (await house.runs.get(last(events).run_ids[0])).request.origin is None
        await house.ask("2")
        assert house.proposer.asked[-1].question == "2"


async def test_a_plan_that_was_not_offered_is_a_clients_own(tmp_path: Path) -> None:
    async with open_house(tmp_path, _asking()) as house:
        choice = (await _offered(house))[0]
        events = await house.ask(choice.message, plan={**(choice.plan or {}), "limit": 3})
        run = await house.runs.get(last(events).run_ids[0])
        assert run.request.origin is None and run.request.question == choice.message
        events = await house.ask(choice.message, thread="another", plan=choice.plan)
        assert (await house.runs.get(last(events).run_ids[0])).request.origin is None


async def test_a_chosen_reading_waits_for_approval(tmp_path: Path) -> None:
    async with open_house(tmp_path, _asking(), approval="sql") as house:
        choice = (await _offered(house))[1]
        assert last(await house.ask(choice.message, plan=choice.plan)).ending == "waiting"
        await _is_recorded_as_chosen(house, await house.approve({"type": "approve"}), AVERAGE)


async def test_a_chosen_reading_is_not_repaired(tmp_path: Path) -> None:
    async with open_house(tmp_path, _asking()) as house:
        choice = (await _offered(house))[1]
        table = SHOP.tables[0]
        columns = tuple(column for column in table.columns if column.name != "amount")
        tables = (table.model_copy(update={"columns": columns}),)
        house.datasets.current["shop"] = SHOP.model_copy(update={"tables": tables, "metrics": ()})
        events = await house.ask(choice.message, plan=choice.plan)
        assert last(events).ending == "refused" and len(house.proposer.asked) == 1


async def test_instead_of_a_models_plan_that_does_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planner = BuiltinProposer(the_reader)
    monkeypatch.setattr("tests.agent.house.BuiltinProposer", lambda: planner)
    script = Scripted([PlanProposal(BAD)], name="openai:gpt-5")
    async with open_house(tmp_path, script, planner=True) as house:
        choices = await _offered(house)
        [average] = [each for each in choices if each.label == "Average amount"]
        events = await house.ask(average.message, plan=average.plan)
        await _is_recorded_as_chosen(house, events, AVERAGE)


async def test_a_model_that_is_down_is_a_failure_without_offers(tmp_path: Path) -> None:
    trouble = ModelTrouble("unreachable", "no answer", suggestion="Mend it.", model="openai:gpt-5")
    async with open_house(tmp_path, Scripted([trouble], name="openai:gpt-5"), planner=True) as house:
        asked = last(await house.ask(QUESTION))
        assert asked.ending == "failed" and asked.choices == ()


async def test_with_the_reader_itself(tmp_path: Path) -> None:
    async with open_house(tmp_path, Reader([], planner=BuiltinProposer(the_reader))) as house:
        choices = await _offered(house)
        labels = [each.label for each in choices]
        events = await house.ask(("the first", "the second", "the third")[labels.index("Average amount")])
        await _is_recorded_as_chosen(house, events, AVERAGE)
        assert [(part.label, part.source) for part in _read(events).parts] == [("average amount", "likely")]
        events = await house.ask("by region")
        assert last(events).ending == "answered"
        assert [(part.label, part.source) for part in _read(events).parts][:2] == [
            ("average amount", "likely"),
            ("region", "words"),
        ]


def test_what_a_plan_leaves_out_is_in_its_label() -> None:
    (made,) = offers_of((_reading(COUNT, unread=SIZE),), SHOP)
    assert made.label == "Number of orders (leaves out “size”)"


def test_the_same_words_are_offered_once() -> None:
    again = {**AVERAGE, "order_by": [{"expr": "average_amount", "dir": "desc"}]}
    made = offers_of((_reading(AVERAGE), _reading(again), _reading(COUNT), _reading(BAD)), SHOP)
    assert [each.label for each in made] == ["Average amount", "Number of orders"]


def test_the_same_words_over_another_table_name_the_tables() -> None:
    table = SHOP.tables[0]
    both = SHOP.model_copy(update={"tables": (table, table.model_copy(update={"name": "old_orders"}))})
    made = offers_of((_reading(AVERAGE), _reading({**AVERAGE, "table": "old_orders"})), both)
    assert [each.label for each in made] == ["Average amount, over orders", "Average amount, over old orders"]


def test_at_most_three_are_offered() -> None:
    plans = [
        {"table": "orders", "select": [{"agg": agg, "column": "amount", "as": "it"}]}
        for agg in ("sum", "avg", "median", "max", "min")
    ]
    made = offers_of([_reading(plan) for plan in plans], SHOP)
    assert [each.plan["select"][0]["agg"] for each in made if each.plan] == ["sum", "avg", "median"]
