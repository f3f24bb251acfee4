"""Servers that share a store: each does what any accepted, and hears at once what the others did."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import psycopg
import pytest

from sandtable.runs import desk
from sandtable.runs.desk import Runs
from sandtable.sandbox.fake import FakeExecutor, Script
from tests.runs.world import World, abandon, ask, code

pytestmark = pytest.mark.needs("postgres")

NEVER_S = 600.0
Make = Callable[[], World]


@pytest.fixture
async def make(tmp_path: Path, postgres_url: str) -> AsyncIterator[Make]:
    """Worlds with sandboxes of their own, one home's key and one database."""
    made: list[World] = []

    def another() -> World:
        made.append(World(tmp_path, database_url=postgres_url))
        return made[-1]

    yield another
    for world in made:
        await world.sessions.aclose()
        await world.executor.aclose()


@pytest.fixture
def only_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks by themselves: what is not told is not known."""
    for name in ("SHARED_SWEEP_S", "CANCEL_POLL_S", "LOCAL_POLL_S", "FOREIGN_POLL_S"):
        monkeypatch.setattr(desk, name, NEVER_S)


@asynccontextmanager
async def front_and_back(make: Make) -> AsyncIterator[tuple[Runs, Runs, World]]:
    """One that only accepts, and one that works."""
    front, back = make(), make()
    async with front.opened(concurrency=0) as accepts, back.opened() as works:
        yield accepts, works, back


def terminate(url: str, condition: str) -> int:
    """As a restart of the database or a cut line does it; how many connections were ended."""
    with psycopg.connect(url, autocommit=True) as connection:
        ended = connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            f" WHERE pid <> pg_backend_pid() AND datname = current_database() AND {condition}".encode()
        )
        return ended.rowcount


@pytest.mark.usefixtures("only_told")
async def test_work_and_its_end_are_told_at_once(make: Make) -> None:
    async with front_and_back(make) as (accepts, _, back):
        run = await accepts.submit(ask("SELECT 1"))
        async with asyncio.timeout(10):
            ended = await accepts.wait(run.id)
        assert ended.status == "succeeded" and ended.rows
        assert len(back.executor.jobs) == 1


@pytest.mark.usefixtures("only_told")
async def test_a_cancel_reaches_whoever_executes_at_once(make: Make) -> None:
    async with front_and_back(make) as (accepts, works, back):
        back.executor.on("SELECT 0;", Script(delay_s=60))
        run = await accepts.submit(ask("SELECT 0"))
        await back.executor.taken()
        async with asyncio.timeout(10):
            assert (await accepts.cancel(run.id)).status == "cancelled"
        assert back.executor.cancelled == [back.executor.jobs[0].id]
        assert (await works.get(run.id)).status == "cancelled"


async def test_a_pending_run_is_cancelled_by_anyone(make: Make) -> None:
    async with make().opened(concurrency=0) as one, make().opened(concurrency=0) as other:
        run = await one.submit(ask("SELECT 0"))
        assert (await other.cancel(run.id)).status == "cancelled"
        assert (await one.wait(run.id, 5)).status == "cancelled"


async def test_all_drain_the_queue(make: Make) -> None:
    one, other = make(), make()
    for world in (one, other):
        world.executor = FakeExecutor(Script(delay_s=0.02))
    async with one.opened(concurrency=2) as first, other.opened(concurrency=2) as second:
        accepted = {(await first.submit(ask(f"SELECT {n}"))).id for n in range(40)}
        for run_id in accepted:
            assert (await second.wait(run_id, 20)).status == "succeeded"
    assert len(one.executor.jobs) + len(other.executor.jobs) == 40
    assert min(len(one.executor.jobs), len(other.executor.jobs)) > 4
    one.assert_all_ended_once(accepted)


async def test_what_needs_its_owner_waits_for_it(make: Make) -> None:
    async with front_and_back(make) as (accepts, works, back):
        cell = await accepts.submit(code("orders", session="s"))
        personal = make().runs(concurrency=0)
        await personal.start(adopt=False)
        own = await personal.submit(ask("SELECT 2"))
        other = await accepts.submit(ask("SELECT 1"))
        await works.wait(other.id, 10)
        assert [(await works.get(run.id)).status for run in (cell, own)] == ["pending", "pending"]
        assert len(back.executor.jobs) == 1
        await personal.aclose()


async def test_one_persons_process_leaves_the_work_of_servers_alone(make: Make) -> None:
    person = make()
    async with make().opened(concurrency=0) as accepts:
        left = await accepts.submit(ask("SELECT 1"))
        cli = person.runs()
        await cli.start(adopt=False)
        own = await cli.submit(ask("SELECT 2"))
        assert (await cli.wait(own.id, 10)).status == "succeeded"
        assert (await cli.get(left.id)).status == "pending"
        await cli.aclose()
    assert len(person.executor.jobs) == 1


async def test_a_dead_servers_runs_are_taken_up_by_a_living_one(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk, "SHARED_SWEEP_S", 0.1)
    dies, lives = make(), make()
    dies.executor.on("SELECT 0;", Script(delay_s=60))
    dead = dies.runs(concurrency=1)
    await dead.start()
    running = await dead.submit(ask("SELECT 0"))
    await dies.executor.taken()
    cell = await dead.submit(code("orders", session="s"))
    async with lives.opened() as heir:
        await abandon(dead)
        for run in (running, cell):
            assert (await heir.wait(run.id, 10)).status == "succeeded"
    lives.assert_all_ended_once({running.id, cell.id})


async def test_a_server_that_lost_its_lock_comes_back_as_another(make: Make, postgres_url: str) -> None:
    world = make()
    world.executor.on("SELECT 0;", Script(delay_s=60))
    async with world.opened() as runs:
        run = await runs.submit(ask("SELECT 0"))
        await world.executor.taken()
        world.executor.on("SELECT 0;", Script())
        before = runs._instance.id
        assert terminate(postgres_url, f"application_name = 'sandtable {before}'") == 1
        assert (await runs.wait(run.id, 20)).status == "succeeded"
        assert runs._instance.id != before and runs._instance.alive
    # What was begun under the lost name is stopped, and begun again.
    assert world.executor.cancelled == [world.executor.jobs[0].id]
    assert world.executor.jobs[1].id.endswith("-2")
    world.assert_all_ended_once({run.id})


async def test_what_another_adopted_cannot_be_ended_under_the_old_name(make: Make) -> None:
    """Work goes on for a moment after the lock is lost: whichever ends first, there is one end."""
    loses, adopts = make(), make()
    loses.executor = FakeExecutor(Script(delay_s=0.3))
    async with loses.opened() as one:
        run = await one.submit(ask("SELECT 0"))
        await loses.executor.taken()
        record = await one._store.get(run.id)
        assert record is not None
        async with adopts.opened() as other:
            assert await other._store.adopt(record.owner, other._instance.id) == 1
            other._dispatcher.look()
            assert (await other.wait(run.id, 10)).status == "succeeded"
        await asyncio.sleep(0.4)
        assert not one._dispatcher.busy
    adopts.assert_all_ended_once({run.id})


async def test_a_database_that_goes_away_again_and_again_loses_no_run(make: Make, postgres_url: str) -> None:
    one, other = make(), make()
    for world in (one, other):
        world.executor = FakeExecutor(Script(delay_s=0.02))
    async with one.opened(concurrency=2) as first, other.opened(concurrency=2) as second:
        accepted = {(await first.submit(ask(f"SELECT {n}"))).id for n in range(60)}
        for _ in range(4):
            await asyncio.sleep(0.15)
            terminate(postgres_url, "true")
        for run_id in accepted:
            assert (await second.wait(run_id, 30)).status == "succeeded"
    one.assert_all_ended_once(accepted)
