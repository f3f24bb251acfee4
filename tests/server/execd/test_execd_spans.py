"""A job that a service executes stays in the trace of its question, from the server to the service's sandbox."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from sandtable.sandbox.executor import executed
from sandtable.sandbox.remote.executor import RemoteExecutor
from tests.sandbox.remote.process import TOKEN
from tests.server.execd.house import Caller, FakeTier, job, make_app, serving
from tests.telemetry.kept import Kept

LINK = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
SECRET = "SELECT 'h4x-secret-value'"


@pytest.fixture
def kept() -> Kept:
    return Kept()


@pytest_asyncio.fixture
async def caller(tier: FakeTier, tmp_path: Path, kept: Kept) -> AsyncIterator[Caller]:
    app = make_app(tier, tmp_path, tracer=kept.tracer)
    caller = Caller(app)
    yield caller
    await app.state.execd.desk.aclose()
    await tier.aclose()
    await caller.client.aclose()


@pytest.mark.parametrize("theirs", [True, False], ids=["both trace", "the server alone"])
async def test_one_trace_over_both(tier: FakeTier, tmp_path: Path, kept: Kept, theirs: bool) -> None:
    app = make_app(tier, tmp_path, **({"tracer": kept.tracer} if theirs else {}))
    async with serving(app) as url:
        executor = RemoteExecutor(url, TOKEN, tracer=kept.tracer)
        try:
            with kept.tracer.root("sandbox"):
                result = await executed(executor, job(text=SECRET))
        finally:
            await executor.aclose()
    assert result.status == "succeeded", result
    kept.require_one_trace()
    assert kept.below("sandbox") == ["sandbox.queue", "remote"]
    assert kept.below("remote") == (["execd.job"] if theirs else [])
    if theirs:
        assert kept.below("execd.job") == ["execd.data", "execd.sandbox"]
        assert dict(kept.spans["execd.job"].attributes or {}) == {
            "sandtable.mode": "sql",
            "sandtable.status": "succeeded",
        }
    assert "h4x" not in str([dict(span.attributes or {}) for span in kept.all])


async def test_a_server_that_traces_nothing_sends_no_header(
    tier: FakeTier, tmp_path: Path, kept: Kept
) -> None:
    async with serving(make_app(tier, tmp_path, tracer=kept.tracer)) as url:
        executor = RemoteExecutor(url, TOKEN)
        try:
            assert (await executed(executor, job())).status == "succeeded"
        finally:
            await executor.aclose()
    assert not kept.all, "a service begins no trace of its own"


@pytest.mark.parametrize(
    "given", [LINK, "00-nonsense", LINK.upper(), f"{LINK}-more", f"00-{'0' * 32}{LINK[35:]}"]
)
async def test_the_header_is_checked_before_it_is_used(caller: Caller, kept: Kept, given: str) -> None:
    caller.client.headers["traceparent"] = given
    answer = await caller.submit(job(), wait_s=5)
    assert answer.json()["status"] == "done"
    if given != LINK:
        assert not kept.all
        return
    span = kept.spans["execd.job"]
    assert span.parent is not None and span.parent.is_remote
    assert f"{span.parent.trace_id:032x}-{span.parent.span_id:016x}" == LINK[3:-3]


async def test_two_headers_are_none(caller: Caller, kept: Kept) -> None:
    body = job().model_dump_json().encode()
    headers = [
        ("x-sandtable-proof", caller.proof("POST", "/v1/jobs?wait_s=5", body)),
        ("content-type", "application/json"), ("traceparent", LINK), ("traceparent", LINK),
    ]  # fmt: skip
    answer = await caller.client.post("/v1/jobs?wait_s=5", content=body, headers=headers)
    assert answer.json()["status"] == "done" and not kept.all


async def test_a_request_without_proof_leaves_no_span(caller: Caller, kept: Kept) -> None:
    caller.client.headers["traceparent"] = LINK
    answer = await caller.send("POST", "/v1/jobs", job().model_dump(mode="json"), proof="v1 forged")
    assert answer.status_code == 401 and not kept.all
