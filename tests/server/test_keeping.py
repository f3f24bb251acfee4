"""Retention over real stores: what is kept stays whole, whatever happens while the rest goes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from langgraph.checkpoint.base import empty_checkpoint

from sandtable.assemble.boards import boards_of
from sandtable.capsule.query import CodeQuery
from sandtable.conversations.model import Thread, TurnRecord, now
from sandtable.errors import NotFound
from sandtable.runs.model import Run, RunRequest, body_of
from sandtable.runs.retention import DAY_S, Rules
from sandtable.sandbox.job import Limits
from sandtable.server import keeping
from sandtable.server.keeping import Keeper, keep
from sandtable.server.pruning import open_keeper, prune
from sandtable.settings import Settings
from sandtable.state import state_of
from sandtable.store.run_store import Ending, RunFilter, RunRecord
from tests.earlier import TALKED, WAITING, earlier_home
from tests.runs.world import World, ask
from tests.server.talking import served

OLD = Rules(older_than_s=90 * DAY_S)


def ago(days: float) -> datetime:
    return datetime.now(UTC) - timedelta(days=days)


def run_id(number: int) -> str:
    return f"run_{number:032x}"


@dataclass
class Shelves:
    """Stores of a server, filled with things of any age."""

    keeper: Keeper

    async def run(
        self, number: int, days: float, *, size: int = 10, artifacts: int = 0, open: bool = False, **how: Any
    ) -> str:
        at = ago(days).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        store = self.keeper.runs
        request = RunRequest(dataset_id="shop", query=CodeQuery("x"))
        run = Run(
            id=run_id(number),
            status="pending",
            request=request,
            dataset_version="sha256:" + "0" * 64,
            limits=Limits.model_validate({"rows": 1, "wall_ms": 1}),
            created_at=at,
        )
        record = RunRecord(run.id, "me", "local", "shop", at, body_of(run), session=how.get("session"))
        await store.accept(record, 10_000)
        if not open:
            result: Any = None if "result_of" in how else {"rows": [[number, "x" * size]]}
            if artifacts:
                result["artifacts"] = [{"kind": "image", "data": "x" * artifacts}]
            ending = Ending(
                run.id, "me", "pending", "succeeded", at, body_of(run), {"payload": run.id}, result, **how
            )
            assert await store.finish(ending)
        return run.id

    async def thread(self, name: str, days: float, *runs: int, listed: bool = True) -> None:
        at = ago(days).isoformat(timespec="microseconds")
        if listed:
            await self.keeper.threads.create(Thread(name, "ada", at, at))
        states = self.keeper.states
        checkpoint = empty_checkpoint()
        checkpoint["channel_values"] = {"messages": [f"about {run_id(number)}" for number in runs] or ["hi"]}
        config: Any = {"configurable": {"thread_id": name, "checkpoint_ns": ""}}
        await states.aput(config, checkpoint, {}, {})
        set_time = "UPDATE sandtable_checkpoint_threads SET updated_at = ? WHERE thread_id = ?"
        await states.database.change((set_time, (at, name)))

    async def left(self) -> tuple[str, str]:
        """The numbers of the runs, and the names of the threads, that are there."""
        runs = [record.id for record in await self.keeper.runs.list(RunFilter(limit=500))]
        stored = {one.thread_id for one in await self.keeper.states.threads()}
        listed = await self.keeper.threads.last_used()
        numbers = sorted(int(one[4:], 16) for one in runs)
        return " ".join(map(str, numbers)), " ".join(sorted(stored | listed.keys()))

    async def pruned(self, rules: Rules = OLD, **how: Any) -> tuple[str, str]:
        await self.keeper.remove(await self.keeper.decide(rules, **how), **how)
        return await self.left()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.needs("postgres"))])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    return Settings.model_validate({"home": tmp_path, "database_url": url})


@pytest_asyncio.fixture
async def shelves(settings: Settings) -> AsyncIterator[Shelves]:
    async with open_keeper(settings) as keeper:
        yield Shelves(keeper)


async def test_artifacts_count_and_go_with_their_run(shelves: Shelves) -> None:
    await shelves.run(1, 30)
    shown = await shelves.run(2, 20, artifacts=300_000)
    await shelves.run(3, 10)
    sizes = {one.id: one.bytes for one in await shelves.keeper.runs.holdings.runs()}
    assert 300_000 < sizes[shown] < 310_000
    assert await shelves.keeper.runs.holdings.bytes_of("local") == sum(sizes.values())
    assert await shelves.pruned(Rules(max_bytes=200_000)) == ("3", "")
    assert await shelves.keeper.runs.holdings.bytes_of("local") == sizes[run_id(3)]
    removed = await shelves.keeper.runs.holdings.removal(shown)
    assert removed is not None and removed.rule == "size"
    assert await shelves.keeper.runs.get(shown) is None


async def test_what_is_old_goes_and_what_is_kept_stays_whole(shelves: Shelves) -> None:
    await shelves.run(1, 200)
    await shelves.run(2, 190, size=500)
    await shelves.run(3, 180)
    # Answered from the second run, last week.
    await shelves.run(4, 7, result_of=run_id(2))
    await shelves.run(5, 150)
    await shelves.thread("old", 120, 1)
    await shelves.thread("kept", 3, 3)
    await shelves.thread("of a command", 100, 5, listed=False)
    assert await shelves.pruned() == ("2 3 4", "kept")
    shared = await shelves.keeper.runs.get(run_id(4))
    assert shared is not None and shared.result == {"rows": [[2, "x" * 500]]}
    for number in (2, 3, 4):
        assert await shelves.keeper.runs.capsule(run_id(number)) == {"payload": run_id(number)}
    gone = await shelves.keeper.runs.holdings.removal(run_id(1))
    assert gone is not None and gone.rule == "age" and gone.removed_at[:10] == now()[:10]
    # Nothing more to do, and nothing breaks.
    assert await shelves.pruned() == ("2 3 4", "kept")


async def test_conversations_may_stay(shelves: Shelves) -> None:
    await shelves.run(1, 200)
    await shelves.run(2, 200)
    await shelves.thread("old", 120, 1)
    assert await shelves.pruned(threads=False) == ("1", "old")
    assert await shelves.pruned() == ("", "")


async def test_by_count_and_by_size(shelves: Shelves) -> None:
    for number in range(1, 8):
        await shelves.run(number, 20 - number, size=1000)
    assert await shelves.pruned(Rules(keep_runs=5)) == ("3 4 5 6 7", "")
    sizes = {one.id: one.bytes for one in await shelves.keeper.runs.holdings.runs()}
    assert await shelves.pruned(Rules(max_bytes=2 * max(sizes.values()))) == ("6 7", "")


async def test_what_is_under_way_stays(shelves: Shelves) -> None:
    await shelves.run(1, 200, open=True)
    await shelves.thread("busy", 200)
    await shelves.keeper.threads.accept(TurnRecord("turn", "busy", "shop", now(), now()))
    # It has just ended, and the turn that asked for it has not.
    await shelves.run(2, -0.001)
    await shelves.run(3, 200)
    assert await shelves.pruned(Rules(keep_runs=0)) == ("1 2", "busy")


async def test_a_run_that_has_just_ended_stays(shelves: Shelves) -> None:
    """The turn of another process that asked for it is in no list, and has not named it yet."""
    await shelves.run(1, 0.00001)
    await shelves.run(2, 0.01)
    assert await shelves.pruned(Rules(keep_runs=0)) == ("1", "")


async def test_runs_that_a_board_shows_stay(shelves: Shelves, settings: Settings) -> None:
    for number in (1, 2, 3):
        await shelves.run(number, 400)
    boards = boards_of(settings, state_of(settings).database)
    async with boards:
        kept = await boards.keep("ada", "x", dataset_id="shop", question="", fields={}, run_id=run_id(1))
        await boards.note_run(kept.id, run_id(3))
        keeper = replace(shelves.keeper, kept_runs=boards.named_runs)
        await keeper.remove(await keeper.decide(OLD))
        assert await shelves.left() == ("1 3", "")
        await boards.remove_question(kept.id)
        await keeper.remove(await keeper.decide(OLD))
        assert await shelves.left() == ("", "")


async def test_a_conversation_that_is_used_meanwhile_stays(shelves: Shelves) -> None:
    for number, name in ((1, "used"), (2, "gone"), (3, "of a command")):
        await shelves.run(number, 200)
        await shelves.thread(name, 200, number, listed=name != "of a command")
    decision = await shelves.keeper.decide(OLD)
    await shelves.keeper.threads.accept(TurnRecord("turn", "used", "shop", now(), now()))
    await shelves.thread("of a command", -1, 3, listed=False)
    await shelves.keeper.remove(decision)
    assert await shelves.left() == ("1 3", "of a command used")


async def test_what_is_needed_meanwhile_stays(shelves: Shelves) -> None:
    await shelves.run(1, 200)
    await shelves.run(2, 200)
    decision = await shelves.keeper.decide(OLD)
    await shelves.run(3, 0, result_of=run_id(1))
    await shelves.keeper.remove(decision)
    assert await shelves.left() == ("1 3", "")


async def test_the_cells_of_a_session_go_together(shelves: Shelves) -> None:
    for number, session, days in ((1, "a", 200), (2, "a", 10), (3, "b", 200), (4, "b", 150)):
        await shelves.run(number, days, session=session)
    assert await shelves.pruned() == ("1 2", "")


async def test_a_living_session_keeps_its_cells(shelves: Shelves) -> None:
    await shelves.run(1, 1, session="idle")
    await shelves.run(2, 0.01, session="living")
    await shelves.run(3, 0.001)
    assert await shelves.pruned(Rules(keep_runs=0)) == ("2", "")


async def test_a_cell_that_waits_keeps_the_earlier_cells(shelves: Shelves) -> None:
    await shelves.run(1, 200, session="s")
    await shelves.run(9, 200, session="s", open=True)
    await shelves.run(2, 200, session="another")
    assert await shelves.pruned() == ("1 9", "")


async def test_a_session_that_is_taken_up_meanwhile_stays(
    shelves: Shelves, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "BATCH", 1)
    await shelves.run(1, 200, session="s")
    await shelves.run(2, 200)
    holdings = shelves.keeper.runs.holdings
    remove, batches = holdings.remove, list[list[str]]()

    async def slow(run_ids: list[str], at: str, rule: str) -> list[str]:
        batches.append(run_ids)
        if run_id(2) in run_ids:
            await shelves.run(9, 0, session="s", open=True)
        return await remove(run_ids, at, rule)

    monkeypatch.setattr(holdings, "remove", slow)
    assert await shelves.pruned() == ("1 9", "")
    assert len(batches) == 2


async def test_many_runs_go_in_batches(shelves: Shelves, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "BATCH", 3)
    for number in range(1, 20, 2):
        # Each was answered from the one before; between them are the cells of a session.
        before: dict[str, Any] = {"result_of": run_id(number - 2)} if number > 1 else {}
        await shelves.run(number, 200, **before)
        await shelves.run(number + 1, 200, session="s")
    await shelves.run(99, 1)
    assert await shelves.pruned() == ("99", "")


async def test_a_server_does_it_in_the_background(settings: Settings, shelves: Shelves) -> None:
    await shelves.run(1, 40)
    await shelves.run(2, 1)
    forgotten: list[str] = []
    keeper = replace(shelves.keeper, forget=forgotten.extend)
    kept = settings.model_copy(update={"keep_days": 30})
    async with open_keeper(settings) as other, other.runs.holdings.alone():
        # Another one is at it.
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await keep(keeper, kept, first_s=0)
        assert await shelves.left() == ("1 2", "")
    working = asyncio.create_task(keep(keeper, kept, first_s=0))
    while not forgotten:
        await asyncio.sleep(0.01)
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    assert forgotten == [run_id(1)] and await shelves.left() == ("2", "")


async def test_the_disk_gets_its_space_back(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    async with open_keeper(settings) as keeper:
        shelves = Shelves(keeper)
        for number in range(1, 30):
            await shelves.run(number, 200, size=100_000)
        await shelves.run(99, 1)
    _, removed = await prune(settings, OLD, threads=True, approve=lambda decision: True)
    assert removed is not None and removed.runs == 29
    assert removed.given_back > 29 * 100_000
    assert (tmp_path / "sandtable.db").stat().st_size < 200_000


async def test_a_home_of_an_earlier_version(tmp_path: Path) -> None:
    """Its conversations name runs in tables of before: none of these is taken from them."""
    earlier_home(tmp_path)
    settings = Settings(home=tmp_path)
    everything = Rules(keep_runs=0)
    decision, _ = await prune(settings, everything, threads=False, approve=lambda decision: True)
    assert decision.going == {} and decision.held["run"].count == 3
    async with served(tmp_path) as server:
        whole = await server.get(f"/threads/{TALKED}")
        assert whole["values"]["messages"]
        for listed in (await server.client.get("/runs")).json()["runs"]:
            assert listed["status"] == "succeeded"
            assert (await server.client.get(f"/runs/{listed['run_id']}/capsule")).status_code == 200
    before = (tmp_path / "threads.db").stat().st_size
    _, removed = await prune(settings, everything, threads=True, approve=lambda decision: True)
    assert removed is not None and (removed.runs, removed.threads) == (3, 2)
    # It was made without the means to give back a part: it is written as a whole.
    assert removed.given_back > 0 and (tmp_path / "threads.db").stat().st_size < before
    async with served(tmp_path) as server:
        for thread in (TALKED, WAITING):
            assert (await server.client.get(f"/langgraph/threads/{thread}")).status_code == 404


async def test_nothing_happens_unless_it_is_approved(tmp_path: Path) -> None:
    earlier_home(tmp_path)
    rules = Rules(keep_runs=0)
    decision, removed = await prune(
        Settings(home=tmp_path), rules, threads=True, approve=lambda decision: False
    )
    assert removed is None and decision.going["thread"].count == 2
    again, _ = await prune(Settings(home=tmp_path), rules, threads=True, approve=lambda decision: False)
    assert again.going == decision.going


async def test_a_request_for_a_removed_run_says_so(tmp_path: Path) -> None:
    world = World(tmp_path)
    async with world.opened() as runs:
        ended = await runs.wait((await runs.submit(ask())).id)
        gone = await runs._store.holdings.remove([ended.id], "2026-05-04T03:02:01.000Z", "age")
        runs.forget(gone)
        for look in (runs.get, runs.capsule, runs.wait, runs.cancel):
            with pytest.raises(NotFound, match="was removed by retention on 2026-05-04") as caught:
                await look(ended.id)
            assert caught.value.details["rule"] == "age"
            assert caught.value.details["capsule"].startswith("sha256:")
        with pytest.raises(NotFound, match="no run"):
            await runs.get(run_id(7))


async def test_an_answer_whose_source_goes_meanwhile_keeps_its_rows(tmp_path: Path) -> None:
    world = World(tmp_path)
    async with world.opened() as runs:
        first = await runs.wait((await runs.submit(ask("SELECT 5"))).id)
        finish = runs._store.finish

        async def late(ending: Ending) -> bool:
            if ending.result_of is not None:
                assert await runs._store.holdings.remove([first.id], ending.finished_at, "age") == [first.id]
            return await finish(ending)

        runs._store.finish = late  # pyright: ignore[reportAttributeAccessIssue] - between the answer and its end
        second = await runs.wait((await runs.submit(ask("SELECT 5"))).id)
        assert second.cached_from == first.id and second.status == "succeeded"
        runs.forget([second.id])
        assert (await runs.get(second.id)).rows == first.rows
        # It is now the one that others are answered from.
        runs._store.finish = finish  # pyright: ignore[reportAttributeAccessIssue] - as it was
        third = await runs.wait((await runs.submit(ask("SELECT 5"))).id)
        assert third.cached_from == second.id and third.rows == first.rows
