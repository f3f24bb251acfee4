"""The whole way, in the real sandbox: files that change under a living server are never answered from."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest
import pytest_asyncio

from sandtable.assemble import Parts, assemble
from sandtable.capsule.query import SqlQuery
from sandtable.catalog.model import Dataset
from sandtable.catalog.stored import source
from sandtable.errors import ErrorCode
from sandtable.runs.model import Run, RunRequest
from sandtable.sandbox.local.executor import LocalExecutor
from sandtable.settings import Settings

pytestmark = [pytest.mark.needs("userns"), pytest.mark.asyncio(loop_scope="module")]

SUM = "SELECT sum(amount) AS total FROM sales"


@dataclass(frozen=True)
class Place:
    parts: Parts
    dataset: Dataset
    file: Path
    whole: bytes
    other: bytes
    """A Parquet file like it, of other rows."""

    async def run(self, sql: str = SUM, **more: Any) -> Run:
        request = RunRequest(dataset_id=self.dataset.id, query=SqlQuery(sql), **more)
        return await self.parts.runs.wait((await self.parts.runs.submit(request)).id)

    def write(self, content: bytes) -> None:
        """In place, and the time of the change is set back."""
        before = self.file.stat()
        with self.file.open("r+b") as file:
            file.write(content)
            file.truncate()
        os.utime(self.file, ns=(before.st_atime_ns, before.st_mtime_ns))

    async def settle(self) -> None:
        """Sandboxes are ready for the next run, bound to the files as they are now."""
        runs = self.parts.tiers.runs
        assert isinstance(runs, LocalExecutor)
        await runs.settle()
        await asyncio.sleep(0.03)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Place]:
    sales = tmp_path_factory.mktemp("given") / "sales.csv"
    sales.write_text("city,amount\nBonn,3\nCork,5\nBonn,4\n", encoding="utf-8")
    other = sales.with_name("other.parquet")
    duckdb.sql(f"COPY (SELECT city, amount + 100 AS amount FROM '{sales}') TO '{other}' (FORMAT parquet)")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "_SETTLED_NS", 15_000_000)
        async with assemble(Settings(home=tmp_path_factory.mktemp("home"), standby=1, presealed=1)) as parts:
            dataset = await parts.datasets.add_files([sales])
            folder = parts.settings.home / "data/versions" / dataset.version.removeprefix("sha256:")
            file = folder / "sales.parquet"
            yield Place(parts, dataset, file, file.read_bytes(), other.read_bytes())


async def test_a_changed_file_is_not_answered_from_and_the_cache_forgets(place: Place) -> None:
    first = await place.run()
    assert first.rows == ((12,),)
    await place.settle()
    assert (await place.run()).cached_from == first.id
    place.write(place.other)
    for sql in (SUM, "SELECT max(amount) FROM sales"):
        run = await place.run(sql)
        assert (run.status, run.rows) == ("failed", None)
        assert run.error is not None and run.error.code is ErrorCode.DATA_DAMAGED
        assert "`sales`" in run.error.message and "scrub --repair" in run.error.suggestion
        assert str(place.parts.settings.home) not in run.error.model_dump_json()
        assert (await place.parts.runs.capsule(run.id))["payload"]
    place.write(place.whole)
    after = await place.run()
    assert (after.rows, after.cached_from) == (first.rows, None)
    report = await place.parts.verify(await place.parts.runs.capsule(first.id))
    assert report.ok and report.complete, report


async def test_sandboxes_that_were_made_on_the_damaged_files_answer_nothing(place: Place) -> None:
    first = await place.run(cache=False)
    place.write(place.other)
    await place.settle()
    assert (await place.run(cache=False)).status == "failed"
    await place.parts.datasets.rebuilding.rebuild(place.dataset.version)
    assert place.file.read_bytes() != place.other
    assert (await place.run(cache=False)).rows == first.rows
    report = await place.parts.verify(await place.parts.runs.capsule(first.id))
    assert report.ok and report.complete, "capsules of before hold for the rebuilt data"


async def test_a_file_that_changes_under_a_run_is_not_answered_from(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = place.parts.tiers.runs
    result = runs.result
    await place.run(cache=False)
    await place.settle()

    async def meanwhile(job_id: str) -> Any:
        place.write(place.other)
        return await result(job_id)

    with monkeypatch.context() as patch:
        patch.setattr(runs, "result", meanwhile)
        run = await place.run("SELECT min(amount) FROM sales")
    assert run.error is not None and run.error.code is ErrorCode.DATA_DAMAGED
    await place.parts.datasets.rebuilding.rebuild(place.dataset.version)
    after = await place.run("SELECT min(amount) FROM sales")
    assert (after.rows, after.cached_from) == (((3,),), None)
