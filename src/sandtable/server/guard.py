"""Checks of every request: caller, host, origin, identity, size and content type; the headers of every response.

Invariant: a body is bounded and complete before anything parses it; only uploads are streamed, by `server.files`, which
bounds them. A web page of another origin cannot make a browser start, read, cancel, verify or stream a run here, nor
upload (no CORS, JSON only but for uploads, no cross-site requests, no WebSocket of another origin, no foreign host
name). It can only link to our pages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sandtable.accounts.accounts import Accounts
from sandtable.accounts.principal import Principal
from sandtable.capsule.bounds import DOCUMENT_BYTES
from sandtable.errors import ErrorCode, Problem, SandtableError
from sandtable.server.bodies import read_body, replayed
from sandtable.server.callers import ADDRESS, CALLER, PRINCIPAL, Caller, Callers
from sandtable.server.errors import error_response, response_to
from sandtable.server.hosts import Authority, OwnNames, Refusal, judge_host, of_another_origin
from sandtable.server.permissions import need_of
from sandtable.server.proving import Proving, forged, judge
from sandtable.server.web import wants_page
from sandtable.settings import Settings

MAX_BODY = 1 << 20
_LARGE = {"/verify": DOCUMENT_BYTES}
# `multipart/form-data` needs no preflight: the check of the origin alone keeps pages of other origins from uploading.
_STREAMED = (
    ("POST", re.compile(r"/upload"), "multipart/form-data"),
    ("PATCH", re.compile(r"/uploads/[^/]+"), "application/offset+octet-stream"),
)
# A form cannot send these types, so a page of another origin needs a preflight.
_TEXTS = (
    (re.compile(r"/datasets/[^/]+/catalog\.yaml"), {"text/yaml", "application/yaml", "application/x-yaml"}),
    (re.compile(r"/a2a/.+"), {"application/a2a+json"}),
)
_SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
# What a link on another site may open in a tab: pages, and files to download.
_LINKED = re.compile(
    r"/|/(?:t/[^/]+|data|data/[^/]+|compare|account|people|runs|runs/[^/]+|docs|chat|login|login/password|login/oidc/callback)/?|/openapi\.json"
    r"|/runs/[^/]+/(?:capsule|result\.[a-z]+)|/(?:runs|threads)/[^/]+/export/[a-z]+"
)
_BODY_SECONDS = 60.0
# The latter starts the response that refuses a WebSocket.
_ANSWERS = ("http.response.start", "websocket.http.response.start")

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


def bare_answer(problem: Problem, status: int, headers: Mapping[str, str] | None = None) -> Response:
    """A response for a connection that does not reach the application, with the headers of all responses."""
    return error_response(problem, {}, status, {**_HEADERS, **(headers or {})})


class SecurityHeaders:
    """ASGI middleware, outermost: a page may set its own policy, and no response lacks one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def adding(message: Message) -> None:
            if message["type"] in _ANSWERS:
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, adding)


