"""Runs over the LangGraph protocol: begin a turn, stream it, join its stream, cancel it."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from typing import Annotated, Literal

from fastapi import APIRouter, Header, Query, Request
from starlette.responses import Response

from sandtable.conversations.conversation import Conversation, same_dataset
from sandtable.conversations.journal import EntryStream
from sandtable.conversations.model import Thread, TurnRecord, TurnStatus
from sandtable.conversations.running import RunningTurn, TurnOrder
from sandtable.conversations.store import no_thread
from sandtable.conversations.text import opening_of
from sandtable.errors import InvalidInput, NotFound
from sandtable.quoting import quote
from sandtable.server import logs
from sandtable.server.callers import User
from sandtable.server.langgraph import bodies
from sandtable.server.langgraph.assistants import dataset_of
from sandtable.server.langgraph.chunks import data_of, details_of, name_of, names_of
from sandtable.server.langgraph.threads import new_thread
from sandtable.server.langgraph.wire import (
    PREFIX,
    answer,
    assistant_id_of,
    interrupt_chunk,
    run_headers,
    run_json,
)
from sandtable.server.lazy_conversation import Talking
from sandtable.server.sse import HEARTBEAT, EventStream, frame

router = APIRouter(prefix=f"{PREFIX}/threads/{{thread_id}}/runs", include_in_schema=False)

_NUMBER = re.compile("[0-9]{1,18}")
"""The form of an event's `id:`; anything else means from the beginning."""


@router.post("/stream")
async def stream_run(
    request: Request, talk: Talking, user: User, thread_id: str, body: bodies.RunBody
) -> EventStream:
    running = await _begin(request, talk, user, thread_id, body, streamed=True)
    entries = talk.turns.listen(running.turn)
    frames = _frames(talk, running.turn, entries, running, cancel=body.on_disconnect == "cancel")
    return EventStream(frames, run_headers(running.turn))


@router.post("")
async def create_run(
    request: Request, talk: Talking, user: User, thread_id: str, body: bodies.RunBody
) -> Response:
    """Begins the run in the background; `GET …/stream` streams it."""
    running = await _begin(request, talk, user, thread_id, body, streamed=False)
    return answer(run_json(running.turn), run_headers(running.turn))


@router.post("/wait")
async def wait_for_run(
    request: Request, talk: Talking, user: User, thread_id: str, body: bodies.RunBody
) -> Response:
    running = await _begin(request, talk, user, thread_id, body, streamed=False)
    return await _outcome(talk, running.turn, run_headers(running.turn))


@router.get("")
async def list_runs(
    talk: Talking,
    thread_id: str,
    status: TurnStatus | None = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 10,
    offset: Annotated[int, Query(ge=0, le=1 << 31)] = 0,
) -> Response:
    await talk.thread(thread_id)
    turns = await talk.store.turns(thread_id, status=status, limit=limit, offset=offset)
    return answer([run_json(turn) for turn in turns])


@router.get("/{run_id}")
async def get_run(talk: Talking, thread_id: str, run_id: str) -> Response:
    return answer(run_json(await _turn(talk, thread_id, run_id)))


@router.get("/{run_id}/stream")
async def join_stream(
    talk: Talking,
    thread_id: str,
    run_id: str,
    last_event_id: Annotated[str | None, Header(max_length=64)] = None,
    stream_mode: Annotated[list[str] | None, Query()] = None,
    cancel_on_disconnect: bool = False,
) -> EventStream:
    """All of the run's events, or those after `Last-Event-ID`."""
    turn = await _turn(talk, thread_id, run_id)
    # Some clients send the parameter without a value.
    wanted = bodies.modes_of(stream_mode) if stream_mode and any(stream_mode) else None
    after = int(last_event_id) if last_event_id and _NUMBER.fullmatch(last_event_id) else 0
    running = talk.turns.running(run_id)
    if running is not None:
        running.listeners += 1
    entries = talk.turns.listen(turn, after)
    frames = _frames(talk, turn, entries, running, cancel=cancel_on_disconnect, modes=wanted)
    return EventStream(frames, run_headers(turn))


