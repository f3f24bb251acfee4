"""Streams that end with what proved the identity of their client: a revoked key, a session that was signed out.

Invariant: for every protocol, a stream or a WebSocket that a key, a session or a proxy's user opened ends at once when
this process takes that away, and within EVERY_S when another one does; without the store, within UNCHECKED_S. What was
begun over it goes on, or not, as after any other disconnect.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sandtable.accounts import lasting
from sandtable.accounts.accounts import Accounts
from sandtable.accounts.principal import Principal
from sandtable.agent.events import Error
from sandtable.conversations.json_text import encode
from sandtable.errors import ErrorCode, Problem, SandtableError
from sandtable.server.adapter import adapter_of
from sandtable.server.callers import PRINCIPAL
from sandtable.server.sse import frame, is_event_stream

EVERY_S = 2.0
UNCHECKED_S = 30.0
"""While the store is not available, a stream goes on for this long."""
SIGNED_OUT = 4401
"""The code that a WebSocket is closed with."""
_REASON = "the API key or session does not hold any more"
NOT_PROVEN = Problem(
    code=ErrorCode.UNAUTHORIZED,
    message="this stream has ended: the API key or the session that opened it does not hold any more, or allows less",
    suggestion="Sign in again, or send another API key. What was asked is kept in its conversation.",
)

log = structlog.get_logger("sandtable.server")


@dataclass(eq=False, slots=True)
class OpenStream:
    principal: Principal
    task: asyncio.Task[Any]
    ended: bool = False
    """Whether it was cancelled here, and no one else cancelled it."""

    def end(self) -> None:
        if not self.ended:
            self.ended = True
            self.task.cancel()


class OpenStreams:
    def __init__(self, accounts: Accounts | None) -> None:
        self._accounts = accounts
        self._open: set[OpenStream] = set()
        self._news = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None
        self._checked_at = 0.0
        if accounts is not None:
            accounts.tables.listeners.append(self._news.set)

    @contextmanager
    def joined(self, principal: Principal, task: asyncio.Task[Any]) -> Generator[OpenStream, None, None]:
        """Cancels `task` when the principal is lost."""
        stream = OpenStream(principal, task)
        if self._accounts is None or principal.proof == "none":
            yield stream
            return
        self._open.add(stream)
        if len(self._open) == 1:
            self._checked_at = time.monotonic()
            self._watching = asyncio.create_task(self._watch(self._accounts))
        try:
            yield stream
        finally:
            self._open.discard(stream)
            if not self._open and self._watching is not None:
                self._watching.cancel()
                self._watching = None

    async def _watch(self, accounts: Accounts) -> None:
        """While streams are open; a stream that is opened later, when all had ended, begins another one."""
        try:
            while self._watching is asyncio.current_task():
                try:
                    async with asyncio.timeout(EVERY_S):
                        await self._news.wait()
                except TimeoutError:
                    pass
                self._news.clear()
                await self._check(accounts)
        except Exception:
            log.exception("open_streams_not_checked")
            self._end(each.principal for each in tuple(self._open))

    async def _check(self, accounts: Accounts) -> None:
        principals = {each.principal for each in self._open}
        try:
            lost = await lasting.lost(accounts, principals)
        except SandtableError as error:
            if time.monotonic() - self._checked_at < UNCHECKED_S:
                return
            log.warning("open_streams_not_checked", reason=error.message)
            lost = principals
        else:
            self._checked_at = time.monotonic()
        self._end(lost)

    def _end(self, lost: Any) -> None:
        gone = frozenset(lost)
        for stream in self._open:
            if stream.principal in gone and not stream.ended:
                log.info("stream_ended", user=stream.principal.user, proof=stream.principal.proof)
                stream.end()


class EndStreams:
    """ASGI middleware, inside the guard, which proves who asks: answers in place of a stream that is ended."""

    def __init__(self, app: ASGIApp, streams: OpenStreams) -> None:
        self._app = app
        self._streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        task = asyncio.current_task()
        if scope["type"] not in ("http", "websocket") or task is None:
            await self._app(scope, receive, send)
            return
        stream: OpenStream | None = None
        complete = False
        with ExitStack() as stack:

            async def noting(message: Message) -> None:
                nonlocal stream, complete
                if stream is None and _begins_stream(message):
                    stream = stack.enter_context(self._streams.joined(scope[PRINCIPAL], task))
                complete = complete or _is_last(message)
                await send(message)

            try:
                await self._app(scope, receive, noting)
            except asyncio.CancelledError:
                if stream is None or not stream.ended:
                    raise
                task.uncancel()
                if not complete:
                    await send(_ending(scope))


def _begins_stream(message: Message) -> bool:
    kind = message["type"]
    return kind == "websocket.accept" or (kind == "http.response.start" and is_event_stream(message))


def _is_last(message: Message) -> bool:
    kind = message["type"]
    return kind == "websocket.close" or (kind == "http.response.body" and not message.get("more_body", False))


def _ending(scope: Scope) -> Message:
    if scope["type"] == "websocket":
        return {"type": "websocket.close", "code": SIGNED_OUT, "reason": _REASON}
    return {"type": "http.response.body", "body": _last_event(scope), "more_body": False}


def _last_event(scope: Scope) -> bytes:
    adapter = adapter_of(scope)
    if adapter is not None and adapter.ended is not None:
        return frame("error", encode(adapter.ended(NOT_PROVEN)))
    return frame("error", encode(Error(problem=NOT_PROVEN)))
