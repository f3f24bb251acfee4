"""No body is read before its sender has proved that it holds the token; every response carries our proof.

Invariant: a proven request is accepted once, within the allowed clock skew; a body is bounded, complete and
covered by the proof before it is parsed. Only `OPEN` paths need no proof.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sandtable.errors import ErrorCode, Problem
from sandtable.sandbox.remote.proof import HEADER, SKEW_S, Claim, Token
from sandtable.sandbox.remote.protocol import HEALTH
from sandtable.server.bodies import read_body, replayed
from sandtable.server.errors import error_response, unexpected

OPEN = frozenset({HEALTH, "/openapi.json"})
MAX_BODY = 16 << 20
_BODY_S = 30.0
_NONCES = 100_000

log = structlog.get_logger("sandtable.execd")


class Nonces:
    """The nonces of proven requests, kept while their timestamps would still be accepted."""

    def __init__(self, most: int = _NONCES, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._seen: OrderedDict[str, float] = OrderedDict()

    def first(self, nonce: str) -> bool | None:
        """Whether the nonce is new; None when no more can be stored."""
        now = self._clock()
        while self._seen and next(iter(self._seen.values())) < now:
            self._seen.popitem(last=False)
        if nonce in self._seen:
            return False
        if len(self._seen) >= self._most:
            return None
        # The sender's clock may be ahead of ours or behind it by SKEW_S.
        self._seen[nonce] = now + 2 * SKEW_S
        return True


class Proven:
    """ASGI middleware: verifies the proof of each request, and signs the responses."""

    def __init__(self, app: ASGIApp, token: Token, nonces: Nonces | None = None) -> None:
        self._app = app
        self._token = token
        self._nonces = nonces or Nonces()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        claim = Claim.read(Headers(scope=scope).get(HEADER, ""))
        proving = send if claim is None else _Proving(send, self._token, claim.nonce)
        body = b""
        if scope["path"] not in OPEN:
            refused = self._refused(claim, scope)
            if refused is None and claim is not None:
                body, refused = await _read(claim, Headers(scope=scope), receive)
            if refused is not None:
                log.warning(
                    "request_refused", method=scope["method"], path=scope["path"], reason=refused.message
                )
                await error_response(refused, scope, _STATUS.get(refused.message))(scope, receive, proving)
                return
        try:
            await self._app(scope, replayed(body, receive), proving)
        except Exception:
            log.exception("request_broke", method=scope["method"], path=scope["path"])
            await unexpected(scope)(scope, receive, proving)

    def _refused(self, claim: Claim | None, scope: Scope) -> Problem | None:
        if claim is None:
            return _unproven(f"the request carries no proof in its header `{HEADER}`", _SAME_TOKEN)
        if not self._token.made(claim, scope["method"], _target(scope)):
            return _unproven(
                "the request's proof was made with another token, or for another request", _SAME_TOKEN
            )
        apart = claim.milliseconds / 1000 - time.time()
        if abs(apart) > SKEW_S:
            word = "ahead of" if apart > 0 else "behind"
            message = f"the sender's clock is {abs(apart):.0f} s {word} ours; {SKEW_S:.0f} s are allowed"
            return _unproven(message, "Set the clocks of both machines (NTP).")
        first = self._nonces.first(claim.nonce)
        if first is None:
            return _BUSY
        if not first:
            return _unproven("this very request was received before", "Make a new proof for every request.")
        return None


def _target(scope: Scope) -> str:
    """Path and query exactly as sent."""
    path = (scope.get("raw_path") or b"").decode("latin-1") or scope["path"]
    query = scope["query_string"].decode("latin-1")
    return f"{path}?{query}" if query else path


class _Proving:
    """Buffers a response until it is complete, and adds the proof."""

    def __init__(self, send: Send, token: Token, nonce: str) -> None:
        self._send = send
        self._token = token
        self._nonce = nonce
        self._start: Message | None = None
        self._parts: list[bytes] = []

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start, self._parts = message, []
            return
        self._parts.append(message.get("body", b""))
        if message.get("more_body", False) or self._start is None:
            return
        body = b"".join(self._parts)
        headers = MutableHeaders(scope=self._start)
        headers[HEADER] = self._token.answer(self._nonce, self._start["status"], body)
        headers["cache-control"] = "no-store"
        await self._send(self._start)
        await self._send({"type": "http.response.body", "body": body, "more_body": False})


async def _read(claim: Claim, headers: Headers, receive: Receive) -> tuple[bytes, Problem | None]:
    """The complete body, or why there is none."""
    if not headers.get("content-length", "0").isdecimal():
        return b"", _TOO_LARGE
    body = await read_body(headers, receive, MAX_BODY, _BODY_S)
    if isinstance(body, int):
        return b"", _TOO_LARGE if body == 413 else _NOT_WHOLE
    return (body, None) if claim.covers(body) else (b"", _OTHER_BODY)


_SAME_TOKEN = "Set SANDTABLE_EXECD_TOKEN to the same value for the server and for `sandtable execd`."  # noqa: S105 - advice
_BUSY = Problem(
    code=ErrorCode.SANDBOX_UNAVAILABLE,
    message="more requests came within two minutes than nonces can be remembered for",
    suggestion="Run more replicas of `sandtable execd`.",
    details={"why": "full", "retry_after_s": 1.0},
)


def _unproven(message: str, suggestion: str) -> Problem:
    return Problem(
        code=ErrorCode.UNAUTHORIZED, message=message, suggestion=suggestion, details={"why": "unproven"}
    )


_TOO_LARGE = Problem(
    code=ErrorCode.VALIDATION_ERROR,
    message=f"the body is larger than {MAX_BODY >> 20} MiB",
    suggestion="Send a smaller job.",
    details={"limit_bytes": MAX_BODY},
)
_NOT_WHOLE = Problem(
    code=ErrorCode.VALIDATION_ERROR,
    message="the body did not arrive whole",
    suggestion="Send the request again.",
)
_OTHER_BODY = _unproven("the request's proof was made for another body", "Send the request again.")
_STATUS = {_TOO_LARGE.message: 413, _NOT_WHOLE.message: 408}
