"""Threads and their states over the LangGraph protocol."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import uuid4

from fastapi import APIRouter, Body, Query, Request
from starlette.responses import Response

from sandtable.assemble import Parts
from sandtable.conversations.conversation import Conversation
from sandtable.conversations.model import Thread, ThreadBusy, ThreadFilter, now
from sandtable.conversations.store import no_thread
from sandtable.errors import InvalidInput
from sandtable.quoting import quote
from sandtable.server.callers import User
from sandtable.server.langgraph import bodies
from sandtable.server.langgraph.history import history_of, whole_state
from sandtable.server.langgraph.wire import PREFIX, answer, checkpoint_json, thread_json
from sandtable.server.lazy_conversation import Talking

router = APIRouter(prefix=PREFIX, include_in_schema=False)


async def new_thread(talk: Conversation, user: str, wanted: bodies.NewThread) -> Thread:
    """Raises ThreadBusy when the name is taken, unless the caller asks for that thread then."""
    at = now()
    thread = Thread(
        id=wanted.thread_id or str(uuid4()),
        user=user,
        created_at=at,
        updated_at=at,
        metadata=wanted.metadata,
    )
    if not await talk.add(thread):
        if wanted.if_exists != "do_nothing":
            raise ThreadBusy(
                f"there is a thread {quote(thread.id)} already",
                suggestion='Leave `thread_id` out, or send "if_exists": "do_nothing".',
            )
        return await talk.thread(thread.id)
    return thread


@router.post("/threads")
async def create_thread(
    talk: Talking, user: User, wanted: Annotated[bodies.NewThread | None, Body()] = None
) -> Response:
    return answer(thread_json(await new_thread(talk, user, wanted or bodies.NewThread())))


@router.post("/threads/search")
async def search_threads(
    talk: Talking, wanted: Annotated[bodies.ThreadSearch | None, Body()] = None
) -> Response:
    threads = await talk.store.search(_filter(wanted or bodies.ThreadSearch()))
    return answer([thread_json(thread) for thread in threads])


@router.post("/threads/count")
async def count_threads(talk: Talking, wanted: Annotated[bodies.ThreadSearch | None, Body()] = None) -> int:
    return await talk.store.count(_filter(wanted or bodies.ThreadSearch()))


def _filter(wanted: bodies.ThreadSearch) -> ThreadFilter:
    return ThreadFilter(
        metadata=wanted.metadata,
        ids=None if wanted.ids is None else tuple(wanted.ids),
        status=wanted.status,
        sort_by=wanted.sort_by or "updated_at",
        descending=wanted.sort_order != "asc",
        limit=wanted.limit,
        offset=wanted.offset,
    )


@router.get("/threads/{thread_id}")
async def get_thread(talk: Talking, thread_id: str) -> Response:
    thread = await talk.thread(thread_id)
    state = await talk.threads.state(thread_id)
    return answer(thread_json(thread, state.values or None))


@router.patch("/threads/{thread_id}")
async def update_thread(talk: Talking, thread_id: str, change: bodies.ThreadChange) -> Response:
    await talk.thread(thread_id)
    thread = await talk.store.update(thread_id, change.metadata)
    if thread is None:
        raise no_thread(thread_id)
    return answer(thread_json(thread))


@router.delete("/threads/{thread_id}", status_code=204)
async def delete_thread(talk: Talking, request: Request, thread_id: str) -> Response:
    """Cancels what is under way in it first, and ends its session of Python."""
    await talk.thread(thread_id)
    await talk.turns.clear(thread_id)
    parts: Parts = request.app.state.parts
    await parts.sessions.end(thread_id)
    await talk.store.delete(thread_id)
    await talk.threads.forget(thread_id)
    return Response(status_code=204)


@router.get("/threads/{thread_id}/history")
async def get_history(
    talk: Talking,
    thread_id: str,
    limit: Annotated[int, Query(ge=1, le=1000)] = 10,
    before: Annotated[str | None, Query(max_length=128)] = None,
) -> Response:
    return await _history(talk, thread_id, bodies.HistoryWanted(limit=limit, before=before))


@router.post("/threads/{thread_id}/history")
async def post_history(
    talk: Talking, thread_id: str, wanted: Annotated[bodies.HistoryWanted | None, Body()] = None
) -> Response:
    return await _history(talk, thread_id, wanted or bodies.HistoryWanted(limit=10))


async def _history(talk: Conversation, thread_id: str, wanted: bodies.HistoryWanted) -> Response:
    thread = await talk.thread(thread_id)
    at = wanted.checkpoint.checkpoint_id if wanted.checkpoint else None
    return answer(
        await history_of(
            talk, thread_id, limit=wanted.limit, busy=thread.status == "busy", before=wanted.before_id, at=at
        )
    )


@router.get("/threads/{thread_id}/state")
async def get_state(talk: Talking, thread_id: str) -> Response:
    return await _state(talk, thread_id, None)


@router.get("/threads/{thread_id}/state/{checkpoint_id}")
async def get_state_at(talk: Talking, thread_id: str, checkpoint_id: str) -> Response:
    return await _state(talk, thread_id, checkpoint_id)


@router.post("/threads/{thread_id}/state/checkpoint")
async def post_state_at(talk: Talking, thread_id: str, wanted: bodies.StateWanted) -> Response:
    return await _state(talk, thread_id, wanted.checkpoint.checkpoint_id)


async def _state(talk: Conversation, thread_id: str, checkpoint_id: str | None) -> Response:
    thread = await talk.thread(thread_id)
    busy = thread.status == "busy" and checkpoint_id is None
    return answer(whole_state(await talk.threads.state(thread_id, checkpoint_id), busy=busy))


@router.post("/threads/{thread_id}/state")
async def update_state(talk: Talking, thread_id: str, change: bodies.StateChange) -> Response:
    """A person's messages can be added without an answer; nothing else of the state can be written."""
    thread = await talk.thread(thread_id)
    values: Any = change.values
    if not isinstance(values, dict) or set(values) - {"messages"}:
        raise InvalidInput(
            "only `messages` can be added to a thread's state",
            suggestion='Send {"values": {"messages": [{"type": "human", "content": "…"}]}}.',
            field="values",
        )
    if thread.status == "busy":
        raise ThreadBusy(
            "an answer in this conversation is under way", suggestion="Wait for it, or cancel it."
        )
    at = change.checkpoint.checkpoint_id if change.checkpoint else change.checkpoint_id
    messages = bodies.human_messages(values)
    state = await talk.threads.add_messages(thread_id, at, messages)
    checkpoint = checkpoint_json(thread_id, state.checkpoint_id)
    return answer({"checkpoint": checkpoint, "configurable": checkpoint})
