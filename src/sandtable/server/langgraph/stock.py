"""The stock Agent Chat UI at /chat/, unmodified: its files, the URLs that it needs in its query, its first message.

Invariant: the build is not changed. It may load from and connect to this server only.
"""

from __future__ import annotations

import os
from urllib.parse import urlencode
from uuid import uuid4

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from sandtable.assemble import Parts
from sandtable.catalog.model import Dataset
from sandtable.conversations.conversation import Conversation
from sandtable.conversations.model import Thread, ThreadFilter, now
from sandtable.errors import NotFound
from sandtable.quoting import inert, quote
from sandtable.server.built import FOLDER, INDEX, Build
from sandtable.server.callers import User
from sandtable.server.errors import ErrorBody
from sandtable.server.langgraph.assistants import dataset_of
from sandtable.server.langgraph.wire import GREETING, PREFIX
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

_BEING_BUILT = (
    "<!doctype html><html lang='en'><meta charset='utf-8'><meta http-equiv='refresh' content='5'><title>Chat</title>"
    "<p>The chat interface is being built. This page shows it when it is ready.</p>"
    "<p>Everything else works: <a href='/'>Sandtable</a>.</p></html>"
)
_BUILDING = FOLDER / "chat-ui.building"
"""Written by `make serve`: the id of the process that builds it."""

router = APIRouter(prefix="/chat")


@router.get("/", include_in_schema=False)
async def page(request: Request, talk: Talking, user: User) -> Response:
    """The interface, once its query says where the server is and which thread to show."""
    if not BUILD.exists:
        missing = _BEING_BUILT if _is_being_built() else _NOT_BUILT
        return HTMLResponse(missing, status_code=503, headers={"Content-Security-Policy": POLICY})
    given, own = request.query_params, f"{request.url.scheme}://{request.url.netloc}{PREFIX}"
    if given.get("apiUrl") == own and given.get("assistantId"):
        return await _file(INDEX, request)
    parts: Parts = request.app.state.parts
    datasets = list(parts.datasets.datasets())
    dataset = dataset_of(parts, given["assistantId"]) if given.get("assistantId") else datasets[0]
    thread_id = given.get("threadId") or await _greeting_thread(talk, dataset, datasets, user)
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


async def _greeting_thread(talk: Conversation, dataset: Dataset, datasets: list[Dataset], user: str) -> str:
    """The id of a thread of this user without a question, whose first message offers datasets and questions: the
    interface shows nothing before the first message. A page that is opened often leaves one such thread."""
    metadata = {"graph_id": dataset.id, GREETING: dataset.version, "by": user}
    for thread in await talk.store.search(ThreadFilter(metadata=metadata, limit=20)):
        if thread.opening is None:
            return thread.id
    at = now()
    thread = Thread(id=str(uuid4()), user=user, created_at=at, updated_at=at, metadata=metadata)
    await talk.add(thread)
    await _greet(talk, thread.id, dataset, datasets)
    return thread.id


async def _greet(talk: Conversation, thread_id: str, dataset: Dataset, datasets: list[Dataset]) -> None:
    message_id = str(uuid4())
    props = {
        "dataset_id": dataset.id,
        "datasets": [{"id": d.id, "title": d.title, "description": d.description} for d in datasets],
        "prompts": list(dataset.prompts),
    }
    welcome = {
        "type": "ui",
        "id": f"welcome_{message_id}",
        "name": "welcome",
        "props": props,
        "metadata": {"message_id": message_id},
    }
    said = (
        f"Ask a question about **{inert(dataset.title or dataset.id)}** in plain words, or pick one of these."
    )
    greeting = {"type": "ai", "id": message_id, "content": said}
    values = {"messages": [greeting], "ui": [welcome], "dataset_id": dataset.id}
    await talk.threads.add_answer(thread_id, values)


def _is_being_built() -> bool:
    try:
        os.kill(int(_BUILDING.read_text()), 0)
    except (OSError, ValueError):
        return False
    return True
