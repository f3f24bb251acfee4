"""Sessions in the real sandbox: what their cells keep, what survives a crash, and that nothing of them is left."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from sandtable.assemble import Parts, assemble
from sandtable.errors import ErrorCode
from sandtable.runs.model import Run, read_request
from sandtable.sandbox.local.executor import LocalExecutor
from sandtable.sandbox.local.session import LocalSession
from sandtable.settings import Settings
from tests.catalog.damage import flip
from tests.sandbox.local.processes import descriptors, family, gone

pytestmark = [pytest.mark.needs("userns"), pytest.mark.asyncio(loop_scope="module")]

CRASH = "import ctypes\nctypes.string_at(0)"


@dataclass(frozen=True)
class Place:
    parts: Parts
    dataset_id: str

    async def submit(self, code: str, session: str, **more: Any) -> Run:
        fields = {"dataset_id": self.dataset_id, "python": code, "session": session, **more}
        request = read_request(fields)
        return await self.parts.runs.submit(request)

    async def cell(self, code: str, session: str, **more: Any) -> Run:
        return await self.parts.runs.wait((await self.submit(code, session, **more)).id)

    def sandbox(self, session: str) -> Any:
        """Of the session's process."""
        [live] = [live for key, live in self.parts.sessions._live.items() if key.session == session]
        assert isinstance(live.session, LocalSession)
        return live.session._sandbox

    async def verified(self, run: Run) -> dict[str, str]:
        report = await self.parts.verify(await self.parts.runs.capsule(run.id))
        return {link.name: f"{link.status} {link.detail}" for link in report.links if link.status != "ok"}


