"""The application: every adapter over one set of parts."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI

from sandtable import __version__
from sandtable.assemble import Parts, limits_of
from sandtable.runs.fair_queue import FairQueue
from sandtable.sandbox.selftest import DoctorReport
from sandtable.server import (
    catalogs,
    chat,
    errors,
    files,
    health,
    langgraph,
    metrics,
    pages,
    reference,
    rest,
    v2,
)
from sandtable.server.adapter import Adapter
from sandtable.server.guard import Guard, Heads, SecurityHeaders
from sandtable.server.lazy_conversation import LazyConversation, Open
from sandtable.server.logs import RequestLog
from sandtable.server.openapi import DescribedApi
from sandtable.server.samples import Samples
from sandtable.server.shutdown import LastAnswers, Shutdown
from sandtable.server.web import WebUi, web_build

DESCRIPTION = (
    "Questions about tabular data: a plan or SQL goes in, a gate judges it, a sealed sandbox runs it, "
    "a signed capsule comes out. Every error has one shape: code, message, suggestion, details."
)
TAGS = [
    {"name": "datasets", "description": "What may be asked about."},
    {
        "name": "files",
        "description": "Bring your own files: send them, say how they are read, take them away.",
    },
    {"name": "chat", "description": "Ask in plain language, and go on asking."},
    {"name": "query", "description": "Ask, and watch the answer being worked out over a WebSocket."},
    {"name": "runs", "description": "Ask, wait, look, cancel. Every run leaves a capsule, refused ones too."},
    {"name": "capsules", "description": "What happened, provably."},
    {"name": "health", "description": "For the operator of this server."},
]
CHECKS_WAITING = 128
ADAPTERS = (
    Adapter((rest.router,)),
    files.ADAPTER,
    catalogs.ADAPTER,
    chat.ADAPTER,
    v2.ADAPTER,
    Adapter((health.router, metrics.router, pages.router, reference.router)),
    langgraph.ADAPTER,
)
"""In the order of their operations in the OpenAPI document. Another protocol is a folder and a line here."""
_ROUTERS = tuple(router for adapter in ADAPTERS for router in adapter.routers)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncGenerator[None, None]:
    conversation: LazyConversation = app.state.conversation
    conversation.begin()
    try:
        yield
    finally:
        await conversation.aclose()


def create_app(
    parts: Parts, tested: DoctorReport | None = None, open_conversation: Open | None = None
) -> FastAPI:
    """`parts` are open, and their owner closes them; `tested` is a self-test already done.

    `open_conversation` replaces the one that the settings describe.
    """
    app = _with_routes()
    app.limits = limits_of(parts.settings, serving=True)
    app.state.parts = parts
    app.state.adapters = ADAPTERS
    app.state.shutdown = Shutdown()
    app.state.samples = Samples(parts)
    app.state.conversation = LazyConversation(parts, open_conversation)
    app.state.checks = FairQueue("checks", parts.settings.checks, CHECKS_WAITING, parts.settings.user_share)
    app.state.health = health.Health(parts, app.state.conversation, tested)
    for adapter in ADAPTERS:
        adapter.set_up(app, parts.settings)
    errors.install(app, (route for router in _ROUTERS for route in router.routes))
    # Middleware added last runs first.
    app.add_middleware(WebUi, build=web_build(parts.settings))
    app.add_middleware(Heads)
    app.add_middleware(Guard, settings=parts.settings)
    app.add_middleware(LastAnswers, shutdown=app.state.shutdown)
    app.add_middleware(RequestLog)
    app.add_middleware(SecurityHeaders)
    return app


async def begin_shutdown(app: FastAPI, grace_s: float) -> None:
    """Call before the server waits for its last requests."""
    app.state.shutdown.begin(grace_s)
    for adapter in ADAPTERS:
        await adapter.stop(app)


def openapi_document() -> dict[str, Any]:
    """What GET /openapi.json answers, without the limits that an installation sets."""
    return _with_routes().openapi()


def _with_routes() -> DescribedApi:
    app = DescribedApi(
        title="Sandtable",
        version=__version__,
        description=DESCRIPTION,
        openapi_tags=TAGS,
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
    )
    for router in _ROUTERS:
        app.include_router(router)
    return app
