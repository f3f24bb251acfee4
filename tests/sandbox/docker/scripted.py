"""An engine that says what it is told to: for what a healthy one cannot be brought to say."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

VERSION = {"ApiVersion": "1.45", "MinAPIVersion": "1.24", "Components": [{"Name": "Engine"}]}
INFO = {"NCPU": 2, "SecurityOptions": ["name=seccomp,profile=default"], "SystemTime": "2026-05-01T12:00:00Z"}
_SLOW_S = 0.4
Answers = dict[str, tuple[int, Any] | bytes]
"""End of the path → status and body, or the bytes to send before hanging up."""
WELL: Answers = {
    "/version": (200, VERSION),
    "/info": (200, INFO),
    "/json": (200, []),
}


@contextlib.asynccontextmanager
async def engine(
    folder: Path, answers: Answers, *, slow: str = "", answered: list[str] | None = None
) -> AsyncIterator[str]:
    """The address of its socket. The longest ending that fits answers; what ends with `slow` takes its time."""

    serving: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await answer(reader, writer)
        finally:
            writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.add(asyncio.create_task(serve(reader, writer)))

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            method, path = head.split()[0], head.split()[1].partition("?")[0]
            if slow and path.endswith(slow):
                await asyncio.sleep(_SLOW_S)
            if answered is not None:
                answered.append(f"{method} {path}")
            found = max((end for end in answers if path.endswith(end)), key=len, default=None)
            writer.write(_bytes(answers[found]) if found else _bytes((404, {"message": "page not found"})))
            await writer.drain()

    path = folder / "engine.sock"
    server = await asyncio.start_unix_server(accept, path)
    async with server:
        yield f"unix://{path}"
    for task in serving:
        task.cancel()
    await asyncio.gather(*serving, return_exceptions=True)


def _bytes(answer: tuple[int, Any] | bytes) -> bytes:
    if isinstance(answer, bytes):
        return answer
    status, body = answer
    content = json.dumps(body).encode()
    return (
        b"HTTP/1.1 %d X\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % (status, len(content)) + content
    )
