"""What the client makes of answers that an API server gives rarely: errors of all kinds, streams in pieces."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import pytest

from sandtable.errors import SandboxUnavailable
from sandtable.sandbox.kubernetes.api import Api, ApiAway, ApiGone, ApiRefused
from sandtable.sandbox.kubernetes.cluster import Cluster
from sandtable.sandbox.kubernetes.credentials import Fixed, context_for
from sandtable.sandbox.kubernetes.trouble import is_full, unavailable

Answer = Callable[[httpx2.Request], httpx2.Response]


def _api(answer: Answer) -> Api:
    cluster = Cluster("https://api.test", ssl.create_default_context(), Fixed("Bearer t"), "runs", "the test")
    api = Api(cluster)
    api._client._transport = httpx2.MockTransport(answer)
    return api


def _status(code: int, reason: str, message: str) -> httpx2.Response:
    return httpx2.Response(code, json={"kind": "Status", "code": code, "reason": reason, "message": message})


_REFUSALS: dict[str, tuple[httpx2.Response, str]] = {
    "who are you": (_status(401, "Unauthorized", "Unauthorized"), "does not accept our credentials"),
    "not allowed": (
        _status(403, "Forbidden", 'jobs.batch is forbidden: User "u" cannot create resource "jobs"'),
        "may not create jobs in namespace 'runs'",
    ),
    "no namespace": (
        _status(404, "NotFound", 'namespaces "runs" not found'),
        "namespace 'runs' does not exist",
    ),
    "quota": (
        _status(403, "Forbidden", 'jobs "x" is forbidden: exceeded quota: q'),
        "quota of namespace 'runs'",
    ),
    "policy": (_status(422, "Invalid", "denied request: no limits"), "refuses our Job: denied request"),
}


@pytest.mark.parametrize(("response", "told"), _REFUSALS.values(), ids=list(_REFUSALS))
async def test_a_refusal_tells_the_operator_what_to_do(response: httpx2.Response, told: str) -> None:
    api = _api(lambda _: response)
    with pytest.raises(ApiRefused) as caught:
        await api.create_job({})
    trouble = unavailable(caught.value, api)
    assert told in trouble.message
    assert trouble.suggestion
    assert is_full(caught.value) == ("quota" in told)


@pytest.mark.parametrize("code", [429, 500, 502, 503, 504])
async def test_what_passes_is_away(code: int) -> None:
    with pytest.raises(ApiAway):
        await _api(lambda _: httpx2.Response(code, text="<html>busy</html>")).jobs("a=b")


async def test_no_connection_is_away() -> None:
    def broken(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("connection refused", request=request)

    api = _api(broken)
    with pytest.raises(ApiAway) as caught:
        await api.jobs("a=b")
    trouble = unavailable(caught.value, api)
    assert "https://api.test" in trouble.message
    assert "connection refused" in trouble.message


def _watching(*events: dict[str, Any], cut: int = 7) -> Answer:
    content = b"".join(json.dumps(event).encode() + b"\n" for event in events)

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(content), cut):
            yield content[start : start + cut]

    return lambda _: httpx2.Response(200, content=pieces())


def _event(kind: str, name: str) -> dict[str, Any]:
    return {"type": kind, "object": {"metadata": {"name": name, "note": "a\u2028b"}}}


async def test_a_watch_in_pieces() -> None:
    events = [_event("ADDED", "a"), _event("BOOKMARK", ""), _event("DELETED", "a")]
    seen = [
        (kind, pod["metadata"]["name"]) async for kind, pod in _api(_watching(*events)).watch_pods("x", "1")
    ]
    assert seen == [("ADDED", "a"), ("DELETED", "a")]


@pytest.mark.parametrize("within", [True, False], ids=["as an event", "as an answer"])
async def test_a_past_that_is_forgotten(within: bool) -> None:
    status = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}
    answer = (
        _watching({"type": "ERROR", "object": status})
        if within
        else lambda _: httpx2.Response(410, json=status)
    )
    with pytest.raises(ApiGone, match="too old"):
        async for _ in _api(answer).watch_pods("x", "1"):
            pass


async def test_deleting_what_is_not_there() -> None:
    assert await _api(lambda _: _status(404, "NotFound", "no")).delete_job("x") is False
    assert await _api(lambda _: httpx2.Response(200, json={})).delete_job("x") is True


async def test_a_job_is_deleted_with_its_pods_at_once() -> None:
    bodies: list[dict[str, Any]] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        bodies.append(json.loads(request.content))
        return httpx2.Response(200, json={})

    await _api(answer).delete_job("x", "uid-1")
    (body,) = bodies
    assert body["propagationPolicy"] == "Background"
    assert (body["gracePeriodSeconds"], body["preconditions"]) == (0, {"uid": "uid-1"})


@pytest.mark.parametrize(
    "content", [b"<html>sign in</html>", b"[]", b""], ids=["a page", "a list", "nothing"]
)
async def test_an_answer_of_somebody_else_is_no_answer(content: bytes) -> None:
    api = _api(lambda _: httpx2.Response(200, content=content))
    with pytest.raises(ApiAway):
        await api.jobs("a=b")
    if content:
        with pytest.raises(ApiAway):
            async for _ in _api(lambda _: httpx2.Response(200, content=content + b"\n")).watch_pods("x", "1"):
                pass


async def test_who_cannot_sign_in_is_told_why() -> None:
    class Broken:
        async def authorization(self, *, renew: bool) -> str | None:
            raise SandboxUnavailable("no token here", suggestion="mount it")

    cluster = Cluster("https://api.test", ssl.create_default_context(), Broken(), "runs", "the test")
    api = Api(cluster)
    with pytest.raises(ApiAway) as caught:
        await api.jobs("a=b")
    assert unavailable(caught.value, api).suggestion == "mount it"
    with pytest.raises(ApiAway):
        async for _ in api.watch_pods("x", "1"):
            pass
    await api.aclose()


async def test_a_connection_that_is_cancelled_during_its_handshake_is_closed() -> None:
    greeted, ended = asyncio.Event(), asyncio.Event()

    async def never_shakes_hands(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(4096):
            greeted.set()
        writer.close()
        ended.set()

    server = await asyncio.start_server(never_shakes_hands, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        tls = context_for(None, insecure=True)
        api = Api(Cluster(f"https://127.0.0.1:{port}", tls, Fixed(None), "runs", "the test"))
        call = asyncio.create_task(api.job("any"))
        await greeted.wait()
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        async with asyncio.timeout(5):
            await ended.wait()
        await api.aclose()
