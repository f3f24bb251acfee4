"""Who calls, on each binding.

Invariant: a gRPC call is judged by the same rules as a request (`callers`, `proving`): its peer must be this machine, a
trusted proxy, or anyone where the server is open to all; with accounts an API key proves who calls. Browsers cannot
make gRPC calls; one that came through a gateway says its origin, and is refused.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import grpc
import grpc.aio
from a2a.auth.user import User
from a2a.server.context import ServerCallContext
from a2a.server.request_handlers.grpc_handler import GrpcServerCallContextBuilder
from a2a.server.routes.common import ServerCallContextBuilder
from a2a.utils.constants import VERSION_HEADER
from a2a.utils.errors import A2AError, InvalidRequestError, VersionNotSupportedError
from starlette.requests import Request
from starlette.types import Scope

from sandtable.accounts.accounts import Accounts
from sandtable.accounts.asking import Asking, asking, asking_of
from sandtable.accounts.shares import Shares
from sandtable.errors import ErrorCode, Problem
from sandtable.server.a2a.card import VERSION
from sandtable.server.callers import Callers, user_of
from sandtable.server.hosts import Refusal
from sandtable.server.proving import Proving, judge
from sandtable.settings import Settings

_VERSION_KEY = VERSION_HEADER.lower()
_CODES = {401: grpc.StatusCode.UNAUTHENTICATED, 403: grpc.StatusCode.PERMISSION_DENIED}
_COOKIE = Refusal(
    401,
    Problem(
        code=ErrorCode.UNAUTHORIZED,
        message="a cookie proves nothing here",
        suggestion="Send an API key: `authorization: Bearer st_…`",
    ),
)


class CallRefused(A2AError):
    """A gRPC call of somebody who is not known, or may not make it."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.problem.in_words)
        self.code = _CODES.get(refusal.status, grpc.StatusCode.INVALID_ARGUMENT)


class KnownUser(User):
    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def is_authenticated(self) -> bool:
        return True

    @property
    def user_name(self) -> str:
        return self._name


class HttpCalls(ServerCallContextBuilder):
    def build(self, request: Request) -> ServerCallContext:
        version = request.headers.get(_VERSION_KEY) or request.query_params.get(VERSION_HEADER, "")
        return ServerCallContext(user=KnownUser(user_of(request)), state={"headers": {_VERSION_KEY: version}})


class GrpcCalls(GrpcServerCallContextBuilder):
    def build(self, context: grpc.aio.ServicerContext[Any, Any]) -> ServerCallContext:
        """Raises VersionNotSupportedError."""
        headers = dict(scope_of(context)["headers"])
        _require_version(headers.get(_VERSION_KEY.encode(), b"").decode("latin-1"))
        return ServerCallContext(user=KnownUser(asking().principal.user))


class GrpcProof:
    """Who makes a gRPC call, as the guard proves it for a request."""

    def __init__(self, settings: Settings, accounts: Accounts | None, shares: Shares) -> None:
        self._callers = Callers(settings, accounts=accounts is not None)
        self._proving = Proving(settings, accounts)
        self._shares = shares

    async def of(self, context: grpc.aio.ServicerContext[Any, Any]) -> Asking:
        """Raises CallRefused, InvalidRequestError for a call of a page, and StoreUnavailable."""
        scope = scope_of(context)
        headers = dict(scope["headers"])
        if b"origin" in headers or headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
            raise InvalidRequestError("a page of another origin may not use this server")
        caller = self._callers.of(scope)
        principal = caller if isinstance(caller, Refusal) else await self._proving.principal_of(scope, caller)
        if isinstance(principal, Refusal):
            raise CallRefused(principal)
        if principal.proof == "session":
            raise CallRefused(_COOKIE)
        refused = judge("ask", principal, scope) if self._proving.asks else None
        if refused is not None:
            raise CallRefused(refused)
        return await asking_of(principal, self._shares)


def scope_of(context: grpc.aio.ServicerContext[Any, Any]) -> Scope:
    """The peer and the metadata of a call, as the scope of a request holds them."""
    pairs = context.invocation_metadata() or ()
    headers = [
        (
            name.lower().encode("latin-1"),
            value.encode("latin-1", "replace") if isinstance(value, str) else value,
        )
        for name, value in pairs
    ]
    return {
        "type": "http",
        "method": "POST",
        "path": "/",
        "scheme": "http",
        "headers": headers,
        "client": _peer(context.peer()),
    }


def _peer(text: str) -> tuple[str, int] | None:
    """From `ipv4:127.0.0.1:4711` or `ipv6:[::1]:4711`, whose brackets may be quoted as in an address."""
    kind, _, rest = unquote(text).partition(":")
    host, _, port = rest.rpartition(":")
    if kind not in ("ipv4", "ipv6") or not port.isdecimal():
        return None
    return host.strip("[]"), int(port)


def _require_version(given: str) -> None:
    """As the SDK does it for the other bindings: a call that names no version is one of 0.3."""
    if (given or "0.3").partition(".")[0] != VERSION.partition(".")[0]:
        raise VersionNotSupportedError(
            f"A2A {given or '0.3'} is not supported here; send the metadata {_VERSION_KEY}: {VERSION}"
        )
