"""The connections of a server: limits on what a client may send and how long that may take, and when one is closed.

Invariant: a client that sends slowly, reads slowly or sends invalid requests costs a bounded number of bytes and
seconds, whatever the application does, and gets the one error shape where an answer is possible.
"""

from __future__ import annotations

import asyncio
import re
import socket
import sys
from http import HTTPStatus
from typing import Any, Literal

import h11
import structlog
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.datastructures import Headers
from websockets.http11 import Response as HandshakeResponse
from websockets.server import ServerProtocol

from sandtable.errors import ErrorCode, Problem
from sandtable.server.acceptor import LINGER_S, Room
from sandtable.server.guard import bare_answer
from sandtable.server.logs import Seldom

STALLED_S = 60.0
HEAD_S = 10.0
"""For a complete request head: since the connection was made, or since its first byte on a reused connection."""
REST_S = 5.0
"""For the rest of a body that was answered before it had arrived."""
MAX_HEAD = 16 << 10
MAX_HEADERS = 100
MAX_TARGET = 8000
_FRAMING = (b"content-length", b"transfer-encoding")
_QUOTED = re.compile(r":? (?:bytearray\()?b['\"].*", re.DOTALL)
"""The part of a request that h11 quotes in its messages, as a Python literal."""

log = structlog.get_logger("sandtable.server")

Phase = Literal["head", "body", "rest", "idle", "working", "leaving"]
"""What a connection waits for: the head of a request, its body, the rest of a body that is not needed any more, the
next request, the answer of the application, or its end."""


class ServerConfig(uvicorn.Config):
    """What all connections of a server share."""

    def __init__(self, app: ASGIApp, room: Room, **given: Any) -> None:
        super().__init__(app, http=HttpConnection, ws=SocketConnection, **given)
        self.room = room
        self.seldom = Seldom(log)


def set_stall_timeout(listening: socket.socket) -> None:
    """Connections are closed when their client has acknowledged no pending bytes for STALLED_S.

    The kernel's timeout, because only the kernel still handles a connection that the process has closed, and it
    would otherwise try for ever to send the last bytes.
    """
    if sys.platform == "linux":
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(STALLED_S * 1000))


class RequestReader(h11.Connection):
    """Refuses heads that h11 accepts but that are too large, or that another parser could read as another request."""

    refused: h11.RemoteProtocolError | None = None

    def next_event(self) -> Any:
        try:
            event = super().next_event()
            if isinstance(event, h11.Request):
                _check_head(event)
        except h11.RemoteProtocolError as error:
            self.refused = error
            raise
        return event


def _check_head(head: h11.Request) -> None:
    """Raises RemoteProtocolError."""
    size = (
        len(head.method) + len(head.target) + sum(len(name) + len(value) + 4 for name, value in head.headers)
    )
    if size > MAX_HEAD or len(head.headers) > MAX_HEADERS:
        raise h11.RemoteProtocolError("the head of the request is too large", error_status_hint=431)
    if len(head.target) > MAX_TARGET:
        raise h11.RemoteProtocolError("the address is too long", error_status_hint=414)
    if head.http_version not in (b"1.0", b"1.1"):
        raise h11.RemoteProtocolError("only HTTP/1.1 and HTTP/1.0 are supported")
    framing = {name for name, _ in head.headers if name in _FRAMING}
    # Parsers differ about where such a request ends, and so about where the next one begins (request smuggling).
    if len(framing) > 1:
        raise h11.RemoteProtocolError("Content-Length and Transfer-Encoding exclude each other")
    if b"transfer-encoding" in framing and head.http_version == b"1.0":
        raise h11.RemoteProtocolError("HTTP/1.0 has no Transfer-Encoding")


