"""A query that brings its own numbers: a model's is refused, a person's is labelled. The gate here is the real one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sandtable.agent.proposer import SqlProposal
from sandtable.capsule.keys import trusted_keys
from sandtable.capsule.model import Origin
from sandtable.capsule.query import SqlQuery
from sandtable.capsule.verify import verify
from sandtable.catalog.model import Dataset
from sandtable.engines.duckdb.rules import RULES
from sandtable.errors import ErrorCode
from sandtable.policy.gate import judge
from sandtable.policy.provenance import ALL_CONSTANT, NO_TABLE
from sandtable.policy.verdict import Approved, Verdict
from sandtable.runs.model import RunRequest
from sandtable.runs.rederive import rederive_with
from sandtable.sandbox.fake import Script
from tests.agent.analysis.coding import QUESTION, ScriptedCoder, analysing
from tests.agent.house import Scripted, last, open_house
from tests.policy.shop import parsed
from tests.runs.world import World

MADE_UP = "SELECT 42 AS revenue"
GOOD = "SELECT sum(amount) AS revenue FROM orders"


async def real_judge(text: str, dataset: Dataset) -> Verdict:
    return judge(text, parsed(text), dataset, RULES)


@pytest.mark.parametrize(
    "sql",
    [MADE_UP, "FROM range(10)", "SELECT 42 AS revenue FROM orders LIMIT 1", "SELECT max(42) FROM orders",
     "SELECT amount FROM orders WHERE false UNION SELECT 42"],
)  # fmt: skip
async def test_a_models_query_without_data_is_not_run(tmp_path: Path, sql: str) -> None:
    proposer = Scripted([SqlProposal(sql)])
    async with open_house(tmp_path, proposer, judge=real_judge) as house:
        said = await house.say("What is the revenue?")
        run = await house.runs.get(said.run_ids[0])
        assert (said.ending, run.status, len(proposer.asked)) == ("refused", "rejected", 3)
        assert not house.executor.jobs, "nothing ran"
    assert "does not answer from the data" in said.text and "42" not in said.text
    told = proposer.asked[1].attempts[0].problem
    assert told.code == ErrorCode.VALIDATION_ERROR and "orders" in told.suggestion


async def test_a_model_may_repair_it(tmp_path: Path) -> None:
    proposer = Scripted([SqlProposal(MADE_UP), SqlProposal(GOOD)])
    async with open_house(tmp_path, proposer, judge=real_judge) as house:
        said = await house.say("What is the revenue?")
        assert (said.ending, len(house.executor.jobs)) == ("answered", 1)
    assert "Not from the data" not in said.text


async def test_a_persons_own_query_runs_and_its_answer_is_labelled(tmp_path: Path) -> None:
    async with open_house(tmp_path, judge=real_judge) as house:
        said = await house.say("SELECT 1 + 1 AS two")
        run = await house.runs.get(said.run_ids[0])
    assert said.ending == "answered"
    assert said.text.startswith(f"**Not from the data:** {NO_TABLE}.")
    assert run.verdict is not None
    assert run.warnings == (f"Not from the data: {NO_TABLE}.",) == run.verdict.warnings


async def test_a_constant_beside_data_is_named_and_not_worded(tmp_path: Path) -> None:
    mixed = "SELECT region, 42 AS revenue FROM orders LIMIT 5"
    proposer = Scripted([SqlProposal(mixed)], wording=lambda plain: "North has 42.")
    async with open_house(tmp_path, proposer, judge=real_judge) as house:
        canonical = await real_judge(mixed, house.datasets.current["shop"])
        assert isinstance(canonical, Approved)
        rows = Script(
            columns=[("region", "VARCHAR"), ("revenue", "INTEGER")], rows=[("North", 42), ("South", 42)]
        )
        house.executor.on(canonical.sql, rows)
        said = await house.say("Revenue by region in SQL?")
    assert said.text.startswith("**Not from the data:** `revenue` comes from the query itself")
    assert "North has 42." not in said.text


async def test_the_capsule_of_a_refused_proposal_verifies(tmp_path: Path) -> None:
    async def rehash(dataset: Dataset) -> str:
        return dataset.version

    world = World(tmp_path, changes={"judge": real_judge})
    origin = Origin(proposer="openai:gpt-5")
    sql = "SELECT 42 AS revenue FROM orders LIMIT 1"
    async with world.opened() as runs:
        for request, status in (
            (RunRequest(dataset_id="shop", query=SqlQuery(sql), origin=origin), "rejected"),
            (RunRequest(dataset_id="shop", query=SqlQuery(sql)), "succeeded"),
        ):
            run = await runs.wait((await runs.submit(request)).id, 10)
            report = await verify(
                await runs.capsule(run.id), rederive_with(world.parts(), trusted_keys(tmp_path), rehash)
            )
            assert run.status == status
            assert run.verdict is not None and run.verdict.decision == "approved"
            assert f"Not from the data: {ALL_CONSTANT}." in run.warnings
            assert report.ok, report
    await world.sessions.aclose()
    await world.executor.aclose()


async def test_an_analysis_whose_code_reads_no_table_is_labelled(tmp_path: Path) -> None:
    async def reads_nothing(text: str, dataset: Dataset, names: Any) -> Verdict:
        return Approved(text)

    coder = ScriptedCoder(answer="Revenue is 20.5 and verified.")
    async with analysing(tmp_path, coder, judge_python=reads_nothing) as house:
        said = last(await house.ask(QUESTION))
    assert said.text.startswith("**Not from the data:** the code reads no table of the dataset.\n\n")
    assert "verified" not in said.text
    async with analysing(tmp_path / "b", coder) as house:
        said = last(await house.ask(QUESTION))
    assert "Not from the data" not in said.text
