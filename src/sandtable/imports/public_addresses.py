"""Connections to public addresses only, whatever a name resolves to.

Invariant: a name is resolved once for each connection, every address that it has is checked, and the connection is made
to one of those by number. A name that resolves to something else a moment later (DNS rebinding) changes nothing.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any

import httpcore

from sandtable.errors import InvalidInput
from sandtable.quoting import quote

Address = IPv4Address | IPv6Address
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
IsAllowed = Callable[[Address], bool]

_TRANSLATED = IPv6Network("64:ff9b::/96")
_TUNNELLED = (IPv6Network("2002::/16"), IPv6Network("2001::/32"), IPv6Network("64:ff9b:1::/48"))
"""6to4, Teredo and local translation: they lead to an IPv4 address that a router chooses."""
_MOST_TRIED = 4


class NotPublic(InvalidInput):
    """The address is in a private network, or the server itself."""


def is_public(address: Address) -> bool:
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address in _TRANSLATED:
            return is_public(IPv4Address(address.packed[-4:]))
        if any(address in network for network in _TUNNELLED):
            return False
    return address.is_global and not address.is_multicast


async def resolve_host(host: str, port: int) -> list[str]:
    """Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class CheckedConnections(httpcore.AsyncNetworkBackend):
    def __init__(self, is_allowed: IsAllowed = is_public, resolve: Resolve = resolve_host) -> None:
        self._is_allowed = is_allowed
        self._resolve = resolve
        self._connect: Any = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - as in httpcore
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Raises NotPublic, and what httpcore raises."""
        try:
            async with asyncio.timeout(timeout):
                addresses = await self._resolve(host, port)
        except TimeoutError as error:
            raise httpcore.ConnectTimeout(f"{host} could not be resolved in time") from error
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(f"{host} cannot be resolved") from error
        for address in addresses:
            if not self._is_allowed(ip_address(address.partition("%")[0])):
                raise NotPublic(
                    f"{quote(host)} is not a public address, and files are fetched from no other",
                    suggestion="Download the file, and add it. SANDTABLE_FETCH_PRIVATE=true allows private"
                    " addresses.",
                )
        failure: Exception = httpcore.ConnectError(f"{host} has no address")
        for address in addresses[:_MOST_TRIED]:
            try:
                return await self._connect.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    async def sleep(self, seconds: float) -> None:
        await self._connect.sleep(seconds)
