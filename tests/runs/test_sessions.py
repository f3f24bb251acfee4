"""Cells of a session over a scripted sandbox: what is kept, what is run again, what ends a session."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from sandtable.errors import ErrorCode, InvalidInput
from sandtable.runs import sessions as desk
from sandtable.runs.desk import Runs
from sandtable.runs.sessions import Sessions
from sandtable.sandbox.fake import FakeExecutor, FakeSession
from tests.capsule.samples import SHOP, VERSION
from tests.runs.cells import KILLS, QUIET, before, cell, ran_in, script_cells
from tests.runs.test_code import ended, verified
from tests.runs.world import World, ask, code


@pytest.fixture(autouse=True)
def _scripts(world: World) -> None:
    script_cells(world)


async def test_cells_run_one_after_another_in_one_sandbox(runs: Runs, world: World) -> None:
    accepted = [await runs.submit(cell(text)) for text in "abcd"]
    done = [await runs.wait(run.id, 5) for run in accepted]
    assert [run.status for run in done] == ["succeeded"] * 4
    assert ran_in(world) == [["a", "b", "c", "d"]]
    assert world.executor.jobs == []
    assert [run.replayed for run in done] == [0] * 4
    assert [run.warnings for run in done] == [()] * 4
    assert await before(runs, done[0]) == []
    assert await before(runs, done[3]) == [("a", False), ("b", False), ("c", False)]
    [session] = world.executor.sessions
    assert (session.job.mode, session.job.dataset_version) == ("session", VERSION)
    assert session.job.limits == world.parts().limits


async def test_a_run_without_a_session_is_alone(runs: Runs, world: World) -> None:
    run = await ended(runs, code("a"))
    assert world.executor.sessions == []
    assert await before(runs, run) == []
    sql = await ended(runs, ask("SELECT 1"))
    assert (sql.status, await before(runs, sql)) == ("succeeded", None)


async def test_nothing_is_answered_from_an_earlier_cell(runs: Runs, world: World) -> None:
    assert [(await ended(runs, cell("a"))).cached_from for _ in range(2)] == [None, None]
    assert ran_in(world) == [["a", "a"]]


async def test_what_was_refused_is_not_run_and_what_failed_is_run_again(runs: Runs, world: World) -> None:
    for text, status in (("a", "succeeded"), ("import os", "rejected"), ("fails", "failed")):
        assert (await ended(runs, cell(text))).status == status
    await world.sessions.end("s")
    run = await ended(runs, cell("b"))
    assert ran_in(world) == [["a", "fails"], ["a", "fails", "b"]]
    assert (run.replayed, run.warnings) == (
        2,
        ("the session had ended: 2 earlier cells were run again first",),
    )
    assert await before(runs, run) == [("a", False), ("fails", False)]
    assert (await runs.get(run.id)).replayed == 2
    assert (await ended(runs, cell("c"))).replayed == 0


async def test_a_refused_first_cell_opens_nothing(runs: Runs, world: World) -> None:
    assert (await ended(runs, cell("import os"))).status == "rejected"
    assert world.executor.sessions == []


async def test_code_that_its_session_died_of_is_not_run_again(runs: Runs, world: World) -> None:
    await ended(runs, cell("a"))
    assert (await ended(runs, cell("kills"))).status == "failed"
    run = await ended(runs, cell("b"))
    assert (run.status, run.replayed) == ("succeeded", 1)
    assert ran_in(world) == [["a", "kills"], ["a", "b"]]


async def test_over_its_time_the_state_is_kept(runs: Runs, world: World) -> None:
    await ended(runs, cell("a"))
    late = await ended(runs, cell("slow", timeout_ms=50))
    assert late.error is not None and late.error.code == ErrorCode.RUNNER_TIMEOUT
    run = await ended(runs, cell("b"))
    assert ran_in(world) == [["a", "slow", "b"]]
    assert await before(runs, run) == [("a", False), ("slow", True)]
    links = await verified(world, runs, run)
    why = "cell 2 of its session, on which it depends, was interrupted, and where it stopped cannot be found again"
    assert links["result"] == links["stdout"] == ("not_checked", why)
    assert links["verdict"][0] == "ok"
    await world.sessions.end("s")
    again = await ended(runs, cell("c"))
    assert ran_in(world)[1] == ["a", "b", "c"]
    assert again.warnings[1:] == (
        "the session had ended: 1 earlier cell was not run again, having been interrupted",
    )
    assert await before(runs, again) == [("a", False), ("b", False)]
    assert {status for status, _ in (await verified(world, runs, again)).values()} == {"ok"}


async def test_cancel_interrupts_and_keeps_the_state(runs: Runs, world: World) -> None:
    await ended(runs, cell("a"))
    slow = await runs.submit(cell("slow"))
    while ran_in(world) != [["a", "slow"]]:
        await asyncio.sleep(0.01)
    assert (await runs.cancel(slow.id)).status == "cancelled"
    run = await ended(runs, cell("b"))
    assert ran_in(world) == [["a", "slow", "b"]]
    assert await before(runs, run) == [("a", False), ("slow", True)]


async def test_cancelling_a_cell_that_waits_for_its_turn(runs: Runs, world: World) -> None:
    slow = await runs.submit(cell("slow"))
    waiting = await runs.submit(cell("a"))
    while ran_in(world) != [["slow"]]:
        await asyncio.sleep(0.01)
    assert (await runs.cancel(waiting.id)).status == "cancelled"
    await runs.cancel(slow.id)
    run = await ended(runs, cell("b"))
    assert ran_in(world) == [["slow", "b"]]
    assert await before(runs, run) == [("slow", True)]
    assert not world.sessions._turns


class Stubborn(FakeSession):
    """Cannot be interrupted."""

    def interrupt(self) -> None: ...

    async def aclose(self) -> None:
        super().interrupt()
        await super().aclose()


async def test_a_cell_that_does_not_stop_is_ended_with_its_session(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk, "STOP_S", 0.1)
    monkeypatch.setattr("sandtable.sandbox.fake.FakeSession", Stubborn)
    async with world.opened() as runs:
        await ended(runs, cell("a"))
        slow = await runs.submit(cell("slow"))
        while ran_in(world) != [["a", "slow"]]:
            await asyncio.sleep(0.01)
        assert (await runs.cancel(slow.id)).status == "cancelled"
        run = await ended(runs, cell("b"))
        assert (ran_in(world), run.replayed) == ([["a", "slow"], ["a", "b"]], 1)
        assert [session.alive for session in world.executor.sessions] == [False, True]


async def test_interrupt_from_outside(runs: Runs, world: World) -> None:
    slow = await runs.submit(cell("slow"))
    while ran_in(world) != [["slow"]]:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0)
    await world.sessions.interrupt("other")
    await world.sessions.interrupt("s")
    run = await runs.wait(slow.id, 5)
    assert run.error is not None and run.error.details["type"] == "Interrupted"
    assert (await ended(runs, cell("a"))).replayed == 0


async def test_a_restarted_server_goes_on(world: World) -> None:
    async with world.opened() as runs:
        for text in ("a", "fails"):
            await ended(runs, cell(text))
    await world.sessions.aclose()
    assert not any(session.alive for session in world.executor.sessions)
    world.sessions = Sessions(world.executor)
    async with world.opened() as runs:
        run = await ended(runs, cell("b"))
        assert (run.status, run.replayed) == ("succeeded", 2)
        assert {status for status, _ in (await verified(world, runs, run)).values()} == {"ok"}


async def test_a_closing_server_puts_its_cell_back(world: World) -> None:
    async with world.opened() as runs:
        await ended(runs, cell("a"))
        slow = await runs.submit(cell("slow"))
        while ran_in(world) != [["a", "slow"]]:
            await asyncio.sleep(0.01)
    await world.sessions.aclose()
    world.executor.on("slow", QUIET)
    world.sessions = Sessions(world.executor)
    async with world.opened() as runs:
        run = await runs.wait(slow.id, 5)
        assert (run.status, run.replayed, ran_in(world)[1]) == ("succeeded", 1, ["a", "slow"])


async def test_sessions_are_apart(runs: Runs, world: World) -> None:
    for request in (cell("a"), cell("b", "t"), cell("c", user="bob"), cell("d", names={"n": "orders"})):
        assert (await ended(runs, request)).status == "succeeded"
    assert ran_in(world) == [["a"], ["b"], ["c"], ["d"]]
    world.datasets.old.append(SHOP)
    world.datasets.current["shop"] = SHOP.model_copy(update={"version": "sha256:" + "cd" * 32})
    run = await ended(runs, cell("a"))
    assert (ran_in(world)[4:], await before(runs, run), run.replayed) == ([["a"]], [], 0)
    await world.sessions.end("s")
    assert [session.alive for session in world.executor.sessions] == [False, True, False, False, False]


async def test_a_cell_that_another_process_ran_is_known(runs: Runs, world: World) -> None:
    await ended(runs, cell("a"))
    other = World(world.home, world.executor)
    async with other.opened() as theirs:
        assert (await ended(theirs, cell("b"))).replayed == 1
        run = await ended(runs, cell("c"))
        assert (run.replayed, await before(runs, run)) == (2, [("a", False), ("b", False)])
        assert ran_in(world) == [["a"], ["a", "b"], ["a", "b", "c"]]
        assert [session.alive for session in world.executor.sessions] == [False, True, True]
    await other.sessions.aclose()


async def test_an_idle_session_ends(world: World) -> None:
    world.sessions = Sessions(world.executor, idle_s=0.05)
    async with world.opened() as runs:
        await ended(runs, cell("a"))
        [session] = world.executor.sessions
        async with asyncio.timeout(5):
            while session.alive:
                await asyncio.sleep(0.01)
        assert not world.sessions._live
        assert (await ended(runs, cell("b"))).replayed == 1


async def test_a_cell_that_takes_longer_than_idling_is_not_idle(world: World) -> None:
    world.executor.on("slow", replace(QUIET, delay_s=0.3))
    world.sessions = Sessions(world.executor, idle_s=0.05)
    async with world.opened() as runs:
        await ended(runs, cell("a"))
        assert (await ended(runs, cell("slow"))).status == "succeeded"
        assert ran_in(world)[-1][-1] == "slow"


async def test_the_one_that_was_not_used_for_the_longest_time_goes(world: World) -> None:
    world.sessions = Sessions(world.executor, most=2)
    async with world.opened() as runs:
        for session in ("s", "t", "s", "u"):
            await ended(runs, cell("a", session))
        assert [session.alive for session in world.executor.sessions] == [True, False, True]
        assert (await ended(runs, cell("b", "t"))).replayed == 1
        assert [session.alive for session in world.executor.sessions] == [False, False, True, True]


async def test_none_in_use_goes_for_another(world: World) -> None:
    world.executor.on("slow", replace(QUIET, delay_s=0.1))
    world.sessions = Sessions(world.executor, most=1)
    async with world.opened() as runs:
        accepted = [await runs.submit(cell("slow", session)) for session in "stu"]
        assert [(await runs.wait(run.id, 5)).status for run in accepted] == ["succeeded"] * 3
    assert ran_in(world) == [["slow"]] * 3
    assert [session.alive for session in world.executor.sessions] == [False, False, True]


async def test_ended_while_a_cell_runs(runs: Runs, world: World) -> None:
    slow = await runs.submit(cell("slow"))
    while ran_in(world) != [["slow"]]:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0)
    await world.sessions.end("s")
    assert (await runs.wait(slow.id, 5)).status == "failed"
    assert not world.sessions._live
    assert (await ended(runs, cell("a"))).replayed == 0


class SlowToOpen(FakeExecutor):
    def __init__(self) -> None:
        super().__init__()
        self.opening = asyncio.Event()
        self.go = asyncio.Event()

    async def open_session(self, job: Any) -> FakeSession:
        self.opening.set()
        await self.go.wait()
        return await super().open_session(job)


async def test_ended_while_it_is_opened_leaves_nothing(world: World) -> None:
    world.executor = executor = SlowToOpen()
    world.sessions = Sessions(executor)
    async with world.opened() as runs:
        accepted = await runs.submit(cell("a"))
        await executor.opening.wait()
        await world.sessions.end("s")
        executor.go.set()
        run = await runs.wait(accepted.id, 5)
        assert run.error is not None and "was ended meanwhile" in run.error.message
    assert [session.alive for session in executor.sessions] == [False]


async def test_a_cell_that_ends_the_rebuilt_session_is_named(runs: Runs, world: World) -> None:
    await ended(runs, cell("a"))
    await ended(runs, cell("b"))
    await world.sessions.end("s")
    world.executor.on("b", KILLS)
    run = await ended(runs, cell("c"))
    assert run.error is not None and run.error.code == ErrorCode.RUNNER_INTERNAL_ERROR
    assert run.error.message == (
        "the session had ended and could not be rebuilt: cell 2, run again, ended it: too much"
    )
    assert not world.sessions._live
    assert not any(session.alive for session in world.executor.sessions)


async def test_cells_that_take_too_long_to_run_again(
    runs: Runs, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ended(runs, cell("a"))
    await world.sessions.end("s")
    world.executor.on("a", replace(QUIET, delay_s=1))
    monkeypatch.setattr(desk, "REPLAY_S", 0.05)
    run = await ended(runs, cell("b"))
    assert run.error is not None and "takes more than 0.05 s" in run.error.message
    assert not any(session.alive for session in world.executor.sessions)


async def test_a_sandbox_that_hangs_is_given_up(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    class Deaf(FakeSession):
        async def cell(self, code: str, **given: Any) -> Any:
            await asyncio.Event().wait()

    monkeypatch.setattr("sandtable.sandbox.fake.FakeSession", Deaf)
    async with world.opened() as runs:
        run = await ended(runs, cell("a", timeout_ms=20))
        assert run.error is not None and run.error.details["type"] == "Watchdog"
        assert [session.alive for session in world.executor.sessions] == [False]


async def test_where_no_session_is_kept(world: World) -> None:
    async with world.opened(parts=world.parts(sessions=None)) as runs:
        run = await ended(runs, cell("a"))
        assert run.error is not None and run.error.code == ErrorCode.SANDBOX_UNAVAILABLE


def test_a_session_has_a_name() -> None:
    for name in ("", "x" * 129):
        with pytest.raises(InvalidInput, match="session"):
            cell("a", session=name)
    with pytest.raises((ValueError, InvalidInput)):
        code("a", before=("b",))