@pytest.fixture(scope="module")
def sales(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("given") / "sales.csv"
    path.write_text("city,amount\nBonn,3\nCork,5\nBonn,4\n", encoding="utf-8")
    return path


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def place(sales: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Place]:
    settings = Settings(home=tmp_path_factory.mktemp("home"), standby=1, presealed=0, memory_mb=512)
    async with assemble(settings) as parts:
        yield Place(parts, (await parts.datasets.add_files([sales])).id)


async def test_cells_find_what_earlier_ones_left(place: Place) -> None:
    first = await place.cell(
        "from datetime import datetime\ntop = df[df.amount > 3]\nrandom.random()", "kept"
    )
    assert first.status == "succeeded", first.error
    assert (await place.cell("half = 1\n1 / 0", "kept")).status == "failed"
    assert (await place.cell("import os", "kept")).status == "rejected"
    run = await place.cell("print(datetime(2025, 1, 1).year, half, random.random())\ntop", "kept")
    assert (run.status, run.replayed) == ("succeeded", 0), run.error
    assert run.stdout.startswith("2025 1 0.") and len(run.rows or ()) == 2
    assert await place.verified(run) == {}
    assert (await place.cell("print(top)", "other")).error is not None, "another session has other variables"


async def test_artifacts_are_numbered_through_and_verify(place: Place) -> None:
    runs = [await place.cell("df", "numbered") for _ in range(3)]
    assert [run.artifacts[0].id for run in runs] == ["table-1", "table-2", "table-3"]
    assert await place.verified(runs[2]) == {}


async def test_a_killed_session_is_rebuilt_and_says_so(place: Place) -> None:
    await place.cell("x = random.random()\nprint(x)", "killed")
    before = await place.cell("print(x)", "killed")
    sandbox = place.sandbox("killed")
    sandbox.kill()
    await sandbox.ended
    run = await place.cell("print(x)\ndf", "killed")
    assert (run.status, run.replayed, run.stdout) == ("succeeded", 2, before.stdout), run.error
    assert run.warnings == ("the session had ended: 2 earlier cells were run again first",)
    assert await place.verified(run) == {}


async def test_a_native_crash_ends_one_session_and_no_other(place: Place) -> None:
    await place.cell("kept = 7", "bystander")
    await place.cell("kept = 8", "crashing", check=False)
    crashed = await place.cell(CRASH, "crashing", check=False)
    assert crashed.status == "failed" and crashed.error is not None
    assert "the session has ended" in crashed.error.message
    run = await place.cell("print(kept)", "crashing", check=False)
    assert (run.stdout, run.replayed) == ("8\n", 1)
    run = await place.cell("print(kept)", "bystander")
    assert (run.stdout, run.replayed) == ("7\n", 0)


async def test_too_much_memory(place: Place) -> None:
    await place.cell("kept = 7", "greedy")
    run = await place.cell("x = np.ones(1 << 28)", "greedy")
    assert run.error is not None and run.error.code == ErrorCode.RUNNER_RESOURCE_EXCEEDED
    assert (await place.cell("print(kept)", "greedy")).stdout == "7\n"


async def test_over_its_time_and_cancelled(place: Place) -> None:
    await place.cell("n = 0", "stopped")
    late = await place.cell("n = 1\nwhile True: pass", "stopped", timeout_ms=200)
    assert late.error is not None and "variables are kept" in late.error.message
    endless = await place.submit("n += 1\nwhile True: pass", "stopped")
    await asyncio.sleep(0.3)
    assert (await place.parts.runs.cancel(endless.id)).status == "cancelled"
    run = await place.cell("print(n)", "stopped")
    assert (run.stdout, run.replayed) == ("2\n", 0)
    [why] = set((await place.verified(run)).values())
    assert "cell 2 of its session" in why and "was interrupted" in why


def _files(home: Path) -> set[str]:
    return {str(path) for path in home.rglob("*") if not path.name.startswith("sandtable.db")}


_LIVES = ("x = df.amount.sum()", "nope", "while True: pass", CRASH)


async def test_two_hundred_sessions_leave_nothing(place: Place) -> None:
    parts, executor = place.parts, place.parts.tiers.runs
    assert isinstance(executor, LocalExecutor)
    hello = await executor.start("py")

    async def live(number: int) -> None:
        name, code = f"crowd-{number}", _LIVES[number % 4]
        run = await place.cell(code, name, check=False, timeout_ms=20 if code.startswith("while") else None)
        assert (run.status == "succeeded") == (number % 4 == 0), run.error
        if number % 8 == 0:
            assert (await place.cell("x", name, check=False)).stdout == "np.int64(12)\n"
        if number % 3 == 0:
            await parts.sessions.end(name)

    async def lives(first: int, last: int) -> None:
        for start in range(first, last, 8):
            await asyncio.gather(*(live(number) for number in range(start, start + 8)))
        for key in list(parts.sessions._live):
            await parts.sessions.end(key.session)
        await executor.settle()
        gc.collect()

    await lives(200, 208)
    opened, processes, files = descriptors(), family(hello.pid), _files(parts.settings.home)
    await lives(0, 200)
    await asyncio.sleep(0.2)
    assert len(descriptors()) <= len(opened)
    assert len(family(hello.pid)) <= len(processes)
    assert _files(parts.settings.home) == files
    assert not parts.sessions._live and not parts.sessions._turns and not parts.sessions._closing
    assert not executor._sessions


_SERVER = """
import asyncio, sys
from pathlib import Path
from sandtable.assemble import assemble
from sandtable.capsule.query import CodeQuery
from sandtable.runs.model import RunRequest
from sandtable.settings import Settings

async def main():
    async with assemble(Settings(home=Path(sys.argv[1]), standby=0, presealed=0)) as parts:
        dataset = await parts.datasets.add_files([Path(sys.argv[2])])
        for code in ("x = 40", "x += 2"):
            run = await parts.runs.submit(RunRequest(dataset_id=dataset.id, query=CodeQuery(code, session="t")))
            await parts.runs.wait(run.id)
        hello = await parts.tiers.runs.start("py")
        print(f"template={hello.pid}", flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


async def test_a_session_does_not_outlive_the_files_it_was_opened_on(place: Place, sales: Path) -> None:
    first = await place.cell("total = int(df.amount.sum())\nprint(total)", "rebuilt")
    assert first.stdout == "12\n", first.error
    datasets = place.parts.datasets
    version = datasets.get(place.dataset_id).version
    [file] = (place.parts.settings.home / "data" / "versions").glob(f"{version[7:]}/*.parquet")
    flip(file, file.stat().st_size // 2)
    failed = await place.cell("print(int(df.amount.max()), total)", "rebuilt")
    assert failed.error is not None and failed.error.code is ErrorCode.DATA_DAMAGED
    await datasets.rebuilding.rebuild(version)
    again = await place.cell("print(int(df.amount.max()), total)", "rebuilt")
    assert (again.stdout, again.replayed) == ("5 12\n", 1), again.error
    assert await place.verified(again) == {}


async def test_a_killed_server_leaves_nothing_but_its_store(sales: Path, tmp_path: Path) -> None:
    repository = Path(__file__).resolve().parents[2]
    environment = {"PYTHONPATH": f"{repository / 'src'}{os.pathsep}{repository}", "PATH": "/usr/bin:/bin"}
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _SERVER, str(tmp_path), str(sales),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL, env=environment,
    )  # fmt: skip
    assert server.stdout is not None
    async with asyncio.timeout(60):
        while not (line := await server.stdout.readline()).startswith(b"template="):
            assert line, "it ended too early"
    there = family(int(line.partition(b"=")[2]))
    assert len(there) >= 2, "a session should be alive"
    files = _files(tmp_path)
    server.send_signal(signal.SIGKILL)
    await server.wait()
    left = await gone(there)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left, "orphans"
    assert _files(tmp_path) <= files
    async with assemble(Settings(home=tmp_path, standby=0, presealed=0)) as parts:
        dataset = await parts.datasets.add_files([sales])
        run = await Place(parts, dataset.id).cell("print(x)", "t")
        assert (run.stdout, run.replayed) == ("42\n", 2), run.error
