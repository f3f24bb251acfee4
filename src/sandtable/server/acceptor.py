"""Accepts connections from a listening socket, and no more than the process can hold.

Invariant: the number of connections is bounded, in total and for each remote address. One too many replaces the
connection that has waited longest for its client, or is answered 503 at once. Running out of file descriptors is
one line in the log, and the server accepts again once there are some.
"""

from __future__ import annotations

import asyncio
import resource
import socket
from collections import Counter
from collections.abc import Callable
from http import HTTPStatus
from ipaddress import IPv6Address, IPv6Network
from typing import Protocol

import structlog
from starlette.responses import Response

from sandtable.errors import ErrorCode, Problem
from sandtable.server.guard import bare_answer
from sandtable.server.hosts import read_address
from sandtable.server.logs import Seldom

MOST = 2000
FEWEST = 16
KEPT_FREE = 128
"""Descriptors that are left for sandboxes, databases and files."""
RETRY_S = 0.5
"""Pause after descriptors ran out and no waiting connection could be closed."""
FREED_S = 0.02
"""Pause if one was closed; a connection just accepted has this long to send its request."""
LINGER_S = 1.0
"""How long a connection that was refused is kept, so that its client can read why."""
_TOGETHER = 64
_MOST_LINGERING = 32
_FREED_AT_ONCE = 8

log = structlog.get_logger("sandtable.server")


class Waiting(Protocol):
    """A connection that may be waiting for its client."""

    def give_up(self) -> None: ...


class Room:
    """Counts connections, in total and by network, and records which of them wait for their client."""

    def __init__(self, most: int, unlimited: Callable[[str], bool] = lambda _: False) -> None:
        """`unlimited` addresses have no limit of their own: those of proxies, which serve many users."""
        self._most = most
        self._most_of_one = most // 2
        self._unlimited = unlimited
        self._open = 0
        self._open_of: Counter[str] = Counter()
        self._waiting: dict[Waiting, str] = {}

    @property
    def open(self) -> int:
        return self._open

    def enter(self, peer: str) -> None:
        self._open += 1
        self._open_of[_network(peer)] += 1

    def leave(self, peer: str) -> None:
        network = _network(peer)
        self._open -= 1
        self._open_of[network] -= 1
        if not self._open_of[network]:
            del self._open_of[network]

    def waits(self, connection: Waiting, peer: str) -> None:
        """The wait begins now; the connection that has waited longest is closed first."""
        self._waiting.pop(connection, None)
        self._waiting[connection] = _network(peer)

    def works(self, connection: Waiting) -> None:
        self._waiting.pop(connection, None)

    def has_place(self, peer: str, besides: int = 0) -> bool:
        """Whether one more fits, closing a waiting one if necessary. `besides`: connections about to be counted."""
        network = _network(peer)
        if self._open_of[network] >= self._most_of_one and not self._may_have_all(peer):
            return self.make_way(network)
        return self._open + besides < self._most or self.make_way()

    def make_way(self, network: str | None = None) -> bool:
        """Closes the connection, of all or of one network, that has waited longest; False when none waits."""
        for connection, whose in self._waiting.items():
            if network in (None, whose):
                del self._waiting[connection]
                connection.give_up()
                return True
        return False

    def _may_have_all(self, peer: str) -> bool:
        address = read_address(peer)
        return (address is not None and address.is_loopback) or self._unlimited(peer)


def _network(peer: str) -> str:
    """The addresses that one machine can have: a single one in IPv4, a /64 network in IPv6."""
    address = read_address(peer)
    return str(IPv6Network((address, 64), strict=False)) if isinstance(address, IPv6Address) else peer


def room_here(unlimited: Callable[[str], bool] = lambda _: False) -> Room:
    """A room sized by this process's limit of file descriptors."""
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    most = MOST if allowed == resource.RLIM_INFINITY else min(MOST, allowed - KEPT_FREE)
    return Room(max(FEWEST, most), unlimited)


class Acceptor:
    def __init__(self, listening: socket.socket, room: Room, make: Callable[[], asyncio.Protocol]) -> None:
        self._listening = listening
        self._room = room
        self._make = make
        self._loop = asyncio.get_running_loop()
        self._arriving: set[asyncio.Task[None]] = set()
        self._lingering: set[socket.socket] = set()
        self._retry: asyncio.TimerHandle | None = None
        self._log = Seldom(log)

    def open(self) -> None:
        self._listening.setblocking(False)
        self._loop.add_reader(self._listening, self._accept)

    def close(self) -> None:
        self._loop.remove_reader(self._listening)
        if self._retry is not None:
            self._retry.cancel()
        for connection in list(self._lingering):
            self._let_go(connection)

    def _accept(self) -> None:
        for _ in range(_TOGETHER):
            try:
                connection, address = self._listening.accept()
            except (BlockingIOError, InterruptedError):
                return
            except ConnectionAbortedError:
                continue
            except OSError as error:
                self._pause(error)
                return
            connection.setblocking(False)
            if self._room.has_place(address[0], len(self._arriving)):
                task = self._loop.create_task(self._begin(connection))
                self._arriving.add(task)
                task.add_done_callback(self._arriving.discard)
            else:
                self._log.warning("connection_refused", reason="too many connections", client=address[0])
                self._turn_away(connection)

    async def _begin(self, connection: socket.socket) -> None:
        try:
            await self._loop.connect_accepted_socket(self._make, connection)
        except OSError:
            # The client has already disconnected.
            connection.close()

    def _pause(self, error: OSError) -> None:
        """Stops accepting for a moment: the socket stays ready, so accept would fail thousands of times a second."""
        self._log.error(
            "cannot_accept",
            reason=error.strerror,
            connections=self._room.open,
            suggestion="Allow more descriptors: `ulimit -n`, or LimitNOFILE= of the service.",
        )
        freed = [self._room.make_way() for _ in range(_FREED_AT_ONCE)]
        self._loop.remove_reader(self._listening)
        self._retry = self._loop.call_later(FREED_S if any(freed) or self._arriving else RETRY_S, self.open)

    def _turn_away(self, connection: socket.socket) -> None:
        try:
            connection.send(_FULL)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            connection.close()
            return
        if len(self._lingering) >= _MOST_LINGERING:
            connection.close()
            return
        # Closing it with unread bytes would reset it, and the client could not read the response.
        self._lingering.add(connection)
        self._loop.call_later(LINGER_S, self._let_go, connection)

    def _let_go(self, connection: socket.socket) -> None:
        self._lingering.discard(connection)
        connection.close()


def written(answer: Response) -> bytes:
    """A response as bytes, for a connection on which nothing was read."""
    lines = [f"HTTP/1.1 {answer.status_code} {HTTPStatus(answer.status_code).phrase}".encode()]
    lines += [name + b": " + value for name, value in answer.raw_headers]
    return b"\r\n".join([*lines, b"connection: close", b"", bytes(answer.body)])


_FULL = written(
    bare_answer(
        Problem(
            code=ErrorCode.QUEUE_FULL,
            message="this server has as many connections as it can hold",
            suggestion="Try again in a moment.",
        ),
        503,
        {"Retry-After": "1"},
    )
)
