"""A run takes nothing from files that changed: not before it, not under it, not from the cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sandtable.capsule.seal import read_statement, unpack
from sandtable.catalog.stored.integrity import OpenData, Whole, damaged
from sandtable.catalog.stored.source import FileStamp
from sandtable.errors import ErrorCode
from sandtable.runs.desk import Runs
from sandtable.runs.model import Run, RunRequest
from sandtable.sandbox.fake import FakeExecutor
from sandtable.sandbox.job import JobResult
from tests.runs.world import FakeDatasets, World, ask, code


@dataclass
class Files:
    """What the files of the dataset are like; a test changes it."""

    copy_id: str = "first"
    state: int = 1
    damaged: bool = False


@dataclass
class Watched(FakeDatasets):
    files: Files = field(default_factory=Files)

    async def open(self, dataset_id: str, version: str, catalog_version: str | None = None) -> OpenData:
        if self.files.damaged:
            raise damaged(version, "orders.parquet changed after it was published", dataset_id)
        stamps = {name: FileStamp(1, 1, 1, 1, self.files.state) for name in (".", "orders.parquet")}
        return OpenData(
            await self.version(dataset_id, version), Whole(version, stamps, True, self.files.copy_id)
        )

    async def unchanged(self, data: OpenData) -> bool:
        return not self.files.damaged and data.whole.stamps["."].changed_ns == self.files.state


class Disturbed(FakeExecutor):
    """Something happens to the files while a job runs."""

    def __init__(self, acts: list[Callable[[], None]]) -> None:
        super().__init__()
        self.acts = acts

    async def result(self, job_id: str) -> JobResult:
        if self.acts:
            self.acts.pop(0)()
        return await super().result(job_id)


@pytest.fixture
def files() -> Files:
    return Files()


@pytest.fixture
def acts() -> list[Callable[[], None]]:
    return []


@pytest.fixture
async def world(tmp_path: Path, files: Files, acts: list[Callable[[], None]]) -> Any:
    made = World(tmp_path, Disturbed(acts), Watched(files=files))
    yield made
    await made.sessions.aclose()
    await made.executor.aclose()


async def ended(runs: Runs, request: RunRequest) -> Run:
    return await runs.wait((await runs.submit(request)).id, 10)


async def predicate(runs: Runs, run: Run) -> dict[str, Any]:
    return read_statement(unpack(await runs.capsule(run.id))[0])["predicate"]


def damage(files: Files) -> None:
    files.damaged, files.copy_id = True, "second"
    files.state += 1


def touch(files: Files) -> None:
    files.state += 1


@pytest.mark.parametrize("request_", [ask(), code(), ask(mode="dry_run")], ids=["SQL", "Python", "dry run"])
async def test_a_run_on_damaged_data_fails_and_leaves_a_capsule(
    runs: Runs, world: World, files: Files, request_: RunRequest
) -> None:
    damage(files)
    run = await ended(runs, request_)
    assert run.status == "failed" and run.error is not None and run.rows is None
    assert run.error.code is ErrorCode.DATA_DAMAGED
    assert "`shop`" in run.error.message and "scrub --repair" in run.error.suggestion
    assert world.executor.jobs == [], "nothing was executed"
    sealed = await predicate(runs, run)
    assert (sealed["status"], sealed["error"]["code"], sealed["result"]) == ("failed", "DATA_DAMAGED", None)


async def test_what_was_read_from_files_that_changed_is_not_answered(
    runs: Runs, world: World, files: Files, acts: list[Callable[[], None]]
) -> None:
    acts.append(lambda: damage(files))
    run = await ended(runs, ask())
    assert run.error is not None and run.error.code is ErrorCode.DATA_DAMAGED
    assert run.rows is None and (await predicate(runs, run))["result"] is None
    files.damaged = False
    again = await ended(runs, ask())
    assert (again.status, again.cached_from) == ("succeeded", None)


async def test_a_run_whose_whole_files_were_touched_is_executed_once_more(
    runs: Runs, world: World, files: Files, acts: list[Callable[[], None]]
) -> None:
    acts.append(lambda: touch(files))
    run = await ended(runs, ask())
    assert (run.status, run.rows) == ("succeeded", ((42,),))
    first, second = world.executor.jobs
    assert first.id != second.id and first.data != second.data, "sandboxes made for the first are not used"
    assert (await ended(runs, ask())).cached_from is None, "what the files were touched under is not kept"


async def test_files_that_are_touched_again_and_again_end_the_run(
    runs: Runs, world: World, files: Files, acts: list[Callable[[], None]]
) -> None:
    acts += [lambda: touch(files)] * 5
    run = await ended(runs, ask())
    assert run.error is not None and run.error.code is ErrorCode.DATA_DAMAGED
    assert "again and again" in run.error.message and len(world.executor.jobs) == 2


async def test_a_result_of_another_copy_is_not_reused(runs: Runs, files: Files) -> None:
    first = await ended(runs, ask())
    assert (await ended(runs, ask())).cached_from == first.id
    files.copy_id = "second"
    after = await ended(runs, ask())
    assert after.cached_from is None
    assert (await ended(runs, ask())).cached_from == after.id


async def test_a_damaged_version_answers_nothing_from_the_cache(runs: Runs, files: Files) -> None:
    await ended(runs, ask())
    files.damaged = True
    assert (await ended(runs, ask())).status == "failed"


# Sessions


async def test_a_session_is_made_again_on_files_that_took_the_place_of_others(
    runs: Runs, world: World, files: Files
) -> None:
    await ended(runs, code("a", session="s"))
    assert (await ended(runs, code("b", session="s"))).replayed == 0
    touch(files)
    run = await ended(runs, code("c", session="s"))
    assert (run.status, run.replayed) == ("succeeded", 2)
    assert [session.cells for session in world.executor.sessions] == [["a", "b"], ["a", "b", "c"]]
    assert not world.executor.sessions[0].alive


async def test_a_cell_that_read_damaged_data_leaves_nothing_behind(
    runs: Runs, world: World, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ended(runs, code("a", session="s"))
    cell = world.executor.sessions[0].cell

    async def reading(text: str, **given: Any) -> JobResult:
        damage(files)
        return await cell(text, **given)

    monkeypatch.setattr(world.executor.sessions[0], "cell", reading)
    run = await ended(runs, code("b", session="s"))
    assert run.error is not None and run.error.code is ErrorCode.DATA_DAMAGED
    assert not world.executor.sessions[0].alive, "its variables may hold what was read"
    files.damaged = False
    after = await ended(runs, code("c", session="s"))
    assert (after.status, after.replayed) == ("succeeded", 1)
    assert world.executor.sessions[-1].cells == ["a", "c"]
