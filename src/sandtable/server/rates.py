"""Limits on how many requests one user may send: a token bucket for each user and kind of request, in this process.

Invariant: memory is bounded, and a refused request reaches no route. The machine itself without accounts (a loopback
address that names no user) has no limits but those on signing in, which hold for everybody.
"""

from __future__ import annotations

import math
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import structlog
from fastapi.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from sandtable.errors import RateLimited
from sandtable.runs.pace import RETRY_AFTER
from sandtable.server.callers import CALLER
from sandtable.server.guard import refuse
from sandtable.server.hosts import Refusal, read_address
from sandtable.server.logs import PROBES, Seldom
from sandtable.settings import Settings

Kind = Literal["read", "write", "sign_in"]
MOST_KNOWN = 20_000
"""Buckets. Beyond this the one that was used longest ago is forgotten, which fills it."""
_SAFE = {"GET", "HEAD", "OPTIONS"}
_UPLOADS = re.compile(r"/uploads/[^/]+")
_WORDS: dict[Kind, str] = {
    "read": "requests",
    "write": "requests that begin or change something",
    "sign_in": "attempts to sign in",
}
_SETTINGS: dict[Kind, str] = {
    "read": "SANDTABLE_RATE_READS",
    "write": "SANDTABLE_RATE_WRITES",
    "sign_in": "SANDTABLE_RATE_SIGN_INS",
}

log = structlog.get_logger("sandtable.server")


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at: float


class Rates:
    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self._each_minute: dict[Kind, int] = {
            "read": settings.rate_reads,
            "write": settings.rate_writes,
            "sign_in": settings.rate_sign_ins,
        }
        self._clock = clock
        self._buckets: OrderedDict[tuple[Kind, str], _Bucket] = OrderedDict()
        self._seldom = Seldom(log)

    def require(self, kind: Kind, whose: str) -> None:
        """Takes one of a user's requests of a minute. Raises RateLimited.

        A bucket holds a minute's worth, so that what comes at once need not be slower than what comes evenly.
        """
        limit = self._each_minute[kind]
        if not limit:
            return
        wait_s = self._take((kind, whose), limit)
        if wait_s > 0:
            self._seldom.warning("rate_limited", user=whose, kind=kind)
            raise RateLimited(
                f"{whose} has sent {limit:,} {_WORDS[kind]} within a minute, which is the limit",
                suggestion=f"Wait as Retry-After says. {_SETTINGS[kind]} sets the limit.",
                **{RETRY_AFTER: max(1, math.ceil(round(wait_s, 3)))},
            )

    def require_call(self, kind: Kind, user: str) -> None:
        """For a request of this user, by whatever protocol. Raises RateLimited."""
        if not _is_this_machine(user):
            self.require(kind, user)

    def require_sign_in(self, request: HTTPConnection, name: str) -> None:
        """For routes that check a password or a token: call it before the check. Raises RateLimited.

        Counts attempts from an address and attempts on a name, so that neither many names nor many addresses help.
        """
        address = request.client.host if request.client else "unknown"
        self.require("sign_in", f"@{address}" if request.scope[CALLER][:1] != "@" else request.scope[CALLER])
        self.require("sign_in", f"account {name[:64]!a}")

    def _take(self, key: tuple[Kind, str], limit: int) -> float:
        """Seconds until there is one; 0 when it was taken."""
        now, each_s = self._clock(), limit / 60
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = _Bucket(limit, now)
            if len(self._buckets) > MOST_KNOWN:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(key)
        bucket.tokens = min(limit, bucket.tokens + max(0.0, now - bucket.at) * each_s)
        bucket.at = now
        if bucket.tokens >= 1:
            bucket.tokens -= 1
            return 0.0
        return (1 - bucket.tokens) / each_s


class RateLimit:
    """ASGI middleware, inside the guard, which says who asks."""

    def __init__(self, app: ASGIApp, rates: Rates) -> None:
        self._app = app
        self._rates = rates

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and scope["path"] not in PROBES:
            try:
                self._rates.require_call(_kind_of(scope), scope[CALLER])
            except RateLimited as error:
                await refuse(Refusal(429, error.problem), scope, receive, send)
                return
        await self._app(scope, receive, send)


def _kind_of(scope: Scope) -> Kind:
    """Pieces of an upload begin nothing: there are as many as the file is long."""
    reads = scope["type"] == "http" and (scope["method"] in _SAFE or _UPLOADS.fullmatch(scope["path"]))
    return "read" if reads else "write"


def _is_this_machine(user: str) -> bool:
    """Whether no user is named, and the client is on this machine."""
    address = read_address(user[1:]) if user.startswith("@") else None
    return address is not None and address.is_loopback
