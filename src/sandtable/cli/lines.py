"""Lines of a file or of stdin, as they arrive.

Invariant: no thread waits for stdin, so an interrupted command ends at once; at most one line and
one chunk are in memory, however long a line is.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager

from sandtable.errors import InvalidInput

MOST_LINE = 8 << 20
_CHUNK = 1 << 18


async def lines_of(source: str) -> AsyncGenerator[tuple[int, bytes], None]:
    """Number and bytes of each non-blank line. A longer one is cut after `MOST_LINE` + 1 bytes."""
    number = 0
    with _opened(source) as descriptor:
        async for line in _split(descriptor):
            number += 1
            if line.strip():
                yield number, line


async def _split(descriptor: int) -> AsyncGenerator[bytes, None]:
    held = bytearray()
    while chunk := await _read(descriptor):
        *whole, rest = chunk.split(b"\n")
        for part in whole:
            held += part
            yield bytes(held[: MOST_LINE + 1])
            held.clear()
        held += rest
        del held[MOST_LINE + 1 :]
    if held:
        yield bytes(held)


async def _read(descriptor: int) -> bytes:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    try:
        loop.add_reader(descriptor, ready.set)
    except PermissionError:
        return os.read(descriptor, _CHUNK)  # a file on disk is always ready
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)
    return os.read(descriptor, _CHUNK)


@contextmanager
def _opened(source: str) -> Generator[int, None, None]:
    own: int | None = None
    try:
        descriptor = sys.stdin.fileno() if source == "-" else os.open(source, os.O_RDONLY | os.O_CLOEXEC)
        own = None if source == "-" else descriptor
        yield descriptor
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInput(f"cannot read {source}: {reason}", suggestion="Check the path.") from error
    finally:
        if own is not None:
            os.close(own)
