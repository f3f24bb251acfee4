"""The agent card, and JSON-RPC and HTTP+JSON under `/a2a`.

Invariant: the SDK is loaded by the first request that needs it, on a thread, and by no start of a server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastapi import APIRouter, FastAPI, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from sandtable.errors import NotFound
from sandtable.server.a2a.addresses import CARD, HOW_TO_INSTALL, OTHER_PORT, PREFIX, missing
from sandtable.server.lazy_conversation import LazyConversation

if TYPE_CHECKING:
    from sandtable.conversations.conversation import Conversation
    from sandtable.server.a2a.agent import Agent
    from sandtable.server.a2a.card import Cards
    from sandtable.server.a2a.ports import Ports


class LazyAgent:
    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._agent: Agent | None = None
        self._loaded: asyncio.Task[Loaded] | None = None

    async def loaded(self) -> Loaded:
        """The SDK and what is built on it. Raises NotFound without the extra."""
        lacking = missing()
        if lacking is not None:
            raise NotFound(
                f"A2A is not installed here: there is no package {lacking}",
                suggestion=f"Install it ({HOW_TO_INSTALL}), and start the server again.",
            )
        if self._loaded is None:
            self._loaded = asyncio.create_task(asyncio.to_thread(_load))
        return await asyncio.shield(self._loaded)

    async def get(self) -> Agent:
        """Raises NotFound without the extra, and what opening the conversation raises."""
        if self._agent is None:
            loaded = await self.loaded()
            conversation: LazyConversation = self._app.state.conversation
            talk = await conversation.get()
            # Another request may have made it while this one waited.
            self._agent = self._agent or loaded.agent_of(self._app, talk)
        return self._agent


@dataclass(frozen=True, slots=True)
class Loaded:
    agent_of: Callable[[FastAPI, Conversation], Agent]
    cards: Cards


def _load() -> Loaded:
    from sandtable.server.a2a.agent import agent_of  # these two load the SDK and gRPC
    from sandtable.server.a2a.card import Cards

    return Loaded(agent_of, Cards())


class _Calls:
    """Both bindings over HTTP. An application and no function: the SDK's routes answer by themselves."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        agent = await scope["app"].state.a2a.get()
        await agent.http(scope, receive, send)


async def _card(request: Request) -> Response:
    loaded = await request.app.state.a2a.loaded()
    base = str(request.base_url).rstrip("/")
    rpc = f"{base}/messages" if OTHER_PORT in request.scope else f"{base}{PREFIX}"
    datasets = request.app.state.parts.datasets.datasets()
    body, headers = loaded.cards.answer(datasets, rpc, f"{base}{PREFIX}", _grpc_address(request))
    if headers["ETag"] in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return JSONResponse(body, headers=headers)


def _grpc_address(request: Request) -> str | None:
    """None where gRPC is off, and for a client that came through a proxy: the proxy's host does not pass it on."""
    ports: Ports | None = request.app.state.a2a_ports
    if ports is None or "x-forwarded-host" in request.headers:
        return None
    host = request.url.hostname or "localhost"
    return f"{f'[{host}]' if ':' in host else host}:{ports.grpc_port}"


router = APIRouter(include_in_schema=False)
router.add_api_route(CARD, _card, methods=["GET"])
router.routes.append(Route(PREFIX, _Calls(), methods=["POST"], include_in_schema=False))
_METHODS = ["GET", "POST", "DELETE"]
router.routes.append(Route(PREFIX + "/{rest:path}", _Calls(), methods=_METHODS, include_in_schema=False))
