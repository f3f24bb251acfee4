"""Runs over the LangGraph protocol: a turn, begun, listened to, listened to again, cancelled."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from typing import Annotated, Literal

from fastapi import APIRouter, Header, Query, Request
from starlette.responses import Response

from sandtable.errors import InvalidInput, NotFound
from sandtable.quoting import quote
from sandtable.server import logs
from sandtable.server.callers import User
from sandtable.server.conversations import Conversation, Talking, same_dataset
from sandtable.server.langgraph import bodies
from sandtable.server.langgraph.assistants import dataset_of
from sandtable.server.langgraph.live import Live
from sandtable.server.langgraph.threads import new_thread
from sandtable.server.langgraph.wire import PREFIX, answer, assistant_id_of, run_headers, run_json, shown
from sandtable.server.sse import HEARTBEAT, EventStream, frame
from sandtable.server.threads.journal import Heard
from sandtable.server.threads.model import Thread, Turn, TurnStatus
from sandtable.server.threads.store import no_thread
from sandtable.server.threads.text import opening_of

router = APIRouter(prefix=f"{PREFIX}/threads/{{thread_id}}/runs", include_in_schema=False)

_ALWAYS = ("metadata", "error")
_NUMBER = re.compile("[0-9]{1,18}")
"""What was given as `id:`; anything else means from the beginning."""


@router.post("/stream")
async def stream_run(
    request: Request, talk: Talking, user: User, thread_id: str, body: bodies.RunBody
) -> EventStream:
    live = await _begin(request, talk, user, thread_id, body, streamed=True)
    frames = _frames(talk, live.turn, live.journal.read(), live, cancel=body.on_disconnect == "cancel")
    return EventStream(frames, run_headers(live.turn))


@router.post("")
async def create_run(
    request: Request, talk: Talking, user: User, thread_id: str, body: bodies.RunBody
) -> Response:
    """Begun in the background; `GET …/stream` listens to it."""
    live = await _begin(request, talk, user, thread_id, body, streamed=False)
    return answer(run_json(live.turn), run_headers(live.turn))


@router.post("/wait")
async def wait_for_run(
    request: Request, talk: Talking, user: User, thread_id: str, body: bodies.RunBody
) -> Response:
    live = await _begin(request, talk, user, thread_id, body, streamed=False)
    return await _outcome(talk, live.turn, run_headers(live.turn))


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
    live = talk.conductor.live(run_id)
    if live is not None:
        live.listeners += 1
    heard = talk.conductor.listen(turn, after)
    frames = _frames(talk, turn, heard, live, cancel=cancel_on_disconnect, modes=wanted)
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
    """A run that has ended stays as it is. `rollback` is done as `interrupt`: what was said stays said."""
    await talk.conductor.cancel(await _turn(talk, thread_id, run_id), wait=wait)
    return Response(status_code=204 if wait else 202)


async def _turn(talk: Conversation, thread_id: str, run_id: str) -> Turn:
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
) -> Live:
    dataset = dataset_of(request.app.state.parts, body.assistant_id)
    logs.bind(dataset_id=dataset.id, thread_id=thread_id)
    messages = None if body.input is None or body.command else bodies.human_messages(body.input)
    resume = body.command.resume if body.command else None
    thread = await _thread_for(talk, user, thread_id, body)
    same_dataset(thread, dataset.id, "Start a new conversation for another dataset.")
    live = await talk.conductor.begin(
        thread,
        dataset.id,
        user,
        messages=messages,
        resume=resume,
        checkpoint_id=body.from_checkpoint,
        modes=body.modes,
        strategy=body.multitask_strategy or "enqueue",
        metadata=body.metadata,
        opening=opening_of(messages[0]["content"]) if messages else None,
        streamed=streamed,
    )
    scope = {"graph_id": dataset.id, "assistant_id": assistant_id_of(dataset.id)}
    if any(thread.metadata.get(name) != value for name, value in scope.items()):
        await talk.store.update(thread.id, scope)
    return live


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
    turn: Turn,
    heard: Heard,
    live: Live | None,
    *,
    cancel: bool,
    modes: tuple[str, ...] | None = None,
) -> AsyncGenerator[bytes, None]:
    names = None if modes is None else {m.removesuffix("-tuple") for m in modes} | set(_ALWAYS)
    try:
        # A first sign of life: proxies and clients learn that the stream is open.
        yield HEARTBEAT
        async for happening in heard:
            if happening is None:
                yield HEARTBEAT
            elif names is None or happening.name in names:
                told = await talk.conductor.whole(turn.thread_id, happening)
                if told is not None:
                    yield frame(told.name, told.data, told.number)
    finally:
        if live is not None:
            live.leave(cancel=cancel)


async def _outcome(talk: Conversation, turn: Turn, headers: dict[str, str]) -> Response:
    async for _ in talk.conductor.listen(turn, 0):
        pass
    state = await talk.conductor.state(turn.thread_id)
    ended = await talk.store.turn(turn.thread_id, turn.id)
    values = dict(shown(state.values) or {})
    if ended is not None and ended.status == "error":
        values["__error__"] = ended.error
    if state.interrupts:
        values["__interrupt__"] = list(state.interrupts)
    return answer(values, headers)
