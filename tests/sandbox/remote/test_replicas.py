"""Several services behind one address: every job ends once, whichever of them is asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from sandtable.errors import SandboxUnavailable
from sandtable.sandbox.fake import Script
from sandtable.sandbox.remote.executor import RemoteExecutor
from tests.sandbox.remote.forwarder import By, forwarding
from tests.sandbox.remote.process import TOKEN
from tests.server.execd.house import SLOW, FakeTier, job, make_app, serving

BOTH = pytest.mark.parametrize("by", ["connection", "request"])
LATER = "SELECT later"


@asynccontextmanager
async def _replicas(
    root: Path, by: By, tiers: list[FakeTier], most: int = 20, hides: bool = False, **given: Any
) -> AsyncGenerator[RemoteExecutor, None]:
    async with AsyncExitStack() as stack:
        urls = [await stack.enter_async_context(serving(make_app(tier, root, most=most))) for tier in tiers]
        for tier in tiers:
            tier.on(LATER, Script(delay_s=0.35))
            stack.push_async_callback(tier.aclose)
        url = await stack.enter_async_context(forwarding(urls, by, hides=hides))
        executor = RemoteExecutor(url, TOKEN, **{"parallel": 16, "wait_s": 0.1, "patience_s": 3, **given})
        stack.push_async_callback(executor.aclose)
        yield executor


@BOTH
async def test_every_job_finds_its_own_replica_again(tmp_path: Path, by: By) -> None:
    tiers = [FakeTier(), FakeTier()]
    async with _replicas(tmp_path, by, tiers) as executor:
        await executor.start()
        jobs = [job(f"job-{n}", text=LATER if n % 2 else "SELECT 42") for n in range(12)]
        for each in jobs:
            await executor.submit(each)
        results = await asyncio.gather(*(executor.result(each.id) for each in jobs))
    assert [result.rows for result in results] == [((42,),)] * 12
    taken = [len(tier.jobs) for tier in tiers]
    assert sum(taken) == 12, "a job that waited for longer than one request was run again"
    assert min(taken) > 0, "both take part"


@pytest.mark.parametrize(
    ("by", "hides"),
    [("connection", False), ("request", False), ("request", True)],
    ids=lambda value: str(value),
)
async def test_a_cancelled_job_ends_where_it_runs(tmp_path: Path, by: By, hides: bool) -> None:
    tiers = [FakeTier(), FakeTier()]
    async with _replicas(tmp_path, by, tiers, hides=hides, wait_s=20 if hides else 0.1) as executor:
        for number in range(4):
            await executor.submit(job(f"job-{number}", text=SLOW))
        async with asyncio.timeout(10):
            while sum(len(tier.jobs) for tier in tiers) < 4:
                await asyncio.sleep(0.01)
            for number in range(4):
                await executor.cancel(f"job-{number}")
                assert (await executor.result(f"job-{number}")).status == "cancelled"
            while sum(len(tier.cancelled) for tier in tiers) < 4:
                await asyncio.sleep(0.01)


@BOTH
async def test_a_full_replica_sends_jobs_to_the_other(tmp_path: Path, by: By) -> None:
    tiers = [FakeTier(), FakeTier()]
    async with _replicas(tmp_path, by, tiers, most=2) as executor:
        jobs = [job(f"job-{n}", text=LATER) for n in range(8)]
        for each in jobs:
            await executor.submit(each)
        results = await asyncio.gather(*(executor.result(each.id) for each in jobs))
    assert {result.status for result in results} == {"succeeded"}
    assert max(tier.peak for tier in tiers) <= 2


@BOTH
async def test_only_replicas_like_the_first_get_jobs(tmp_path: Path, by: By) -> None:
    alike, newer = FakeTier(), FakeTier("fakedb 2.0")
    async with _replicas(tmp_path, by, [alike, newer]) as executor:
        hello = await executor.start()
        chosen, other = (alike, newer) if hello.engine == alike.engine else (newer, alike)
        for number in range(4):
            await executor.submit(job(f"job-{number}"))
            assert (await executor.result(f"job-{number}")).status == "succeeded"
    assert (len(chosen.jobs), len(other.jobs)) == (4, 0)


async def test_when_all_replicas_became_others_a_person_is_told(tmp_path: Path) -> None:
    tier = FakeTier()
    async with _replicas(tmp_path, "connection", [tier], patience_s=0.3) as executor:
        await executor.start()
        tier.engine = "fakedb 2.0"
        await executor.submit(job())
        with pytest.raises(SandboxUnavailable, match=r"fakedb 2\.0") as caught:
            await executor.result("job-1")
    assert "restart the server" in caught.value.suggestion
