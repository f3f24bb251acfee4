"""The application: every adapter over one set of parts."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI

from sandtable import __version__
from sandtable.accounts.accounts import Accounts
from sandtable.assemble import Parts
from sandtable.assemble.accounts import oidc_of
from sandtable.assemble.sizes import limits_of
from sandtable.conversations.conversation import Conversation
from sandtable.runs.fair_queue import FairQueue
from sandtable.sandbox.selftest import DoctorReport
from sandtable.server import (
    a2a,
    agui,
    answer_files,
    boards,
    catalogs,
    chat,
    databases,
    errors,
    files,
    health,
    langgraph,
    mcp,
    metrics,
    pages,
    reference,
    rest,
    sharing,
    v2,
)
from sandtable.server import accounts as accounts_adapter
from sandtable.server.access.datasets import SeenDatasets
from sandtable.server.access.middleware import AskingSet
from sandtable.server.access.parts import SeenParts
from sandtable.server.adapter import Adapter
from sandtable.server.callers import Callers
from sandtable.server.guard import Guard, Heads, SecurityHeaders
from sandtable.server.lazy_conversation import LazyConversation, Open
from sandtable.server.logs import RequestLog
from sandtable.server.observed import NO_TELEMETRY, Observed, RouteSeen
from sandtable.server.open_streams import EndStreams, OpenStreams
from sandtable.server.openapi import DescribedApi
from sandtable.server.rates import RateLimit, Rates
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
    {"name": "databases", "description": "Connect a database, and copy tables of it into a dataset."},
    {"name": "chat", "description": "Ask in plain language, and go on asking."},
    {"name": "query", "description": "Ask, and watch the answer being worked out over a WebSocket."},
    {"name": "runs", "description": "Ask, wait, look, cancel. Every run leaves a capsule, refused ones too."},
    {"name": "boards", "description": "Keep questions under a name, and show them together."},
    {"name": "capsules", "description": "What happened, provably."},
    {"name": "accounts", "description": "Who asks: signing in, API keys, users and teams."},
    {"name": "sharing", "description": "What belongs to whom, and who else may see it."},
    {"name": "health", "description": "For the operator of this server."},
]
CHECKS_WAITING = 128
ADAPTERS = (
    Adapter((rest.router, answer_files.router)),
    files.ADAPTER,
    databases.ADAPTER,
    catalogs.ADAPTER,
    chat.ADAPTER,
    v2.ADAPTER,
    boards.ADAPTER,
    accounts_adapter.ADAPTER,
    Adapter((sharing.router,)),
    Adapter((health.router, metrics.router, pages.router, reference.router)),
    langgraph.ADAPTER,
    a2a.ADAPTER,
    agui.ADAPTER,
    mcp.ADAPTER,
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
    parts: Parts,
    tested: DoctorReport | None = None,
    open_conversation: Open | None = None,
    accounts: Accounts | None = None,
) -> FastAPI:
    """`parts` and `accounts` are open, and their owner closes them; `tested` is a self-test already done.

    `open_conversation` replaces the one that the settings describe. Without `accounts`, no one is asked to sign in.
    """
    app = _with_routes()
    app.limits = limits_of(parts.settings, serving=True)
    datasets = SeenDatasets(parts.datasets)
    app.state.conversation = LazyConversation(parts, open_conversation, lambda talk: _seen(talk, datasets))
    # Routes get views only, which show what the principal of a request may see.
    app.state.parts = SeenParts(parts, app.state.conversation.runs_named_by)
    app.state.every_part = parts
    app.state.accounts = accounts
    app.state.shares = parts.shares
    app.state.open_streams = OpenStreams(accounts)
    app.state.oidc = None if accounts is None else oidc_of(parts.settings, parts.key)
    app.state.adapters = ADAPTERS
    app.state.shutdown = Shutdown()
    app.state.samples = Samples(parts)
    app.state.checks = FairQueue("checks", parts.settings.checks, CHECKS_WAITING, parts.settings.user_share)
    app.state.health = health.Health(parts, app.state.conversation, tested)
    for adapter in ADAPTERS:
        adapter.set_up(app, parts.settings)
    errors.install(app, (route for router in _ROUTERS for route in router.routes))
    # Middleware added last runs first.
    app.add_middleware(AskingSet, shares=parts.shares)
    app.add_middleware(RouteSeen)
    app.add_middleware(WebUi, build=web_build(parts.settings))
    app.add_middleware(Heads)
    app.state.rates = Rates(parts.settings)
    app.add_middleware(RateLimit, rates=app.state.rates)
    app.add_middleware(EndStreams, streams=app.state.open_streams)
    app.add_middleware(Guard, settings=parts.settings, accounts=accounts)
    app.add_middleware(LastAnswers, shutdown=app.state.shutdown)
    app.add_middleware(Observed, telemetry=parts.telemetry, trusts=Callers(parts.settings).trusts)
    app.add_middleware(RequestLog)
    app.add_middleware(SecurityHeaders)
    return app


def _seen(talk: Conversation, datasets: SeenDatasets) -> Conversation:
    # Loads LangGraph, which an open conversation has done before.
    from sandtable.server.access.threads import seen_conversation

    return seen_conversation(talk, datasets)


async def begin_shutdown(app: FastAPI, grace_s: float) -> None:
    """Call before the server waits for its last requests."""
    app.state.shutdown.begin(grace_s)
    for adapter in ADAPTERS:
        await adapter.stop(app)


async def finish_work(app: FastAPI) -> None:
    """Returns when the requests, answers and runs that are under way have ended; cancelled where that takes too long.

    Runs go on being begun until the last answer has ended, which may need one.
    """
    await app.state.shutdown.idle()
    if (conversation := app.state.conversation.opened) is not None:
        await conversation.turns.idle()
    await app.state.every_part.runs.drain()


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
        telemetry=NO_TELEMETRY,
        lifespan=_lifespan,
    )
    for router in _ROUTERS:
        app.include_router(router)
    return app
