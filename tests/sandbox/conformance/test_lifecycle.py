"""The seam's rules: ids, states, cancel, the wall clock. They hold for every executor, scripted ones included."""

from __future__ import annotations

import asyncio
import time

import pytest

from sandtable.errors import ErrorCode, NotFound
from tests.sandbox.conformance.benches import QUICK, SLOTS, SLOW, Bench

pytestmark = pytest.mark.asyncio(loop_scope="module")

# What a busy machine may add. Without the rule, the slow job would go on for hours.
BUSY_MS = 30_000


async def _until_running(bench: Bench, job_id: str) -> None:
    async with asyncio.timeout(5 + bench.start_ms / 1e3):
        while await bench.executor.status(job_id) != "running":
            await asyncio.sleep(0.01)


async def test_a_job_goes_from_unknown_to_done(any_bench: Bench) -> None:
    job = any_bench.job(QUICK)
    assert await any_bench.executor.status(job.id) == "unknown"
    await any_bench.executor.submit(job)
    result = await any_bench.executor.result(job.id)
    assert await any_bench.executor.status(job.id) == "done"
    assert (result.job_id, result.status, result.rows) == (job.id, "succeeded", ((42,),))


async def test_a_result_can_be_asked_for_again(any_bench: Bench) -> None:
    job = any_bench.job(QUICK)
    await any_bench.executor.submit(job)
    first, second = await asyncio.gather(any_bench.executor.result(job.id), any_bench.executor.result(job.id))
    assert first == second == await any_bench.executor.result(job.id)


@pytest.mark.parametrize("method", ["result", "cancel"])
async def test_an_unknown_id_is_not_found(any_bench: Bench, method: str) -> None:
    with pytest.raises(NotFound, match="no-such-job"):
        await getattr(any_bench.executor, method)("no-such-job")


async def test_the_same_id_again_changes_nothing(any_bench: Bench) -> None:
    """The second text would answer otherwise; it must never run."""
    job = any_bench.job(QUICK)
    await any_bench.executor.submit(job)
    await any_bench.executor.submit(job.model_copy(update={"text": "SELECT 7 AS answer"}))
    first = await any_bench.executor.result(job.id)
    await any_bench.executor.submit(job.model_copy(update={"text": "SELECT 7 AS answer"}))
    assert await any_bench.executor.result(job.id) == first
    assert first.rows == ((42,),)


async def test_a_giving_up_caller_does_not_stop_the_job(any_bench: Bench) -> None:
    job = any_bench.job(SLOW, wall_ms=300)
    await any_bench.executor.submit(job)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(any_bench.executor.result(job.id), 0.05)
    result = await any_bench.executor.result(job.id)
    assert result.error is not None
    assert result.error.code == ErrorCode.RUNNER_TIMEOUT


async def test_cancel_while_running(any_bench: Bench) -> None:
    job = any_bench.job(SLOW)
    await any_bench.executor.submit(job)
    await _until_running(any_bench, job.id)
    await asyncio.sleep(0.05)
    started = time.perf_counter()
    await any_bench.executor.cancel(job.id)
    result = await any_bench.executor.result(job.id)
    assert result.status == "cancelled"
    assert time.perf_counter() - started < BUSY_MS / 1e3


async def test_cancel_right_after_submit(any_bench: Bench) -> None:
    """At whatever point of its start the cancel meets it."""
    for pause in (0, 0.001, 0.003, 0.006, 0.01):
        job = any_bench.job(SLOW)
        await any_bench.executor.submit(job)
        await asyncio.sleep(pause)
        await any_bench.executor.cancel(job.id)
        async with asyncio.timeout(BUSY_MS / 1e3):
            assert (await any_bench.executor.result(job.id)).status == "cancelled"


async def test_cancel_after_the_end_keeps_the_result(any_bench: Bench) -> None:
    job = any_bench.job(QUICK)
    await any_bench.executor.submit(job)
    await any_bench.executor.result(job.id)
    await any_bench.executor.cancel(job.id)
    assert (await any_bench.executor.result(job.id)).status == "succeeded"


async def test_cancel_while_waiting_for_a_place(bench: Bench) -> None:
    blockers = [bench.job(SLOW) for _ in range(SLOTS)]
    waiting = bench.job(QUICK)
    for job in (*blockers, waiting):
        await bench.executor.submit(job)
    for job in blockers:
        await _until_running(bench, job.id)
    assert await bench.executor.status(waiting.id) == "pending"
    await bench.executor.cancel(waiting.id)
    async with asyncio.timeout(BUSY_MS / 1e3):
        assert (await bench.executor.result(waiting.id)).status == "cancelled"
    for job in blockers:
        await bench.executor.cancel(job.id)
        assert (await bench.executor.result(job.id)).status == "cancelled"
    assert (await bench.run(QUICK)).rows == ((42,),)


@pytest.mark.parametrize("wall_ms", [50, 300])
async def test_the_wall_clock_limit_kills(any_bench: Bench, wall_ms: int) -> None:
    await any_bench.ready_for(SLOW, wall_ms=wall_ms)
    started = time.perf_counter()
    result = await any_bench.run(SLOW, wall_ms=wall_ms)
    took_ms = (time.perf_counter() - started) * 1e3
    assert result.status == "failed"
    assert result.error is not None
    assert result.error.code == ErrorCode.RUNNER_TIMEOUT
    assert wall_ms <= took_ms + 1
    assert took_ms < wall_ms + BUSY_MS + any_bench.start_ms, "the kill came late"


async def test_many_at_once(any_bench: Bench) -> None:
    results = await asyncio.gather(*(any_bench.run(QUICK) for _ in range(12)))
    assert [result.rows for result in results] == [((42,),)] * 12
