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
from sandtable.server import chat, errors, health, metrics, pages, reference, rest
from sandtable.server.conversations import Conversations, Open
from sandtable.server.guard import Guard, Heads, SecurityHeaders
from sandtable.server.langgraph import assistants, runs, stock, threads, ui
from sandtable.server.logs import RequestLog
from sandtable.server.openapi import DescribedApi
from sandtable.server.samples import Samples
from sandtable.server.shutdown import LastAnswers, Shutdown
from sandtable.server.v2 import query, stream
from sandtable.server.v2.listeners import Listeners
from sandtable.server.web import WebUi, web_build

DESCRIPTION = (
    "Questions about tabular data: a plan or SQL goes in, a gate judges it, a sealed sandbox runs it, "
    "a signed capsule comes out. Every error has one shape: code, message, suggestion, details."
)
TAGS = [
    {"name": "datasets", "description": "What may be asked about."},
    {"name": "chat", "description": "Ask in plain language, and go on asking."},
    {"name": "query", "description": "Ask, and watch the answer being worked out over a WebSocket."},
    {"name": "runs", "description": "Ask, wait, look, cancel. Every run leaves a capsule, refused ones too."},
    {"name": "capsules", "description": "What happened, provably."},
    {"name": "health", "description": "For whoever operates this server."},
]
CHECKS_WAITING = 128
ADAPTERS = (
    rest,
    chat,
    query,
    stream,
    health,
    metrics,
    pages,
    reference,
    assistants,
    threads,
    runs,
    ui,
    stock,
)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncGenerator[None, None]:
    conversations: Conversations = app.state.conversations
    conversations.begin()
    try:
        yield
    finally:
        await conversations.aclose()


def create_app(
    parts: Parts, tested: DoctorReport | None = None, open_conversation: Open | None = None
) -> FastAPI:
    """`parts` are open, and are closed by whoever opened them; `tested` is a self-test already done.

    `open_conversation` stands in for the one that the settings describe.
    """
    app = _with_routes()
    app.limits = limits_of(parts.settings, serving=True)
    app.state.parts = parts
    app.state.shutdown = Shutdown()
    app.state.samples = Samples(parts)
    app.state.conversations = Conversations(parts, open_conversation)
    app.state.listeners = Listeners(parts.settings.user_share)
    app.state.checks = FairQueue("checks", parts.settings.checks, CHECKS_WAITING, parts.settings.user_share)
    app.state.health = health.Health(parts, app.state.conversations, tested)
    errors.install(app, (route for adapter in ADAPTERS for route in adapter.router.routes))
    # The last one added is the first to see a request.
    app.add_middleware(WebUi, build=web_build(parts.settings))
    app.add_middleware(Heads)
    app.add_middleware(Guard, settings=parts.settings)
    app.add_middleware(LastAnswers, shutdown=app.state.shutdown)
    app.add_middleware(RequestLog)
    app.add_middleware(SecurityHeaders)
    return app


async def begin_shutdown(app: FastAPI, grace_s: float) -> None:
    """Before the server waits for its last requests."""
    app.state.shutdown.begin(grace_s)
    await app.state.listeners.aclose()


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
    for adapter in ADAPTERS:
        app.include_router(adapter.router)
    return app
