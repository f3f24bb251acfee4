"""Replies of a hostile chat model, as bytes on a real socket, and the server that sends them.

Each case has an id, the trouble that it ends in (or `None` for a reply that is used all the same) and what is sent:
pieces of bytes, pauses in seconds, or a reset. Pieces may go on for ever: what was sent is counted.
"""

from __future__ import annotations

import gzip
import json
import socket
import struct
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from itertools import chain, repeat
from pathlib import Path
from typing import Any, Literal

from sandtable.agent.model_trouble import Kind
from sandtable.settings import Settings
from tests.agent.models import wires
from tests.agent.models.asking import GOOD
from tests.agent.models.scripted import KEY

PASSWORD = "pa55word-of-ada"
RESET: Literal["reset"] = "reset"
FOR_EVER = 3600.0
Piece = bytes | float | Literal["reset"]
Play = Callable[[wires.Wire, dict[str, Any]], Iterable[Piece]]


@dataclass(frozen=True, slots=True)
class Hostile:
    id: str
    kinds: tuple[Kind | None, ...]
    play: Play


def head(status: str = "200 OK", *lines: str) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", "content-type: application/json", *lines, "", ""]).encode()


def _whole(body: bytes, status: str = "200 OK", *lines: str) -> bytes:
    return head(status, f"content-length: {len(body)}", *lines) + body


def _raw(*pieces: Piece) -> Play:
    return lambda wire, body: pieces


def _endless(first: bytes, again: bytes) -> Play:
    return lambda wire, body: chain([first], repeat(again))


def body_of(body: bytes, status: str = "200 OK", *lines: str) -> Play:
    return _raw(_whole(body, status, *lines))


def _says(text: str, finish: str = "stop") -> Play:
    """A well-formed reply of the wire with this text."""

    def play(wire: wires.Wire, body: dict[str, Any]) -> Iterable[Piece]:
        return [_whole(json.dumps(wires.reply(wire, body, wires.Told(text, finish, (11, 7)))).encode())]

    return play


def _good(change: Callable[[wires.Wire, dict[str, Any]], bytes | dict[str, Any]]) -> Play:
    """The good reply of the wire, changed as a whole."""

    def play(wire: wires.Wire, body: dict[str, Any]) -> Iterable[Piece]:
        made = change(wire, wires.reply(wire, body, wires.Told(json.dumps(GOOD), "stop", (11, 7))))
        return [_whole(made if isinstance(made, bytes) else json.dumps(made).encode())]

    return play


def _usage(value: Any) -> Play:
    names = ("prompt_tokens", "completion_tokens", "input_tokens", "output_tokens", "total_tokens")

    def change(wire: wires.Wire, said: dict[str, Any]) -> dict[str, Any]:
        if wire == "ollama":
            return {**said, "prompt_eval_count": value, "eval_count": value}
        return {**said, "usage": dict.fromkeys(names, value)}

    return _good(change)


_LISTS: dict[str, str] = {"openai": "choices", "responses": "output", "anthropic": "content"}


def _many(count: int) -> Play:
    """The list of the reply, so often; on Ollama's wire the calls of tools."""

    def change(wire: wires.Wire, said: dict[str, Any]) -> dict[str, Any]:
        if wire == "ollama":
            call = {"function": {"name": "reply", "arguments": {}}}
            return {**said, "message": {"role": "assistant", "content": "", "tool_calls": [call] * count}}
        return {**said, _LISTS[wire]: [{}] * count}

    return _good(change)


def _odd_blocks(wire: wires.Wire, said: dict[str, Any]) -> dict[str, Any]:
    odd = [
        None,
        3,
        "x",
        [],
        {"type": 7, "text": {"a": 1}},
        {"type": "image_url", "image_url": "file:///etc/passwd"},
    ]
    message = {"role": 7, "content": odd, "tool_calls": odd, "refusal": [None]}
    return {
        **said,
        "id": None,
        "model": 5,
        "choices": [{"message": message, "finish_reason": {}}],
        "output": [{"type": "message", "content": odd}, *odd],
        "content": odd,
        "stop_reason": [],
        "message": message,
        "done_reason": 4,
    }


def drip(first: bytes, every: bytes = b" ") -> Play:
    return lambda wire, body: chain([first], (piece for _ in repeat(0) for piece in (every, 0.05)))


@cache
def _bomb() -> bytes:
    return gzip.compress(b" " * (32 << 20), compresslevel=9)


