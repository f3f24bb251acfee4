"""No value of a masked column reaches a model, even where `SANDTABLE_PRIVACY=off` shows the others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sandtable.agent.looking import shown_run
from sandtable.agent.privacy import privacy_of
from sandtable.agent.proposer import Asked
from sandtable.capsule.query import CodeQuery, PlanQuery, Query, SqlQuery
from sandtable.catalog.model import Dataset
from sandtable.runs.model import Run
from tests.agent.models.asking import CANARY, CANARY_NUMBER, GOOD, PLAN, asking, ended, exchange
from tests.agent.models.conftest import Open
from tests.agent.models.scripted import Say, start_scripted
from tests.agent.models.test_privacy import FROM_CELLS

NAMES = ("region", "customer")
"""The columns whose cells hold the canary."""


def masked(dataset: Dataset, names: tuple[str, ...] = NAMES) -> Dataset:
    tables = tuple(
        table.model_copy(
            update={"columns": tuple(c.model_copy(update={"masked": c.name in names}) for c in table.columns)}
        )
        for table in dataset.tables
    )
    return dataset.model_copy(update={"tables": tables})


def about_masked(question: str = "How much did we sell?", **more: Any) -> Asked:
    asked = asking(question, **more)
    return replace(asked, dataset=masked(asked.dataset))


def conversation() -> Asked:
    history = (
        exchange("Which region sold most?", plan=FROM_CELLS, answer=f"{CANARY} sold most."),
        exchange("And in SQL?", sql=f"SELECT * FROM orders WHERE region = '{CANARY}'", answer=CANARY),
    )
    defined = ({"name": "best", "plan": {k: v for k, v in FROM_CELLS.items() if k != "dataset_id"}},)
    return about_masked("now by month", history=history, defined=defined)


def run_of(query: Query) -> Run:
    run = ended(((CANARY, CANARY_NUMBER),))
    return run.model_copy(update={"request": run.request.model_copy(update={"query": query})})


COUNT = PlanQuery({"dataset_id": "shop", "table": "orders", "select": [{"agg": "count", "as": "orders"}]})


async def test_no_masked_value_reaches_the_model(opened: Open) -> None:
    with start_scripted([Say(GOOD)]) as server:
        proposer = opened(server, "openai", privacy="off")
        await proposer.propose(about_masked())
        await proposer.propose(conversation())
        asked_before = len(server.requests)
        for query in (PlanQuery(FROM_CELLS), SqlQuery("SELECT r FROM (SELECT region AS r FROM orders)")):
            assert await proposer.word(about_masked(), run_of(query), f"{CANARY} has most.") is None
        sent = server.said()
    assert len(server.requests) == asked_before
    for trace in (CANARY, "quetzal", "Barbara", "Grace"):
        assert trace not in sent
    # The range of a column that is not masked.
    assert "1.50" in sent and '"region"' in sent.replace("\\", "")


async def test_the_result_of_a_plan_that_reads_no_masked_column_is_worded(opened: Open) -> None:
    with start_scripted([Say("There are 4711 orders.")]) as server:
        proposer = opened(server, "openai", privacy="off")
        run = run_of(COUNT).model_copy(update={"rows": ((4711,),)})
        assert await proposer.word(about_masked(), run, "4711") is not None
        assert "4711" in server.said()


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        pytest.param(COUNT, True, id="nothing masked"),
        pytest.param(PlanQuery({**PLAN, "select": [{"column": "*"}]}), False, id="every column"),
        pytest.param(PlanQuery({**PLAN, "select": [{"column": "Region"}]}), False, id="another case"),
        pytest.param(
            PlanQuery({**PLAN, "select": [{"agg": "max", "column": "customers.customer"}]}),
            False,
            id="of another table",
        ),
        pytest.param(
            PlanQuery({**PLAN, "select": [{"agg": "count"}], "group_by": ["region"]}), False, id="a group"
        ),
        pytest.param(PlanQuery({"table": "orders", "why": {"measure": {"agg": "count"}}}), False, id="why"),
        pytest.param(SqlQuery("SELECT count(*) FROM orders"), False, id="SQL"),
        pytest.param(CodeQuery("len(orders)", {}), False, id="code"),
    ],
)
def test_which_results_are_shown(query: Query, shown: bool) -> None:
    asked = about_masked()
    assert (privacy_of(query, asked.dataset, "off") == "off") is shown
    assert privacy_of(query, asked.dataset, "schema") == "schema"
    assert privacy_of(query, asking().dataset, "off") == "off"
    seen = shown_run(run_of(query), asked, "off")
    assert (CANARY in str(seen)) is shown


def test_a_run_over_another_dataset_is_not_shown() -> None:
    run = run_of(COUNT)
    other = run.model_copy(update={"request": run.request.model_copy(update={"dataset_id": "elsewhere"})})
    assert CANARY not in str(shown_run(other, asking(), "off"))
