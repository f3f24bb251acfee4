"""`WS /v2/stream/{session_id}`: the messages of a session's queries, from where a client left off.

Invariant: a turn never waits for a listener. A client that is too slow is disconnected, and can reconnect for the rest.
"""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import aclosing
from typing import Any

import structlog
from fastapi import APIRouter, WebSocket
from starlette.websockets import WebSocketDisconnect

from sandtable.conversations.json_text import encode
from sandtable.errors import NotFound, SandtableError
from sandtable.server.callers import user_of
from sandtable.server.lazy_conversation import LazyConversation
from sandtable.server.v2.following import Following
from sandtable.server.v2.listeners import Listeners

GOING_AWAY = 1001
REFUSED = 1008
BROKEN = 1011
TRY_LATER = 1013
UNKNOWN = 4404
SEND_S = 30.0
LONGEST_SAID = 4096
MOST_MISTAKES = 16
_REASON_BYTES = 123
_NUMBER = re.compile("[0-9]{1,15}")
"""A valid `seq`; with anything else the client has received no message yet."""
_NOT_UNDERSTOOD = (
    'VALIDATION_ERROR: the only message a client can send is {"type": "cancel"}. Ask with POST /v2/query.'
)

Ending = tuple[int, str]
"""Code and reason of a close frame."""

router = APIRouter()
log = structlog.get_logger("sandtable.server")


@router.websocket("/v2/stream/{session_id}", name="v2_stream")
async def stream(websocket: WebSocket, session_id: str) -> None:
    """`?after=SEQ` is the last message that the client has; without it, the newest query is sent from its start."""
    after = websocket.query_params.get("after", "")
    last_seq = int(after) if _NUMBER.fullmatch(after) else None
    # Browsers pass on the close reason only for an accepted connection.
    await websocket.accept()
    ending = await _served(websocket, session_id, last_seq)
    if ending is None:
        return
    code, reason = ending
    log.info("stream_closed", thread_id=session_id[:128], code=code, reason=reason)
    try:
        await websocket.close(code, reason.encode()[:_REASON_BYTES].decode(errors="ignore"))
    except (WebSocketDisconnect, RuntimeError):
        # The client closed it at the same moment.
        return


async def _served(websocket: WebSocket, session_id: str, after: int | None) -> Ending | None:
    """How to close the connection; None when the client is gone."""
    listeners: Listeners = websocket.app.state.listeners
    conversation: LazyConversation = websocket.app.state.conversation
    try:
        with listeners.join(session_id, user_of(websocket)) as news:
            talk = await conversation.get()
            await talk.thread(session_id)
            following = Following(talk, session_id, after, news)
            # Another server may accept a query of this session.
            with talk.store.news.watch(session_id, news):
                return await _until_first(
                    _send(websocket, following), _receive(websocket, following), _leave(listeners)
                )
    except NotFound:
        return UNKNOWN, f"no session {session_id[:60]}"
    except WebSocketDisconnect:
        return None
    except SandtableError as error:
        return TRY_LATER, error.message
    except Exception:
        log.exception("stream_broke", thread_id=session_id[:128])
        return BROKEN, "the server met an unexpected error"


async def _until_first(*works: Any) -> Ending | None:
    """What the first of them returns or raises; the others are cancelled."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return next(task for task in tasks if task in done).result()


async def _send(websocket: WebSocket, following: Following) -> Ending:
    async with aclosing(following.messages()) as messages:
        async for one in messages:
            message = {"type": one.message.type, "payload": one.message.payload, "seq": one.seq}
            try:
                async with asyncio.timeout(SEND_S):
                    await websocket.send_text(encode(message))
            except TimeoutError:
                return TRY_LATER, "the messages were not taken fast enough; come back with ?after="
    raise AssertionError("messages do not end by themselves")


async def _receive(websocket: WebSocket, following: Following) -> Ending | None:
    """Handles messages of the client; returns when it disconnects, or after MOST_MISTAKES invalid messages."""
    mistakes = 0
    while mistakes < MOST_MISTAKES:
        message = await websocket.receive()
        if message["type"] == "websocket.disconnect":
            return None
        trouble = await following.cancel() if _is_cancel(message) else _NOT_UNDERSTOOD
        if trouble is not None:
            mistakes += 1
            await websocket.send_text(encode({"type": "error", "payload": trouble, "seq": None}))
    return REFUSED, "too many messages that this stream does not accept"


def _is_cancel(message: Any) -> bool:
    text = message.get("text") or ""
    if not 0 < len(text) <= LONGEST_SAID:
        return False
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(said, dict) and said.get("type") == "cancel"


async def _leave(listeners: Listeners) -> Ending:
    await listeners.closing.wait()
    return GOING_AWAY, "the server is stopping; come back with ?after="
