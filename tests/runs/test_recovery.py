"""Whatever dies, an accepted run reaches one terminal state with one capsule."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from sandtable.runs.instance import Instance
from sandtable.sandbox.fake import FakeExecutor, Script
from sandtable.store.sqlite.file import SqliteFile
from sandtable.store.sqlite.migrations import MIGRATIONS
from sandtable.store.sqlite.run_store import SqliteStore
from tests.runs.world import World, abandon, ask

ROOT = Path(__file__).parents[2]


class MortalFile(SqliteFile):
    """Dies at the given call, before or after it has done its work, and stays dead."""

    def __init__(self, path: Path, at: int, after: bool) -> None:
        super().__init__(path, MIGRATIONS, synchronous="FULL")
        self._left = at
        self._after = after

    @property
    def dead(self) -> bool:
        return self._left <= 0

    async def do(self, act: Any) -> Any:
        self._left -= 1
        if self._left < 0 or (self._left == 0 and not self._after):
            await asyncio.Event().wait()
        done = await super().do(act)
        if self._left == 0:
            await asyncio.Event().wait()
        return done


class MortalStore(SqliteStore):
    def __init__(self, path: Path, at: int, after: bool) -> None:
        super().__init__(path)
        self._file = self.mortal = MortalFile(path, at, after)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.needs("postgres"))])
def kept(request: pytest.FixtureRequest, world: World) -> World:
    """Once for each store."""
    if request.param == "postgres":
        world.database_url = request.getfixturevalue("postgres_url")
    return world


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(3, 14))
async def test_death_at_every_step_of_the_store(world: World, at: int, after: bool) -> None:
    store = MortalStore(world.home / "sandtable.db", at, after)
    runs = world.runs(store=store)
    await runs.start()
    accepted: set[str] = set()

    async def live() -> None:
        for sql in ("SELECT 1", "SELECT * FROM read_csv('x')", "SELECT 2"):
            accepted.add((await runs.submit(ask(sql))).id)
        for run_id in sorted(accepted):
            await runs.wait(run_id)

    life = asyncio.create_task(live())
    await asyncio.wait({life}, timeout=0.3)
    life.cancel()
    await asyncio.gather(life, return_exceptions=True)
    assert store.mortal.dead
    await abandon(runs)

    async with world.opened() as heir:
        for run_id in world.ledger()[0]:
            await heir.wait(run_id, 5)
    world.assert_all_ended_once(accepted)


async def test_a_dead_instances_runs_are_adopted_at_the_start(kept: World) -> None:
    world = kept
    world.executor.on("SELECT 0;", Script(delay_s=60))
    dead = world.runs(concurrency=1)
    await dead.start()
    running, pending = await dead.submit(ask("SELECT 0")), await dead.submit(ask("SELECT 1"))
    await world.executor.taken()
    await abandon(dead)
    lock = world.home / "instances" / f"{dead._instance.id}.lock"
    assert lock.exists() or world.database_url

    world.executor = FakeExecutor()
    async with world.opened() as heir:
        assert (await heir.wait(running.id, 5)).status == "succeeded"
        assert (await heir.wait(pending.id, 5)).status == "succeeded"
        assert not lock.exists()
    # Another attempt has another job id: a tier may remember the first.
    assert world.executor.jobs[0].id.endswith("-2")
    world.assert_all_ended_once({running.id, pending.id})


async def test_a_living_instances_runs_are_left_alone(kept: World) -> None:
    world = kept
    world.executor.on("SELECT 0;", Script(delay_s=0.3))
    async with world.opened() as living:
        run = await living.submit(ask("SELECT 0"))
        async with world.opened() as other:
            assert (await other.wait(run.id, 5)).status == "succeeded"
        assert len(world.executor.jobs) == 1


async def test_whoever_does_not_adopt_leaves_them(kept: World) -> None:
    world = kept
    dead = world.runs(concurrency=1)
    await dead.start()
    await dead._store.release("x")
    for loop in dead._loops:
        loop.cancel()
    left = await dead.submit(ask("SELECT 1"))
    await abandon(dead)
    cli = world.runs()
    await cli.start(adopt=False)
    own = await cli.submit(ask("SELECT 2"))
    assert (await cli.wait(own.id, 5)).status == "succeeded"
    assert (await cli.get(left.id)).status == "pending"
    assert (await cli.cancel(left.id)).status == "cancelled"
    await cli.aclose()


async def test_a_graceful_end_puts_runs_back(kept: World) -> None:
    world = kept
    world.executor.on("SELECT 0;", Script(delay_s=60))
    async with world.opened(concurrency=1) as first:
        running, pending = await first.submit(ask("SELECT 0")), await first.submit(ask("SELECT 1"))
        await world.executor.taken()
    assert world.executor.cancelled == [world.executor.jobs[0].id]
    statuses, capsules = world.ledger()
    assert (set(statuses.values()), capsules) == ({"pending"}, {})
    assert world.database_url or list((world.home / "instances").iterdir()) == []
    world.executor = FakeExecutor()
    async with world.opened() as second:
        for run in (running, pending):
            assert (await second.wait(run.id, 5)).status == "succeeded"


async def test_a_run_that_always_takes_the_server_with_it_is_given_up(kept: World) -> None:
    world = kept
    world.executor.on("SELECT 0;", Script(delay_s=60))
    for attempt in (1, 2):
        dying = world.runs(max_attempts=2)
        await dying.start()
        if attempt == 1:
            await dying.submit(ask("SELECT 0"))
        await world.executor.taken(attempt)
        await abandon(dying)
    async with world.opened(max_attempts=2) as last:
        run = await last.wait((await last.list())[0].id, 5)
    assert run.status == "failed"
    assert run.error is not None
    assert "begun 2 times" in run.error.message


def test_a_new_instance_survives_a_recovery_at_the_same_moment(tmp_path: Path) -> None:
    """A file that is made but not yet locked looks dead; its maker must notice when it was buried."""
    folder = tmp_path / "instances"
    seeker, newcomer = Instance(tmp_path), Instance(tmp_path)
    seeker.acquire()
    (folder / "unlocked.lock").touch()
    with seeker.inherit("unlocked") as dead:
        assert dead
    assert not (folder / "unlocked.lock").exists()
    newcomer.acquire()
    assert sorted(seeker.others()) == [newcomer.id]
    with seeker.inherit(newcomer.id) as dead:
        assert not dead
    with seeker.inherit(seeker.id) as dead:
        assert not dead
    newcomer.release()
    with seeker.inherit(newcomer.id) as dead:
        assert dead
    seeker.release()


CHILD = """
import asyncio, sys
from pathlib import Path
from sandtable.sandbox.fake import FakeExecutor, Script
from tests.runs.world import World, ask

