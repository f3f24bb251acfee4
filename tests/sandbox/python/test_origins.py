"""However a sandbox for code was made ready, it behaves the same; and a session never gets one with a run's walls."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from sandtable.errors import ErrorCode
from sandtable.sandbox.job import Job, JobResult
from sandtable.sandbox.local.pool import Origin, Pool
from sandtable.sandbox.local.sandbox import Sandbox
from tests.sandbox.python.conftest import Bench

pytestmark = pytest.mark.asyncio(loop_scope="session")

_WAYS: list[Origin] = ["presealed", "standby", "fresh"]
_CODE = """
import random
show_table(df.groupby("region")["amount"].sum())
print(sorted(name for name in globals() if "sample" in name or "rows" in name))
print(random.random(), np.random.rand(), np.random.default_rng().integers(1000))
sql("SELECT count(*) AS n FROM orders")
"""


@pytest_asyncio.fixture(loop_scope="session")
async def taken(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[list[Origin]]:
    """Which way each sandbox came from now on."""
    seen: list[Origin] = []
    take = Pool.take

    def watched(self: Pool, job: Job, *, origin: Origin | None = None) -> tuple[Sandbox, Origin]:
        found = take(self, job, origin=origin)
        seen.append(found[1])
        return found

    await bench.executor.warm(bench.job(""))
    await bench.executor.settle()
    monkeypatch.setattr(Pool, "take", watched)
    yield seen
    bench.executor._origin = None


async def _run(bench: Bench, way: Origin | None, code: str, check: bool = True) -> JobResult:
    await bench.executor.settle()
    bench.executor._origin = way
    return await bench.run(code, check=check)


async def test_the_same_bytes_however_it_was_made(bench: Bench, taken: list[Origin]) -> None:
    results = [await _run(bench, way, _CODE, check=False) for way in _WAYS]
    assert taken == _WAYS
    first = results[0]
    assert first.status == "succeeded", (first.error, first.stderr)
    assert "\n[]\n" in first.stdout, "the rehearsal left a name"
    for other in results[1:]:
        assert (other.rows, other.stdout, other.output) == (first.rows, first.stdout, first.output)


async def test_what_waits_is_taken_first(bench: Bench, taken: list[Origin]) -> None:
    await _run(bench, None, "1")
    assert taken == ["presealed"]


async def test_a_presealed_one_has_the_walls_of_its_kind(bench: Bench, taken: list[Origin]) -> None:
    codes = ["open('/etc/passwd').read()", "import socket; socket.socket()", "b'x' * (4 << 30)"]
    results = [await _run(bench, "presealed", code, check=False) for code in codes]
    assert [result.status for result in results] == ["failed"] * 3
    assert results[2].error is not None
    assert results[2].error.code == ErrorCode.RUNNER_RESOURCE_EXCEEDED
    assert taken == ["presealed"] * 3


async def test_a_session_gets_walls_of_its_own(bench: Bench, taken: list[Origin]) -> None:
    session = await bench.open()
    try:
        assert taken != ["presealed"]
        cell = await asyncio.wait_for(session.cell("int(df['amount'].count())"), 60)
        assert cell.status == "succeeded"
    finally:
        await session.aclose()
