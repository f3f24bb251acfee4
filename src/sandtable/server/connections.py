"""The connections of a server, and when one is given up.

Invariant: what a client leaves untaken is bounded, in bytes and in time, whatever the application above does about it.
"""

from __future__ import annotations

import socket
import sys
from typing import Any

import structlog
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

STALLED_S = 60.0

log = structlog.get_logger("sandtable.server")


def bound_patience(listening: socket.socket) -> None:
    """Its connections end when their client has taken nothing of what waits for it for STALLED_S.

    The kernel's own clock, for it alone still looks after a connection that everybody above has closed, and that
    would otherwise wait for ever to get rid of its last bytes.
    """
    if sys.platform == "linux":
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(STALLED_S * 1000))


class HttpConnection(H11Protocol):
    def connection_lost(self, exc: Exception | None) -> None:
        _say_why(exc, self.client, self.scope)
        super().connection_lost(exc)


class SocketConnection(WebSocketsSansIOProtocol):
    _owed: bytes = b""

    def connection_lost(self, exc: Exception | None) -> None:
        # A request that could not be read has none.
        _say_why(exc, self.client, getattr(self, "scope", None))
        super().connection_lost(exc)

    def handle_ping(self) -> None:
        """Who asks for answers and takes none is owed the last ones only, as the protocol allows."""
        if self.writable.is_set():
            super().handle_ping()
        else:
            # The first ping of several that arrived together finds the answers to all of them.
            self._owed = b"".join(self.conn.data_to_send()) or self._owed

    def resume_writing(self) -> None:
        super().resume_writing()
        owed, self._owed = self._owed, b""
        if owed:
            self.transport.write(owed)


def _say_why(exc: Exception | None, client: tuple[str, int] | None, scope: Any) -> None:
    if isinstance(exc, TimeoutError):
        log.warning(
            "client_dropped",
            reason=f"it took nothing of what was sent to it for {STALLED_S:.0f} s",
            client=client and client[0],
            path=scope and scope["path"][:256],
        )
