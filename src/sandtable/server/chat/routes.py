"""`POST /chat`: one message in, one answer out, as JSON or as events while it is worked on.

Invariant: the turn ends with the connection, and never waits for the client.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Body, Request
from pydantic import BaseModel
from starlette.responses import Response

from sandtable.agent.events import Error
from sandtable.agent.turn_events import DecisionRequest, DecisionsAwaited, with_plan
from sandtable.assemble import Parts
from sandtable.conversations.conversation import Conversation, same_dataset
from sandtable.conversations.feed import Feed
from sandtable.conversations.json_text import encode
from sandtable.conversations.model import Thread
from sandtable.conversations.running import EVENTS, RunningTurn, TurnOrder
from sandtable.conversations.text import opening_of, plan_of, question_of
from sandtable.conversations.turn_events import TurnBegun, TurnEvent, TurnFailed
from sandtable.errors import InvalidInput, Problem
from sandtable.quoting import quote
from sandtable.server import logs
from sandtable.server.callers import User
from sandtable.server.chat.views import ChatAnswer, ChatBody, Gathering
from sandtable.server.errors import ErrorBody, error_response
from sandtable.server.hanging_up import gone
from sandtable.server.lazy_conversation import Talking, known_dataset
from sandtable.server.sse import HEARTBEAT, EventStream, frame

_EXAMPLES: dict[str, Any] = {
    "question": {
        "summary": "A question",
        "value": {"dataset_id": "ecommerce", "message": "Which category has the highest return rate?"},
    },
    "choice": {
        "summary": "Another reading of the question before: a choice of its `read_as`",
        "value": {
            "thread_id": "6f0d1c7e-3a51-4f0e-9a53-0c7a2f1f7d2b",
            "message": "Read “total revenue” as “average revenue”",
            "plan": {
                "dataset_id": "ecommerce",
                "table": "order_items",
                "select": [{"agg": "avg", "column": "line_total", "as": "avg_line_total"}],
            },
        },
    },
    "decision": {
        "summary": "A decision on SQL that waits for one",
        "value": {
            "thread_id": "6f0d1c7e-3a51-4f0e-9a53-0c7a2f1f7d2b",
            "resume": {"decisions": [{"type": "approve"}]},
        },
    },
}
_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "model": ChatAnswer,
        "description": "The answer; with `Accept: text/event-stream`, the events that lead to it.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    },
    404: {"model": ErrorBody, "description": "No such dataset or thread."},
    401: {"model": ErrorBody, "description": "The chat model's provider refuses this server's key."},
    409: {
        "model": ErrorBody,
        "description": "Another server is answering in this conversation, or the answer was cancelled.",
    },
    504: {"model": ErrorBody, "description": "The chat model did not answer in time."},
    507: {"model": ErrorBody, "description": "The user has as much stored as one user may have."},
}

router = APIRouter(tags=["chat"])


@router.post(
    "/chat",
    operation_id="chat",
    summary="Ask in plain language",
    response_model=ChatAnswer,
    responses=_ANSWERS,
)
async def chat(
    request: Request,
    talk: Talking,
    user: User,
    body: Annotated[ChatBody, Body(openapi_examples=_EXAMPLES)],
) -> Response:
    """Without `thread_id` a conversation begins; with it, the question may refer to what was said before."""
    order = await _order(request.app.state.parts, talk, user, body)
    logs.bind(thread_id=order.thread.id)
    feed = Feed()
    running = await talk.turns.begin(order, feed)
    if _wants_events(request):
        return EventStream(_frames(running, feed))
    work = asyncio.create_task(_answer(order.thread.id, feed))
    leaving = asyncio.create_task(gone(request))
    await asyncio.wait((work, leaving), return_when=asyncio.FIRST_COMPLETED)
    leaving.cancel()
    if not work.done():
        running.cancel()
    answer = await work
    if isinstance(answer, Problem):
        return error_response(answer, request.scope)
    return Response(encode(answer), media_type="application/json")


async def _answer(thread_id: str, feed: Feed) -> ChatAnswer | Problem:
    gathering = Gathering(thread_id)
    async for together in feed.read():
        for event in together:
            gathering.add(event)
    return gathering.broken or gathering.answer()


async def _frames(running: RunningTurn, feed: Feed) -> AsyncGenerator[bytes, None]:
    """Closing it cancels the turn."""
    thread_id = running.turn.thread_id
    try:
        yield frame("thread", encode({"type": "thread", "thread_id": thread_id}))
        waiting: DecisionRequest | None = None
        async with aclosing(feed.read()) as events:
            async for together in events:
                asked = (event.requests[0] for event in together if isinstance(event, DecisionsAwaited))
                waiting = next(asked, waiting)
                # One write for events that came together: each write costs time in every layer down to the socket.
                yield b"".join(map(_frame, together)) or HEARTBEAT
        if waiting is not None:
            # Only now is the decision request stored, and the client may answer it at once.
            message = {**waiting.message.model_dump(mode="json"), "sql": waiting.sql}
            yield frame("message", encode(message))
    finally:
        running.cancel()


def _frame(event: TurnEvent) -> bytes:
    """Empty for events that clients of `/chat` do not get."""
    match event:
        case TurnFailed(problem=Problem() as problem):
            return frame("error", encode(Error(problem=problem)))
        case TurnBegun() | TurnFailed():
            return b""
        case BaseModel():
            return frame(event.type, encode(event))
        case _:
            return b""


async def _order(parts: Parts, talk: Conversation, user: str, body: ChatBody) -> TurnOrder:
    if body.resume is not None:
        if body.thread_id is None or body.message is not None or body.plan is not None:
            raise InvalidInput(
                "a decision is sent with its `thread_id`, without a `message` and without a `plan`",
                suggestion='Send {"thread_id": "…", "resume": {"decisions": [{"type": "approve"}]}}.',
            )
        thread = await _known(talk, body.thread_id, body.dataset_id)
        return _order_in(thread, user, answer=body.resume.model_dump())
    if body.message is None:
        raise InvalidInput(
            "`message` is missing", suggestion="Add the question as `message`.", field="message"
        )
    question, plan = question_of(body.message), plan_of(body.plan)
    if body.dataset_id is not None:
        logs.bind(dataset_id=known_dataset(parts, body.dataset_id))
    if body.thread_id is not None:
        thread = await _known(talk, body.thread_id, body.dataset_id)
    elif body.dataset_id is not None:
        thread = await talk.new_thread(user, body.dataset_id)
    else:
        known = ", ".join(quote(dataset.id) for dataset in parts.datasets.datasets())
        raise InvalidInput(
            "`dataset_id` is missing", suggestion=f"Add it: one of {known}.", field="dataset_id"
        )
    message = {"content": question, "additional_kwargs": with_plan(plan)}
    return _order_in(thread, user, messages=[message], opening=opening_of(question))


def _order_in(thread: Thread, user: str, **given: Any) -> TurnOrder:
    assert thread.dataset_id is not None
    return TurnOrder(thread, thread.dataset_id, user, details=EVENTS, **given)


async def _known(talk: Conversation, thread_id: str, dataset_id: str | None) -> Thread:
    """Raises NotFound, and InvalidInput when the thread is about another dataset."""
    thread = await talk.thread(thread_id)
    if dataset_id is not None:
        same_dataset(
            thread, dataset_id, "Leave `thread_id` out to begin a conversation about another dataset."
        )
    if thread.dataset_id is None and dataset_id is None:
        raise InvalidInput(
            "nothing was asked in this conversation yet", suggestion="Say what it is about with `dataset_id`."
        )
    return thread if thread.dataset_id else replace(thread, dataset_id=dataset_id)


def _wants_events(request: Request) -> bool:
    return "text/event-stream" in request.headers.get("accept", "").lower()
