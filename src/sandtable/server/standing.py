"""What every server of ours does around its application: its socket, its signals, its self-test.

Invariant: on SIGTERM or SIGINT the last request is answered first, and a second signal does not cut the end short.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from sandtable.errors import InvalidInput, SandboxUnavailable
from sandtable.sandbox.selftest import DoctorReport
from sandtable.server.connections import HttpConnection, SocketConnection, bound_patience

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_KEEP_ALIVE_S = 5
_MAX_SOCKET_MESSAGE = 64 << 10
"""Clients have next to nothing to say over a WebSocket."""


def configured(app: ASGIApp, *, grace_s: int, keep_alive_s: int = _KEEP_ALIVE_S) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=HttpConnection,
        ws=SocketConnection,
        ws_max_size=_MAX_SOCKET_MESSAGE,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=grace_s,
        timeout_keep_alive=keep_alive_s,
    )


class Server(uvicorn.Server):
    def __init__(
        self,
        config: uvicorn.Config,
        started: Callable[[], None],
        stopping: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        super().__init__(config)
        self._tell = started
        self._part = stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._tell()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Before uvicorn does it in its own way: who listens is told that the server goes away.
        if self._part is not None:
            await self._part()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Signals are `stopping`'s: uvicorn would send itself the signal again before all is closed."""
        yield


@contextmanager
def stopping(server: Server) -> Generator[None, None, None]:
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, server.handle_exit, number, None)
    try:
        yield
    finally:
        # What is around the server takes a moment to close.
        for number in _SIGNALS:
            loop.add_signal_handler(number, lambda: None)


@contextmanager
def bound(host: str, port: int) -> Generator[socket.socket, None, None]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(
            f"cannot listen on {host}:{port}: {reason}",
            suggestion="Choose another with --host and --port, or end the program that uses it.",
        ) from error
    with listening:
        # For the connections to inherit: an answer goes out in two writes, and the second one must not wait
        # until the client has acknowledged the first, 40 ms later.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        bound_patience(listening)
        yield listening


def address(host: str, listening: socket.socket) -> str:
    shown = {"0.0.0.0": "localhost", "::": "localhost", "127.0.0.1": "localhost"}.get(host, host)  # noqa: S104 - shown, not bound
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{listening.getsockname()[1]}"


def require(report: DoctorReport) -> None:
    if report.problem is not None:
        raise SandboxUnavailable(
            report.problem.message,
            suggestion="Untrusted queries are not run here. `sandtable doctor` shows what is missing.",
            reasons=list(report.reasons),
        )
