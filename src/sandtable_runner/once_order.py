"""How the one order of a container arrives: on standard input, in a file, or over one connection with a token."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import os
import select
import socket
import struct
import time
import zlib
from pathlib import Path
from typing import Any, Protocol

from sandtable_runner.frames import MAX_JOB
from sandtable_runner.modes import MODES

_LENGTH = struct.Struct(">I")
_MOST_TOKEN = 512
_TOKEN_S = 2.0
_TEXTS = ("id", "mode", "text")
_LIMITS = ("wall_ms", "rows", "cell_bytes", "result_bytes", "log_bytes")
_CELL = ("folder", "staging", "memory_mb", "tmp_mb", "file_mb", "cpu_s", "pids")


class BadOrder(Exception):
    """The input is not a valid order. The message says why."""


class Abandoned(Exception):
    """The receiver of the report is gone."""


class Inlet(Protocol):
    fd: int
    """Its end means that the receiver of the report is gone; -1 when there is none."""
    answers: bool
    """Whether the report goes back the same way."""

    def take(self, deadline: float) -> dict[str, Any]:
        """Raises BadOrder and Abandoned."""
        ...


def open_inlet(kind: str, token_sha256: str) -> Inlet:
    """Raises OSError and ValueError."""
    name, _, where = kind.partition(":")
    if name == "stdin" and not where:
        return _Stdin()
    if name == "file":
        return _File(where)
    if name == "tcp":
        return _Tcp(int(where), token_sha256)
    raise ValueError("it is `stdin`, `file:/path` or `tcp:port`")


def check(order: dict[str, Any], kind: str, ready: dict[str, Any]) -> None:
    """Checks that the order has all that the child needs, and fits this container. The text itself is not checked."""
    missing = [
        name for name in (*_TEXTS, "data", "limits", "cell", "threads", "options") if name not in order
    ]
    if missing:
        raise BadOrder(f"the order has no {', '.join(missing)}")
    mode, limits, cell = order["mode"], order["limits"], order["cell"]
    if mode not in MODES and mode != "python":
        raise BadOrder(f"a container does not do jobs of mode {mode!r}")
    if (mode == "python") != (kind == "py"):
        raise BadOrder(f"a container of kind {kind!r} does not do jobs of mode {mode!r}")
    if not all(isinstance(order[name], str) for name in _TEXTS) or not isinstance(order["options"], dict):
        raise BadOrder("the order's id, mode and text must be text, its options an object")
    if not isinstance(limits, dict) or not all(_is_count(limits.get(name)) for name in _LIMITS):
        raise BadOrder(f"the order's limits must say {', '.join(_LIMITS)} as numbers")
    if not isinstance(cell, dict) or set(cell) != set(_CELL):
        raise BadOrder(f"the order's cell must say {', '.join(_CELL)}")
    if ready.get("presealed") and cell != ready["cell"]:
        raise BadOrder("the sandbox was sealed for other data or limits than the order's")


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


class _Stdin:
    fd = 0
    answers = False

    def take(self, deadline: float) -> dict[str, Any]:
        return _read_frame(self.fd, deadline)


class _File:
    """Base64 of zlib of JSON, read before the file tree is hidden."""

    fd = -1
    answers = False

    def __init__(self, path: str) -> None:
        with Path(path).open("rb") as file:
            self._content = file.read(MAX_JOB)

    def take(self, deadline: float) -> dict[str, Any]:
        try:
            packed = base64.b64decode(self._content.strip(), validate=True)
            unpacker = zlib.decompressobj()
            body = unpacker.decompress(packed, MAX_JOB)
        except (binascii.Error, zlib.error) as error:
            raise BadOrder(f"the order's file is not base64 of zlib: {error}") from error
        if unpacker.unconsumed_tail or not unpacker.eof:
            raise BadOrder(f"the order is cut off, or has more than {MAX_JOB} bytes")
        return _read_json(body)


class _Tcp:
    """One connection that knows the token; others are closed, and the wait continues."""

    answers = True

    def __init__(self, port: int, token_sha256: str) -> None:
        if len(token_sha256) != hashlib.sha256().digest_size * 2:
            raise ValueError("`token_sha256` must be the SHA-256 of the token, as hexadecimal digits")
        self._token_sha256 = token_sha256
        self.fd = -1
        both = socket.has_dualstack_ipv6()
        self._listener = socket.create_server(
            ("", port), family=socket.AF_INET6 if both else socket.AF_INET, dualstack_ipv6=both, backlog=4
        )

    def take(self, deadline: float) -> dict[str, Any]:
        while True:
            _await(self._listener.fileno(), deadline)
            connection, _ = self._listener.accept()
            if self._is_known(connection.fileno(), min(deadline, time.monotonic() + _TOKEN_S)):
                self._listener.close()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.fd = connection.detach()
                return _read_frame(self.fd, deadline)
            connection.close()

    def _is_known(self, fd: int, deadline: float) -> bool:
        line = bytearray()
        try:
            while not line.endswith(b"\n"):
                if len(line) > _MOST_TOKEN:
                    return False
                # Byte by byte: what follows the line belongs to the order.
                line += _read_exactly(fd, 1, deadline)
        except Abandoned:
            return False
        found = hashlib.sha256(bytes(line).rstrip(b"\r\n")).hexdigest()
        return hmac.compare_digest(found, self._token_sha256)


def _read_frame(fd: int, deadline: float) -> dict[str, Any]:
    (length,) = _LENGTH.unpack(_read_exactly(fd, _LENGTH.size, deadline))
    if length > MAX_JOB:
        raise BadOrder(f"an order of {length} bytes is over the limit of {MAX_JOB}")
    return _read_json(_read_exactly(fd, length, deadline))


def _read_json(body: bytes) -> dict[str, Any]:
    try:
        order = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadOrder(f"the order is not JSON: {error}") from error
    if not isinstance(order, dict):
        raise BadOrder("the order is not a JSON object")
    return order


def _read_exactly(fd: int, count: int, deadline: float) -> bytes:
    parts: list[bytes] = []
    while count:
        _await(fd, deadline)
        try:
            part = os.read(fd, min(count, 1 << 20))
        except ConnectionError:
            part = b""
        if not part:
            raise Abandoned
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _await(fd: int, deadline: float) -> None:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    if not poll.poll(max(0.0, deadline - time.monotonic()) * 1e3):
        raise Abandoned
