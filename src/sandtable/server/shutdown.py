"""Graceful shutdown of a server, as its clients see it.

Invariant: once shutdown begins, new requests are refused with 503 and Retry-After, and requests that wait for a run
return it at once as it is. Whatever is still under way shortly before the grace time is over ends with an answer: JSON
with status 503 and Retry-After, or the `error` event of its stream. Only a file that its client reads too slowly is cut
off.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sandtable.agent.events import Error
from sandtable.conversations.json_text import encode
from sandtable.errors import ErrorCode, Problem
from sandtable.server.adapter import adapter_of
from sandtable.server.errors import error_response
from sandtable.server.guard import refuse
from sandtable.server.hosts import Refusal
from sandtable.server.sse import frame, is_event_stream
from sandtable.stopping import stopped

T = TypeVar("T")

LAST_ANSWERS_S = 2.0
"""The part of the grace time for writing these last answers."""
REFUSED = Problem(
    code=ErrorCode.SANDBOX_UNAVAILABLE,
    message="the server is stopping, and takes no new requests",
    suggestion="Try again soon, over a new connection: another server, or this one when it is back, will answer.",
)
_ANSWERED = ("/healthz", "/readyz", "/metrics")
"""Probes, which say themselves that the server stops."""
STOPPING = Problem(
    code=ErrorCode.SANDBOX_UNAVAILABLE,
    message="the server stops before the answer is there",
    suggestion="Try again soon. Runs that were accepted are kept, and go on when a server is there.",
)


class Shutdown:
    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self._is_final = False
        self._requests: set[asyncio.Task[Any]] = set()
        self._ended: set[asyncio.Task[Any]] = set()
        self._left = asyncio.Event()

    def begin(self, grace_s: float) -> None:
        self.begun.set()
        asyncio.get_running_loop().call_later(max(grace_s - LAST_ANSWERS_S, grace_s / 2), self._end_all)

    async def or_begun(self, work: Coroutine[Any, Any, T]) -> T | None:
        """What `work` returns or raises; None, and `work` is cancelled, when the server stops first."""
        doing, stopping = asyncio.create_task(work), asyncio.create_task(self.begun.wait())
        try:
            await asyncio.wait((doing, stopping), return_when=asyncio.FIRST_COMPLETED)
            return doing.result() if doing.done() else None
        finally:
            await stopped(doing, stopping)

    def enter(self, request: asyncio.Task[Any]) -> None:
        self._requests.add(request)
        if self._is_final:
            self._end(request)

    def leave(self, request: asyncio.Task[Any]) -> None:
        self._requests.discard(request)
        self._ended.discard(request)
        self._left.set()

    async def idle(self) -> None:
        """Returns when all requests that were taken have their answer."""
        while self._requests:
            self._left.clear()
            await self._left.wait()

    def was_ended(self, request: asyncio.Task[Any]) -> bool:
        """Whether the shutdown cancelled this request."""
        return request in self._ended

    def _end_all(self) -> None:
        self._is_final = True
        for request in self._requests:
            self._end(request)

    def _end(self, request: asyncio.Task[Any]) -> None:
        self._ended.add(request)
        request.cancel()


class LastAnswers:
    """ASGI middleware: answers in place of an application that the shutdown cancels."""

    def __init__(self, app: ASGIApp, shutdown: Shutdown) -> None:
        self._app = app
        self._shutdown = shutdown

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = asyncio.current_task()
        if scope["type"] == "lifespan" or scope["path"] in _ANSWERED:
            await self._app(scope, receive, send)
            return
        if self._shutdown.begun.is_set():
            await refuse(Refusal(503, REFUSED), scope, receive, closing(send))
            return
        if scope["type"] != "http" or request is None:
            await self._app(scope, receive, send)
            return
        begun = complete = streams = False

        async def noting(message: Message) -> None:
            nonlocal begun, complete, streams
            if message["type"] == "http.response.start":
                begun, streams = True, is_event_stream(message)
            complete = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        self._shutdown.enter(request)
        try:
            await self._app(scope, receive, noting)
        except asyncio.CancelledError:
            if not self._shutdown.was_ended(request) or (begun and not streams):
                # A download that has begun can only be cut off.
                raise
            request.uncancel()
            if not begun:
                await error_response(STOPPING, scope, 503)(scope, receive, send)
            elif not complete:
                await send({"type": "http.response.body", "body": _last_event(scope), "more_body": False})
        finally:
            self._shutdown.leave(request)


def closing(send: Send) -> Send:
    """Makes the client use another connection for its next request."""

    async def adding(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message)["Connection"] = "close"
        await send(message)

    return adding


def _last_event(scope: Scope) -> bytes:
    adapter = adapter_of(scope)
    if adapter is not None and adapter.stopped is not None:
        return frame("error", encode(adapter.stopped))
    return frame("error", encode(Error(problem=STOPPING)))
