"""Every way a run can go, and the capsule it leaves."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from sandtable.capsule.keys import trusted_keys
from sandtable.capsule.model import Capsule
from sandtable.capsule.query import PlanQuery, SqlQuery
from sandtable.capsule.seal import read_statement, unpack
from sandtable.capsule.verify import verify
from sandtable.catalog.model import Dataset
from sandtable.errors import ErrorCode, InvalidInput, NotFound, RunnerBroken, SandboxUnavailable
from sandtable.policy.verdict import Verdict
from sandtable.runs.desk import Runs
from sandtable.runs.instance import Instance
from sandtable.runs.model import RunRequest, read_request
from sandtable.runs.rederive import rederive_with
from sandtable.sandbox.fake import Script
from sandtable.sandbox.job import JobError
from tests.capsule.samples import SHOP
from tests.runs.world import World, ask, canonical_sql


async def capsule_of(runs: Runs, run_id: str) -> Capsule:
    payload, _, _ = unpack(await runs.capsule(run_id))
    return Capsule.model_validate(read_statement(payload)["predicate"])


def scripted(world: World, sql: str, script: Script) -> RunRequest:
    world.executor.on(canonical_sql(sql), script)
    return ask(sql)


async def test_sql_succeeds(runs: Runs, world: World) -> None:
    request = scripted(
        world, "SELECT a  FROM orders", Script(columns=[("a", "DOUBLE")], rows=[(1.5,), (float("inf"),)])
    )
    accepted = await runs.submit(request)
    assert (accepted.status, accepted.dataset_version) == ("pending", SHOP.version)
    run = await runs.wait(accepted.id, 5)
    assert run.status == "succeeded"
    assert run.sql == "SELECT a  FROM orders"
    assert run.executed_sql == "SELECT a FROM orders;"
    assert run.rows == ((1.5,), ("Infinity",))
    assert run.row_count == 2
    assert run.warnings == ("judged",)
    assert run.started_at
    assert run.finished_at
    assert run == await runs.get(run.id)
    job = world.executor.jobs[0]
    assert (job.text, job.data[0].path) == ("SELECT a FROM orders;", "orders.parquet")
    capsule = await capsule_of(runs, run.id)
    assert (capsule.status, capsule.executor, capsule.engine) == ("succeeded", "fake", "duckdb 2.0.0")
    assert capsule.result is not None
    assert capsule.result.rows == ((1.5,), ("Infinity",))


async def test_a_plan_succeeds(runs: Runs) -> None:
    request = RunRequest(
        dataset_id="shop", query=PlanQuery({"table": "orders", "select": 2.0}), question="why?"
    )
    run = await runs.wait((await runs.submit(request)).id, 5)
    assert run.status == "succeeded"
    # 2.0 is 2 in canonical JSON; what is compiled is what the capsule holds.
    assert run.sql == "SELECT 2 FROM orders LIMIT 200"
    assert run.warnings == ("a limit was added", "judged")
    capsule = await capsule_of(runs, run.id)
    assert (capsule.plan, capsule.question) == ({"table": "orders", "select": 2}, "why?")


REFUSALS = [
    pytest.param(
        RunRequest(dataset_id="shop", query=PlanQuery({"table": "nope"})),
        ErrorCode.VALIDATION_ERROR,
        "plan",
        id="a plan that does not fit",
    ),
    pytest.param(ask("SELECT * FROM read_csv('x')"), ErrorCode.SQL_POLICY_VIOLATION, "read_csv", id="SQL"),
]


@pytest.mark.parametrize(("request_", "code", "construct"), REFUSALS)
async def test_refusals_are_rejected_with_a_capsule(
    runs: Runs, world: World, request_: RunRequest, code: ErrorCode, construct: str
) -> None:
    run = await runs.wait((await runs.submit(request_)).id, 5)
    assert run.status == "rejected"
    assert run.error is not None
    assert (run.error.code, bool(run.error.suggestion)) == (code, True)
    assert world.executor.jobs == []
    capsule = await capsule_of(runs, run.id)
    assert capsule.verdict is not None
    assert (capsule.status, capsule.verdict.decision, capsule.verdict.construct) == (
        "rejected",
        "refused",
        construct,
    )
    assert capsule.result is None


def failing(code: ErrorCode) -> Script:
    return Script(
        error=JobError(code=code, type="BinderException", message="no column b", suggestion="use a")
    )


@pytest.mark.parametrize(
    ("script", "code", "message"),
    [
        pytest.param(
            failing(ErrorCode.VALIDATION_ERROR), ErrorCode.VALIDATION_ERROR, "no column b", id="engine"
        ),
        pytest.param(
            failing(ErrorCode.RUNNER_RESOURCE_EXCEEDED),
            ErrorCode.RUNNER_RESOURCE_EXCEEDED,
            "no column b",
            id="memory",
        ),
        pytest.param(Script(delay_s=60), ErrorCode.RUNNER_TIMEOUT, "timed out", id="limit"),
        pytest.param(Script(deaf=True), ErrorCode.RUNNER_TIMEOUT, "given up", id="hung sandbox"),
        pytest.param(
            Script(raises=RunnerBroken("zygote died")),
            ErrorCode.RUNNER_INTERNAL_ERROR,
            "zygote",
            id="machinery",
        ),
        pytest.param(
            Script(raises=SandboxUnavailable("no isolation")),
            ErrorCode.SANDBOX_UNAVAILABLE,
            "no iso",
            id="host",
        ),
        pytest.param(
            Script(raises=ZeroDivisionError("secret")),
            ErrorCode.RUNNER_INTERNAL_ERROR,
            "execute",
            id="defect",
        ),
    ],
)
async def test_failures_fail_with_a_capsule(
    runs: Runs, world: World, script: Script, code: ErrorCode, message: str
) -> None:
    request = scripted(world, "SELECT b", script).model_copy(update={"timeout_ms": 50})
    run = await runs.wait((await runs.submit(request)).id, 5)
    assert run.status == "failed"
    assert run.error is not None
    assert run.error.code == code
    assert message in run.error.message
    assert "secret" not in run.error.message
    capsule = await capsule_of(runs, run.id)
    assert (capsule.status, capsule.result) == ("failed", None)
    assert capsule.error == run.error


async def test_a_gate_that_hangs_cannot_hang_a_run(world: World) -> None:
    async def deaf(text: str, dataset: Dataset) -> Verdict:
        await world.executor.result("nothing")
        raise AssertionError

    async def hung(text: str, dataset: Dataset) -> Verdict:
        await asyncio.Event().wait()
        raise AssertionError

    async with world.opened(parts=world.parts(judge=hung, judge_s=0.05)) as runs:
        run = await runs.wait((await runs.submit(ask())).id, 5)
        assert (run.status, run.error and run.error.code) == ("failed", ErrorCode.RUNNER_TIMEOUT)
    async with world.opened(parts=world.parts(judge=deaf)) as runs:
        run = await runs.wait((await runs.submit(ask())).id, 5)
        assert (run.status, run.error and run.error.code) == ("failed", ErrorCode.NOT_FOUND)


async def test_an_answer_that_cannot_be_sealed_still_ends_the_run(runs: Runs, world: World) -> None:
    broken = Script(columns=[("a", "INTEGER")], rows=[(1, 2)])
    run = await runs.wait((await runs.submit(scripted(world, "SELECT wide", broken))).id, 5)
    assert (run.status, run.error and run.error.message) == ("failed", "the answer could not be sealed")
    assert (await capsule_of(runs, run.id)).status == "failed"


async def test_an_unknown_dataset_makes_no_run(runs: Runs) -> None:
    with pytest.raises(NotFound, match="no dataset 'shoop'"):
        await runs.submit(RunRequest(dataset_id="shoop", query=SqlQuery("SELECT 1")))
    assert await runs.list() == []


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({}, "needs a plan, SQL or Python"),
        ({"sql": "SELECT 1", "plan": {}}, "both `plan` and `sql`"),
        ({"sql": "x" * (3 << 20)}, "more than"),
        ({"sql": "x", "question": "?" * 20_000}, "more than"),
        ({"plan": {"a": "x" * 300_000}}, "more than"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_request_that_makes_no_sense_does_not_construct(fields: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        read_request({"dataset_id": "shop", **fields})


def test_a_plan_nested_too_deeply_does_not_construct() -> None:
    plan: dict[str, Any] = {}
    for _ in range(100_000):
        plan = {"all": plan}
    with pytest.raises(InvalidInput, match="too deeply"):
        RunRequest(dataset_id="shop", query=PlanQuery(plan))


@pytest.mark.parametrize(("field", "most"), [("max_rows", 200), ("timeout_ms", 2000)])
async def test_limits_may_be_lowered_only(runs: Runs, world: World, field: str, most: int) -> None:
    with pytest.raises(InvalidInput, match=f"at most {most}"):
        await runs.submit(ask("SELECT 1", **{field: most + 1}))
    world.executor.on("SELECT 1;", Script(rows=[(n,) for n in range(9)]))
    run = await runs.wait((await runs.submit(ask(max_rows=3, timeout_ms=77))).id, 5)
    assert (run.row_count, run.truncated) == (3, True)
    assert world.executor.jobs[0].limits.wall_ms == 77


async def test_the_data_version_of_acceptance_is_the_one_that_runs(world: World) -> None:
    async with world.opened(concurrency=1) as runs:
        world.executor.on("SELECT slow;", Script(delay_s=0.2))
        await runs.submit(ask("SELECT slow"))
        first, second = await runs.submit(ask("SELECT 1")), await runs.submit(ask("SELECT 2"))
        newer = SHOP.model_copy(update={"version": "sha256:" + "ef" * 32})
        world.datasets.current["shop"] = newer
        world.datasets.old.append(SHOP)
        assert (await runs.wait(first.id, 5)).status == "succeeded"
        assert world.executor.jobs[1].dataset_version == SHOP.version
        assert (await runs.wait(second.id, 5)).dataset_version == SHOP.version
        third = await runs.submit(ask("SELECT 3"))
        assert (await runs.wait(third.id, 5)).dataset_version == newer.version


async def test_a_data_version_that_is_gone_fails_the_run(world: World) -> None:
    async with world.opened(concurrency=1) as runs:
        world.executor.on("SELECT slow;", Script(delay_s=0.2))
        await runs.submit(ask("SELECT slow"))
        accepted = await runs.submit(ask("SELECT 1"))
        world.datasets.current["shop"] = SHOP.model_copy(update={"version": "sha256:" + "ef" * 32})
        run = await runs.wait(accepted.id, 5)
        assert (run.status, run.error and run.error.code) == ("failed", ErrorCode.NOT_FOUND)


@pytest.mark.parametrize(
    ("sql", "rows", "threads"),
    [("SELECT 1", 10, 1), ("SELECT 1", 1_000_000, 4), ("SELECT first(a)", 1_000_000, 1)],
    ids=["small", "large", "order-dependent"],
)
async def test_threads_follow_the_data(world: World, sql: str, rows: int, threads: int) -> None:
    table = SHOP.tables[0].model_copy(update={"rows": rows})
    world.datasets.current["shop"] = SHOP.model_copy(update={"tables": (table,)})
    async with world.opened(parts=world.parts(threads=4)) as runs:
        await runs.wait((await runs.submit(ask(sql))).id, 5)
    assert world.executor.jobs[0].threads == threads


async def test_dry_runs_reach_the_sandbox_as_such(runs: Runs, world: World) -> None:
    world.executor.on("SELECT 1;", Script(rows=[], output={"explain": "SCAN"}))
    run = await runs.wait((await runs.submit(ask(mode="dry_run"))).id, 5)
    assert (run.status, run.output, world.executor.jobs[0].mode) == (
        "succeeded",
        {"explain": "SCAN"},
        "dry_run",
    )
    assert (await runs.get(run.id)).output == {"explain": "SCAN"}


async def test_capsules_of_every_end_verify(runs: Runs, world: World, tmp_path: Path) -> None:
    async def rehash(dataset: Dataset) -> str:
        return dataset.version

    plan = {"table": "orders", "select": 1.0, "big": 2**60}
    requests: list[Any] = [
        ask(),
        RunRequest(dataset_id="shop", query=PlanQuery(plan)),
        *(case.values[0] for case in REFUSALS),
        scripted(world, "SELECT b", failing(ErrorCode.VALIDATION_ERROR)),
        ask(mode="dry_run"),
    ]
    parts = rederive_with(world.parts(), trusted_keys(tmp_path), rehash)
    for request in requests:
        run = await runs.wait((await runs.submit(request)).id, 5)
        report = await verify(await runs.capsule(run.id), parts)
        assert report.ok, report
        assert report.complete, report


async def test_a_capsule_is_not_there_before_the_end(runs: Runs, world: World) -> None:
    run = await runs.submit(scripted(world, "SELECT slow", Script(delay_s=0.2)))
    with pytest.raises(NotFound, match="no capsule yet"):
        await runs.capsule(run.id)
    for call in (runs.capsule, runs.get, runs.wait, runs.cancel):
        with pytest.raises(NotFound, match="no run `run_x`"):
            await call("run_x")
    assert (await runs.wait(run.id, 0)).status in ("pending", "running")
    assert (await runs.wait(run.id, 5)).status == "succeeded"


async def test_lists_are_newest_first_and_bounded(runs: Runs) -> None:
    made = [(await runs.submit(ask(f"SELECT {n}", question=f"what is {n}?"))).id for n in range(5)]
    for run_id in made:
        await runs.wait(run_id, 5)
    assert made == sorted(made)
    listed = await runs.list(limit=3)
    assert [run.id for run in listed] == made[::-1][:3]
    assert listed[0].rows is None
    assert listed[0].row_count == 1
    assert [run.id for run in await runs.list(before=made[2])] == made[:2][::-1]
    assert [run.id for run in await runs.list(text="what is 3")] == [made[3]]
    assert await runs.list(status="failed") == []
    assert await runs.counts() == {"succeeded": 5}
    with pytest.raises(InvalidInput, match="between 1 and"):
        await runs.list(limit=0)


@pytest.mark.parametrize("before", ["nonsense", "", "../../x", "run_1"], ids=repr)
async def test_before_is_a_run(runs: Runs, before: str) -> None:
    with pytest.raises(InvalidInput, match="no run id"):
        await runs.list(before=before)


def test_a_home_where_no_lock_can_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "instances").write_text("a file")
    with pytest.raises(InvalidInput, match="no lock can be made"):
        Instance(tmp_path).acquire()
