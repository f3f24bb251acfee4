"""The agent, put together from the server's parts: one handler behind all bindings.

Loading this file loads the SDK and gRPC.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass

from a2a.server.routes import create_jsonrpc_routes, create_rest_routes
from a2a.utils.constants import A2A_JSON_MEDIA_TYPE
from fastapi import FastAPI
from starlette.datastructures import Headers, MutableHeaders
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sandtable.assemble import Parts
from sandtable.conversations.conversation import Conversation
from sandtable.conversations.json_text import encode
from sandtable.errors import NotFound
from sandtable.server.a2a.addresses import PREFIX
from sandtable.server.a2a.beginning import Beginning
from sandtable.server.a2a.calls import HttpCalls
from sandtable.server.a2a.following import Waiting
from sandtable.server.a2a.handler import TurnRequests
from sandtable.server.a2a.tasks import Tasks

_JSON = "application/json"
_QUALITY = re.compile(r"[01](?:\.[0-9]{0,3})?")
_CLIENTS_MISTAKES = ("Failed to validate base JSON-RPC request", "Failed to parse request params")


@dataclass(frozen=True, slots=True)
class Agent:
    handler: TurnRequests
    http: ASGIApp
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
    return Agent(handler, InTypeOfClient(Router(routes, redirect_slashes=False)))


class InTypeOfClient:
    """ASGI middleware: answers of HTTP+JSON are `application/json` for a client that uses that type, as release 1.0.0
    of the specification has it, else `application/a2a+json`, as 1.0.1 recommends (section 11.1)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def typed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if headers.get("content-type", "") == A2A_JSON_MEDIA_TYPE:
                    headers["content-type"] = _type_for(Headers(scope=scope))
            await send(message)

        await self._app(scope, receive, typed)


def _type_for(request: Headers) -> str:
    """The type that `Accept` prefers; where it names neither, that of the request's body."""
    accepted = {kind: quality for text in request.getlist("accept") for kind, quality in _named(text)}
    ours, plain = accepted.get(A2A_JSON_MEDIA_TYPE, 0.0), accepted.get(_JSON, 0.0)
    if ours == plain == 0.0:
        given = request.get("content-type", "").partition(";")[0].strip().lower()
        return _JSON if given == _JSON else A2A_JSON_MEDIA_TYPE
    return _JSON if plain > ours else A2A_JSON_MEDIA_TYPE


def _named(accept: str) -> Iterator[tuple[str, float]]:
    """Media types with their quality; one that cannot be read counts as not accepted."""
    for each in accept.split(","):
        kind, *parameters = (part.strip().lower() for part in each.split(";"))
        quality = next((text[2:] for text in parameters if text.startswith("q=")), "1")
        yield kind, float(quality) if _QUALITY.fullmatch(quality) else 0.0


class _OwnFaults(logging.Filter):
    """Leaves out what only a client did wrong; the SDK logs it with a traceback and with the request's text."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not str(record.msg).startswith(_CLIENTS_MISTAKES)


def _quiet() -> None:
    logging.getLogger("a2a").setLevel(logging.ERROR)
    dispatcher = logging.getLogger("a2a.server.routes.jsonrpc_dispatcher")
    if not any(isinstance(one, _OwnFaults) for one in dispatcher.filters):
        dispatcher.addFilter(_OwnFaults())
