"""Who may speak to the service, and how it proves itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandtable.errors import InvalidInput
from sandtable.sandbox.remote.proof import HEADER, SKEW_S, Claim
from sandtable.server.execd.proven import MAX_BODY, Nonces
from tests.sandbox.remote.process import OTHER_TOKEN, TOKEN
from tests.server.conftest import LogLines
from tests.server.execd.house import Caller, FakeTier, job, make_app


async def test_anyone_may_ask_whether_it_lives(caller: Caller) -> None:
    answer = await caller.client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    assert (await caller.client.get("/openapi.json")).json()["info"]["title"] == "Sandtable execd"


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/v1/hello"), ("POST", "/v1/jobs"), ("GET", "/v1/jobs/x"), ("DELETE", "/v1/jobs/x"),
     ("GET", "/v1/jobs/x/result"), ("POST", "/v1/warm"), ("GET", "/"), ("GET", "/healthz/"),
     ("GET", "//healthz"), ("OPTIONS", "/v1/jobs")],
)  # fmt: skip
async def test_nothing_else_is_for_everyone(caller: Caller, tier: FakeTier, method: str, path: str) -> None:
    answer = await caller.client.request(method, path, content=b"")
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (401, "UNAUTHORIZED")
    assert "SANDTABLE_EXECD_TOKEN" in error["suggestion"]
    assert tier.jobs == []


async def test_every_answer_is_proven(caller: Caller) -> None:
    for target in ("/v1/hello", "/v1/jobs/none", "/nothing"):
        proof = caller.proof("GET", target)
        answer = await caller.send("GET", target, proof=proof)
        claim = Claim.read(proof)
        assert claim is not None
        given = answer.headers[HEADER]
        assert caller.token.answered(given, claim.nonce, answer.status_code, answer.content)
        assert answer.headers["cache-control"] == "no-store"


async def test_another_token_is_refused_without_reading_the_body(
    caller: Caller, tier: FakeTier, log_lines: LogLines
) -> None:
    stranger = Caller.__new__(Caller)
    stranger.__dict__.update(vars(caller), token=type(caller.token)(OTHER_TOKEN))
    answer = await stranger.submit(job())
    assert answer.status_code == 401
    assert "another token" in answer.json()["error"]["message"]
    assert tier.jobs == []
    [line] = [line for line in log_lines() if line["event"] == "request_refused"]
    assert line["path"] == "/v1/jobs"


async def test_a_request_is_accepted_once(caller: Caller) -> None:
    proof = caller.proof("GET", "/v1/hello")
    assert (await caller.send("GET", "/v1/hello", proof=proof)).status_code == 200
    again = await caller.send("GET", "/v1/hello", proof=proof)
    assert again.status_code == 401
    assert "received before" in again.json()["error"]["message"]


@pytest.mark.parametrize(
    ("later_s", "status", "said"),
    [(0, 200, ""), (SKEW_S - 5, 200, ""), (5 - SKEW_S, 200, ""), (SKEW_S + 5, 401, "ahead of"),
     (-SKEW_S - 5, 401, "behind"), (-1e6, 401, "behind")],
)  # fmt: skip
async def test_clocks_may_differ_a_little(caller: Caller, later_s: float, status: int, said: str) -> None:
    proof = caller.proof("GET", "/v1/hello", later_s=later_s)
    answer = await caller.send("GET", "/v1/hello", proof=proof)
    assert answer.status_code == status
    assert said in answer.text


@pytest.mark.parametrize(
    ("method", "target", "body"),
    [("POST", "/v1/jobs?wait_s=1", b"{}"), ("POST", "/v1/warm", b"{}"), ("POST", "/v1/jobs", b'{"a":1}')],
    ids=["query", "path", "body"],
)
async def test_a_proof_cannot_be_moved(caller: Caller, method: str, target: str, body: bytes) -> None:
    proof = caller.proof("POST", "/v1/jobs", b"{}")
    assert (await caller.send(method, target, body, proof=proof)).status_code == 401


async def test_a_large_body_is_refused(caller: Caller) -> None:
    answer = await caller.send("POST", "/v1/jobs", b" " * (MAX_BODY + 1))
    assert answer.status_code == 413
    assert "16 MiB" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b"\xff", b'{"id": 1}', b"[" * 100_000], ids=lambda body: repr(body[:6])
)
async def test_what_is_no_job_is_told_in_the_one_shape(caller: Caller, body: bytes) -> None:
    proof = caller.proof("POST", "/v1/jobs", body)
    headers = {HEADER: proof, "content-type": "application/json"}
    answer = await caller.client.post("/v1/jobs", content=body, headers=headers)
    assert answer.status_code in (400, 422)
    assert answer.json()["error"]["code"] == "VALIDATION_ERROR"


def test_nonces_are_kept_as_long_as_they_count_and_no_more_than_fit() -> None:
    now = [0.0]
    nonces = Nonces(most=2, clock=lambda: now[0])
    assert nonces.first("a") and nonces.first("b")
    assert nonces.first("a") is False
    assert nonces.first("c") is None, "none may be forgotten while it could be replayed"
    now[0] = 2 * SKEW_S + 1
    assert nonces.first("c") is True


async def test_too_many_requests_to_tell_apart_are_told_to_wait(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Nonces, "first", lambda self, nonce: None)
    answer = await caller.send("GET", "/v1/hello")
    assert (answer.status_code, answer.json()["error"]["details"]["why"]) == (503, "full")


async def test_the_token_is_in_no_log_and_no_answer(caller: Caller, log_lines: LogLines) -> None:
    answers = [await caller.send("GET", "/v1/hello"), await caller.send("GET", "/v1/hello", proof="nonsense")]
    told = str(log_lines()) + "".join(answer.text + str(answer.headers) for answer in answers)
    assert TOKEN not in told and "request_refused" in told


async def test_an_unexpected_error_is_proven_too_and_says_nothing(
    caller: Caller, tier: FakeTier, log_lines: LogLines, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(kind: str = "sql") -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(tier, "start", broken)
    proof = caller.proof("GET", "/v1/hello")
    answer = await caller.send("GET", "/v1/hello", proof=proof)
    claim = Claim.read(proof)
    assert claim is not None and answer.status_code == 500
    assert "secret detail" not in answer.text
    assert caller.token.answered(answer.headers[HEADER], claim.nonce, 500, answer.content)
    assert [line for line in log_lines() if line["event"] == "request_broke"]


def test_a_short_token_is_refused_at_the_start(tier: FakeTier, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="too short"):
        make_app(tier, tmp_path, token="short")
