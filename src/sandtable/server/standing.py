"""What all our servers share around their application: socket, signals and self-test.

Invariant: after SIGTERM or SIGINT the last request is answered first, within the grace time, and a second signal does
not abort the shutdown.
"""

from __future__ import annotations

import asyncio
import fcntl
import signal
import socket
import struct
from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from sandtable.errors import InvalidInput, SandboxUnavailable
from sandtable.sandbox.selftest import DoctorReport
from sandtable.server.acceptor import Acceptor, Room, room_here
from sandtable.server.connections import ServerConfig, set_stall_timeout
from sandtable.server.shutdown import LAST_ANSWERS_S

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_KEEP_ALIVE_S = 5
_SIOCGIFADDR = 0x8915
_MAX_SOCKET_MESSAGE = 64 << 10
"""Clients send only short messages over a WebSocket."""


def configured(
    app: ASGIApp, *, grace_s: int, keep_alive_s: int = _KEEP_ALIVE_S, room: Room | None = None
) -> ServerConfig:
    return ServerConfig(
        app,
        room or room_here(),
        ws_max_size=_MAX_SOCKET_MESSAGE,
        log_config=None,
        access_log=False,
        server_header=False,
        # uvicorn would trust X-Forwarded-For from every process of this machine; `callers` decides that.
        proxy_headers=False,
        timeout_graceful_shutdown=grace_s,
        timeout_keep_alive=keep_alive_s,
    )


class Server(uvicorn.Server):
    def __init__(
        self,
        config: ServerConfig,
        started: Callable[[], None],
        stopping: Callable[[], Awaitable[None]] | None = None,
        finishing: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`stopping` is called first. Then the application refuses new requests, while `finishing` waits for the work
        that is under way."""
        super().__init__(config)
        self._room = config.room
        self._acceptors: list[Acceptor] = []
        self._tell = started
        self._part = stopping
        self._finish = finishing

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # uvicorn accepts connections without a bound, and logs every one that it cannot accept.
        await super().startup([])
        for one in sockets or ():
            acceptor = Acceptor(one, self._room, self._connection)
            acceptor.open()
            self._acceptors.append(acceptor)
        self._tell()

    def _connection(self) -> asyncio.Protocol:
        make: Any = self.config.http_protocol_class
        return make(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        loop = asyncio.get_running_loop()
        grace_s = self.config.timeout_graceful_shutdown or 0
        ends = loop.time() + grace_s
        # Before uvicorn's own shutdown: listeners get a message that the server is stopping.
        if self._part is not None:
            await self._part()
        if self._finish is not None:
            await within(max(grace_s - LAST_ANSWERS_S, grace_s / 2), self._finish())
            self.config.timeout_graceful_shutdown = max(1, round(ends - loop.time()))
        for acceptor in self._acceptors:
            acceptor.close()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """`stopping` handles signals: uvicorn would send itself the signal again before everything is closed."""
        yield


async def within(seconds: float, work: Awaitable[None]) -> None:
    """Waits for the work at most so long."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await work


@contextmanager
def stopping(server: Server) -> Generator[None, None, None]:
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, server.handle_exit, number, None)
    try:
        yield
    finally:
        # A second signal is ignored while the rest is closed.
        for number in _SIGNALS:
            loop.add_signal_handler(number, lambda: None)


@contextmanager
def bound(host: str, port: int, chosen_by: str = "--host and --port") -> Generator[socket.socket, None, None]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(
            f"cannot listen on {host}:{port}: {reason}",
            suggestion=f"Choose another with {chosen_by}, or end the program that uses it.",
        ) from error
    with listening:
        # Connections inherit it: a response is sent in two writes, and the second must not wait until the client
        # has acknowledged the first, 40 ms later.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        set_stall_timeout(listening)
        yield listening


def addresses(listening: socket.socket) -> tuple[str, ...]:
    """URLs of the server, those for this machine first."""
    host, port = listening.getsockname()[:2]
    if ip_address(host.partition("%")[0]).is_unspecified:
        hosts = ["localhost", *_addresses_of_this_machine(listening)]
    else:
        hosts = ["localhost" if host == "127.0.0.1" else host]
    return tuple(f"http://{f'[{one}]' if ':' in one else one}:{port}" for one in hosts)


def _addresses_of_this_machine(listening: socket.socket) -> Iterator[str]:
    """The addresses of its interfaces in the socket's address family, without loopback and link-local ones."""
    if listening.family == socket.AF_INET6:
        for line in Path("/proc/net/if_inet6").read_text("ascii").splitlines():
            number, _, _, scope, *_ = line.split()
            if scope == "00":
                yield str(IPv6Address(int(number, 16)))
        return
    for _, name in socket.if_nameindex():
        asked = struct.pack("256s", name.encode()[:15])
        try:
            found = fcntl.ioctl(listening, _SIOCGIFADDR, asked)
        except OSError:
            # The interface has no address.
            continue
        address = IPv4Address(found[20:24])
        if not address.is_loopback:
            yield str(address)


def is_reachable_by_others(listening: socket.socket) -> bool:
    return not ip_address(listening.getsockname()[0].partition("%")[0]).is_loopback


def require(report: DoctorReport) -> None:
    if report.problem is not None:
        raise SandboxUnavailable(
            report.problem.message,
            suggestion="Untrusted queries are not run here. `sandtable doctor` shows what is missing.",
            reasons=list(report.reasons),
        )
