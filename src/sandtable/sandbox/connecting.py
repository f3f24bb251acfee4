"""HTTP connections that are cancelled while they are being opened.

The client closes a connection whose TLS handshake fails, but not one whose handshake is cancelled: its socket would
stay open until it is garbage-collected. `close_unfinished` is a `trace` extension for one request that closes it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any


def close_unfinished() -> Callable[[str, Mapping[str, Any]], Awaitable[None]]:
    connected: list[Any] = []

    async def trace(event: str, info: Mapping[str, Any]) -> None:
        if event == "connection.connect_tcp.complete":
            connected.append(info["return_value"])
        elif event == "connection.start_tls.failed":
            await connected.pop().aclose()

    return trace
