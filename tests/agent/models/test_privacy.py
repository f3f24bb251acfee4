"""With `SANDTABLE_PRIVACY=schema` no cell value leaves: neither with the question nor with what went before."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sandtable.agent.endpoint import Privacy
from sandtable.agent.privacy import WITHHELD, shown_plan, shown_problem, shown_sql
from sandtable.agent.proposer import Asked, Attempt
from sandtable.errors import ErrorCode, Problem
from sandtable.runs.unknown_names import HELD_IN
from tests.agent.models.asking import (
    CANARY,
    CANARY_DAY,
    CANARY_NUMBER,
    GOOD,
    PLAN,
    asking,
    ended,
    exchange,
)
from tests.agent.models.conftest import Open
from tests.agent.models.scripted import Say, start_scripted

TRACES = (CANARY, CANARY.casefold(), "quetzal", str(CANARY_NUMBER), CANARY_DAY, "Barbara", "1.50")
FROM_CELLS: dict[str, Any] = {
    **PLAN,
    "select": [{"column": "region"}, {"metric": "revenue", "as": "revenue_zanzibar_quetzal"}],
    "filters": [
        {"any": [{"column": "region", "op": "in", "value": [CANARY, "North"]}]},
        {"column": "customer", "op": "=", "value": "Barbara Liskov"},
        {"column": "ordered_on", "op": ">=", "value": "2025-03-01"},
        {"column": "total", "op": ">", "value": 10},
    ],
    "order_by": [{"expr": "revenue_zanzibar_quetzal"}],
    "notes": f"Revenue of {CANARY}",
}
CONVERSION = Problem(
    code=ErrorCode.RUNNER_INTERNAL_ERROR,
    message=f"Could not convert string '{CANARY}' to INT32",
    details={"type": "ConversionException"},
)
BINDER = Problem(
    code=ErrorCode.RUNNER_INTERNAL_ERROR,
    message='there is no column "regin" in the tables of this query',
    suggestion="did you mean region?",
    details={"type": "BinderException"},
)


def _conversation() -> Asked:
    """All the ways in which a cell could reach the next prompt."""
    history = (
        exchange("Which region sold most?", plan=FROM_CELLS, answer=f"{CANARY} sold {CANARY_NUMBER}."),
        exchange("And in SQL?", sql=f"SELECT * FROM orders WHERE region = '{CANARY}' AND day > '2025-01-01'"),
        exchange("Cast them", sql="SELECT 1", ending="failed", problem=CONVERSION),
    )
    attempts = (Attempt(PLAN, None, CONVERSION), Attempt(PLAN, None, BINDER))
    defined = ({"name": "best", "plan": {k: v for k, v in FROM_CELLS.items() if k != "dataset_id"}},)
    return asking("now only for North", history=history, attempts=attempts, defined=defined)


@pytest.mark.parametrize("wire", ["openai", "anthropic", "ollama"])
async def test_no_cell_value_reaches_the_model(wire: str, opened: Open) -> None:
    with start_scripted([Say("no"), Say(GOOD)]) as server:
        proposer = opened(server, wire, privacy="schema")
        await proposer.propose(asking())
        await proposer.propose(_conversation())
        assert await proposer.word(asking(), ended(((CANARY, CANARY_NUMBER),)), f"{CANARY} has most.") is None
        sent = server.said()
    assert len(server.requests) == 3
    assert [trace for trace in TRACES if trace in sent or json.dumps(trace)[1:-1] in sent] == []
    for kept in (
        "region",
        "Where it went",
        "distinct",
        "Which region sold most?",
        "2025-03-01",
        "did you mean region?",
    ):
        assert kept in sent


async def test_the_same_conversation_shows_its_cells_when_privacy_is_off(opened: Open) -> None:
    with start_scripted([Say(GOOD)]) as server:
        await opened(server, "openai", privacy="off").propose(_conversation())
        sent = server.said()
    assert [trace for trace in (CANARY, str(CANARY_NUMBER), "Barbara", CANARY_DAY) if trace not in sent] == []


async def test_what_the_person_typed_is_theirs_to_send(opened: Open) -> None:
    before = exchange(f"Orders of {CANARY}?", plan=FROM_CELLS)
    with start_scripted([Say(GOOD)]) as server:
        await opened(server, "openai", privacy="schema").propose(asking("and by month?", history=(before,)))
        sent = server.said()
    assert CANARY in sent and "Barbara" not in sent


def test_a_plan_keeps_its_shape_without_its_values() -> None:
    shown = shown_plan(FROM_CELLS, "which north?", "schema")
    assert shown["filters"] == [
        {"any": [{"column": "region", "op": "in", "value": [WITHHELD, "North"]}]},
        {"column": "customer", "op": "=", "value": WITHHELD},
        {"column": "ordered_on", "op": ">=", "value": "2025-03-01"},
        {"column": "total", "op": ">", "value": 10},
    ]
    assert shown["select"][1]["as"] == shown["order_by"][0]["expr"] == "column_1"
    assert "notes" not in shown
    assert shown_plan(FROM_CELLS, "", "off") == FROM_CELLS


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        ("SELECT 1", "SELECT 1"),
        ("region = 'North'", "region = 'North'"),
        ("region = 'Quito'", f"region = '{WITHHELD}'"),
        ("name = 'O''Brien' AND d >= DATE '2025-01-31'", f"name = '{WITHHELD}' AND d >= DATE '2025-01-31'"),
    ],
)
def test_texts_in_sql(sql: str, shown: str) -> None:
    assert shown_sql(sql, "only north please", "schema") == shown
    assert shown_sql(sql, "", "off") == sql


@pytest.mark.parametrize(
    ("problem", "told"),
    [
        pytest.param(CONVERSION, False, id="while-reading-data"),
        pytest.param(BINDER, True, id="before-reading-data"),
        pytest.param(Problem(code=ErrorCode.VALIDATION_ERROR, message="no column `x`"), True, id="validator"),
        pytest.param(Problem(code=ErrorCode.SQL_POLICY_VIOLATION, message="DROP"), True, id="gate"),
        pytest.param(Problem(code=ErrorCode.RUNNER_TIMEOUT, message="too slow"), False, id="no-class"),
        pytest.param(
            Problem(
                code=ErrorCode.VALIDATION_ERROR, message="'x'", details={"type": "InvalidInputException"}
            ),
            False,
            id="engine-says-invalid",
        ),
    ],
)
def test_errors_that_may_quote_a_cell_are_withheld(problem: Problem, told: bool) -> None:
    assert (shown_problem(problem, "schema")[0].startswith(problem.message)) is told
    assert shown_problem(problem, "off")[0].startswith(problem.message)


@pytest.mark.parametrize("privacy", ["schema", "off"])
def test_that_the_data_hold_a_value_is_withheld(privacy: Privacy) -> None:
    held = BINDER.model_copy(
        update={
            "suggestion": "Write `Bonn`, which is a value of `customers.city`, in single quotes: `'Bonn'`.",
            "details": {**BINDER.details, HELD_IN: ["customers.city"]},
        }
    )
    [shown] = shown_problem(held, privacy)
    assert ("customers.city" in shown) is (privacy == "off") and "in single quotes" in shown
