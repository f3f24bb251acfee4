"""Identifies the caller: the peer of a connection, or the user that a trusted proxy names.

Invariant: only a peer in `trusted_proxies` can set the user, the client's address and the host name. Without
`insecure`, only trusted proxies and this machine are served.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import Annotated

from fastapi import Depends
from fastapi.requests import HTTPConnection
from starlette.datastructures import Headers
from starlette.types import Scope

from sandtable.errors import ErrorCode, Problem
from sandtable.server.hosts import Refusal, read_address
from sandtable.server.logs import PROBES
from sandtable.settings import Settings

CALLER = "sandtable.caller"
"""The key of the user in a request's scope."""
NAME = "x-sandtable-user"
_USER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@:+-]{0,63}")


@dataclass(frozen=True, slots=True)
class Caller:
    user: str
    """The name that runs are counted under. That of an address begins with `@`, which no other name does."""
    forwarded_host: str | None = None
    """The host name under which the client reached the proxy."""
    scheme: str | None = None
    """`http` or `https`: the scheme with which the client reached the proxy."""


class Callers:
    def __init__(self, settings: Settings) -> None:
        self._proxies = settings.trusted_proxies
        self._insecure = settings.insecure

    def trusts(self, address: str) -> bool:
        found = read_address(address)
        return found is not None and any(found in network for network in self._proxies)

    def of(self, scope: Scope) -> Caller | Refusal:
        headers, peer = Headers(scope=scope), scope["client"][0] if scope.get("client") else ""
        if self.trusts(peer):
            return self._by_proxy(headers, peer)
        if NAME in headers:
            return _refused(
                "the request says who its user is, and does not come from a trusted proxy",
                "Leave the header X-Sandtable-User out. If this is the proxy that signs people in, add its address:"
                f" SANDTABLE_TRUSTED_PROXIES={peer}",
            )
        if not (self._insecure or _is_here(peer) or scope["path"] in PROBES):
            return _refused(
                "the request does not come from a trusted proxy",
                f"Use the address of the proxy. SANDTABLE_TRUSTED_PROXIES={peer} would serve this one, and"
                " SANDTABLE_INSECURE=true everybody.",
            )
        return Caller(f"@{peer or 'unknown'}")

    def _by_proxy(self, headers: Headers, peer: str) -> Caller | Refusal:
        names, hosts = headers.getlist(NAME), headers.getlist("x-forwarded-host")
        if len(names) > 1:
            # A proxy that appends its header to the client's does not show which of the two is its own.
            return _unusable(
                "the header X-Sandtable-User was sent more than once", "Let the proxy replace it."
            )
        if names and not _USER.fullmatch(names[0]):
            return _unusable(
                "the header X-Sandtable-User is not a usable name",
                "Use up to 64 letters, digits and . _ @ : + - and begin with a letter or digit.",
            )
        if len(hosts) > 1 or any("," in host for host in hosts):
            return _unusable("X-Forwarded-Host names more than one host", "Let the first proxy set it.")
        scheme = headers.get("x-forwarded-proto", "").split(",")[0].strip().lower()
        return Caller(
            names[0] if names else f"@{self._client(headers.getlist('x-forwarded-for'), peer)}",
            hosts[0].strip() if hosts else None,
            scheme if scheme in ("http", "https") else None,
        )

    def _client(self, forwarded: Iterable[str], peer: str) -> str:
        """The last address that is not a trusted proxy's: the entries before it were written by that client."""
        known = peer
        for hop in reversed(",".join(forwarded).split(",")):
            address = _hop(hop.strip())
            if address is None:
                break
            known = str(address)
            if not self.trusts(known):
                break
        return known


def _hop(text: str) -> IPv4Address | IPv6Address | None:
    """The address of one entry, without the port that some proxies add."""
    host = text[1:].partition("]")[0] if text.startswith("[") else text
    return read_address(host) or read_address(host.partition(":")[0])


def _is_here(peer: str) -> bool:
    address = read_address(peer)
    return address is not None and address.is_loopback


def _refused(message: str, suggestion: str) -> Refusal:
    return Refusal(403, Problem(code=ErrorCode.UNAUTHORIZED, message=message, suggestion=suggestion))


def _unusable(message: str, suggestion: str) -> Refusal:
    return Refusal(422, Problem(code=ErrorCode.VALIDATION_ERROR, message=message, suggestion=suggestion))


def user_of(request: HTTPConnection) -> str:
    """The user of a request or a WebSocket; queues are fair between users."""
    return request.scope[CALLER]


User = Annotated[str, Depends(user_of)]
