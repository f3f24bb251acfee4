"""`sandtable serve`: parts, self-test, application, socket, and an orderly end.

Invariant: nothing listens before the sandbox has withstood its self-test, and on SIGTERM or SIGINT the
parts are closed after the last request has been answered.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager

import structlog
import uvicorn

from sandtable.assemble import Parts, assemble
from sandtable.errors import InvalidInput, SandboxUnavailable, SandtableError
from sandtable.sandbox.selftest import DoctorReport
from sandtable.server import logs
from sandtable.server.app import create_app
from sandtable.server.conversations import load_ahead
from sandtable.settings import Settings

GRACE_S = 10
MAX_SOCKET_MESSAGE = 64 << 10
"""Clients have next to nothing to say over a WebSocket."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM)

log = structlog.get_logger("sandtable.server")


async def listen(settings: Settings, announce: Callable[[str], None]) -> None:
    """Serve until a signal comes. `announce` hears the address once requests are answered."""
    logs.configure(settings.log_level)
    with _bound(settings.host, settings.port) as listening:
        load_ahead()
        async with assemble(settings, serving=True) as parts:
            report = await parts.doctor()
            _require(report)
            app = create_app(parts, report)
            # uvicorn would send itself the signal again when it is done, before the parts are closed.
            server = _Server(
                uvicorn.Config(
                    app,
                    log_config=None,
                    access_log=False,
                    timeout_graceful_shutdown=GRACE_S,
                    ws_max_size=MAX_SOCKET_MESSAGE,
                ),
                lambda: announce(_address(settings.host, listening)),
                app.state.listeners.aclose,
            )
            with _stopping(server):
                async with _preparing(parts):
                    await server.serve(sockets=[listening])
            log.info("server_stopping")


@asynccontextmanager
async def _preparing(parts: Parts) -> AsyncGenerator[None, None]:
    """Converts the datasets meanwhile, has sandboxes ready for them and looks at what their columns hold:
    the first question need not wait."""

    async def prepare() -> None:
        for step in (parts.warm, parts.library.profile):
            for dataset in parts.library.datasets():
                try:
                    await step(await parts.library.ready(dataset.id))
                except SandtableError as error:
                    log.error("dataset_not_ready", dataset_id=dataset.id, reason=error.message)

    task = asyncio.create_task(prepare())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class _Server(uvicorn.Server):
    def __init__(
        self, config: uvicorn.Config, started: Callable[[], None], stopping: Callable[[], Awaitable[None]]
    ) -> None:
        super().__init__(config)
        self._tell = started
        self._part = stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._tell()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Before uvicorn does it in its own way: who listens is told that the server goes away.
        await self._part()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Signals are `_stopping`'s."""
        yield


@contextmanager
def _stopping(server: _Server) -> Generator[None, None, None]:
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, server.handle_exit, number, None)
    try:
        yield
    finally:
        # The parts take a moment to close; a second signal must not cut that short.
        for number in _SIGNALS:
            loop.add_signal_handler(number, lambda: None)


@contextmanager
def _bound(host: str, port: int) -> Generator[socket.socket, None, None]:
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
        yield listening


def _address(host: str, listening: socket.socket) -> str:
    shown = {"0.0.0.0": "localhost", "::": "localhost", "127.0.0.1": "localhost"}.get(host, host)  # noqa: S104 - shown, not bound
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{listening.getsockname()[1]}"


def _require(report: DoctorReport) -> None:
    if report.problem is not None:
        raise SandboxUnavailable(
            report.problem.message,
            suggestion="Untrusted queries are not run here. `sandtable doctor` shows what is missing.",
            reasons=list(report.reasons),
        )
