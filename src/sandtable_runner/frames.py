"""Messages between the server and a sandbox: four bytes of length, then JSON. Plain reads and writes only."""

from __future__ import annotations

import json
import os
import struct
from typing import Any

_LENGTH = struct.Struct(">I")
MAX_JOB = 64 << 20


def read_frame(fd: int) -> dict[str, Any] | None:
    """None when the other side closed before a message began."""
    head = _read_exactly(fd, _LENGTH.size)
    if head is None:
        return None
    (length,) = _LENGTH.unpack(head)
    if length > MAX_JOB:
        raise ValueError(f"a job of {length} bytes is over the limit of {MAX_JOB}")
    body = _read_exactly(fd, length)
    return None if body is None else json.loads(body)


def _read_exactly(fd: int, count: int) -> bytes | None:
    parts: list[bytes] = []
    while count:
        part = os.read(fd, min(count, 1 << 20))
        if not part:
            return None
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def encode_frame(message: dict[str, Any]) -> bytes:
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode(
        errors="replace"
    )
    return _LENGTH.pack(len(body)) + body


def write_frame(fd: int, message: dict[str, Any]) -> None:
    view = memoryview(encode_frame(message))
    while view:
        view = view[os.write(fd, view) :]
