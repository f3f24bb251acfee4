"""Sandtable's own web interface: pages for browsers, at URLs that programs may use as well.

Invariant: responses to programs do not change. Only GET (and so HEAD) is handled; where a URL also has a JSON
form, the page is sent only to clients that prefer HTML; without a build, nothing changes.
"""

from __future__ import annotations

import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sandtable.server.built import FOLDER, INDEX, Build
from sandtable.settings import Settings

# Charts and diagrams set styles from scripts, which requires 'unsafe-inline'; scripts come from this server only.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self'; connect-src 'self'; worker-src 'self' blob:; frame-src 'none'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_PAGES = re.compile(r"/(?:t/[^/]+/?|data/?|data/[^/]+/?|compare/?|account/?|people/?)?")
_PAGES_OR_JSON = re.compile(r"/(?:runs|boards)(?:/[^/]+)?")
# Files beside the index, such as an icon. URLs of the API have no dot but this one.
_TOP_FILES = re.compile(r"/(?!openapi\.json$)[^/]+\.[a-z0-9]+")
_ASSETS = "/assets/"
_WEIGHT = re.compile(r"0?\.\d{1,3}|0\.?|1(?:\.0{0,3})?")
_HTML, _JSON = "text/html", "application/json"


def web_build(settings: Settings) -> Build:
    return Build(settings.web or FOLDER / "web")


class WebUi:
    """ASGI middleware, inside the one that turns HEAD into GET."""

    def __init__(self, app: ASGIApp, build: Build) -> None:
        self._app = app
        self._build = build

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        path, asked = scope["path"], Headers(scope=scope)
        either = _PAGES_OR_JSON.fullmatch(path) is not None
        # Also on assets: a worker obeys the policy sent with its own script.
        headers = {"Content-Security-Policy": POLICY}
        if either and wants_page(",".join(asked.getlist("accept"))):
            answer = await self._build.answer(INDEX, asked, {**headers, "Vary": "Accept, Accept-Encoding"})
        elif _PAGES.fullmatch(path):
            answer = await self._build.answer(INDEX, asked, headers)
        elif path.startswith(_ASSETS) or _TOP_FILES.fullmatch(path):
            answer = await self._build.answer(path[1:], asked, headers)
        else:
            answer = None
        if answer is not None:
            await answer(scope, receive, send)
        else:
            await self._app(scope, receive, _varying(send) if either else send)


def _varying(send: Send) -> Send:
    async def adding(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).add_vary_header("Accept")
        await send(message)

    return adding


def wants_page(accept: str) -> bool:
    """Whether an Accept header prefers HTML to JSON, as that of a browser navigation does."""
    weights: dict[str, float] = {}
    for part in accept.lower().split(","):
        kind, *parameters = (piece.strip() for piece in part.split(";"))
        weights.setdefault(kind, _weight(parameters))
    html = weights.get(_HTML, 0.0)
    if _JSON in weights and weights[_JSON] == html:
        order = list(weights)
        return html > 0 and order.index(_HTML) < order.index(_JSON)
    return html > 0 and html >= weights.get(_JSON, weights.get("application/*", weights.get("*/*", 0.0)))


def _weight(parameters: list[str]) -> float:
    """The q value: 1 if it is missing, 0 if it is invalid."""
    given = [text[2:] for text in parameters if text.startswith("q=")]
    if not given:
        return 1.0
    return float(given[0]) if _WEIGHT.fullmatch(given[0]) else 0.0
