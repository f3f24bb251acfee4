"""Server-sent events: one frame per event, and a comment as a heartbeat."""

from __future__ import annotations

from collections.abc import AsyncIterator

from starlette.datastructures import Headers
from starlette.responses import StreamingResponse
from starlette.types import Message

HEARTBEAT = b": heartbeat\n\n"


def frame(name: str, data: str, number: int | None = None) -> bytes:
    """`data` is JSON on one line."""
    numbered = "" if number is None else f"id: {number}\n"
    return f"{numbered}event: {name}\ndata: {data}\n\n".encode()


def is_event_stream(start: Message) -> bool:
    """Whether this message starts a response of server-sent events."""
    return Headers(scope=start).get("content-type", "").startswith(EventStream.media_type)


class EventStream(StreamingResponse):
    media_type = "text/event-stream"

    def __init__(self, frames: AsyncIterator[bytes], headers: dict[str, str] | None = None) -> None:
        # Disables buffering in proxies: events must arrive at once.
        super().__init__(frames, headers={"X-Accel-Buffering": "no", **(headers or {})})
