"""Order, bounds, cancelling, and the cache."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import Any

import pytest

from sandtable.capsule.model import LOG_CHARS
from sandtable.errors import ErrorCode, QueueFull, SandboxUnavailable
from sandtable.retrying import Backoff
from sandtable.runs import pipeline
from sandtable.runs.cache import HIDDEN
from sandtable.runs.desk import Runs
from sandtable.sandbox.fake import FakeExecutor, Script
from sandtable.store.run_store import RunRecord, StoreCorrupt, StoreFull, StoreUnavailable
from tests.capsule.samples import SHOP
from tests.runs.test_states import capsule_of
from tests.runs.world import World, ask, code


async def test_no_more_run_at_once_than_allowed(world: World) -> None:
    world.executor = FakeExecutor(Script(delay_s=0.02))
    async with world.opened(concurrency=3) as runs:
        made = [await runs.submit(ask(f"SELECT {n}")) for n in range(12)]
        ended = [await runs.wait(run.id, 10) for run in made]
    assert {run.status for run in ended} == {"succeeded"}
    assert world.executor.peak == 3


async def test_users_share_the_slots(world: World) -> None:
    world.executor = FakeExecutor(Script(delay_s=0.15))
    async with world.opened(concurrency=2) as runs:
        await runs.submit(ask("SELECT 0", user="ann"))
        for n in range(1, 8):
            await runs.submit(ask(f"SELECT {n}", user="ann"))
        await runs.submit(ask("SELECT 100", user="bob"))
        last = await runs.submit(ask("SELECT 101", user="bob"))
        await runs.wait(last.id, 10)
        order = [job.text for job in world.executor.jobs]
    # Bob's come as soon as slots free themselves, not after all that ann has queued before him.
    assert order.index("SELECT 101;") <= 6


async def test_the_queue_is_bounded(world: World) -> None:
    world.executor = FakeExecutor(Script(delay_s=0.3))
    async with world.opened(concurrency=1, queue_limit=2) as runs:
        first = await runs.submit(ask("SELECT 0"))
        await world.executor.taken()
        await runs.submit(ask("SELECT 1"))
        last = await runs.submit(ask("SELECT 2"))
        with pytest.raises(QueueFull) as caught:
            await runs.submit(ask("SELECT 3"))
        assert caught.value.code == ErrorCode.QUEUE_FULL
        assert "SANDTABLE_QUEUE_LIMIT" in caught.value.suggestion
        assert (await runs.wait(first.id, 5)).status == "succeeded"
        assert (await runs.wait(last.id, 5)).status == "succeeded"
        assert len(await runs.list()) == 3


async def test_cancel_a_pending_run(world: World) -> None:
    world.executor = FakeExecutor(Script(delay_s=0.2))
    async with world.opened(concurrency=1) as runs:
        await runs.submit(ask("SELECT 0"))
        await world.executor.taken()
        waiting = await runs.submit(ask("SELECT 1"))
        cancelled = await runs.cancel(waiting.id)
        assert cancelled.status == "cancelled"
        capsule = await capsule_of(runs, waiting.id)
        assert (capsule.status, capsule.verdict, capsule.sql) == ("cancelled", None, "SELECT 1")
        await asyncio.sleep(0.3)
    assert [job.text for job in world.executor.jobs] == ["SELECT 0;"]


async def test_cancel_a_running_run(runs: Runs, world: World) -> None:
    world.executor.on("SELECT 0;", Script(delay_s=60))
    run = await runs.submit(ask("SELECT 0"))
    await world.executor.taken()
    waiter = asyncio.create_task(runs.wait(run.id))
    assert (await runs.cancel(run.id)).status == "cancelled"
    assert (await waiter).status == "cancelled"
    assert world.executor.cancelled == [world.executor.jobs[0].id]
    capsule = await capsule_of(runs, run.id)
    assert (capsule.status, capsule.executed_sql) == ("cancelled", "SELECT 0;")
    assert (await runs.cancel(run.id)).status == "cancelled"


async def test_cancel_while_it_is_judged(world: World) -> None:
    judged = asyncio.Event()

    async def slow(text: str, dataset: Any) -> Any:
        judged.set()
        await asyncio.sleep(60)

    async with world.opened(parts=world.parts(judge=slow, judge_s=60)) as runs:
        run = await runs.submit(ask())
        await judged.wait()
        assert (await runs.cancel(run.id)).status == "cancelled"
        assert (await capsule_of(runs, run.id)).verdict is None


async def test_cancel_an_ended_run_changes_nothing(runs: Runs) -> None:
    run = await runs.wait((await runs.submit(ask())).id, 5)
    assert await runs.cancel(run.id) == run


async def test_cancel_right_after_submit_at_any_moment(world: World) -> None:
    world.executor = FakeExecutor(Script(delay_s=0.005))
    async with world.opened(concurrency=2) as runs:
        for n in range(30):
            run = await runs.submit(ask(f"SELECT {n}"))
            await asyncio.sleep(n * 0.0005)
            assert (await runs.cancel(run.id)).status in ("cancelled", "succeeded")
            assert (await capsule_of(runs, run.id)).status == (await runs.get(run.id)).status


async def test_another_process_can_cancel(world: World) -> None:
    world.executor.on("SELECT 0;", Script(delay_s=60))
    async with world.opened() as server, world.opened() as cli:
        run = await server.submit(ask("SELECT 0"))
        await world.executor.taken()
        assert (await cli.get(run.id)).status == "running"
        assert (await cli.cancel(run.id)).status == "cancelled"
        assert (await server.wait(run.id, 5)).status == "cancelled"


async def test_two_processes_share_a_home_and_run_their_own(world: World) -> None:
    other = FakeExecutor()
    async with world.opened() as server, world.opened(parts=world.parts(executor=other)) as cli:
        ours = [await server.submit(ask(f"SELECT {n}")) for n in range(5)]
        theirs = [await cli.submit(ask(f"SELECT {n}", cache=False)) for n in range(10, 15)]
        for run in (*ours, *theirs):
            assert (await cli.wait(run.id, 5)).status == "succeeded"
    assert {job.text for job in other.jobs} == {f"SELECT {n};" for n in range(10, 15)}
    assert len(world.executor.jobs) == 5
    await other.aclose()


async def test_an_identical_run_is_answered_from_the_first(runs: Runs, world: World) -> None:
    world.executor.on(
        "SELECT 1;", Script(columns=[("x", "DOUBLE")], rows=[(0.1 + 0.2,), (1.0,)], delay_s=0.01)
    )
    first = await runs.wait((await runs.submit(ask("SELECT 1"))).id, 5)
    again = await runs.wait((await runs.submit(ask("SELECT  1", user="bob", question="?"))).id, 5)
    third = await runs.wait((await runs.submit(ask("SELECT 1"))).id, 5)
    # Another user does not learn whose run it was.
    assert (again.cached_from, third.cached_from) == (HIDDEN, first.id)
    assert (again.rows, again.columns, again.status) == (first.rows, first.columns, "succeeded")
    assert len(world.executor.jobs) == 1
    ours, theirs = await capsule_of(runs, first.id), await capsule_of(runs, again.id)
    assert theirs.cached_from == HIDDEN
    assert theirs.run_id == again.id
    assert theirs.digests.result == ours.digests.result


@pytest.mark.parametrize(
    "second",
    [
        pytest.param(ask("SELECT 2"), id="other SQL"),
        pytest.param(ask("SELECT 1", max_rows=7), id="other row limit"),
        pytest.param(ask("SELECT 1", mode="dry_run"), id="other mode"),
        pytest.param(ask("SELECT 1", cache=False), id="asked not to"),
    ],
)
async def test_what_is_not_identical_runs(runs: Runs, world: World, second: Any) -> None:
    await runs.wait((await runs.submit(ask("SELECT 1"))).id, 5)
    run = await runs.wait((await runs.submit(second)).id, 5)
    assert run.cached_from is None
    assert len(world.executor.jobs) == 2


async def test_a_tighter_time_limit_still_finds_the_answer(runs: Runs) -> None:
    first = await runs.wait((await runs.submit(ask("SELECT 1"))).id, 5)
    run = await runs.wait((await runs.submit(ask("SELECT 1", timeout_ms=100))).id, 5)
    assert run.cached_from == first.id


async def test_other_data_runs(runs: Runs, world: World) -> None:
    await runs.wait((await runs.submit(ask("SELECT 1"))).id, 5)
    world.datasets.current["shop"] = SHOP.model_copy(update={"version": "sha256:" + "ef" * 32})
    run = await runs.wait((await runs.submit(ask("SELECT 1"))).id, 5)
    assert run.cached_from is None


@pytest.mark.parametrize("sql", ["SELECT random()", "SELECT bad"])
async def test_what_is_volatile_or_failed_is_not_reused(runs: Runs, world: World, sql: str) -> None:
    world.executor.on("SELECT bad;", Script(raises=SandboxUnavailable("no")))
    for _ in range(2):
        run = await runs.wait((await runs.submit(ask(sql))).id, 5)
        assert run.cached_from is None
    assert len(world.executor.jobs) == 2


async def test_a_changed_answer_in_the_database_is_not_signed_again(runs: Runs, world: World) -> None:
    await runs.wait((await runs.submit(ask("SELECT 1"))).id, 5)
    connection = sqlite3.connect(world.home / "sandtable.db")
    connection.execute("DROP TRIGGER results_no_update")
    changed = connection.execute("UPDATE results SET result = replace(result, '42', '43')").rowcount
    connection.commit()
    connection.close()
    assert changed == 1
    again = await runs.wait((await runs.submit(ask("SELECT 1"))).id, 5)
    assert (again.cached_from, again.rows) == (None, ((42,),))


@pytest.mark.parametrize(("then", "now"), [("North", "South"), ("hello", "hullo"), ("42", "43")])
async def test_changed_output_of_code_in_the_database_is_not_signed_again(
    runs: Runs, world: World, then: str, now: str
) -> None:
    page = {"id": "markdown-1", "kind": "markdown", "title": "", "text": "North"}
    long = "hello" * LOG_CHARS
    world.executor.on("orders", Script(stdout=long, output={"artifacts": [page]}))
    first = await runs.wait((await runs.submit(code("orders"))).id, 5)
    connection = sqlite3.connect(world.home / "sandtable.db")
    connection.execute("DROP TRIGGER results_no_update")
    connection.execute("UPDATE results SET result = replace(result, ?, ?)", (then, now))
    connection.commit()
    connection.close()
    again = await runs.wait((await runs.submit(code("orders"))).id, 5)
    assert (again.cached_from, again.stdout, again.artifacts) == (None, long, first.artifacts)


async def test_a_full_disk_is_said_and_the_answer_is_kept(world: World) -> None:
    store = world.store()
    world.executor.on(
        "SELECT large;", Script(columns=[("x", "VARCHAR")], rows=[("x" * 400_000,)], delay_s=0.05)
    )
    async with world.opened(store=store) as runs:
        run = await runs.submit(ask("SELECT large"))
        await world.executor.taken()
        await store._rows("PRAGMA max_page_count = 1")
        with pytest.raises(StoreFull) as caught:
            await runs.wait(run.id, 5)
        assert "Free space" in caught.value.suggestion
        with pytest.raises(StoreFull):
            await runs.submit(ask("SELECT 2", question="q" * 16_000))
        assert (await runs.get(run.id)).status == "running"
        await store._rows("PRAGMA max_page_count = 1000000")
        assert (await runs.wait(run.id, 5)).status == "succeeded"
    assert len(world.executor.jobs) == 1


async def test_a_store_that_cannot_be_read_for_a_moment_costs_a_run_a_moment(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, asked = world.store(), 0
    cached = store.cached

    async def sometimes(key: str) -> RunRecord | None:
        nonlocal asked
        asked += 1
        if asked < 3:
            raise StoreUnavailable("the database is away", suggestion="Wait.")
        return await cached(key)

    monkeypatch.setattr(store, "cached", sometimes)
    monkeypatch.setattr(pipeline, "STORE_AWAY", Backoff((0.01,)))
    async with world.opened(store=store) as runs:
        run = await runs.wait((await runs.submit(ask())).id, 5)
    assert (run.status, asked, len(world.executor.jobs)) == ("succeeded", 3, 1)


async def test_a_run_that_waits_for_the_store_can_be_cancelled(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, asked = world.store(), asyncio.Event()

    async def never(key: str) -> RunRecord | None:
        asked.set()
        raise StoreUnavailable("the database is away", suggestion="Wait.")

    monkeypatch.setattr(store, "cached", never)
    async with world.opened(store=store) as runs:
        run = await runs.submit(ask())
        await asked.wait()
        await runs.cancel(run.id)
        assert (await runs.wait(run.id, 5)).status == "cancelled"
    assert not world.executor.jobs


async def test_a_damaged_database_is_said_at_the_start(world: World) -> None:
    (world.home / "sandtable.db").write_bytes(b"not a database" * 1000)
    runs = world.runs()
    with pytest.raises(StoreCorrupt, match="damaged"):
        await runs.start()
    assert list((world.home / "instances").iterdir()) == []
    await runs.aclose()


async def test_nothing_is_taken_before_the_start_and_after_the_end(world: World) -> None:
    runs = world.runs()
    with pytest.raises(SandboxUnavailable):
        await runs.submit(ask())
    await runs.start()
    await runs.aclose()
    with pytest.raises(SandboxUnavailable):
        await runs.submit(ask())
    await runs.aclose()
