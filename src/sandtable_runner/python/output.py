"""Standard output and error of code, bounded while it is written: output over the limit takes no memory."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator


class Output(io.TextIOBase):
    """Keeps the first `limit` bytes of what is written, and notes at the end that there was more."""

    encoding = "utf-8"

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit
        self._left = limit
        self._parts: list[str] = []
        self._cut = False

    def writable(self) -> bool:
        return True

    def write(self, text: str, /) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() takes text, not {type(text).__name__}")
        if not self._cut:
            self._keep(text)
        return len(text)

    def _keep(self, text: str) -> None:
        # A character takes at least a byte, so the rest need not be encoded to know that it is too much.
        piece = text[: self._left + 1].encode(errors="replace")
        if len(piece) > self._left:
            self._cut = True
            piece = piece[: self._left]
        self._left -= len(piece)
        # Encoded and decoded, because a lone surrogate could not be sent.
        self._parts.append(piece.decode(errors="ignore"))

    @property
    def at_line_start(self) -> bool:
        last = next((part for part in reversed(self._parts) if part), "\n")
        return last.endswith("\n")

    def text(self) -> str:
        note = f"\n… [output truncated at {self._limit} bytes]" if self._cut else ""
        return "".join(self._parts) + note


@contextlib.contextmanager
def captured(limit: int) -> Iterator[tuple[Output, Output]]:
    """Captures both streams during a cell."""
    stdout, stderr = Output(limit), Output(limit)
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        yield stdout, stderr