@router.get("/{run_id}/join")
async def join(talk: Talking, thread_id: str, run_id: str) -> Response:
    """Waits for the run's end, and answers with the thread's state."""
    turn = await _turn(talk, thread_id, run_id)
    return await _outcome(talk, turn, run_headers(turn))


@router.post("/{run_id}/cancel")
async def cancel(
    talk: Talking,
    thread_id: str,
    run_id: str,
    wait: bool = False,
    action: Literal["interrupt", "rollback"] = "interrupt",
) -> Response:
    """A run that has ended stays as it is. `rollback` is done as `interrupt`: the messages stay in the thread."""
    await talk.turns.cancel(await _turn(talk, thread_id, run_id), wait=wait)
    return Response(status_code=204 if wait else 202)


async def _turn(talk: Conversation, thread_id: str, run_id: str) -> TurnRecord:
    await talk.thread(thread_id)
    found = await talk.store.turn(thread_id, run_id[:128])
    if found is None:
        raise NotFound(
            f"no run {quote(run_id)} in this thread",
            suggestion=f"GET {PREFIX}/threads/{thread_id}/runs lists them.",
            run_id=run_id[:128],
        )
    logs.bind(turn_id=run_id)
    return found


async def _begin(
    request: Request, talk: Conversation, user: str, thread_id: str, body: bodies.RunBody, *, streamed: bool
) -> RunningTurn:
    dataset = dataset_of(request.app.state.parts, body.assistant_id)
    logs.bind(dataset_id=dataset.id, thread_id=thread_id)
    messages = None if body.input is None or body.command else bodies.human_messages(body.input)
    resume = body.command.resume if body.command else None
    thread = await _thread_for(talk, user, thread_id, body)
    same_dataset(thread, dataset.id, "Start a new conversation for another dataset.")
    order = TurnOrder(
        thread,
        dataset.id,
        user,
        messages=messages,
        answer=resume,
        checkpoint_id=body.from_checkpoint,
        details=details_of(body.modes),
        strategy=body.multitask_strategy or "enqueue",
        metadata=body.metadata,
        opening=opening_of(messages[0]["content"]) if messages else None,
        streamed=streamed,
    )
    running = await talk.turns.begin(order)
    scope = {"graph_id": dataset.id, "assistant_id": assistant_id_of(dataset.id)}
    if any(thread.metadata.get(name) != value for name, value in scope.items()):
        await talk.store.update(thread.id, scope)
    return running


async def _thread_for(talk: Conversation, user: str, thread_id: str, body: bodies.RunBody) -> Thread:
    found = await talk.store.get(thread_id[:128])
    if found is not None:
        return found
    if body.if_not_exists != "create":
        raise no_thread(thread_id)
    if not re.fullmatch(bodies.ID, thread_id):
        raise InvalidInput(
            "a thread_id has letters, digits and - _ . : only",
            suggestion="Leave it to the server: POST /threads makes one.",
            field="thread_id",
        )
    return await new_thread(talk, user, bodies.NewThread(thread_id=thread_id, if_exists="do_nothing"))


async def _frames(
    talk: Conversation,
    turn: TurnRecord,
    entries: EntryStream,
    running: RunningTurn | None,
    *,
    cancel: bool,
    modes: tuple[str, ...] | None = None,
) -> AsyncGenerator[bytes, None]:
    wanted = names_of(modes or bodies.MODES)
    try:
        # At once: proxies and clients learn that the stream is open.
        yield HEARTBEAT
        async for entry in entries:
            name = name_of(entry) if entry is not None else None
            if entry is None:
                yield HEARTBEAT
            elif name is not None and name in wanted:
                data = await data_of(talk, turn, entry)
                if data is not None:
                    yield frame(name, data, entry.number)
    finally:
        if running is not None:
            running.leave(cancel=cancel)


async def _outcome(talk: Conversation, turn: TurnRecord, headers: dict[str, str]) -> Response:
    async for _ in talk.turns.listen(turn):
        pass
    state = await talk.threads.state(turn.thread_id)
    ended = await talk.store.turn(turn.thread_id, turn.id)
    values = dict(state.values)
    if ended is not None and ended.status == "error":
        values["__error__"] = ended.error
    if state.requests:
        values["__interrupt__"] = list(map(interrupt_chunk, state.requests))
    return answer(values, headers)
