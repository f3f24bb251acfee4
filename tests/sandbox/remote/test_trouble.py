"""Whatever keeps a job from its service is told in words to whoever can mend it."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from fastapi import FastAPI, Request
from starlette.responses import Response

from sandtable.errors import InvalidInput, RunnerBroken, SandboxUnavailable
from sandtable.sandbox.fake import Script
from sandtable.sandbox.job import Job, JobResult, ResultColumn
from sandtable.sandbox.remote.executor import RemoteExecutor
from sandtable.sandbox.remote.proof import HEADER, Claim, Token
from sandtable.sandbox.remote.protocol import JobState, to_json
from tests.sandbox.remote.process import OTHER_TOKEN, TOKEN
from tests.server.execd.house import SLOW, FakeTier, job, make_app, serving

Answer = tuple[int, bytes]


@pytest_asyncio.fixture
async def tier() -> AsyncIterator[FakeTier]:
    tier = FakeTier()
    yield tier
    await tier.aclose()


@asynccontextmanager
async def _executor(url: str, token: str = TOKEN, **given: Any) -> AsyncGenerator[RemoteExecutor, None]:
    executor = RemoteExecutor(url, token, **{"patience_s": 0.2, "patience_full_s": 0.3, **given})
    try:
        yield executor
    finally:
        await executor.aclose()


@asynccontextmanager
async def _stranger(
    answer: Callable[[Request], Answer], token: str | None = TOKEN
) -> AsyncGenerator[str, None]:
    """A service that says what the test wants; proven, unless it holds no token or is not reached."""
    app = FastAPI()

    @app.api_route("/{path:path}", methods=["GET", "POST", "DELETE"])
    async def all_of_it(request: Request, path: str) -> Response:
        status, body = answer(request)
        claim = Claim.read(request.headers[HEADER])
        assert claim is not None
        proof = {HEADER: Token(token).answer(claim.nonce, status, body)} if token and status < 502 else {}
        return Response(body, status_code=status, headers=proof)

    async with serving(app) as url:
        yield url


async def _trouble(executor: RemoteExecutor) -> SandboxUnavailable:
    with pytest.raises(SandboxUnavailable) as caught:
        await executor.start()
    assert caught.value.suggestion
    assert TOKEN not in str(caught.value.problem)
    return caught.value


async def test_nobody_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    async with _executor(url) as executor:
        error = await _trouble(executor)
        assert f"the execution service at {url} cannot be reached" in error.message
        assert "sandtable execd" in error.suggestion
        await executor.submit(job())
        with pytest.raises(SandboxUnavailable, match="cannot be reached"):
            await executor.result("job-1")


async def test_another_token(tier: FakeTier, tmp_path: Path) -> None:
    async with serving(make_app(tier, tmp_path)) as url, _executor(url, OTHER_TOKEN) as executor:
        error = await _trouble(executor)
    assert f"the service at {url} could not prove that it holds our token" in error.message
    assert "SANDTABLE_EXECD_TOKEN" in error.suggestion


async def test_our_clock_is_wrong(tier: FakeTier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = Token.claim

    def late(self: Token, method: str, target: str, body: bytes, now: float) -> Claim:
        return right(self, method, target, body, now - 3600)

    monkeypatch.setattr(Token, "claim", late)
    async with serving(make_app(tier, tmp_path)) as url, _executor(url) as executor:
        error = await _trouble(executor)
    assert "clock is 3600 s behind" in error.message
    assert "NTP" in error.suggestion


_HELLO = b'{"protocol": 1, "version": "0", "replica": "r", "engine": "e", "layers": [], "libraries": "", '
_HELLO += b'"likeness": "x", "modes": [], "data": []}'


@pytest.mark.parametrize("token", [None, OTHER_TOKEN], ids=["no proof", "of another token"])
@pytest.mark.parametrize("status", [200, 401, 500])
async def test_an_impostor_is_not_believed(token: str | None, status: int) -> None:
    async with _stranger(lambda _: (status, _HELLO), token) as url, _executor(url) as executor:
        error = await _trouble(executor)
    assert "could not prove" in error.message


async def test_a_proof_of_another_answer_is_not_believed() -> None:
    """Somebody in between changed it."""
    app = FastAPI()

    @app.get("/v1/hello")
    async def hello(request: Request) -> Response:
        claim = Claim.read(request.headers[HEADER])
        assert claim is not None
        proof = Token(TOKEN).answer(claim.nonce, 200, _HELLO)
        return Response(_HELLO.replace(b'"e"', b'"f"'), headers={HEADER: proof})

    async with serving(app) as url, _executor(url) as executor:
        assert "could not prove" in (await _trouble(executor)).message


async def test_a_proxy_that_has_no_service_is_waited_for() -> None:
    answers = iter([(502, b"Bad Gateway"), (503, b"no upstream"), (200, _HELLO)])
    async with _stranger(lambda _: next(answers)) as url, _executor(url, patience_s=10) as executor:
        assert (await executor.start()).engine == "e"


async def test_a_proxy_that_never_has_one_is_told() -> None:
    async with _stranger(lambda _: (502, b"Bad Gateway")) as url, _executor(url) as executor:
        error = await _trouble(executor)
    assert "cannot be reached: something before it answered 502" in error.message


@pytest.mark.parametrize(
    ("body", "said"),
    [(b'{"protocol": 2, "version": "9.9"}', "uses protocol 2 (Sandtable 9.9), this server 1"),
     (b'{"protocol": 1}', "cannot read"), (b"[]", "cannot read"), (b"{", "cannot read"),
     (b"[" * 100_000, "cannot read"), (b"\xff", "cannot read")],
    ids=["protocol", "fields", "list", "half", "deep", "bytes"],
)  # fmt: skip
async def test_another_version(body: bytes, said: str) -> None:
    async with _stranger(lambda _: (200, body)) as url, _executor(url) as executor:
        error = await _trouble(executor)
    assert said in error.message
    assert "same version" in error.suggestion


async def test_a_full_service_is_waited_for(tier: FakeTier, tmp_path: Path) -> None:
    tier.on("SELECT later", Script(delay_s=0.3))
    async with (
        serving(make_app(tier, tmp_path, most=1)) as url,
        _executor(url, parallel=4, patience_full_s=30) as executor,
    ):
        jobs = [job(f"job-{n}", text="SELECT later") for n in range(3)]
        for each in jobs:
            await executor.submit(each)
        results = await asyncio.gather(*(executor.result(each.id) for each in jobs))
    assert [result.status for result in results] == ["succeeded"] * 3
    assert tier.peak == 1


async def test_a_service_that_stays_full_is_told(tier: FakeTier, tmp_path: Path) -> None:
    async with serving(make_app(tier, tmp_path, most=1)) as url, _executor(url) as executor:
        await executor.submit(job("first", text=SLOW))
        await tier.taken()
        await executor.submit(job())
        with pytest.raises(SandboxUnavailable, match="all places are taken"):
            await executor.result("job-1")


async def test_the_services_own_trouble_is_passed_on(tier: FakeTier, tmp_path: Path) -> None:
    tier.on("SELECT 42", Script(raises=SandboxUnavailable("this host cannot isolate", suggestion="do x")))
    async with serving(make_app(tier, tmp_path)) as url, _executor(url) as executor:
        await executor.submit(job())
        with pytest.raises(SandboxUnavailable, match="cannot isolate") as caught:
            await executor.result("job-1")
        with pytest.raises(InvalidInput, match="takes no jobs of mode 'ingest'"):
            await executor.submit(job("job-2", mode="ingest"))
    assert url in caught.value.message and caught.value.suggestion == "do x"


def _ended(given: Job, **result: Any) -> bytes:
    ended = JobResult(**{"job_id": given.id, "status": "succeeded", **result})
    return to_json(JobState(job_id=given.id, status="done", replica="r", result=ended))


_COLUMN = (ResultColumn(name="x", type="INTEGER"),)


@pytest.mark.parametrize(
    "result",
    [{"columns": _COLUMN, "rows": ((1,),) * 300, "row_count": 300},
     {"columns": _COLUMN, "rows": ((1, 2),), "row_count": 1}, {"status": "failed"}],
    ids=["more rows than allowed", "another width", "failed without an error"],
)  # fmt: skip
async def test_a_result_that_breaks_the_rules_is_not_passed_on(result: dict[str, Any]) -> None:
    async with _stranger(lambda _: (200, _ended(job(), **result))) as url, _executor(url) as executor:
        await executor.submit(job())
        got = await executor.result("job-1")
    assert got.error is not None and got.error.type == "BadAnswer"


async def test_the_result_of_another_job_is_not_passed_on() -> None:
    async with _stranger(lambda _: (200, _ended(job("other")))) as url, _executor(url) as executor:
        await executor.submit(job())
        with pytest.raises(SandboxUnavailable, match="cannot read"):
            await executor.result("job-1")


async def test_an_answer_is_bounded_while_it_comes() -> None:
    large = json.dumps({"x": "y" * (8 << 20)}).encode()
    small = job(limits={"result_bytes": 1000})
    async with _stranger(lambda _: (200, large)) as url, _executor(url) as executor:
        await executor.submit(small)
        with pytest.raises(RunnerBroken, match="bytes allowed"):
            await executor.result("job-1")


async def test_what_the_service_cancelled_is_tried_again_a_few_times() -> None:
    asked: list[str] = []

    def answer(request: Request) -> Answer:
        asked.append(request.method)
        return 200, _ended(job(), status="cancelled")

    async with _stranger(answer) as url, _executor(url) as executor:
        await executor.submit(job())
        got = await executor.result("job-1")
    assert got.error is not None and (got.error.type, got.status) == ("SandboxLost", "failed")
    assert asked == ["POST"] * 4


@pytest.mark.parametrize(
    "url",
    ["", "execd:8400", "ftp://execd", "http://", "http://x:y@execd", "http://execd?token=1", "http://a b"],
)
def test_what_is_no_address(url: str) -> None:
    with pytest.raises(InvalidInput, match="not the address of an execution service") as caught:
        RemoteExecutor(url, TOKEN)
    assert "y@" not in caught.value.message


def test_a_short_token_is_refused() -> None:
    with pytest.raises(InvalidInput, match="too short"):
        RemoteExecutor("http://execd:8400", "short")


async def test_an_address_may_have_a_prefix_that_a_proxy_takes_away(tier: FakeTier, tmp_path: Path) -> None:
    outer = FastAPI()
    inner = make_app(tier, tmp_path)

    async def strip(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            path = scope["path"].removeprefix("/plane")
            scope = {**scope, "path": path, "raw_path": scope["raw_path"].removeprefix(b"/plane")}
        await inner(scope, receive, send)

    outer.mount("/", strip)
    async with serving(outer) as url, _executor(f"{url}/plane/") as executor:
        assert (await executor.start()).engine == "fakedb 1.0"
        await executor.submit(job("a job.with:odd-id_"[2:].replace(" ", "-")))
        assert (await executor.result("job.with:odd-id_")).status == "succeeded"


async def test_warm_reaches_the_service(tier: FakeTier, tmp_path: Path) -> None:
    async with serving(make_app(tier, tmp_path)) as url, _executor(url) as executor:
        await executor.warm(job("warm"))
    assert [warmed.model_dump() for warmed in tier.warmed] == [job("warm").model_dump()]


async def test_a_closed_executor_leaves_nothing_running_there(tier: FakeTier, tmp_path: Path) -> None:
    async with serving(make_app(tier, tmp_path)) as url:
        async with _executor(url) as executor:
            await executor.submit(job(text=SLOW))
            await tier.taken()
        async with asyncio.timeout(5):
            while not tier.cancelled:
                await asyncio.sleep(0.01)
