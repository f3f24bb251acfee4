"""Work that is cancelled when its client disconnects."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from fastapi import Request
from starlette.exceptions import HTTPException

from sandtable.stopping import stopped

T = TypeVar("T")

CLIENT_CLOSED = 499
"""A status for the log: the client does not get it."""


async def gone(request: Request) -> None:
    """Returns when the client has disconnected. The body of the request must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def while_there(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """What `work` returns or raises. It is cancelled when the client disconnects."""
    doing = asyncio.create_task(work)
    leaving = asyncio.create_task(gone(request))
    try:
        await asyncio.wait((doing, leaving), return_when=asyncio.FIRST_COMPLETED)
        if doing.done():
            return doing.result()
        raise HTTPException(CLIENT_CLOSED, "the client hung up before the answer was there")
    finally:
        await stopped(doing, leaving)
