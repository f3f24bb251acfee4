"""ASGI middleware that counts, times and traces requests, by the template of their route.

Invariant: no path of a request becomes a label or a part of a trace: what matches no route is `other`, the web
interface's files included.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sandtable.assemble.telemetry import Telemetry
from sandtable.observing import link_from, trace_of
from sandtable.server.errors import REQUEST_ID
from sandtable.server.logs import PROBES, bind

NO_TELEMETRY: Any = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}
"""For FastAPI, whose own telemetry would record paths, inputs and the messages of exceptions. Older versions have none,
and ignore it."""
_SEEN = "sandtable.route_seen"
_OTHER = "other"
_GONE = 499
"""Status without an answer: the client was gone."""
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "WEBSOCKET"})


class RouteSeen:
    """ASGI middleware, innermost: notes the template of the route that a request took."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        finally:
            # Middleware between copies the scope, but not what is in it.
            seen: dict[str, str] | None = scope.get(_SEEN)
            template = _template_of(scope)
            if seen is not None and template is not None:
                seen["route"] = template


class Observed:
    """ASGI middleware, around the guard: refused requests count, too.

    A request is a span, and a trace of its own unless a trusted proxy says which one it belongs to. A WebSocket is
    none: each question that comes through it is.
    """

    def __init__(self, app: ASGIApp, telemetry: Telemetry, trusts: Callable[[str], bool]) -> None:
        """`trusts`: whether the peer with this address may say to which trace a request belongs."""
        self._app = app
        self._metrics = telemetry.metrics
        self._tracer = telemetry.tracer
        self._trusts = trusts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        seen = scope[_SEEN] = dict[str, str]()
        answer = _Answer(send)
        if self._tracer is None or scope["type"] == "websocket" or scope["path"] in PROBES:
            await self._counted(scope, receive, answer, seen)
            return
        with self._tracer.under(self._parent_of(scope)):
            span = self._tracer.request(method_of(scope))
        try:
            with span.current():
                bind(**trace_of(self._tracer.link))
                await self._counted(scope, receive, answer, seen)
        finally:
            # A file of the web interface is no question: its span is not ended, and so not exported.
            if "route" in seen or answer.status >= 400:
                span.end(seen.get("route", _OTHER), answer.status or _GONE, scope.get(REQUEST_ID, ""))

    async def _counted(self, scope: Scope, receive: Receive, answer: _Answer, seen: dict[str, str]) -> None:
        if self._metrics is None:
            await self._app(scope, receive, answer.send)
            return
        self._metrics.opened(1)
        try:
            await self._app(scope, receive, answer.send)
        except Exception:
            answer.begin(500)
            raise
        finally:
            self._metrics.opened(-1)
            route = seen.get("route", _OTHER)
            self._metrics.answered(method_of(scope), route, answer.status or _GONE, answer.seconds)

    def _parent_of(self, scope: Scope) -> str:
        peer = scope["client"][0] if scope.get("client") else ""
        return link_from(Headers(scope=scope).getlist("traceparent")) if self._trusts(peer) else ""


def method_of(scope: Scope) -> str:
    method = scope.get("method", "WEBSOCKET")
    return method if method in METHODS else _OTHER


class _Answer:
    """When a response began, and with which status."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._began = time.perf_counter()
        self._took: float | None = None
        self.status = 0

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._began if self._took is None else self._took

    def begin(self, status: int) -> None:
        if self._took is None:
            self.status, self._took = status, time.perf_counter() - self._began

    async def send(self, message: Message) -> None:
        match message["type"]:
            case "http.response.start" | "websocket.http.response.start":
                self.begin(message["status"])
            case "websocket.accept":
                self.begin(101)
            case "websocket.close":
                self.begin(403)
            case _:
                pass
        await self._send(message)


def _template_of(scope: Scope) -> str | None:
    route: Any = scope.get("route")
    path = getattr(route, "path_format", None) or getattr(route, "path", None)
    return path if isinstance(path, str) and path else None