_CHUNKED = head("200 OK", "transfer-encoding: chunked")
_PLAIN = json.dumps({"error": {"message": "no"}}).encode()
_QUOTED = json.dumps({"error": {"message": f"bad key {KEY}, {KEY.upper()} or {PASSWORD}"}}).encode()
_READS: tuple[Kind | None, ...] = ("unreadable",)
_ENDS: tuple[Kind | None, ...] = ("unreachable",)

CONNECTIONS = [
    Hostile("closes-at-once", _ENDS, _raw()),
    Hostile("resets-at-once", _ENDS, _raw(RESET)),
    Hostile("resets-in-the-head", _ENDS, _raw(b"HTTP/1.1 200 O", RESET)),
    Hostile("resets-in-the-body", _ENDS, _raw(head("200 OK", "content-length: 999"), b'{"a":', RESET)),
    Hostile("no-http", _ENDS, _raw(b"SSH-2.0-OpenSSH_9.9\r\n")),
    Hostile("binary", _ENDS, _raw(bytes(range(256)) * 64)),
    Hostile("tls-where-plain-was-asked-for", _ENDS, _raw(b"\x15\x03\x01\x00\x02\x02\x28")),
    Hostile("protocol-of-tomorrow", _READS, _raw(b"HTTP/9.9 200 OK\r\n\r\n")),
    Hostile("status-line-for-ever", _READS, _endless(b"HTTP/1.1 200 ", b"O" * 4096)),
    Hostile("headers-for-ever", _READS, _endless(b"HTTP/1.1 200 OK\r\n", b"x-more: yes\r\n" * 300)),
    Hostile("folded-header-for-ever", _READS, _endless(b"HTTP/1.1 200 OK\r\nx: y\r\n", b" z\r\n" * 1000)),
    Hostile("interim-answers-for-ever", _READS, _endless(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100)),
    Hostile(
        "another-protocol",
        _ENDS,
        _raw(b"HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
    ),
    Hostile("header-of-control-characters", _ENDS, _raw(b"HTTP/1.1 200 OK\r\na\x00b: \x01\r\n\r\n")),
    Hostile("two-lengths", _ENDS, _raw(head("200 OK", "content-length: 5", "content-length: 6"), b"123456")),
]
BODIES = [
    Hostile("chunks-for-ever", _READS, _endless(_CHUNKED, b"1000\r\n" + b" " * 4096 + b"\r\n")),
    Hostile("text-for-ever", _READS, _endless(head("200 OK", "connection: close"), b" " * 4096)),
    Hostile("ten-megabytes", _READS, body_of(b'{"a": "' + b"x" * (10 << 20) + b'"}')),
    Hostile("length-beyond-all", _READS, _endless(head("200 OK", f"content-length: {10**18}"), b" " * 4096)),
    Hostile("shorter-than-it-says", _ENDS, _raw(head("200 OK", "content-length: 999"), b"{}")),
    Hostile("chunks-of-one-byte", _READS, _endless(_CHUNKED, b"1\r\n \r\n" * 500)),
    Hostile("chunk-without-end", _READS, _endless(_CHUNKED + b"FFFFFFFFFFFF\r\n", b" " * 4096)),
    Hostile("chunk-name-for-ever", (*_READS, *_ENDS), _endless(_CHUNKED + b"1;", b"e" * 4096)),
    Hostile("chunk-of-nonsense", _ENDS, _raw(_CHUNKED, b"-5\r\nhello\r\n")),
    Hostile(
        "trailers-for-ever", (*_READS, *_ENDS), _endless(_CHUNKED + b"2\r\n{}\r\n0\r\n", b"x: y\r\n" * 500)
    ),
    Hostile("gzip-bomb", _READS, lambda wire, body: [_whole(_bomb(), "200 OK", "content-encoding: gzip")]),
    Hostile(
        "gzip-in-gzip",
        _READS,
        lambda wire, body: [_whole(gzip.compress(_bomb()), "200 OK", "content-encoding: gzip, gzip")],
    ),
    Hostile("deflate", _READS, body_of(zlib.compress(b"{}"), "200 OK", "content-encoding: deflate")),
    Hostile("unheard-of-encoding", _READS, body_of(b"{}", "200 OK", "content-encoding: x-zopfli")),
]
WAITS = [
    Hostile("silent", ("timeout",), _raw(FOR_EVER)),
    Hostile("silent-after-the-head", ("timeout",), _raw(head("200 OK", "content-length: 9"), FOR_EVER)),
    Hostile("head-drips", ("timeout",), drip(b"HTTP/1.1 200 OK\r\nx: ", b"y")),
    Hostile("body-drips", ("timeout",), drip(head("200 OK", "content-length: 99999"))),
]
STATUSES = [
    Hostile(
        "redirect-with-the-key",
        ("redirected",),
        body_of(b"", "307 Go", f"location: https://{KEY}.test/{KEY}"),
    ),
    Hostile("redirect-to-itself", ("redirected",), body_of(b"", "301 Go", "location: /v1/chat/completions")),
    Hostile("redirect-to-a-file", ("redirected",), body_of(b"", "302 Go", "location: file:///etc/passwd")),
    Hostile("redirect-to-nonsense", ("redirected",), body_of(b"", "308 Go", "location: http://[::1")),
    Hostile("401-quoting-secrets", ("refused_key",), body_of(_QUOTED, "401 No")),
    Hostile("400-quoting-secrets", ("rejected",), body_of(_QUOTED, "400 No")),
    Hostile("400-of-a-page", ("rejected",), body_of(b"<html>" + b"<p>" * 200_000, "400 No")),
    Hostile("403-for-ever", ("refused_key",), _endless(head("403 No", "connection: close"), b" " * 4096)),
    Hostile("500-in-gzip", ("provider_error",), body_of(b"\x1f\x8b", "500 No", "content-encoding: gzip")),
    Hostile("503-of-braces", ("provider_error",), body_of(b"{" * 60_000, "503 No")),
    Hostile(
        "429-in-superscript",
        ("rate_limit",),
        _raw(_whole(_PLAIN, "429 No").replace(b"application", b"x\r\nretry-after: \xb2\r\nx-a: b")),
    ),
    Hostile("429-for-aeons", ("rate_limit",), body_of(_PLAIN, "429 No", "retry-after: 999999999")),
    Hostile("429-in-the-past", ("rate_limit",), body_of(_PLAIN, "429 No", "retry-after: -1")),
    Hostile("999", ("provider_error",), body_of(_PLAIN, "999 No")),
    Hostile("error-in-200", ("provider_error",), body_of(_PLAIN)),
    Hostile(
        "error-in-200-with-its-status", ("refused_key",), body_of(b'{"error": {"code": 401, "message": 5}}')
    ),
]
FORMS = [
    Hostile("empty", _READS, body_of(b"")),
    Hostile("page", _READS, body_of(b"<html><h1>Welcome</h1></html>")),
    Hostile("nested-500000-deep", _READS, body_of(b"[" * 500_000)),
    Hostile("objects-100000-deep", _READS, body_of(b'{"a":' * 100_000)),
    Hostile("number-of-a-million-digits", _READS, body_of(b'{"choices": ' + b"9" * 1_000_000 + b"}")),
    Hostile("fraction-of-a-million-digits", _READS, body_of(b'{"choices": 0.' + b"7" * 1_000_000 + b"}")),
    Hostile("a-hundred-thousand-values", _READS, body_of(b'{"choices": [' + b"1," * 100_000 + b"1]}")),
    Hostile("utf-16", _READS, _good(lambda wire, said: json.dumps(said).encode("utf-16"))),
    Hostile("not-utf-8", _READS, _good(lambda wire, said: json.dumps(said).encode() + b"\xff\xfe")),
    Hostile(
        "byte-order-mark", (None,), _good(lambda wire, said: b"\xef\xbb\xbf" + json.dumps(said).encode())
    ),
    Hostile(
        "events-unasked", _READS, _good(lambda wire, said: b"data: " + json.dumps(said).encode() + b"\n\n")
    ),
    Hostile("lines-unasked", _READS, _good(lambda wire, said: (json.dumps(said) + "\n").encode() * 3)),
    Hostile(
        "empty-lists",
        _READS,
        _good(lambda wire, said: {"choices": [], "output": [], "content": [], "message": []}),
    ),
    Hostile("many-choices", _READS, _many(15_000)),
    Hostile("odd-blocks", _READS, _good(_odd_blocks)),
    Hostile("negative-usage", (None,), _usage(-5)),
    Hostile("usage-beyond-all", (None,), _usage(10**300)),
    Hostile("usage-in-words", (None,), _usage("a lot")),
    Hostile("nested-usage", (None,), _usage({"a": [1]})),
    Hostile("usage-of-truth", (None,), _usage(True)),
    Hostile(
        "infinite-usage", _READS, _good(lambda wire, said: json.dumps({**said, "usage": 1e999}).encode())
    ),
]
TEXTS = {
    "200000-braces": "{" * 200_000,
    "15000-braces": "{" * 15_000,
    "objects-begun": '{"a":' * 12_000,
    "texts-begun": '{"a":"' * 10_000,
    "brackets-begun": "[" * 15_000,
    "fences-begun": "```json\n{" * 6_000,
    "fence-of-blank-lines": "```" + "\n" * 60_000,
    "fences-of-python": "```python\n" * 6_000,
    "backticks": "`" * 60_000,
    "thoughts-begun": "<think>" * 35_000,
    "thoughts-ended": "</think>" * 30_000,
    "quarter-of-a-million-spaces": " " * 250_000,
    "object-nested-too-deeply": '{"intent":' + '{"a":' * 900 + "1" + "}" * 901,
    "digits": '{"intent": "plan", "plan": {"limit": ' + "9" * 50_000 + "}}",
    "half-a-character": '{"intent": "talk", "text": "\\ud800"}',
    "nul": '{"intent": "sql", "sql": "SELECT 1\\u0000"}',
    "wrong-suggestions": json.dumps({"intent": "ask_back", "suggestions": [1] * 9_000}),
    "steps-of-everything": json.dumps({"steps": [None, 5, {}, {"goal": [1]}, "x " * 9_000, *["y"] * 9_000]}),
    "code-of-everything": json.dumps({"code": ["x"], "thought": {"a": "b"}, "diagnosis": [[]]}),
    "code-for-a-careless-reader": json.dumps({"intent": "(" * 30_000}),
    "prose": "I would rather not. " * 1_000,
}
"""Of which no proposal can be read."""
ENDINGS = [
    Hostile("declined", ("filtered", "unreadable"), _says("No.", finish="filtered")),
    Hostile("cut-off", ("too_long",), _says('{"intent": "plan", "plan": {', finish="length")),
]
HOSTILE = [
    *CONNECTIONS,
    *BODIES,
    *WAITS,
    *STATUSES,
    *FORMS,
    *(Hostile(name, _READS, _says(text)) for name, text in TEXTS.items()),
    *ENDINGS,
]


class HostileServer:
    def __init__(self) -> None:
        self.play: Play = _raw()
        self.sent = 0
        """Bytes that were taken off its hands since `play` was set."""
        self.requests: list[bytes] = []
        self._ended = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]

    def plays(self, play: Play) -> None:
        self.play, self.sent = play, 0
        self.requests.clear()

    def settings(self, wire: str, home: Path, **more: Any) -> Settings:
        base = f"http://ada:{PASSWORD}@127.0.0.1:{self.port}" + ("/v1" if wire == "openai" else "")
        given = {"model": f"{wire}:hostile", "model_base_url": base, "home": home, **more}
        return Settings.model_validate(
            given | {"SANDTABLE_OPENAI_API_KEY": KEY, "SANDTABLE_ANTHROPIC_API_KEY": KEY}
        )

    def serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def close(self) -> None:
        self._ended.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            # Little is kept for a client that does not read.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16 << 10)
            path, body = self._request(connection)
            # A proxy is asked for a host, not for a path.
            for piece in self.play(wires.wire_of(path) or "openai", body):
                if self._ended.is_set() or not self._give(connection, piece):
                    return
            # Closing with something unread would reset the connection.
            connection.shutdown(socket.SHUT_WR)
            connection.settimeout(5)
            while connection.recv(4096):
                pass

    def _give(self, connection: socket.socket, piece: Piece) -> bool:
        """Whether to go on."""
        if isinstance(piece, bytes):
            connection.sendall(piece)
            self.sent += len(piece)
            return True
        if isinstance(piece, float):
            return not self._ended.wait(piece)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False

    def _request(self, connection: socket.socket) -> tuple[str, dict[str, Any]]:
        got = _more(connection)
        while b"\r\n\r\n" not in got:
            got += _more(connection)
        lines, _, body = got.partition(b"\r\n\r\n")
        self.requests.append(lines)
        first, *named = lines.split(b"\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in named)
        while len(body) < int(fields.get(b"content-length", 0)):
            body += _more(connection)
        return first.split(b" ")[1].decode(), json.loads(body or b"{}")


def _more(connection: socket.socket) -> bytes:
    got = connection.recv(65536)
    if not got:
        raise ConnectionResetError
    return got


@contextmanager
def start_hostile() -> Iterator[HostileServer]:
    server = HostileServer()
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join()
