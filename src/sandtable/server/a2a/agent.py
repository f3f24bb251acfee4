"""The agent, put together from the server's parts: one handler behind all bindings.

Loading this file loads the SDK and gRPC.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from a2a.server.routes import create_jsonrpc_routes, create_rest_routes
from fastapi import FastAPI
from starlette.routing import Route, Router

from sandtable.assemble import Parts
from sandtable.conversations.conversation import Conversation
from sandtable.conversations.json_text import encode
from sandtable.errors import NotFound
from sandtable.server.a2a.beginning import Beginning
from sandtable.server.a2a.calls import HttpCalls
from sandtable.server.a2a.following import Waiting
from sandtable.server.a2a.handler import TurnRequests
from sandtable.server.a2a.routes import PREFIX
from sandtable.server.a2a.tasks import Tasks

_CLIENTS_MISTAKES = ("Failed to validate base JSON-RPC request", "Failed to parse request params")


@dataclass(frozen=True, slots=True)
class Agent:
    handler: TurnRequests
    http: Router
    """JSON-RPC and HTTP+JSON."""


def agent_of(app: FastAPI, talk: Conversation) -> Agent:
    _quiet()
    parts: Parts = app.state.parts

    async def document(run_id: str) -> bytes | None:
        try:
            return encode(await parts.runs.capsule(run_id)).encode()
        except NotFound:
            return None

    tasks = Tasks(talk, parts.runs, document)
    beginning = Beginning(parts, talk, tasks, document)
    waiting = Waiting(parts.settings.user_share)
    handler = TurnRequests(talk, tasks, beginning, app.state.shutdown, waiting)
    # With a slash, too: some clients add one to the address in the card.
    rpc = [
        route
        for path in (PREFIX, f"{PREFIX}/")
        for route in create_jsonrpc_routes(handler, rpc_url=path, context_builder=HttpCalls())
    ]
    rest = create_rest_routes(handler, path_prefix=PREFIX, context_builder=HttpCalls())
    # Without the routes of tenants, which match every path of the server.
    routes = [*rpc, *(route for route in rest if isinstance(route, Route))]
    return Agent(handler, Router(routes, redirect_slashes=False))


class _OwnFaults(logging.Filter):
    """Leaves out what only a client did wrong; the SDK logs it with a traceback and with the request's text."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not str(record.msg).startswith(_CLIENTS_MISTAKES)


def _quiet() -> None:
    logging.getLogger("a2a").setLevel(logging.ERROR)
    dispatcher = logging.getLogger("a2a.server.routes.jsonrpc_dispatcher")
    if not any(isinstance(one, _OwnFaults) for one in dispatcher.filters):
        dispatcher.addFilter(_OwnFaults())
