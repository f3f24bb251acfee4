"""Checks the bytes of an untrusted ZeroMQ peer before the library reads them.

The library bounds one frame, not the number of frames in a message: a peer that never ends its message would fill the
memory. Invariant: pure; bytes that pass `feed` make messages within the bounds, in version 3 of the protocol
(https://rfc.zeromq.org/spec/23/) and no other.
"""

from __future__ import annotations

MOST_FRAMES = 64
_GREETING = 64
_SIGNATURE_END = 9
_MAJOR, _MINOR = 10, 11
_MORE, _LONG, _COMMAND = 1, 2, 4
_MOST_COMMAND_BYTES = 4096
_MOST_COMMANDS = 64
"""Limit between two messages."""


class OutOfBounds(Exception):
    """The bytes violate the protocol or exceed a bound."""


class Watch:
    """Fed with every byte that the peer sends, in order."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._head = b""
        self._greeted = False
        self._left = 0
        """Bytes of the current frame that are still to come."""
        self._frames = 0
        self._bytes = 0
        self._commands = 0

    def feed(self, data: bytes) -> None:
        """Raises OutOfBounds. Only the header of a frame is examined."""
        at = 0
        while at < len(data):
            if self._left:
                step = min(self._left, len(data) - at)
                self._left -= step
                at += step
                continue
            missing = self._wanted() - len(self._head)
            self._head += data[at : at + missing]
            at += missing
            if len(self._head) >= self._wanted():
                self._understand()

    def _wanted(self) -> int:
        """The length of the header that is being read."""
        if not self._greeted:
            return _GREETING
        if not self._head:
            return 1
        return 9 if self._head[0] & _LONG else 2

    def _understand(self) -> None:
        head, self._head = self._head, b""
        if not self._greeted:
            self._greeted = True
            version = (head[_MAJOR], head[_MINOR])
            if head[0] != 0xFF or head[_SIGNATURE_END] != 0x7F or version not in ((3, 0), (3, 1)):
                raise OutOfBounds("the kernel does not use version 3 of its protocol")
            return
        flags, size = head[0], int.from_bytes(head[1:], "big")
        if flags & ~(_MORE | _LONG | _COMMAND):
            raise OutOfBounds("the kernel sent a frame of an unknown kind")
        if flags & _COMMAND:
            self._command(size)
        else:
            self._part(size, more=bool(flags & _MORE))
        self._left = size

    def _command(self, size: int) -> None:
        self._commands += 1
        if size > _MOST_COMMAND_BYTES or self._commands > _MOST_COMMANDS:
            raise OutOfBounds("the kernel sends commands instead of answers")

    def _part(self, size: int, *, more: bool) -> None:
        self._frames += 1
        self._bytes += size
        if self._frames > MOST_FRAMES:
            raise OutOfBounds(f"a message of the kernel has more than {MOST_FRAMES} parts")
        if self._bytes > self._most_bytes:
            raise OutOfBounds(f"a message of the kernel is over the limit of {self._most_bytes} bytes")
        if not more:
            self._frames = self._bytes = self._commands = 0
