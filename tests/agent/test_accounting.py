"""A model's plan held against the question: what was not asked for goes, what was not read is shown or asked back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sandtable.agent.accounting import accounted
from sandtable.agent.proposer import AskBack, PlanProposal, SqlProposal
from sandtable.capsule.query import plan_of
from sandtable.planner.schema.index import SchemaIndex
from tests.agent.house import PROFILE, SHOP, UNKNOWN, Scripted, open_house

INDEX = SchemaIndex.build(SHOP, PROFILE)
REVENUE: dict[str, Any] = {
    "dataset_id": "shop",
    "table": "orders",
    "select": [{"column": "region"}, {"metric": "revenue"}],
}
WINDOW = {"from": "2025-01-01", "to": "2025-12-31"}
NORTH = {"column": "region", "op": "=", "value": "North"}
LARGE = {"column": "amount", "op": ">", "value": 100}
FILTERED_TWICE = {
    **REVENUE,
    "select": [{"column": "region"}, {"agg": "sum", "column": "amount", "where": [NORTH]}],
}


@pytest.mark.parametrize(
    ("question", "plan", "kept"),
    [
        pytest.param("Revenue by region", {**REVENUE, "time": WINDOW}, REVENUE, id="a window"),
        pytest.param("Revenue by region", {**REVENUE, "filters": [NORTH]}, REVENUE, id="a condition"),
        pytest.param(
            "Revenue by region in North", {**REVENUE, "filters": [LARGE, NORTH]},
            {**REVENUE, "filters": [NORTH]}, id="one of two conditions",
        ),
        pytest.param("Revenue by region", {**REVENUE, "limit": 1, "ties": True}, REVENUE, id="a limit"),
        pytest.param(
            "Revenue by region", {**REVENUE, "filters": [LARGE], "time": WINDOW, "limit": 3},
            REVENUE, id="all of them",
        ),
    ],
)  # fmt: skip
def test_what_the_question_does_not_name_is_left_out(
    question: str, plan: dict[str, Any], kept: dict[str, Any]
) -> None:
    held = accounted(question, plan, INDEX)
    assert (held.plan, held.problem) == (kept, None)
    assert held.remarks and all("which the question does not name: left out" in text for text in held.remarks)


@pytest.mark.parametrize(
    ("question", "given", "chart", "remark"),
    [
        ("Revenue by region as a pie chart", None, "pie", ""),
        ("Revenue by region as a pie chart", "bar", "pie", ""),
        ("Revenue by region", "bar", "bar", ""),
        ("Revenue by region as a radar chart", None, None, "There is no radar chart here"),
    ],
)
def test_the_chart_is_the_one_that_the_question_asks_for(
    question: str, given: str | None, chart: str | None, remark: str
) -> None:
    held = accounted(question, {**REVENUE, "chart": given} if given else REVENUE, INDEX)
    assert held.problem is None and held.plan.get("chart") == chart
    assert [text for text in held.remarks if not text.startswith(remark or "-")] == []


@pytest.mark.parametrize(
    ("question", "plan"),
    [
        pytest.param("Revenue by region", REVENUE, id="nothing more"),
        pytest.param("Revenue by region during 2025", {**REVENUE, "time": WINDOW}, id="a window"),
        pytest.param("Revenue by region in North", {**REVENUE, "filters": [NORTH]}, id="a condition"),
    ],
)
def test_what_the_question_names_stays(question: str, plan: dict[str, Any]) -> None:
    held = accounted(question, plan, INDEX)
    assert (held.plan, held.problem, held.remarks) == (plan, None, ())


def test_a_condition_inside_a_measure_goes_back_to_the_model() -> None:
    held = accounted("Total amount by region", FILTERED_TWICE, INDEX)
    assert held.problem is not None and held.plan == FILTERED_TWICE
    assert "no word of the question asks for the condition" in held.problem.message


@pytest.mark.parametrize(
    ("question", "plan", "remark"),
    [
        pytest.param(
            "Revenue by region of loyal customers", REVENUE,
            "Check this: no part of the plan means `loyal`, `customers`.", id="words in no part",
        ),
        pytest.param(
            "Revenue by region of arctic orders", {**REVENUE, "filters": [NORTH]},
            "Check this: the model read `arctic` as `region is North`.", id="a word read as a condition",
        ),
        pytest.param(
            "Umsatz nach Region im letzten Monat", {**REVENUE, "time": {"period": "last_month"}},
            "The plan was not held against the words: only English is read.", id="another language",
        ),
    ],
)  # fmt: skip
def test_what_a_person_should_check_is_said(question: str, plan: dict[str, Any], remark: str) -> None:
    held = accounted(question, plan, INDEX)
    assert (held.plan, held.problem, held.remarks) == (plan, None, (remark,))


def test_a_follow_up_keeps_what_the_question_before_named() -> None:
    plan = {**REVENUE, "select": [{"bucket": "month"}, {"metric": "revenue"}], "filters": [NORTH]}
    before = {**REVENUE, "filters": [NORTH]}
    held = accounted("and by month?", plan, INDEX, before)
    assert (held.plan, held.problem, held.remarks) == (plan, None, ())


def test_a_question_of_its_own_that_keeps_something_says_so() -> None:
    before = {**REVENUE, "filters": [NORTH]}
    held = accounted(
        "What is the total revenue of all the orders in the shop by region?", before, INDEX, before
    )
    assert held.problem is None and any("Kept from the question before" in text for text in held.remarks)


async def test_an_unasked_window_is_not_in_what_runs(tmp_path: Path) -> None:
    model = Scripted([PlanProposal({**REVENUE, "time": WINDOW})])
    async with open_house(tmp_path, model, planner=True) as house:
        said = await house.say("Revenue by region")
        run = await house.runs.get(said.run_ids[0])
    assert said.ending == "answered" and len(model.asked) == 1
    assert plan_of(run.request.query) == REVENUE
    assert "which the question does not name: left out" in said.text


async def test_an_unasked_condition_that_cannot_be_taken_out_is_repaired(tmp_path: Path) -> None:
    total = {**REVENUE, "select": [{"column": "region"}, {"agg": "sum", "column": "amount"}]}
    model = Scripted([PlanProposal(FILTERED_TWICE), PlanProposal(total)])
    async with open_house(tmp_path, model, planner=True) as house:
        said = await house.say("Total amount by region")
        run = await house.runs.get(said.run_ids[0])
    assert said.ending == "answered" and plan_of(run.request.query) == total
    assert "no word of the question asks for the condition" in model.asked[1].attempts[0].problem.message


async def test_words_in_no_part_of_the_plan_are_shown_with_the_answer(tmp_path: Path) -> None:
    async with open_house(tmp_path, Scripted([PlanProposal(REVENUE)]), planner=True) as house:
        said = await house.say("Revenue by region of loyal customers")
    assert said.ending == "answered" and "no part of the plan means" in said.text and "loyal" in said.text


async def test_a_plan_that_never_fits_is_answered_by_the_planner(tmp_path: Path) -> None:
    model = Scripted([PlanProposal(UNKNOWN)])
    async with open_house(tmp_path, model, planner=True) as house:
        said = await house.say("How many orders are there?")
        run = await house.runs.get(said.run_ids[0])
    assert said.ending == "answered" and len(model.asked) == 3
    assert "because scripted:one proposed no plan that fits" in said.text
    assert run.request.origin is not None and run.request.origin.proposer == "builtin"


@pytest.mark.parametrize(
    "plan",
    [
        pytest.param({"select": [{"column": "zorp"}, {"agg": "count"}]}, id="no table"),
        pytest.param({"table": "zorps", "select": [{"agg": "count"}]}, id="a table that is not there"),
        pytest.param({"table": "orders", "select": [{"column": "zorp"}]}, id="a column that is not there"),
    ],
)
async def test_what_nobody_knows_is_asked_back(plan: dict[str, Any], tmp_path: Path) -> None:
    async with open_house(tmp_path, Scripted([PlanProposal(plan)]), planner=True) as house:
        said = await house.say("How many zorps by moon?")
    assert (said.ending, said.run_ids) == ("asked", ()) and said.suggestions
    assert "zorp" in said.text and "is missing" not in said.text


async def test_a_model_that_asks_back_after_a_refused_plan_is_listened_to(tmp_path: Path) -> None:
    model = Scripted([PlanProposal(UNKNOWN), AskBack("There are no zorps in this shop.")])
    async with open_house(tmp_path, model) as house:
        said = await house.say("zorps by region")
    assert said.ending == "asked" and "There are no zorps in this shop." in said.text


async def test_what_the_gate_refused_stays_a_refusal(tmp_path: Path) -> None:
    model = Scripted([SqlProposal("DROP TABLE orders"), AskBack("I cannot do that.")])
    async with open_house(tmp_path, model, planner=True) as house:
        said = await house.say("drop the orders please, as SQL")
    assert said.ending == "refused"
