"""Each dataset is answered by its own engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sandtable.capsule.keys import trusted_keys
from sandtable.capsule.model import Capsule
from sandtable.capsule.query import PlanQuery, SqlQuery
from sandtable.capsule.seal import read_statement, unpack
from sandtable.capsule.verify import verify
from sandtable.catalog.model import Dataset
from sandtable.runs.desk import Runs
from sandtable.runs.model import Run, RunRequest
from sandtable.runs.rederive import rederive_with
from tests.capsule.samples import SHOP
from tests.runs import ledger
from tests.runs.world import World, ask


@pytest.fixture
async def two(world: World) -> AsyncIterator[Runs]:
    route = ledger.route()
    world.datasets.current = {"shop": SHOP, "ledger": ledger.LEDGER}
    world.changes["elsewhere"] = {"ledger": route}
    async with world.opened() as runs:
        yield runs
    await route.executor.aclose()


async def ended(runs: Runs, request: RunRequest) -> Run:
    return await runs.wait((await runs.submit(request)).id, 5)


async def test_a_plan_runs_on_the_engine_that_holds_the_data(two: Runs, world: World, tmp_path: Path) -> None:
    async def rehash(dataset: Dataset) -> str:
        return dataset.version

    run = await ended(two, RunRequest(dataset_id="ledger", query=PlanQuery(ledger.PLAN), chart=True))
    assert run.status == "succeeded", run.error
    assert run.executed_sql == "TOTAL amount AS total PER city IN entries FIRST 200"
    assert [(column.name, column.type) for column in run.columns] == [
        ("city", "VARCHAR"),
        ("total", "BIGINT"),
    ]
    assert run.rows == (("Graz", 7), ("Linz", 5))
    assert run.chart is not None
    assert world.executor.jobs == []

    envelope = await two.capsule(run.id)
    report = await verify(envelope, rederive_with(world.parts(), trusted_keys(tmp_path), rehash))
    assert report.ok and report.complete, report


async def test_other_datasets_stay_with_the_engine_of_the_data_store(two: Runs, world: World) -> None:
    run = await ended(two, ask("SELECT 1"))
    assert (run.status, [job.text for job in world.executor.jobs]) == ("succeeded", ["SELECT 1;"])


async def test_the_capsule_names_the_engine(two: Runs) -> None:
    for request, engine, executor in (
        (RunRequest(dataset_id="ledger", query=PlanQuery(ledger.PLAN)), "ledger 1", "ledger"),
        (ask("SELECT 1"), "duckdb 2.0.0", "fake"),
    ):
        payload, _, _ = unpack(await two.capsule((await ended(two, request)).id))
        capsule = Capsule.model_validate(read_statement(payload)["predicate"])
        assert (capsule.engine, capsule.executor) == (engine, executor)


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (RunRequest(dataset_id="ledger", query=SqlQuery("SELECT 1")), "rejected"),
        (RunRequest(dataset_id="ledger", query=PlanQuery({**ledger.PLAN, "table": "orders"})), "rejected"),
    ],
    ids=["SQL", "a plan for another dataset"],
)
async def test_what_the_engine_does_not_take_never_reaches_it(
    two: Runs, world: World, request_: RunRequest, status: str
) -> None:
    run = await ended(two, request_)
    assert run.status == status
    assert world.executor.jobs == []