class Heads:
    """ASGI middleware, innermost: HEAD is what GET answers, without its body. Probes and `curl -I` ask so."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def bodiless(message: Message) -> None:
            # The response ends here: a stream might never end.
            if message["type"] == "http.response.start":
                await send(message)
                await send({"type": "http.response.body", "body": b"", "more_body": False})

        await self._app({**scope, "method": "GET"}, receive, bodiless)


class Guard:
    """ASGI middleware: refuses what must not reach a parser, and identifies the caller."""

    def __init__(self, app: ASGIApp, settings: Settings, accounts: Accounts | None = None) -> None:
        self._app = app
        self._callers = Callers(settings, accounts=accounts is not None)
        self._names = OwnNames(settings.allowed_hosts, settings.host)
        self._proving = Proving(settings, accounts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        try:
            admitted = await self._admitted(scope)
        except SandtableError as error:
            await _answer(response_to(error, scope), scope, receive, send)
            return
        if isinstance(admitted, Refusal):
            await refuse(admitted, scope, receive, send)
        elif scope["type"] == "websocket" or scope["method"] in _SAFE_METHODS:
            await self._app(admitted, receive, send)
        else:
            await self._with_body(admitted, receive, send)

    async def _admitted(self, scope: Scope) -> Scope | Refusal:
        """The scope for the application: caller, principal, host and scheme as the trusted proxy received them."""
        caller = self._callers.of(scope)
        if isinstance(caller, Refusal):
            return caller
        own = self._own_host(scope, caller)
        if isinstance(own, Refusal):
            return own
        if "\0" in scope["path"] or b"%00" in scope["query_string"]:
            return Refusal(400, _NUL)
        headers = Headers(scope=scope)
        opens_page = (
            scope.get("method") in ("GET", "HEAD")
            and "text/html" in headers.get("accept", "")
            and _LINKED.fullmatch(scope["path"]) is not None
        )
        if of_another_origin(headers, own, opens_page=opens_page, https=caller.scheme == "https"):
            return Refusal(403, _CROSS_SITE)
        return await self._identified(_seen_from_outside(scope, caller), caller, own)

    async def _identified(self, scope: Scope, caller: Caller, own: Authority) -> Scope | Refusal:
        """The scope with the principal, if that may do what the request asks for."""
        need = need_of("WS" if scope["type"] == "websocket" else scope["method"], scope["path"])
        if self._proving.asks and need == "open":
            principal = Principal(caller.user, scopes=frozenset())
        else:
            found = await self._proving.principal_of(scope, caller)
            if isinstance(found, Refusal):
                return found
            principal = found
        if self._proving.asks or need == "admin":
            refused = judge(need, principal, scope) or forged(
                scope, principal, own, https=caller.scheme == "https"
            )
            if refused is not None:
                return refused
        return {**scope, CALLER: principal.user, PRINCIPAL: principal, ADDRESS: caller.address}

    def _own_host(self, scope: Scope, caller: Caller) -> Authority | Refusal:
        """The host that the browser requested. `Host` is checked even if a proxy forwards another one: a page that
        reaches a trusted proxy's machine by DNS rebinding can set every header but this."""
        target = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1")
        reached_at = scope["server"][0] if scope.get("server") else None
        own = judge_host(target, Headers(scope=scope).getlist("host"), self._names, reached_at)
        if isinstance(own, Refusal) or caller.forwarded_host is None:
            return own
        return judge_host(target, [caller.forwarded_host], self._names, reached_at)

    async def _with_body(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        kind = headers.get("content-type", "").split(";")[0].strip().lower()
        streamed = _streamed_as(scope)
        if streamed is not None:
            if kind != streamed:
                await error_response(_other_type(streamed), scope, 415)(scope, receive, send)
            elif _is_compressed(headers):
                await error_response(_COMPRESSED, scope, 415)(scope, receive, send)
            else:
                await self._app(scope, receive, send)
            return
        limit = _LARGE.get(scope["path"], MAX_BODY)
        body = await read_body(headers, receive, limit, _BODY_SECONDS)
        if isinstance(body, int):
            await error_response(_unread(body, limit), scope, body)(scope, receive, send)
        elif body and kind != "application/json" and not _is_text(scope, kind):
            await error_response(_NOT_JSON, scope, 415)(scope, receive, send)
        elif body and _is_compressed(headers):
            await error_response(_COMPRESSED, scope, 415)(scope, receive, send)
        else:
            await self._app(scope, replayed(body, receive), send)


def _streamed_as(scope: Scope) -> str | None:
    """The content type of a body that is not read here; None for all others."""
    for method, path, kind in _STREAMED:
        if scope["method"] == method and path.fullmatch(scope["path"]):
            return kind
    return None


def _is_text(scope: Scope, kind: str) -> bool:
    return any(path.fullmatch(scope["path"]) is not None and kind in kinds for path, kinds in _TEXTS)


def _is_compressed(headers: Headers) -> bool:
    return headers.get("content-encoding", "identity").lower() not in ("", "identity")


def _seen_from_outside(scope: Scope, caller: Caller) -> Scope:
    seen = dict(scope)
    if caller.forwarded_host is not None:
        others = [(name, value) for name, value in scope["headers"] if name != b"host"]
        seen["headers"] = [(b"host", caller.forwarded_host.encode("latin-1")), *others]
    if caller.scheme is not None:
        seen["scheme"] = (
            caller.scheme.replace("http", "ws") if scope["type"] == "websocket" else caller.scheme
        )
    return seen


async def refuse(refusal: Refusal, scope: Scope, receive: Receive, send: Send) -> None:
    await _answer(_refused(refusal, scope), scope, receive, send)


def _refused(refusal: Refusal, scope: Scope) -> Response:
    """A browser that opens a page gets the page to sign in on, or to change the password on, instead of the error."""
    page = refusal.page or ("/login" if refusal.status == 401 else None)
    if (
        page is not None
        and scope.get("method") == "GET"
        and wants_page(",".join(Headers(scope=scope).getlist("accept")))
    ):
        wanted = scope["path"] + (
            f"?{scope['query_string'].decode('latin-1')}" if scope["query_string"] else ""
        )
        return RedirectResponse(f"{page}?{urlencode({'next': wanted})}", status_code=303)
    return error_response(refusal.problem, scope, refusal.status)


async def _answer(response: Response, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008})
            return
    await response(scope, receive, send)


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
    message="a page of another origin may not use this server",
    suggestion=(
        "Send the request from this server's own pages, or from a program. Behind a proxy: let it pass on the Host"
        " header, or send X-Forwarded-Host and be among SANDTABLE_TRUSTED_PROXIES."
    ),
)
_NUL = Problem(
    code=ErrorCode.VALIDATION_ERROR,
    message="the address holds a NUL character",
    suggestion="Leave `%00` out.",
)
_NOT_JSON = Problem(
    code=ErrorCode.VALIDATION_ERROR,
    message="the body must be JSON, and say so",
    suggestion="Send it with the header `Content-Type: application/json`.",
)


def _other_type(expected: str) -> Problem:
    return Problem(
        code=ErrorCode.VALIDATION_ERROR,
        message=f"the body must be {expected}, and say so",
        suggestion=f"Send it with the header `Content-Type: {expected}`.",
    )


_COMPRESSED = Problem(
    code=ErrorCode.VALIDATION_ERROR,
    message="the body must not be compressed",
    suggestion="Send it without `Content-Encoding`.",
)