class HttpConnection(H11Protocol):
    def __init__(self, config: ServerConfig, *given: Any, **named: Any) -> None:
        super().__init__(config, *given, **named)
        self.conn = RequestReader(h11.SERVER, MAX_HEAD)
        self._room = config.room
        self._seldom = config.seldom
        self._peer = ""
        self._phase: Phase | None = None
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] - as in uvicorn
        super().connection_made(transport)
        self._peer = self.client[0] if self.client else ""
        self._room.enter(self._peer)
        self._enter("head")

    def connection_lost(self, exc: Exception | None) -> None:
        _say_why(exc, self.client, self.scope)
        self._stop()
        self._room.leave(self._peer)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._phase != "leaving":
            super().data_received(data)

    def handle_events(self) -> None:
        super().handle_events()
        self._look()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._look()

    def _should_upgrade(self) -> bool:
        """A second parser reads the head again; what it would not accept as a handshake is an ordinary request."""
        if not super()._should_upgrade():
            return False
        framed = any(name in _FRAMING for name, _ in self.headers)
        return not framed and (self.scope["method"], self.scope["http_version"]) == ("GET", "1.1")

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._stop()
        super().handle_websocket_upgrade(event)
        upgraded = self.transport.get_protocol()
        assert isinstance(upgraded, SocketConnection)
        upgraded.entered_as = self._peer

    def send_400_response(self, msg: str) -> None:
        error = self.conn.refused
        hint = error.error_status_hint if error else 400
        reason = _QUOTED.sub("", str(error or msg))
        self._refuse(hint if hint < 500 else 400, f"the request cannot be read: {reason}")

    def give_up(self) -> None:
        """Aborts this connection, because another one needs its place."""
        self._seldom.warning(
            "client_dropped", reason="another connection needed its place", client=self._peer
        )
        self.transport.abort()

    def _look(self) -> None:
        """Updates the phase after an event on the connection."""
        theirs, ours = self.conn.their_state, self.conn.our_state
        if (
            self._phase == "leaving"
            or self.transport.is_closing()
            or self.transport.get_protocol() is not self
        ):
            return
        if theirs is h11.IDLE:
            begun = bool(self.conn.trailing_data[0])
            self._enter("head" if begun or self.cycle is None else "idle")
        elif theirs is h11.SEND_BODY:
            self._enter("rest" if ours is h11.DONE else "body")
        else:
            self._enter("working")

    def _enter(self, phase: Phase) -> None:
        if phase == self._phase:
            return
        self._stop()
        self._phase = phase
        seconds = {"head": HEAD_S, "rest": REST_S, "leaving": LINGER_S}.get(phase)
        if seconds is not None:
            self._deadline = self.loop.call_later(seconds, self._too_late, phase)
        if phase != "working":
            self._room.waits(self, self._peer)

    def _stop(self) -> None:
        self._room.works(self)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_late(self, phase: Phase) -> None:
        if phase == "head" and self.conn.trailing_data[0]:
            self._seldom.warning(
                "client_dropped",
                reason=f"its request did not arrive within {HEAD_S:g} s",
                client=self._peer,
            )
            self._refuse(408, f"the head of the request did not arrive within {HEAD_S:g} s")
        else:
            self.transport.close()

    def _refuse(self, status: int, message: str) -> None:
        """Answers in place of the application, and closes the connection after the client had time to read it."""
        if self.cycle is not None and not self.cycle.response_complete:
            # The application is working on the request whose body cannot be read.
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.close()
            return
        problem = Problem(
            code=ErrorCode.VALIDATION_ERROR, message=message, suggestion=_SUGGESTIONS.get(status, "")
        )
        answer = bare_answer(problem, status)
        headers = [*answer.raw_headers, (b"connection", b"close")]
        for event in (
            h11.Response(status_code=status, headers=headers, reason=HTTPStatus(status).phrase.encode()),
            h11.Data(data=bytes(answer.body)),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self._enter("leaving")
        self.flow.resume_reading()
        self.transport.write_eof()


class Handshake(ServerProtocol):
    def reject(self, status: Any, text: str) -> HandshakeResponse:
        problem = Problem(
            code=ErrorCode.VALIDATION_ERROR,
            message=text.strip() or HTTPStatus(status).phrase,
            suggestion=_SUGGESTIONS["websocket"],
        )
        answer = bare_answer(problem, int(status))
        headers = Headers(
            [(name.decode("latin-1"), value.decode("latin-1")) for name, value in answer.raw_headers]
        )
        headers["Connection"] = "close"
        return HandshakeResponse(int(status), HTTPStatus(status).phrase, headers, bytes(answer.body))


class SocketConnection(WebSocketsSansIOProtocol):
    entered_as: str = ""
    """The peer under which the HTTP connection was counted: a lost connection no longer knows its peer."""
    _owed: bytes = b""

    def __init__(self, config: ServerConfig, *given: Any, **named: Any) -> None:
        super().__init__(config, *given, **named)
        self._room = config.room
        self.conn = Handshake(
            extensions=self.conn.available_extensions, max_size=config.ws_max_size, logger=self.logger
        )

    def connection_lost(self, exc: Exception | None) -> None:
        # A request that could not be read has no scope.
        _say_why(exc, self.client, getattr(self, "scope", None))
        self._room.leave(self.entered_as)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.handshake_exc is not None and not self.handshake_initiated:
            # uvicorn would wait for another request head.
            said = b"".join(self.conn.data_to_send())
            self.transport.write(said or self.conn.reject(400, "the handshake cannot be read").serialize())
            self.transport.close()

    async def send(self, message: Any) -> None:
        await super().send(message)
        # Otherwise uvicorn logs every handshake that the application refuses as an application error.
        self.handshake_complete = self.handshake_complete or self.close_sent

    def handle_ping(self) -> None:
        """A client that sends pings and does not read gets only the latest pongs, as the protocol allows."""
        if self.writable.is_set():
            super().handle_ping()
        else:
            # At the first of several pings that arrived together, the pongs to all of them are ready.
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


_SUGGESTIONS: dict[int | str, str] = {
    400: "Send a request as RFC 9112 describes it.",
    408: "Send the request at once.",
    414: f"An address has at most {MAX_TARGET} characters.",
    431: f"A head has at most {MAX_HEAD >> 10} KiB and {MAX_HEADERS} headers.",
    "websocket": "Open a WebSocket as RFC 6455 describes it.",
}
