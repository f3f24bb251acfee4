"""Messages through a pipe: whole, cut short, or too long."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator

import pytest

from sandtable_runner.frames import MAX_JOB, read_frame, write_frame


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    read, write = os.pipe()
    yield read, write
    for fd in (read, write):
        try:
            os.close(fd)
        except OSError:
            # The test closed it already.
            continue


def test_a_message_comes_through(pipe: tuple[int, int]) -> None:
    message = {"text": "größe 🦆 \x00", "rows": [[1, None, "x"]]}
    write_frame(pipe[1], message)
    assert read_frame(pipe[0]) == message


def test_lone_surrogates_become_a_question_mark(pipe: tuple[int, int]) -> None:
    write_frame(pipe[1], {"text": "\ud800"})
    assert read_frame(pipe[0]) == {"text": "?"}


@pytest.mark.parametrize(
    "sent", [b"", b"\x00\x00", struct.pack(">I", 10) + b"{"], ids=["nothing", "half", "cut"]
)
def test_a_closed_channel_is_no_message(pipe: tuple[int, int], sent: bytes) -> None:
    os.write(pipe[1], sent)
    os.close(pipe[1])
    assert read_frame(pipe[0]) is None


def test_a_long_message_is_refused_before_it_is_read(pipe: tuple[int, int]) -> None:
    os.write(pipe[1], struct.pack(">I", MAX_JOB + 1))
    with pytest.raises(ValueError, match="over the limit"):
        read_frame(pipe[0])


def test_not_a_number_is_refused(pipe: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_frame(pipe[1], {"value": float("nan")})
