"""One connection to the service at a time: authenticated requests, authenticated answers, bounded sizes.

A job keeps its lane until it has its result, so a balancer of connections routes all its requests to one replica.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import httpx2
from pydantic import BaseModel, ValidationError

from sandtable.errors import InvalidInput, Problem, RunnerBroken
from sandtable.observing import UNOBSERVED, Tracer
from sandtable.sandbox.connecting import close_unfinished
from sandtable.sandbox.remote import trouble
from sandtable.sandbox.remote.proof import HEADER, Token
from sandtable.sandbox.remote.protocol import TRACEPARENT, to_json

_CONNECT_S = 5.0
_SLACK_S = 15.0
"""Timeout beside the long-poll time that was asked for."""
_OLDEST_S = 60.0
"""Connections are replaced after this long, so that a new replica gets its share."""
_LARGEST = 1 << 20
_GOING = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)


@dataclass(frozen=True, slots=True)
class Address:
    """Address of the service; raises InvalidInput for anything else."""

    url: str
    prefix: str
    tls: ssl.SSLContext | bool

    @classmethod
    def of(cls, url: str) -> Address:
        try:
            found = httpx2.URL(url)
        except httpx2.InvalidURL as error:
            raise _no_address(url, str(error)) from error
        if found.scheme not in ("http", "https") or not found.host or any(map(str.isspace, url)):
            raise _no_address(url, "it needs http:// or https:// and a host")
        if found.userinfo or found.query or found.fragment:
            raise _no_address(
                str(found.copy_with(username=None, password=None)), "it holds more than an address"
            )
        prefix = found.raw_path.decode("ascii").rstrip("/")
        # The system's authorities, or those that SSL_CERT_FILE names.
        tls = ssl.create_default_context() if found.scheme == "https" else False
        return cls(str(found).rstrip("/"), prefix, tls)


def _no_address(url: str, why: str) -> InvalidInput:
    return InvalidInput(
        f"{url!r} is not the address of an execution service: {why}",
        suggestion="Set SANDTABLE_EXECD_URL to something like http://execd:8400.",
    )


class Lane:
    def __init__(self, address: Address, token: Token, tracer: Tracer) -> None:
        self._address = address
        self._token = token
        self._tracer = tracer
        self._transport: httpx2.AsyncHTTPTransport | None = None
        self._since = 0.0

    async def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: BaseModel | None = None,
        wait_s: float = 0.0,
        largest: int = _LARGEST,
    ) -> dict[str, Any]:
        """Raises ConnectionLost, UnknownJob, SandboxUnavailable and its kinds, InvalidInput."""
        target = f"{path}?{urlencode(query)}" if query else path
        content = to_json(body) if body is not None else b""
        request, nonce = self._request(method, target, content, wait_s)
        try:
            status, proof, received = await self._send(request, largest)
        except _GOING as error:
            raise trouble.unreachable(self._address.url, _reason(error)) from error
        except httpx2.HTTPError as error:
            raise trouble.ConnectionLost(_reason(error)) from error
        if not self._token.answered(proof, nonce, status, received):
            await self.renew()
            raise trouble.unproven(self._address.url, status)
        return self._read(status, received)

    def _request(self, method: str, target: str, content: bytes, wait_s: float) -> tuple[httpx2.Request, str]:
        slack = _SLACK_S + wait_s
        timeouts = {"connect": _CONNECT_S, "read": slack, "write": _SLACK_S, "pool": _CONNECT_S}
        headers = {"content-type": "application/json"} if content else {}
        if link := self._tracer.link:
            headers[TRACEPARENT] = link
        request = httpx2.Request(
            method,
            self._address.url + target,
            headers=headers,
            content=content,
            extensions={"timeout": timeouts, "trace": close_unfinished()},
        )
        # The target as the service receives it: a proxy removes the prefix.
        sent = request.url.raw_path.decode("ascii").removeprefix(self._address.prefix)
        claim = self._token.claim(method, sent, content, time.time())
        request.headers[HEADER] = claim.header()
        return request, claim.nonce

    async def _send(self, request: httpx2.Request, largest: int) -> tuple[int, str, bytes]:
        response = await self._connection().handle_async_request(request)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        parts: list[bytes] = []
        size = 0
        try:
            async for part in response.stream:
                parts.append(part)
                size += len(part)
                if size > largest:
                    raise RunnerBroken(
                        f"the execution service at {self._address.url} sent more than the {largest} bytes allowed",
                        suggestion="Run it again; if it fails again, report the run",
                    )
        finally:
            await response.aclose()
        return response.status_code, response.headers.get(HEADER, ""), b"".join(parts)

    def _read(self, status: int, received: bytes) -> dict[str, Any]:
        try:
            read = json.loads(received)
            if status >= 400:
                problem = Problem.model_validate(read["error"])
            elif isinstance(read, dict):
                return read
            else:
                raise TypeError("not an object")
        except (ValueError, TypeError, KeyError, RecursionError, ValidationError) as error:
            raise trouble.misunderstood(self._address.url) from error
        raise trouble.error_from(self._address.url, problem)

    def _connection(self) -> httpx2.AsyncHTTPTransport:
        if self._transport is None:
            one = httpx2.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=30.0)
            self._transport = httpx2.AsyncHTTPTransport(verify=self._address.tls, limits=one, trust_env=False)
            self._since = time.monotonic()
        return self._transport

    @property
    def old(self) -> bool:
        return self._transport is not None and time.monotonic() - self._since > _OLDEST_S

    async def renew(self) -> None:
        """The next request opens a new connection, perhaps to another replica."""
        transport, self._transport = self._transport, None
        if transport is not None:
            await transport.aclose()


def _reason(error: Exception) -> str:
    if isinstance(error, httpx2.TimeoutException):
        return "no answer in time"
    return str(error) or type(error).__name__


class Lanes:
    """A pool of lanes: as many as are in use at the same time, kept for later jobs."""

    def __init__(self, address: Address, token: Token, tracer: Tracer = UNOBSERVED.tracer) -> None:
        self._address = address
        self._token = token
        self._tracer = tracer
        self._idle: list[Lane] = []

    def take(self) -> Lane:
        return self._idle.pop() if self._idle else Lane(self._address, self._token, self._tracer)

    async def give_back(self, lane: Lane) -> None:
        if lane.old:
            await lane.renew()
        self._idle.append(lane)

    async def aclose(self) -> None:
        await asyncio.gather(*(lane.renew() for lane in self._idle))
        self._idle.clear()
