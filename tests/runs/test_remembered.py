"""What whoever waited is told is what everyone else reads later; what is ours is told from what is not."""

from __future__ import annotations

import pytest

from sandtable.capsule.query import PlanQuery
from sandtable.catalog.model import Dataset
from sandtable.errors import ErrorCode
from sandtable.policy.verdict import Verdict
from sandtable.runs.desk import Runs
from sandtable.runs.model import RunRequest
from sandtable.sandbox.fake import Script
from sandtable.sandbox.job import DataRef, JobError, Limits
from tests.runs.world import World, ask, canonical_sql, judge

SCRIPTS = {
    "numbers": Script(columns=[("a", "DOUBLE")], rows=[(1.0,), (float("nan"),), (-0.0,), (float("-inf"),)]),
    "long integers": Script(columns=[("a", "HUGEINT")], rows=[(2**60,), (3,)]),
    "nested": Script(columns=[("a", "STRUCT(x INTEGER[])")], rows=[({"x": (1, 2)},), (None,)]),
    "text": Script(columns=[("a", "VARCHAR")], rows=[("half \ud83d",), ("ü",)]),
    "nothing": Script(columns=[("a", "INTEGER")], rows=[]),
    "failed": Script(
        error=JobError(code=ErrorCode.VALIDATION_ERROR, type="Binder", message="no such column")
    ),
}


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("chart", [False, True])
async def test_the_one_who_waited_is_told_what_is_stored(
    runs: Runs, world: World, name: str, chart: bool
) -> None:
    sql = f"SELECT a FROM orders -- {name}"
    world.executor.on(canonical_sql(sql), SCRIPTS[name])
    for again in (False, True):
        accepted = await runs.submit(ask(sql, chart=chart))
        told = await runs.wait(accepted.id)
        assert told.ended
        assert (told.cached_from is not None) == (again and told.status == "succeeded")
        async with world.opened() as others:
            assert told == await others.get(accepted.id)


async def test_only_what_was_compiled_from_a_plan_is_judged_as_ours(world: World) -> None:
    ours: list[str] = []

    async def judge_compiled(
        text: str, dataset: Dataset, refs: tuple[DataRef, ...], limits: Limits
    ) -> Verdict:
        ours.append(text)
        assert [ref.path for ref in refs] == ["orders.parquet"]
        return await judge(text, dataset)

    world.changes = {"judge_compiled": judge_compiled}
    async with world.opened() as runs:
        written = await runs.submit(ask("SELECT 7"))
        query = PlanQuery({"table": "orders", "select": 8})
        planned = await runs.submit(RunRequest(dataset_id="shop", query=query))
        assert (await runs.wait(written.id)).ended
        assert (await runs.wait(planned.id)).ended
    assert ours == ["SELECT 8 FROM orders LIMIT 200"]
