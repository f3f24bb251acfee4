"""The ports of A2A alone: JSON-RPC at `/messages` of one, gRPC at the other.

Invariant: both are bound before the server prepares anything, listen on its address only, and end with it. Requests
to the first pass through the same application, and so through the same checks, as those to the server's own port.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager
from socket import socket
from typing import TYPE_CHECKING

import structlog
from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from sandtable.errors import ErrorCode, InvalidInput, Problem
from sandtable.server.a2a.addresses import CARD, HOW_TO_INSTALL, OTHER_PORT, PREFIX, missing
from sandtable.server.acceptor import Room
from sandtable.server.guard import bare_answer
from sandtable.server.standing import Server, bound, configured
from sandtable.settings import Settings

if TYPE_CHECKING:
    from sandtable.server.a2a.grpc_server import GrpcServer

MESSAGES = "/messages"
STOPPING_S = 2.0
"""How long the server's own shutdown waits for these ports; calls return at once when it begins."""

log = structlog.get_logger("sandtable.server")


class Messages:
    """The application, reduced to A2A, with JSON-RPC at the address that clients of the port know."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _alive(receive, send)
            return
        path = scope["path"]
        if scope["type"] != "http" or not (
            path in (MESSAGES, f"{MESSAGES}/", CARD, PREFIX) or path.startswith(f"{PREFIX}/")
        ):
            await _elsewhere(scope, receive, send)
            return
        seen = {**scope, OTHER_PORT: True}
        if path.rstrip("/") == MESSAGES:
            seen |= {"path": PREFIX, "raw_path": PREFIX.encode()}
        await self._app(seen, receive, send)


async def _alive(receive: Receive, send: Send) -> None:
    """The application's own lifespan is that of the server's first port."""
    while True:
        kind = (await receive())["type"]
        await send({"type": f"{kind}.complete"})
        if kind == "lifespan.shutdown":
            return


async def _elsewhere(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
        return
    problem = Problem(
        code=ErrorCode.NOT_FOUND,
        message="this port answers A2A only",
        suggestion=f"Use {MESSAGES} (JSON-RPC), {PREFIX} (HTTP+JSON) or {CARD}; all else is at the server's own port.",
    )
    await bare_answer(problem, 404)(scope, receive, send)


class Ports:
    def __init__(self, listening: socket, grpc: GrpcServer) -> None:
        self._listening = listening
        self._grpc = grpc
        self._http: Server | None = None
        self._serving: asyncio.Task[None] | None = None

    @property
    def messages_port(self) -> int:
        return self._listening.getsockname()[1]

    @property
    def grpc_port(self) -> int:
        return self._grpc.port

    @asynccontextmanager
    async def serving(self, app: FastAPI, room: Room, grace_s: int) -> AsyncGenerator[None, None]:
        app.state.a2a_ports = self
        self._http = Server(configured(Messages(app), grace_s=grace_s, room=room), lambda: None)
        self._serving = asyncio.create_task(self._http.serve(sockets=[self._listening]), name="a2a messages")
        await self._grpc.start(app)
        log.info("a2a_listening", messages_port=self.messages_port, grpc_port=self.grpc_port)
        try:
            yield
        finally:
            await self._end()

    async def stop(self) -> None:
        """Refuses new calls, and waits shortly for those under way."""
        try:
            async with asyncio.timeout(STOPPING_S):
                await asyncio.shield(asyncio.gather(self._stop_http(), self._grpc.stop(STOPPING_S)))
        except TimeoutError:
            return

    async def _stop_http(self) -> None:
        if self._http is not None and self._serving is not None:
            self._http.should_exit = True
            await asyncio.shield(self._serving)

    async def _end(self) -> None:
        await asyncio.gather(self._stop_http(), self._grpc.stop(0))


@asynccontextmanager
async def opened(settings: Settings) -> AsyncGenerator[Ports | None, None]:
    """None when the settings leave A2A's ports closed. Raises InvalidInput."""
    if not settings.a2a:
        yield None
        return
    lacking = missing()
    if lacking is not None:
        raise InvalidInput(
            f"SANDTABLE_A2A is on, and there is no package {lacking}",
            suggestion=f"Install it: {HOW_TO_INSTALL}",
        )
    from sandtable.server.a2a.grpc_server import GrpcServer  # loads gRPC, which other servers do without

    with ExitStack() as stack:
        listening = stack.enter_context(bound(settings.host, settings.a2a_port, "SANDTABLE_A2A_PORT"))
        grpc = GrpcServer(settings)
        try:
            yield Ports(listening, grpc)
        finally:
            await grpc.stop(0)
