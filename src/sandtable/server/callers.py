"""Identifies the caller: the peer of a connection, or the user that a trusted proxy names.

Invariant: only a peer in `trusted_proxies` can set the user, the client's address and the host name. Without
`insecure` and without accounts, only trusted proxies and this machine are served.
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

from sandtable.accounts.principal import Principal
from sandtable.errors import ErrorCode, Problem
from sandtable.server.hosts import Refusal, read_address
from sandtable.server.logs import PROBES
from sandtable.settings import Settings

CALLER = "sandtable.caller"
"""The key of the user in a request's scope."""
PRINCIPAL = "sandtable.principal"
"""The key of the `Principal` in a request's scope."""
ADDRESS = "sandtable.address"
"""The key of the client's address in a request's scope."""
NAME = "x-sandtable-user"
_COMMAND_LINE = "local"
"""Whose runs are those of the command line and the library, and so no name of a person."""
NAME_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._@:+-]{0,63}"
"""Of a person or a team."""
_USER = re.compile(NAME_PATTERN)


@dataclass(frozen=True, slots=True)
class Caller:
    user: str
    """The name that runs are counted under. That of an address begins with `@`, which no other name does."""
    forwarded_host: str | None = None
    """The host name under which the client reached the proxy."""
    scheme: str | None = None
    """`http` or `https`: the scheme with which the client reached the proxy."""
    address: str = ""
    """The client's address, also for a user that a proxy names."""
    is_here: bool = False
    """A program of this machine, which no proxy is in front of."""

    groups: frozenset[str] = frozenset()
    """Of the user, as a trusted proxy names them."""
    proxied: bool = False
    """Whether the request came through a trusted proxy."""

    @property
    def is_named(self) -> bool:
        """Whether a trusted proxy says who the user is."""
        return not self.user.startswith("@")


class Callers:
    def __init__(self, settings: Settings, *, accounts: bool = False) -> None:
        """With `accounts`, every peer is served: its identity is proven in other ways."""
        self._proxies = settings.trusted_proxies
        self._serves_all = settings.insecure or accounts
        named = settings.proxy_names_users
        self._proxy_names = not accounts if named is None else named
        self._groups = settings.groups_header.lower()

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
        if not (self._serves_all or _is_here(peer) or scope["path"] in PROBES):
            return _refused(
                "the request does not come from a trusted proxy",
                f"Use the address of the proxy. SANDTABLE_TRUSTED_PROXIES={peer} would serve this one, and"
                " SANDTABLE_INSECURE=true everybody.",
            )
        return Caller(f"@{peer or 'unknown'}", address=peer, is_here=_is_here(peer))

    def _by_proxy(self, headers: Headers, peer: str) -> Caller | Refusal:
        names, hosts = headers.getlist(NAME), headers.getlist("x-forwarded-host")
        # Read only where the operator names the header: other proxies would pass on what a client wrote there.
        groups = ",".join(headers.getlist(self._groups)).split(",") if self._groups else []
        if len(names) > 1:
            # A proxy that appends its header to the client's does not show which of the two is its own.
            return _unusable(
                "the header X-Sandtable-User was sent more than once", "Let the proxy replace it."
            )
        if names and not self._proxy_names:
            return _refused(
                "the proxy says who the user is, and this server does not let it",
                "Let the proxy remove the header X-Sandtable-User, or, if it signs people in and replaces the header,"
                " set SANDTABLE_PROXY_NAMES_USERS=true.",
            )
        if names and (not _USER.fullmatch(names[0]) or names[0] == _COMMAND_LINE):
            return _unusable(
                "the header X-Sandtable-User is not a usable name",
                "Use up to 64 letters, digits and . _ @ : + - and begin with a letter or digit.",
            )
        if len(hosts) > 1 or any("," in host for host in hosts):
            return _unusable("X-Forwarded-Host names more than one host", "Let the first proxy set it.")
        scheme = headers.get("x-forwarded-proto", "").split(",")[0].strip().lower()
        address = self._client(headers.getlist("x-forwarded-for"), peer)
        return Caller(
            names[0] if names else f"@{address}",
            hosts[0].strip() if hosts else None,
            scheme if scheme in ("http", "https") else None,
            address,
            groups=frozenset(filter(None, map(str.strip, groups))) if names else frozenset(),
            proxied=True,
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


def principal_of(request: HTTPConnection) -> Principal:
    """Who asks, as the guard proved it."""
    return request.scope[PRINCIPAL]


Asker = Annotated[Principal, Depends(principal_of)]
