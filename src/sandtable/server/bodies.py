"""The bodies of requests: read completely and within bounds before they are parsed, and replayed; or streamed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive

from sandtable.errors import InvalidInput
from sandtable.server.hanging_up import CLIENT_CLOSED

BLOCK = 1 << 20
STALLED_S = 60.0


class Stalled(InvalidInput):
    """No byte of a body arrived for too long."""


async def read_body(headers: Headers, receive: Receive, limit: int, seconds: float) -> bytes | int:
    """The complete body, or the HTTP status that says why it was not read."""
    declared = headers.get("content-length", "")
    if declared.isdecimal() and (len(declared) > 12 or int(declared) > limit):
        return 413
    chunks: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return 400
                chunks.append(message.get("body", b""))
                size += len(chunks[-1])
                if size > limit:
                    return 413
                if not message.get("more_body", False):
                    return b"".join(chunks)
    except TimeoutError:
        return 408


def replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the application the same body again."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


async def blocks(receive: Receive, seconds: float = STALLED_S) -> AsyncGenerator[bytes, None]:
    """The body in blocks of about BLOCK bytes; the caller bounds their number.

    What has arrived is yielded before it raises: Stalled when nothing came for so many seconds, HTTPException when the
    client disconnected.
    """
    held = bytearray()
    failure: Exception | None = None
    more = True
    while more:
        try:
            async with asyncio.timeout(seconds):
                message = await receive()
        except TimeoutError:
            failure = Stalled(
                f"no byte of the body arrived for {seconds:g} s", suggestion="Send the rest again."
            )
            break
        if message["type"] == "http.disconnect":
            failure = HTTPException(CLIENT_CLOSED, "the client hung up before the body was complete")
            break
        held += message.get("body", b"")
        more = message.get("more_body", False)
        if len(held) >= BLOCK:
            yield bytes(held)
            held.clear()
    if held:
        yield bytes(held)
    if failure is not None:
        raise failure
