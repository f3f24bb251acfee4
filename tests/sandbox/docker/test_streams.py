"""What comes out of a container is demultiplexed, and bounded before it is kept."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import pytest

from sandtable.sandbox.docker.streams import OVERLONG, Streams


class _Scripted:
    """A connection on which the engine sends these parts and then ends it."""

    def __init__(self, parts: Sequence[bytes]) -> None:
        self._parts = iter(parts)
        self.closed = False

    async def read(self) -> bytes:
        return next(self._parts, b"")

    async def write(self, data: bytes) -> None:
        raise AssertionError("nothing is sent here")

    async def aclose(self) -> None:
        self.closed = True


def _piece(stream: int, content: bytes) -> bytes:
    return struct.pack(">BxxxI", stream, len(content)) + content


async def _heard(content: bytes, *, step: int = 1 << 20, most_bytes: int = 1000) -> tuple[Sequence[Any], str]:
    connection = _Scripted([content[start : start + step] for start in range(0, len(content), step)])
    streams = Streams(connection)
    streams.most_bytes = most_bytes
    heard: list[Any] = []
    while (message := await streams.next_message()) is not None:
        heard.append(message)
    assert await streams.next_message() is None
    assert not streams.open
    errors = streams.errors
    await streams.aclose()
    assert connection.closed
    return heard, errors


_CASES: dict[str, tuple[bytes, list[Any], str]] = {
    "nothing": (b"", [], ""),
    "one line": (_piece(1, b'{"a":1}\n'), [{"a": 1}], ""),
    "two lines in one piece": (_piece(1, b'{"a":1}\n{"a":2}\n'), [{"a": 1}, {"a": 2}], ""),
    "a line in pieces, errors between": (
        _piece(1, b'{"a"') + _piece(2, b"oh") + _piece(1, b":1}\n"), [{"a": 1}], "oh",
    ),
    "what is no JSON object": (_piece(1, b'hello\n[1]\n"x"\n\n{"a":NaN}\n{"a":"\\ud800"}\n{"a":1}\n'), [{"a": 1}], ""),
    "a line without an end": (_piece(1, b'{"a":1}'), [], ""),
    "a line that is too long": (
        _piece(1, b'{"a":"' + b"x" * 2000 + b'"}\n{"a":1}\n'), [{"kind": OVERLONG}, {"a": 1}], "",
    ),
    "a piece that is cut off": (_piece(1, b'{"a":1}\n') + struct.pack(">BxxxI", 1, 100) + b"{", [{"a": 1}], ""),
    "deep nesting": (_piece(1, b"[" * 900 + b"\n") + _piece(1, b'{"a":1}\n'), [{"a": 1}], ""),
    "a stream of another number": (_piece(7, b'{"a":1}\n'), [], ""),
}  # fmt: skip


@pytest.mark.parametrize("step", [1 << 20, 1, 7])
@pytest.mark.parametrize(("content", "messages", "errors"), _CASES.values(), ids=list(_CASES))
async def test_taken_apart(content: bytes, messages: list[Any], errors: str, step: int) -> None:
    assert await _heard(content, step=step) == (messages, errors)


async def test_errors_are_bounded() -> None:
    _, errors = await _heard(_piece(2, b"x" * 1_000_000))
    assert len(errors) == 64 << 10
