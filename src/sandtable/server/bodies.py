"""Reads the body of a request completely and within bounds before it is parsed, and replays it."""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers
from starlette.types import Message, Receive


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
