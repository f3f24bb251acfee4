"""The stages of a container in a trace, as the server sees them through the engine's API."""

from __future__ import annotations

import asyncio
import json
import re
import struct
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from sandtable.sandbox.docker.executor import DockerExecutor
from sandtable.sandbox.executor import executed
from sandtable.sandbox.job import Job, Limits
from tests.sandbox.docker.scripted import INFO, VERSION
from tests.telemetry.kept import Kept

PAUSE_S = 0.02
STAGES = ["container.create", "container.start", "container.ready", "container.run", "container.collect"]


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


def _piece(content: bytes) -> bytes:
    return struct.pack(">BxxxI", 1, len(content)) + content


class _Container:
    """Ready after a moment; answers its order in two pieces, unless it is silent."""

    def __init__(self, nonce: str, silent: bool) -> None:
        self._nonce = nonce
        self._silent = silent
        self._ordered = asyncio.Event()
        self._parts = self._said()

    async def _said(self) -> AsyncIterator[bytes]:
        yield _piece(_line({"kind": "ready", "engine": "duckdb 2.0.0", "layers": []}))
        await self._ordered.wait()
        if self._silent:
            await asyncio.sleep(3600)
        await asyncio.sleep(PAUSE_S)
        answer = {"status": "succeeded", "columns": [], "rows": [], "row_count": 0}
        report = _line({"kind": "report", "nonce": self._nonce, "answer": answer})
        yield _piece(report[:10])
        await asyncio.sleep(PAUSE_S)
        yield _piece(report[10:])
        await asyncio.sleep(3600)

    async def read(self) -> bytes:
        return await anext(self._parts)

    async def write(self, data: bytes) -> None:
        self._ordered.set()

    async def aclose(self) -> None:
        return


class _Engine:
    """In place of `docker.api.Api`."""

    silent = False

    def __init__(self, path: str) -> None:
        self.nonce = ""

    async def version(self) -> dict[str, Any]:
        return VERSION

    def use_version(self, version: tuple[int, int]) -> None:
        return

    async def describe(self, path: str) -> dict[str, Any]:
        return INFO

    async def get(self, path: str, **query: str) -> Any:
        return []

    async def call(self, method: str, path: str, *, body: Any = None, **query: Any) -> Any:
        await asyncio.sleep(PAUSE_S)
        if body is not None:
            [self.nonce] = set(re.findall(r'nonce[\\": ]+([0-9a-f]{32})', json.dumps(body)))
        if path.endswith("/wait"):
            await asyncio.sleep(3600)
        return {}

    async def attach(self, name: str) -> _Container:
        return _Container(self.nonce, self.silent)

    async def aclose(self) -> None:
        return


@pytest.fixture
def kept() -> Kept:
    return Kept()


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> type[_Engine]:
    class Made(_Engine):
        pass

    monkeypatch.setattr("sandtable.sandbox.docker.engine.Api", Made)
    return Made


async def _run(folder: Path, kept: Kept, *jobs: Job, warm: int = 0, parallel: int = 8) -> None:
    executor = DockerExecutor(
        folder, image="runner", host="unix:///x", warm=warm, parallel=parallel, tracer=kept.tracer
    )
    try:
        if warm:
            await executor.warm(jobs[0])
        with kept.tracer.root("sandbox"):
            await asyncio.gather(*(executed(executor, job) for job in jobs))
        await executor.settle()
    finally:
        await executor.aclose()
    kept.require_one_trace()


def _job(name: str, **limits: int) -> Job:
    return Job(id=name, mode="sql", text="SELECT 'h4x-secret-value'", limits=Limits(**limits))


@pytest.mark.usefixtures("engine")
async def test_every_stage_of_a_new_container(tmp_path: Path, kept: Kept) -> None:
    await _run(tmp_path, kept, _job("one"))
    assert kept.below("sandbox") == ["sandbox.queue", *STAGES]
    least = {"container.create": PAUSE_S, "container.run": PAUSE_S, "container.collect": PAUSE_S}
    for name, seconds in least.items():
        span = kept.spans[name]
        assert span.start_time is not None and span.end_time is not None
        assert span.end_time - span.start_time >= seconds * 0.9e9, name
    assert not any(span.attributes for span in kept.all), "no attribute, and so none of the query"


@pytest.mark.usefixtures("engine")
async def test_a_container_that_waited_only_runs_and_its_successor_is_in_no_trace(
    tmp_path: Path, kept: Kept
) -> None:
    await _run(tmp_path, kept, _job("one"), warm=1)
    assert kept.below("sandbox") == ["sandbox.queue", "container.run", "container.collect"]


@pytest.mark.usefixtures("engine")
async def test_a_job_waits_for_a_place(tmp_path: Path, kept: Kept) -> None:
    await _run(tmp_path, kept, _job("one"), _job("two"), parallel=1)
    spans = sorted(
        (span for span in kept.all if span.name == "sandbox.queue"), key=lambda span: span.end_time or 0
    )
    first, second = ((span.end_time or 0) - (span.start_time or 0) for span in spans)
    assert second - first >= 4 * PAUSE_S * 0.9e9


async def test_one_that_says_nothing_has_run_and_sent_nothing(
    tmp_path: Path, kept: Kept, engine: type[_Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.silent = True
    monkeypatch.setattr("sandtable.sandbox.docker.container._LATE_S", 0.05)
    await _run(tmp_path, kept, _job("one", wall_ms=50))
    assert kept.below("sandbox")[-1] == "container.run"
