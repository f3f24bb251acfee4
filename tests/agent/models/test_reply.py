"""A model's reply, however it is wrapped; and whatever it is, reading it never raises."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtable.agent.model_reply import ModelReply, read_reply, reply_schema, strict_reply_schema
from sandtable.agent.proposer import AnalysisProposal, AskBack, PlanProposal, SqlProposal, Talk
from sandtable.errors import Problem
from sandtable.plan.model import QueryPlan
from tests.agent.models.asking import GOOD, PLAN

TEXT = json.dumps(GOOD)
_INNER = {key: value for key, value in PLAN.items() if key != "dataset_id"}
CUT_AFTER_A_DEFINITION = json.dumps({"intent": "plan", "plan": {"define": [{"name": "a", "plan": _INNER}]}})[
    :-3
]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "the reply was empty", id="empty"),
        pytest.param("<think>hmm", "the reply was empty", id="only-thoughts"),
        pytest.param("No idea.", "the reply holds no JSON object", id="prose"),
        pytest.param("[1]", "the reply is JSON, but no object", id="list"),
        pytest.param(TEXT[:50], "the reply's JSON ends before it is complete", id="cut"),
        pytest.param(CUT_AFTER_A_DEFINITION, "ends before it is complete", id="cut-after-a-definition"),
        pytest.param(TEXT[: TEXT.index("region") + 3], "ends before it is complete", id="cut-in-text"),
        pytest.param(f"Here: {TEXT[:50]}", "ends before it is complete", id="cut-after-prose"),
        pytest.param('{"intent": plan}', "is not JSON: Expecting value (line 1, column 12)", id="unquoted"),
        pytest.param(
            '{"intent": "guess"}', "must be one of plan, sql, ask_back, talk, analysis", id="bad-intent"
        ),
        pytest.param('{"plan": 3, "intent": "plan"}', "`plan`: input should be", id="plan-is-a-number"),
        pytest.param('{"intent": "plan", "plan": "{"}', "ends before it is complete", id="cut-plan-text"),
        pytest.param('{"intent": "plan"}', "but no `plan`", id="no-plan"),
        pytest.param('{"intent": "sql", "sql": " "}', "but no `sql`", id="no-sql"),
        pytest.param('{"intent": "talk"}', "but no `text`", id="no-text"),
        pytest.param('{"a":' * 10_000, "nested too deeply", id="deep"),
        pytest.param('{"a":' * 200 + "1" + "}" * 200, "nested too deeply", id="deep-and-whole"),
        pytest.param('{"a":' * 100_000, "has 500,000 characters, more than 64,000", id="long"),
        pytest.param("[" + "1," * 25_000 + "1]", "more than 20,000 values", id="many-values"),
        pytest.param('{"a":' + "9" * 5_000 + "}", "too many digits", id="digits"),
        pytest.param('{"a":1e999}', "beyond all bounds", id="infinite"),
        pytest.param('{"a":0.' + "1" * 5_000 + "}", "beyond all bounds", id="decimals"),
        pytest.param('{"a":NaN}', "has NaN where a number belongs", id="not-a-number"),
        pytest.param('{"a":"\\ud800"}', "no text may hold", id="half-a-character"),
        pytest.param('{"\\u0000":1}', "no text may hold", id="nul"),
    ],
)
def test_what_cannot_be_read_is_named(text: str, message: str) -> None:
    problem = read_reply(ModelReply(text), "shop")
    assert isinstance(problem, Problem)
    assert message in problem.message and problem.suggestion


def test_the_dataset_goes_without_saying() -> None:
    plan = {"table": "orders", "select": [{"agg": "count"}]}
    assert read_reply(ModelReply(json.dumps({"intent": "plan", "plan": plan})), "shop") == PlanProposal(
        {"dataset_id": "shop", **plan}
    )


def test_another_dataset_is_left_for_the_validator() -> None:
    read = read_reply(
        ModelReply(json.dumps({"intent": "plan", "plan": {**PLAN, "dataset_id": "other"}})), "shop"
    )
    assert isinstance(read, PlanProposal) and read.plan["dataset_id"] == "other"


def test_a_whole_plan_is_read_although_the_last_brace_is_missing() -> None:
    assert read_reply(ModelReply(TEXT[:-1]), "shop") == PlanProposal(PLAN)


def test_a_thought_inside_the_objects_own_texts_is_part_of_it() -> None:
    sql = "SELECT count(*) FROM orders WHERE region = '<think>'"
    assert read_reply(ModelReply(json.dumps({"intent": "sql", "sql": sql})), "shop") == SqlProposal(sql)


def test_the_object_that_matters_is_picked_out_of_several() -> None:
    assert read_reply(
        ModelReply(f"Columns {{a}} and {{}} and {{'b'}}: {TEXT} or {{}}"), "shop"
    ) == PlanProposal(PLAN)


def test_what_a_model_says_to_people_is_bounded() -> None:
    long = {"intent": "ask_back", "text": "x" * 50_000, "suggestions": ["y" * 9_000, " ", *"abcdef"]}
    read = read_reply(ModelReply(json.dumps(long)), "shop")
    assert isinstance(read, AskBack)
    assert len(read.reason) == 4_000 and len(read.suggestions) == 4 and len(read.suggestions[0]) == 200


@given(
    st.text() | st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists).map(json.dumps)
)
def test_no_text_raises(text: str) -> None:
    read_reply(ModelReply(text), "shop")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "intent": st.sampled_from(["plan", "sql", "ask_back", "talk", "analysis"]) | _JSON,
            "plan": st.just(PLAN) | _JSON,
            "sql": _JSON,
            "text": _JSON,
            "suggestions": _JSON,
        },
    )
)
def test_no_object_raises(found: dict[str, object]) -> None:
    read = read_reply(ModelReply(json.dumps(found)), "shop")
    assert isinstance(read, PlanProposal | AskBack | Talk | AnalysisProposal | Problem) or read.sql


@pytest.mark.parametrize("form", [reply_schema(), strict_reply_schema()["anyOf"][0]], ids=["open", "strict"])
def test_the_schema_knows_every_field_of_a_plan_and_types_it(form: dict[str, Any]) -> None:
    plan = form["properties"]["plan"]
    fields = {field.alias or name for name, field in QueryPlan.model_fields.items()}
    # The chart is named by the words of the question.
    assert set(plan["properties"]) == fields - {"chart"}
    assert plan["required"] == ["table"]
    lists = [field for field in plan["properties"].values() if field["type"] == "array"]
    assert lists and all(field["items"] for field in lists)
    assert len(json.dumps(strict_reply_schema())) < 4_000


def test_the_strict_schema_has_one_branch_for_each_intent_with_what_it_needs() -> None:
    branches = {branch["properties"]["intent"]["const"]: branch for branch in strict_reply_schema()["anyOf"]}
    assert {intent: branch["required"] for intent, branch in branches.items()} == {
        "plan": ["intent", "plan"],
        "sql": ["intent", "sql"],
        "ask_back": ["intent", "text", "suggestions"],
        "talk": ["intent", "text"],
        "analysis": ["intent", "text"],
    }
    assert all(branch["additionalProperties"] is False for branch in branches.values())
    assert all(set(branch["properties"]) == set(branch["required"]) for branch in branches.values())
    assert branches["plan"]["properties"]["plan"]["additionalProperties"] is False