async def main():
    world = World(Path(sys.argv[1]), FakeExecutor(Script(delay_s=0.01)), database_url=sys.argv[2] or None)
    async with world.opened(concurrency=3) as runs:
        for n in range(10_000):
            sql = "SELECT * FROM read_csv('x')" if n % 5 == 0 else f"SELECT {n}"
            run = await runs.submit(ask(sql, user=f"u{n % 3}"))
            print(run.id, flush=True)
            if n % 7 == 0:
                await runs.cancel(run.id)

asyncio.run(main())
"""


async def test_sigkill_at_any_moment_loses_no_accepted_run(kept: World) -> None:
    world = kept
    rng = random.Random(11)
    accepted: set[str] = set()
    for _ in range(6):
        accepted |= _live_and_die(world, rng.uniform(0.05, 0.4))
    async with world.opened(concurrency=4) as heir:
        for run_id in accepted:
            assert (await heir.wait(run_id, 20)).ended
        for run_id in world.ledger()[0]:
            await heir.wait(run_id, 20)
    assert len(accepted) > 20
    world.assert_all_ended_once(accepted)
    assert world.database_url or list((world.home / "instances").iterdir()) == []


def _live_and_die(world: World, seconds: float) -> set[str]:
    """What a process said it had accepted before it was killed, `seconds` after the first."""
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(world.home), world.database_url or ""],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        env={"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
    )
    assert child.stdout is not None
    first = child.stdout.readline()
    time.sleep(seconds)
    child.kill()
    rest = child.stdout.read()
    child.wait()
    child.stdout.close()
    lines = (first + rest).split(b"\n")[:-1]
    # The log goes to the same place; ids stand at the beginning of a line.
    return {line.decode() for line in lines if line.startswith(b"run_")}
