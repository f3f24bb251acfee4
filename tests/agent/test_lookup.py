"""Values of a proposal are looked up before it runs, and an answer that found nothing says which condition is why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sandtable.agent.proposer import PlanProposal, SqlProposal
from sandtable.capsule.query import SqlQuery, plan_of
from sandtable.catalog.model import Dataset
from sandtable.catalog.profile import Profile
from sandtable.errors import ErrorCode
from sandtable.plan.emptying import funnel_of
from sandtable.plan.literals import text_literals
from sandtable.plan.lookup import counts_of, spellings_of
from sandtable.plan.validate import parse_plan
from sandtable.sandbox.fake import Script
from sandtable.sandbox.job import JobError
from sandtable.sql.compile import compile_plan
from tests.agent.house import COUNT, PROFILE, SHOP, House, Scripted, kinds, last, open_house

QUESTION = "How many orders are in the nroth?"


def counting(value: Any, op: str = "=") -> dict[str, Any]:
    return {**COUNT, "filters": [{"column": "region", "op": op, "value": value}]}


def whole(plan: dict[str, Any]) -> dict[str, Any]:
    return {"dataset_id": "shop", **plan}


def on(house: House, plan: dict[str, Any], *row: Any) -> None:
    """The sandbox answers this plan with one row."""
    columns = [(item.get("as") or item["column"], "BIGINT") for item in plan["select"]]
    house.executor.on(judged(plan), Script(columns=columns, rows=(row,)))


def judged(plan: dict[str, Any]) -> str:
    """The text that runs."""
    return " ".join(compile_plan(parse_plan(plan), SHOP, max_rows=200).sql.split()) + ";"


def not_complete(house: House) -> None:
    """The profile of the dataset lists only some values of `region`."""
    table = PROFILE.tables[0]
    region = table.columns[0].model_copy(update={"complete": False})
    partial = PROFILE.model_copy(
        update={"tables": (table.model_copy(update={"columns": (region, *table.columns[1:])}),)}
    )

    async def profile(dataset: Dataset) -> Profile:
        return partial

    house.datasets.profile = profile


@pytest.mark.parametrize(
    ("plan", "label"),
    [
        (counting("nroth"), "region is North"),
        (counting("nroth", "!="), "region is not North"),
        (counting(["South", "nroth"], "in"), "region is North"),
    ],
)
async def test_a_models_value_that_is_in_no_row_is_asked_about(
    tmp_path: Path, plan: dict[str, Any], label: str
) -> None:
    async with open_house(tmp_path, Scripted([PlanProposal(plan)]), planner=True) as house:
        events = await house.ask(QUESTION)
        said = last(events)
        assert (said.ending, said.run_ids, kinds(events)) == ("asked", (), ["message"])
        assert said.text == f"No row has `nroth` as region.\n\nDo you mean this?\n1. {label}"
        assert len(house.proposer.asked) == 1 and not house.executor.jobs, "nothing ran"
        [choice] = said.choices
        assert choice.label == label and choice.plan != whole(plan)


@pytest.mark.parametrize("by_plan", [True, False])
async def test_the_chosen_value_runs_as_the_models_plan(tmp_path: Path, by_plan: bool) -> None:
    async with open_house(tmp_path, Scripted([PlanProposal(counting("nroth"))]), planner=True) as house:
        [choice] = (await house.say(QUESTION)).choices
        events = await house.ask(choice.message, plan=choice.plan) if by_plan else await house.ask("1")
        run = await house.runs.get(last(events).run_ids[0])
        assert last(events).ending == "answered" and len(house.proposer.asked) == 1
        assert plan_of(run.request.query) == whole(counting("North"))
        assert run.request.origin is not None and run.request.origin.proposer == "scripted:one"
        assert run.request.question == QUESTION


async def test_a_value_in_a_plan_that_a_person_chose_is_looked_up_too(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        said = last(await house.ask("Read it so", plan=whole(counting("nroth"))))
        assert said.ending == "asked" and not house.executor.jobs
        events = await house.ask("yes")
        run = await house.runs.get(last(events).run_ids[0])
        assert plan_of(run.request.query) == whole(counting("North")) and run.request.origin is None


async def test_a_value_like_no_other_is_run_and_explained(tmp_path: Path) -> None:
    plan = whole(counting("Atlantis"))
    funnel = funnel_of(plan, SHOP)
    assert funnel is not None
    async with open_house(tmp_path, Scripted([PlanProposal(plan)])) as house:
        on(house, plan, 0)
        on(house, funnel.plan, 1240, 0)
        said = await house.say("How many orders are in Atlantis?")
        assert said.ending == "answered" and len(said.run_ids) == 2
        assert "No row has `Atlantis` as region" in said.text
        assert "Of 1,240 orders, none is left where region is Atlantis." in said.text
        counted = await house.runs.get(said.run_ids[1])
        assert plan_of(counted.request.query) == funnel.plan and counted.rows == ((1240, 0),)
        assert await house.runs.capsule(counted.id), "the numbers are on record"


async def test_an_answer_that_found_something_counts_nothing_more(tmp_path: Path) -> None:
    async with open_house(tmp_path, Scripted([PlanProposal(counting("North"))])) as house:
        said = await house.say("How many orders are in the North?")
        assert len(said.run_ids) == len(house.executor.jobs) == 1


async def test_a_count_that_fails_leaves_the_answer_as_it_is(tmp_path: Path) -> None:
    plan = whole(counting("North"))
    async with open_house(tmp_path, Scripted([PlanProposal(plan)])) as house:
        on(house, plan, 0)
        funnel = funnel_of(plan, SHOP)
        assert funnel is not None
        slow = JobError(code=ErrorCode.RUNNER_TIMEOUT, type="Timeout", message="too slow")
        house.executor.on(judged(funnel.plan), Script(error=slow))
        said = await house.say("How many orders are in the North?")
        assert said.text.startswith("There are no orders where region is North.") and len(said.run_ids) == 1


@pytest.mark.parametrize("there", [True, False])
async def test_what_the_profile_does_not_list_is_counted_in_the_data(tmp_path: Path, there: bool) -> None:
    plan = whole(counting("Northe"))
    literals = text_literals(plan, SHOP)
    [(counts, _)] = counts_of(literals, "shop")
    async with open_house(tmp_path, Scripted([PlanProposal(plan)])) as house:
        not_complete(house)
        on(house, plan, 2)
        on(house, counts, 2 if there else 0)
        on(house, spellings_of(literals[0], "shop"), "Northeast", 7)
        said = await house.say("How many orders are in the Northe?")
        if there:
            assert said.ending == "answered" and len(house.executor.jobs) == 2
            assert len(said.run_ids) == 1, "what was looked up is no part of the answer"
        else:
            assert [choice.label for choice in said.choices] == ["region is North", "region is Northeast"]
            assert said.ending == "asked" and len(said.run_ids) == len(house.executor.jobs) == 2


SQL = "SELECT count(*) AS n FROM orders WHERE region = 'nroth'"
COUNTED = (
    "SELECT count(*) AS all_rows, count(*) FILTER (WHERE condition_1) AS left_1 "
    "FROM (SELECT (region = '{}') AS condition_1 FROM orders) AS conditions_met;"
)


def on_sql(house: House, sql: str, *row: Any) -> None:
    columns = [(f"c{place}", "BIGINT") for place in range(len(row))]
    house.executor.on(sql if sql.endswith(";") else f"{sql};", Script(columns=columns, rows=(row,)))


@pytest.mark.parametrize("by_number", [True, False])
async def test_a_value_in_sql_of_a_model_is_asked_about(tmp_path: Path, by_number: bool) -> None:
    async with open_house(tmp_path, Scripted([SqlProposal(SQL)])) as house:
        said = await house.say(QUESTION)
        assert said.text == "No row has `nroth` as region.\n\nDo you mean this?\n1. region is North"
        assert said.ending == "asked" and not house.executor.jobs
        [choice] = said.choices
        corrected = SQL.replace("nroth", "North")
        assert choice.plan is None and choice.sql == corrected
        on_sql(house, corrected, 7)
        run = await house.runs.get((await house.say("1" if by_number else choice.message)).run_ids[0])
        assert run.rows == ((7,),) and len(house.proposer.asked) == 1
        assert run.request.query == SqlQuery(corrected) and run.request.question == QUESTION
        assert run.request.origin is not None and run.request.origin.proposer == "scripted:one"


async def test_sql_that_was_offered_can_be_taken_later(tmp_path: Path) -> None:
    async with open_house(tmp_path, Scripted([SqlProposal(SQL), PlanProposal(counting("North"))])) as house:
        [choice] = (await house.say(QUESTION)).choices
        await house.say("How many orders are in the North?")
        run = await house.runs.get((await house.say(choice.message)).run_ids[0])
        assert choice.sql and run.request.query == SqlQuery(choice.sql) and run.request.question == QUESTION


async def test_sql_of_a_model_with_a_value_like_no_other_is_run_and_explained(tmp_path: Path) -> None:
    sql = SQL.replace("nroth", "Atlantis")
    async with open_house(tmp_path, Scripted([SqlProposal(sql)])) as house:
        on_sql(house, sql, 0)
        on_sql(house, COUNTED.format("Atlantis"), 1240, 0)
        said = await house.say("How many orders are in Atlantis?")
        assert said.ending == "answered" and len(said.run_ids) == 2
        assert said.text.count("No row has `Atlantis` as region") == 1
        assert "Of 1,240 rows of `orders`, none is left where `region = 'Atlantis'`." in said.text


async def test_sql_of_a_person_runs_and_an_empty_result_is_explained(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house:
        on_sql(house, SQL, 0)
        on_sql(house, COUNTED.format("nroth"), 1240, 0)
        said = await house.say(SQL)
        assert said.ending == "answered" and len(said.run_ids) == 2
        assert (
            "Of 1,240 rows of `orders`, none is left where `region = 'nroth'`. No row has `nroth` as region. "
            "Near `nroth`: `North`." in said.text
        )


async def test_where_a_person_approves_nothing_else_runs(tmp_path: Path) -> None:
    async with open_house(tmp_path, Scripted([PlanProposal(counting("Northe"))]), approval="sql") as house:
        not_complete(house)
        on(house, whole(counting("Northe")), 0)
        assert (await house.say("How many orders are in the Northe?")).ending == "waiting"
        said = last(await house.approve({"type": "accept", "args": None}))
        assert said.ending == "answered" and len(house.executor.jobs) == 1
