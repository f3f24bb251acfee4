"""What one user's runs and sessions leave for others; and that a cell which waits for its turn holds no slot."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from sandtable.errors import QueueFull
from sandtable.runs.desk import Runs
from sandtable.runs.sessions import Sessions
from sandtable.sandbox.fake import FakeExecutor, Script
from tests.runs.cells import QUIET, before, cell, ran_in, script_cells
from tests.runs.world import World, abandon, ask

ENDLESS = Script(delay_s=60)


async def _running(runs: Runs) -> int:
    return (await runs.counts()).get("running", 0)


async def _ran(world: World, session: list[str]) -> None:
    async with asyncio.timeout(10):
        while session not in ran_in(world):
            await asyncio.sleep(0.01)


async def test_a_user_who_fills_the_queue_leaves_a_slot(world: World) -> None:
    world.executor = FakeExecutor(ENDLESS)
    world.executor.on("SELECT 100;", Script())
    async with world.opened(concurrency=4, share=0.75) as runs:
        for n in range(8):
            await runs.submit(ask(f"SELECT {n}", user="ann"))
        await world.executor.taken(3)
        other = await runs.submit(ask("SELECT 100", user="bob"))
        assert (await runs.wait(other.id, 10)).status == "succeeded"
        assert await _running(runs) == 3
        assert [job.text for job in world.executor.jobs[:3]] == [f"SELECT {n};" for n in range(3)]


async def test_one_persons_process_uses_all_of_them(world: World) -> None:
    world.executor = FakeExecutor(ENDLESS)
    async with world.opened(concurrency=3) as runs:
        for n in range(4):
            await runs.submit(ask(f"SELECT {n}", user="ann"))
        async with asyncio.timeout(10):
            await world.executor.taken(3)


async def test_a_run_that_waited_for_its_users_share_is_taken_up_when_one_ends(world: World) -> None:
    world.executor = FakeExecutor(Script(delay_s=0.05))
    async with world.opened(concurrency=2, share=0.5) as runs:
        made = [await runs.submit(ask(f"SELECT {n}", user="ann")) for n in range(5)]
        ended = [await runs.wait(run.id, 10) for run in made]
    assert {run.status for run in ended} == {"succeeded"}
    assert world.executor.peak == 1


async def test_users_rotate_even_on_one_slot(world: World) -> None:
    world.executor = FakeExecutor(Script(delay_s=0.02))
    async with world.opened(concurrency=1) as runs:
        for n in range(6):
            await runs.submit(ask(f"SELECT {n}", user="ann"))
        last = [await runs.submit(ask(f"SELECT {n}", user="bob")) for n in (100, 101)][-1]
        await runs.wait(last.id, 10)
        order = [job.text for job in world.executor.jobs]
    assert order.index("SELECT 101;") <= 5


async def test_a_user_has_a_share_of_the_queue(world: World) -> None:
    world.executor = FakeExecutor(ENDLESS)
    async with world.opened(concurrency=1, queue_limit=4, share=0.5) as runs:
        await runs.submit(ask("SELECT 0", user="ann"))
        await world.executor.taken()
        for n in (1, 2):
            await runs.submit(ask(f"SELECT {n}", user="ann"))
        with pytest.raises(QueueFull, match="the user ann has 2 runs waiting") as caught:
            await runs.submit(ask("SELECT 3", user="ann"))
        assert "SANDTABLE_USER_SHARE" in caught.value.suggestion
        await runs.submit(ask("SELECT 4", user="bob"))


async def test_a_cell_that_waits_for_its_session_holds_no_slot(world: World) -> None:
    script_cells(world)
    async with world.opened(concurrency=2) as runs:
        slow = await runs.submit(cell("slow"))
        waiting = [await runs.submit(cell(text)) for text in "abc"]
        await _ran(world, ["slow"])
        other = await runs.submit(ask("SELECT 1"))
        assert (await runs.wait(other.id, 10)).status == "succeeded"
        assert [(await runs.get(run.id)).status for run in waiting] == ["pending"] * 3
        await runs.cancel(slow.id)
        ended = [await runs.wait(run.id, 10) for run in waiting]
        assert [run.status for run in ended] == ["succeeded"] * 3
        assert ran_in(world) == [["slow", "a", "b", "c"]]
        assert await before(runs, ended[2]) == [("slow", True), ("a", False), ("b", False)]


async def test_cells_that_waited_are_taken_up_after_a_crash(world: World) -> None:
    script_cells(world)
    first = world.runs(concurrency=1)
    await first.start()
    slow = await first.submit(cell("slow"))
    waiting = [await first.submit(cell(text)) for text in "ab"]
    await _ran(world, ["slow"])
    await abandon(first)
    await world.sessions.aclose()
    world.executor.on("slow", QUIET)
    world.sessions = Sessions(world.executor)
    async with world.opened() as heir:
        assert [(await heir.wait(run.id, 10)).status for run in (slow, *waiting)] == ["succeeded"] * 3
        assert ran_in(world)[-1] == ["slow", "a", "b"]
    world.assert_all_ended_once({run.id for run in (slow, *waiting)})


async def test_a_cell_does_not_wait_in_a_slot_for_a_session_to_end(world: World) -> None:
    """As many sessions as may live are in use, and there are more slots than that."""
    script_cells(world)
    world.sessions = Sessions(world.executor, most=1)
    async with world.opened(concurrency=2) as runs:
        slow = await runs.submit(cell("slow", "s"))
        await _ran(world, ["slow"])
        waiting = await runs.submit(cell("a", "t"))
        other = await runs.submit(ask("SELECT 1"))
        assert (await runs.wait(other.id, 10)).status == "succeeded"
        assert (await runs.get(waiting.id)).status == "pending"
        await runs.cancel(slow.id)
        assert (await runs.wait(waiting.id, 10)).status == "succeeded"


async def test_who_opens_many_sessions_loses_their_own(world: World) -> None:
    script_cells(world)
    world.sessions = Sessions(world.executor, most=3)
    async with world.opened() as runs:
        for session, user in (("s", "bob"), *((f"t{n}", "ann") for n in range(6))):
            run = await runs.submit(cell("a", session, user=user))
            assert (await runs.wait(run.id, 10)).status == "succeeded"
        living = [session.alive for session in world.executor.sessions]
        assert living == [True, False, False, False, False, True, True]
        again = await runs.submit(cell("b", "s", user="bob"))
        assert (await runs.wait(again.id, 10)).replayed == 0


async def test_a_cell_that_was_accepted_before_its_session_was_recorded_still_takes_turns(
    world: World,
) -> None:
    """The queue of an earlier version does not know whose cell a run is."""
    script_cells(world)
    store = world.store()
    accept = store.accept

    async def as_before(record: object, *limits: object) -> None:
        await accept(replace(record, session=None), *limits)  # pyright: ignore[reportArgumentType] - passed on

    store.accept = as_before  # pyright: ignore[reportAttributeAccessIssue] - stands in for it
    async with world.opened(store=store) as runs:
        made = [await runs.submit(cell(text)) for text in "abc"]
        assert [(await runs.wait(run.id, 10)).status for run in made] == ["succeeded"] * 3
    assert ran_in(world) == [["a", "b", "c"]]
