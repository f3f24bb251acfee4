"""The stock Agent Chat UI at /chat/, unmodified: its files, and the URLs that it needs in its query.

Invariant: the build is not changed. It may load from and connect to this server only.
"""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from sandtable.assemble import Parts
from sandtable.errors import NotFound
from sandtable.quoting import quote
from sandtable.server.built import FOLDER, INDEX, Build
from sandtable.server.callers import User
from sandtable.server.errors import ErrorBody
from sandtable.server.langgraph.assistants import dataset_of
from sandtable.server.langgraph.greeting import greeting_thread
from sandtable.server.langgraph.wire import PREFIX
from sandtable.server.lazy_conversation import Talking

# The interface sets styles from its scripts, which requires 'unsafe-inline'; scripts come from this server only.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
BUILD = Build(FOLDER / "chat-ui")
_NOT_BUILT = (
    "<!doctype html><html lang='en'><meta charset='utf-8'><title>Chat</title>"
    "<p>The chat interface is not built. In a checkout, <code>make chat-ui</code> builds it.</p>"
    "<p>Everything else works: <a href='/'>Sandtable</a>.</p></html>"
)

router = APIRouter(prefix="/chat")


@router.get("/", include_in_schema=False)
async def page(request: Request, talk: Talking, user: User) -> Response:
    """The interface, once its query says where the server is and which thread to show."""
    if not BUILD.exists:
        return HTMLResponse(_NOT_BUILT, status_code=503, headers={"Content-Security-Policy": POLICY})
    given, own = request.query_params, f"{request.url.scheme}://{request.url.netloc}{PREFIX}"
    if given.get("apiUrl") == own and given.get("assistantId"):
        return await _file(INDEX, request)
    parts: Parts = request.app.state.parts
    datasets = list(parts.datasets.datasets())
    dataset = dataset_of(parts, given["assistantId"]) if given.get("assistantId") else datasets[0]
    thread_id = given.get("threadId") or await greeting_thread(talk, dataset, datasets, user)
    query = urlencode({"apiUrl": own, "assistantId": dataset.id, "threadId": thread_id})
    return RedirectResponse(f"/chat/?{query}", status_code=307)


@router.get(
    "",
    operation_id="chat_page",
    tags=["chat"],
    summary="The stock chat UI",
    include_in_schema=True,
    status_code=307,
    response_class=RedirectResponse,
    responses={
        200: {"description": "The page, where the redirects are followed.", "content": {"text/html": {}}},
        307: {
            "description": "The page is at `Location`.",
            "headers": {"Location": {"schema": {"type": "string"}}},
        },
        503: {"model": ErrorBody, "description": "The page is not built.", "content": {"text/html": {}}},
    },
)
async def slash() -> RedirectResponse:
    """For a browser; what it shows goes over the LangGraph protocol."""
    return RedirectResponse("/chat/", status_code=307)


@router.get("/{path:path}", include_in_schema=False)
async def asset(path: str, request: Request) -> Response:
    """Files of the build, by the names it gave them."""
    return await _file(path, request)


async def _file(name: str, request: Request) -> Response:
    found = await BUILD.answer(name, request.headers, {"Content-Security-Policy": POLICY})
    if found is None:
        raise NotFound(f"no file {quote(name)} in the chat interface", suggestion="Open /chat/.")
    return found
