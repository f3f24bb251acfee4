"""What no request gets past: size, kind and origin of its body; and the headers every answer carries.

Invariant: a body is bounded and whole before anything parses it. A web page of another origin cannot
make a browser start, cancel or verify a run here, or listen to one (no CORS, JSON only, no cross-site requests,
no WebSocket of another origin).
"""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sandtable.capsule.bounds import DOCUMENT_BYTES
from sandtable.errors import ErrorCode, Problem
from sandtable.server.bodies import read_body, replayed
from sandtable.server.errors import error_response

MAX_BODY = 1 << 20
_LARGE = {"/verify": DOCUMENT_BYTES}
_SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
_BODY_SECONDS = 60.0

API_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": API_POLICY,
    "Cache-Control": "no-store",
}


class SecurityHeaders:
    """ASGI middleware, outermost: a page may set its own policy, nothing goes without one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def adding(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, adding if scope["type"] == "http" else send)


class Heads:
    """ASGI middleware, innermost: HEAD is what GET answers, without its body. Probes and `curl -I` ask so."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def bodiless(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self._app({**scope, "method": "GET"}, receive, bodiless)


class Guard:
    """ASGI middleware: refuses what must not reach a parser."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and _of_another_origin(Headers(scope=scope)):
            await _refuse_socket(scope, receive, send)
            return
        if scope["type"] != "http" or scope["method"] in _SAFE_METHODS:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            await error_response(_CROSS_SITE, scope, 403)(scope, receive, send)
            return
        limit = _LARGE.get(scope["path"], MAX_BODY)
        body = await read_body(headers, receive, limit, _BODY_SECONDS)
        if isinstance(body, int):
            await error_response(_unread(body, limit), scope, body)(scope, receive, send)
        elif body and headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
            await error_response(_NOT_JSON, scope, 415)(scope, receive, send)
        else:
            await self._app(scope, replayed(body, receive), send)


def _of_another_origin(headers: Headers) -> bool:
    """A browser lets any page open a WebSocket to any server, and says whose page it is. Programs say nothing."""
    if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        return True
    origin = headers.get("origin")
    # No page can add a header to this request, so a proxy may tell under which name it is known.
    hosts = {headers.get(name, "").lower() for name in ("host", "x-forwarded-host")} - {""}
    return origin is not None and origin.lower().partition("://")[2] not in hosts


async def _refuse_socket(scope: Scope, receive: Receive, send: Send) -> None:
    await receive()
    if "websocket.http.response" in scope.get("extensions", {}):
        await error_response(_CROSS_SITE, scope, 403)(scope, receive, send)
    else:
        await send({"type": "websocket.close", "code": 1008})


def _unread(status: int, limit: int) -> Problem:
    if status == 413:
        return Problem(
            code=ErrorCode.VALIDATION_ERROR,
            message=f"the body is larger than {limit >> 20} MiB",
            suggestion="Send a smaller request.",
            details={"limit_bytes": limit},
        )
    return Problem(
        code=ErrorCode.VALIDATION_ERROR,
        message="the body did not arrive whole",
        suggestion="Send the request again.",
    )


_CROSS_SITE = Problem(
    code=ErrorCode.UNAUTHORIZED,
    message="a page of another origin may not make changes or listen here",
    suggestion="Send the request from this server's own pages, or from a program.",
)
_NOT_JSON = Problem(
    code=ErrorCode.VALIDATION_ERROR,
    message="the body must be JSON, and say so",
    suggestion="Send it with the header `Content-Type: application/json`.",
)
