"""A sandbox or the template dies: the job says so or is tried again, and the next job notices nothing."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from typing import Any

import pytest

from sandtable.errors import ErrorCode
from sandtable.sandbox.job import JobResult
from sandtable.sandbox.local.executor import LocalExecutor
from tests.sandbox.local.processes import family, gone, living, pid_of
from tests.sandbox.stores import Store, sql_job

_SLOW = "SELECT count(*) FROM range(10000000) AS a, range(10000000) AS b WHERE a.range + b.range = 7"


async def _run(executor: LocalExecutor, store: Store, job_id: str, text: str, **given: Any) -> JobResult:
    job = sql_job(store, job_id, text, **given)
    await executor.submit(job)
    return await executor.result(job.id)


async def _start_slow(executor: LocalExecutor, store: Store, job_id: str, **given: Any) -> int:
    """The pid of its sandbox."""
    await executor.submit(sql_job(store, job_id, _SLOW, **given))
    async with asyncio.timeout(5):
        while (sandbox := executor._sandboxes.get(job_id)) is None or sandbox._pidfd is None:
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    return pid_of(sandbox)


async def _is_well(executor: LocalExecutor, store: Store) -> None:
    result = await _run(executor, store, f"after-{os.urandom(4).hex()}", "SELECT count(*) FROM orders")
    assert result.rows == ((2000,),), result.error


async def _signalled(executor: LocalExecutor, store: Store, number: signal.Signals) -> JobResult:
    os.kill(await _start_slow(executor, store, "victim"), number)
    async with asyncio.timeout(5):
        return await executor.result("victim")


async def test_a_sandbox_is_killed_from_outside(executor: LocalExecutor, store: Store) -> None:
    result = await _signalled(executor, store, signal.SIGKILL)
    assert result.error is not None
    assert result.error.code == ErrorCode.RUNNER_RESOURCE_EXCEEDED
    assert result.error.suggestion
    await _is_well(executor, store)


_CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)


@pytest.mark.needs("landlock")
@pytest.mark.parametrize("number", _CRASHES, ids=lambda number: number.name)
@pytest.mark.parametrize("isolation", ["landlock"], indirect=True)
async def test_the_engine_crashes(executor: LocalExecutor, store: Store, number: signal.Signals) -> None:
    """Sent from outside, which only a process outside a PID namespace of its own can notice."""
    result = await _signalled(executor, store, number)
    assert result.error is not None
    assert (result.error.code, result.error.type) == (ErrorCode.RUNNER_INTERNAL_ERROR, "Crash")
    assert number.name in result.error.message
    await _is_well(executor, store)


async def test_deep_nesting(executor: LocalExecutor, store: Store) -> None:
    """The classic native crash; whatever happens, it stays inside."""
    text = "SELECT " + "(" * 50_000 + "1" + ")" * 50_000
    result = await _run(executor, store, "deep", text, wall_ms=5000)
    assert result.status == "failed"
    await _is_well(executor, store)


async def test_the_template_dies_while_idle(executor: LocalExecutor, store: Store) -> None:
    hello = await executor.start()
    await _is_well(executor, store)
    before = family(hello.pid)
    os.kill(hello.pid, signal.SIGKILL)
    assert not await gone(before), "the template's children outlived it"
    await _is_well(executor, store)
    assert (await executor.start()).pid != hello.pid


async def test_the_template_dies_and_nobody_has_heard_of_it(executor: LocalExecutor, store: Store) -> None:
    hello = await executor.start()
    before = family(hello.pid)
    os.kill(hello.pid, signal.SIGKILL)
    while living(before):
        time.sleep(0.01)  # noqa: ASYNC251 - the news of its end must stay unread
    await _is_well(executor, store)


async def test_the_template_dies_under_a_job(executor: LocalExecutor, store: Store) -> None:
    """The job is tried again on a new template: nobody but the log notices."""
    hello = await executor.start()
    await _start_slow(executor, store, "retried", wall_ms=1500)
    before = family(hello.pid)
    os.kill(hello.pid, signal.SIGKILL)
    async with asyncio.timeout(8):
        result = await executor.result("retried")
    assert result.error is not None
    assert result.error.code == ErrorCode.RUNNER_TIMEOUT, "the second try should have met the wall clock"
    assert not await gone(before)
    await _is_well(executor, store)


async def test_the_template_dies_under_many_jobs(executor: LocalExecutor, store: Store) -> None:
    hello = await executor.start()
    text = "SELECT sum(hash(range)) FROM range(20000000)"
    jobs = [asyncio.create_task(_run(executor, store, f"job-{index}", text)) for index in range(6)]
    await asyncio.sleep(0.05)
    os.kill(hello.pid, signal.SIGKILL)
    async with asyncio.timeout(20):
        results = await asyncio.gather(*jobs)
    assert len({result.rows for result in results}) == 1
    assert {result.status for result in results} == {"succeeded"}


async def test_a_cancelled_job_is_not_tried_again(executor: LocalExecutor, store: Store) -> None:
    hello = await executor.start()
    await _start_slow(executor, store, "stopped")
    os.kill(hello.pid, signal.SIGKILL)
    await executor.cancel("stopped")
    async with asyncio.timeout(5):
        assert (await executor.result("stopped")).status == "cancelled"
