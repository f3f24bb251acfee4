"""What a chat model reads about its own refused proposal: true, short, each fault once, with where it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sandtable.agent.model_prompt import propose_prompt
from sandtable.agent.model_reply import ModelReply, read_reply
from sandtable.agent.normalising import Known, table_problem
from sandtable.agent.privacy import shown_problem
from sandtable.agent.proposer import Attempt, PlanProposal
from sandtable.catalog.model import Dataset
from sandtable.catalog.registry import load_catalog
from sandtable.engines.duckdb.types import column_type
from sandtable.errors import InvalidInput, Problem
from sandtable.plan.validate import parse_plan, require_plan
from tests.agent.models.asking import asking

ROOT = Path(__file__).resolve().parents[3]
REPLIES: list[dict[str, Any]] = json.loads((ROOT / "tests/agent/corpus/replies.json").read_text())
CATALOG = load_catalog(ROOT / "datasets", column_type)
LONGEST = 320


def _refusal(plan: dict[str, Any], dataset: Dataset) -> Problem:
    unknown = table_problem(plan, Known(dataset))
    if unknown is not None:
        return unknown
    with pytest.raises(InvalidInput) as refused:
        require_plan(parse_plan({"dataset_id": dataset.id, **plan}), dataset)
    return refused.value.problem


def _told(plan: dict[str, Any]) -> list[str]:
    return shown_problem(_refusal(plan, CATALOG.get("ecommerce")), "off")


ROWS = [{"agg": "count", "as": "n"}]


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        pytest.param(
            {"select": [{"column": "regoin"}]},
            ["select[0].column: no column `regoin` in orders; did you mean `region`?"],
            id="a slip",
        ),
        pytest.param(
            {"select": [{"agg": "sum", "column": "region"}]},
            ["select[0].column: sum needs a number, but `region` is text. Numbers in orders: `order_id`, "
             "`item_count`, `shipping_fee`, `order_total`."],
            id="a sum of text",
        ),
        pytest.param(
            {"select": ROWS, "filters": [{"column": "region", "op": "is", "value": "Europe"}]},
            ["filters[0].op: `is` is not known here; did you mean `=`?"],
            id="an operator of SQL",
        ),
        pytest.param(
            {"select": ROWS, "time": {"period": "march"}},
            ["time.period: `march` is not known here. Use one of: today, yesterday, this_week, last_week, "
             "this_month, last_month, this_quarter, last_quarter, this_year, last_year, ytd, "
             "this_fiscal_quarter, last_fiscal_quarter, this_fiscal_year, last_fiscal_year, fiscal_ytd. "
             'Or give "from" and "to".'],
            id="a month",
        ),
        pytest.param(
            {"select": ROWS, "order_by": [{"expr": "total"}, {"expr": "sold"}]},
            ["order_by[0].expr: no output column `total`. Output columns: `n`.",
             "order_by[1].expr: no output column `sold`"],
            id="the same advice once",
        ),
    ],
)  # fmt: skip
def test_a_fault_is_told_with_where_it_is_and_what_to_do(plan: dict[str, Any], told: list[str]) -> None:
    assert _told({"table": "orders", **plan}) == told


def test_many_faults_are_told_by_the_first() -> None:
    told = _told({"table": "orders", "select": [{"column": f"made_up_{n}"} for n in range(9)]})
    assert len(told) == 6 and told[-1] == "and 4 more faults"
    assert sum("Columns:" in line for line in told) == 1


def test_an_intent_that_is_not_known_is_told_once() -> None:
    problem = read_reply(ModelReply('{"intent": "query", "text": "x"}'), "shop")
    assert isinstance(problem, Problem)
    [told] = shown_problem(problem, "off")
    assert told.count("ask_back") == 1 and "must be one of plan, sql, ask_back, talk, analysis" in told


@pytest.mark.parametrize("case", [pytest.param(c, id=c["id"]) for c in REPLIES if "refused" in c])
def test_recorded_replies_are_told_what_is_wrong_in_a_line(case: dict[str, Any]) -> None:
    text = case["reply"] if isinstance(case["reply"], str) else json.dumps(case["reply"])
    dataset = CATALOG.get(case["dataset"])
    read = read_reply(ModelReply(text), dataset.id)
    told = shown_problem(_refusal(read.plan, dataset) if isinstance(read, PlanProposal) else read, "off")  # type: ignore[arg-type]  # a refused reply is a plan or a problem
    assert told and len(told) <= 6
    for line in told:
        assert len(line) <= LONGEST and "details" not in line and "?." not in line and ".." not in line


def test_the_prompt_has_the_fault_beside_the_proposal() -> None:
    plan = {"table": "orders", "select": [{"column": "regoin"}]}
    problem = _refusal(plan, CATALOG.get("ecommerce"))
    prompt = propose_prompt(asking(attempts=(Attempt(plan, None, problem),)), "off")
    block = prompt.split('<data name="refused">\n')[1].split("\n</data>")[0]
    assert json.loads(block) == [
        {
            "proposed": plan,
            "wrong": ["select[0].column: no column `regoin` in orders; did you mean `region`?"],
        }
    ]
