"""`POST /mcp`: streamable HTTP without sessions. What the SDK answers is sent as it is.

Invariant: the guard has checked host, origin, size and content type before the SDK reads a request, and no state of a
request outlives it, so several servers can share one address.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from fastapi import APIRouter, FastAPI, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from sandtable.errors import NotFound
from sandtable.server.mcp.asking import TurnAsking
from sandtable.server.mcp.place import Place
from sandtable.settings import Settings

if TYPE_CHECKING:
    from mcp.server import Server

PATH = "/mcp"

router = APIRouter(include_in_schema=False)


def set_up(app: FastAPI, settings: Settings) -> None:
    state = app.state
    place = Place(state.parts, TurnAsking(state.conversation.get), state.checks, state.shutdown)
    state.mcp = LoadedLater(lambda: _built(place))


def _built(place: Place) -> Server:
    from sandtable.server.mcp.protocol import server_of  # loads the SDK, which is an extra and takes a second

    logging.getLogger("mcp").setLevel(logging.WARNING)
    return server_of(place)


class LoadedLater:
    """The MCP server, built on a thread at the first request."""

    def __init__(self, build: Callable[[], Server]) -> None:
        self._build = build
        self._building: asyncio.Task[Server] | None = None

    async def get(self) -> Server:
        """Raises NotFound where the extra is not installed."""
        if self._building is None or _has_failed(self._building):
            require_sdk()
            self._building = asyncio.create_task(asyncio.to_thread(self._build))
        return await asyncio.shield(self._building)


def _has_failed(building: asyncio.Task[Server]) -> bool:
    return building.done() and (building.cancelled() or building.exception() is not None)


def require_sdk() -> None:
    if find_spec("mcp") is None:
        raise NotFound(
            "MCP is not offered here: the package `mcp` is not installed",
            suggestion="Install it with `pip install 'sandtable[mcp]'`, and start again.",
        )


class Exchange(Response):
    """One request, answered by the SDK."""

    def __init__(self, server: Server) -> None:
        super().__init__()
        self._server = server

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager  # loaded with the server

        # One for each request: what it starts ends with the request, and so it needs no place in the app's lifespan.
        manager = StreamableHTTPSessionManager(self._server, stateless=True)
        async with manager.run():
            await manager.handle_request(scope, receive, send)


@router.post(PATH)
async def mcp(request: Request) -> Response:
    loaded: LoadedLater = request.app.state.mcp
    return Exchange(await loaded.get())
