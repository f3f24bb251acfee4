"""A chat model on loopback that says what a test tells it to, on the wires of OpenAI, Anthropic and Ollama.

    with start_scripted([Fail(500), Say({"intent": "plan", "plan": plan})]) as server:
        settings = server.settings("openai", tmp_path)
        ...
        assert len(server.requests) == 2

Each request takes the next step, and the last step stands for all that follow. A script may also be a
function from a request to a step. Every request is kept. Which features the endpoint refuses (400) is said
with `refuses`; refused requests take no step.
"""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

from sandtable.settings import Settings
from tests.agent.models import wires

KEY = "sk-scripted-0123456789abcdef"
Feature = Literal["json_schema", "tools", "json_object"]


@dataclass(frozen=True, slots=True)
class Say:
    """A reply: an object becomes JSON, put where the request wants it (a tool call or the text)."""

    what: Mapping[str, Any] | str
    finish: Literal["stop", "length", "filtered"] = "stop"
    tokens: tuple[int, int] = (11, 7)


@dataclass(frozen=True, slots=True)
class Call:
    """The call of a tool; arguments that are a text are sent as they are."""

    tool: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    content: str | None = None


@dataclass(frozen=True, slots=True)
class Fail:
    status: int
    message: str = "scripted failure"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Late:
    """The reply, after a while without a byte."""

    seconds: float
    then: Say


@dataclass(frozen=True, slots=True)
class Slow:
    """As a small model on a processor: silent while it reads the prompt, then the reply in pieces as it is written."""

    reading_s: float
    then: Say
    writing_s: float = 0.2
    pieces: int = 10


@dataclass(frozen=True, slots=True)
class Stall:
    """Never ends: silent from the start, or after the headers and a first piece of the reply."""

    after: Literal["nothing", "first_piece"] = "first_piece"


@dataclass(frozen=True, slots=True)
class Garbage:
    """A 200 whose body is not what the wire promises."""

    body: str = "{}"


@dataclass(frozen=True, slots=True)
class Hangup:
    """The connection ends without an answer."""


Step = Say | Call | Late | Slow | Fail | Stall | Garbage | Hangup
Script = Sequence[Step] | Callable[["Request"], Step]


@dataclass(frozen=True, slots=True)
class Request:
    wire: wires.Wire
    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def features(self) -> frozenset[Feature]:
        return wires.features_of(self.wire, self.body)

    @property
    def prompt(self) -> str:
        """Everything the model would read."""
        return wires.prompt_of(self.wire, self.body)


class Scripted:
    def __init__(self, script: Script, refuses: frozenset[str]) -> None:
        self.requests: list[Request] = []
        self.ended = threading.Event()
        self._script, self._refuses = script, refuses
        self._taken = 0
        self._lock = threading.Lock()
        self.url = ""

    def settings(self, wire: str, home: Path, **more: Any) -> Settings:
        """Settings of a person who uses this server as `wire`'s."""
        keys = {"SANDTABLE_OPENAI_API_KEY": KEY, "SANDTABLE_ANTHROPIC_API_KEY": KEY}
        given = {"model": f"{wire}:scripted", "model_base_url": self.base_url(wire), "home": home, **more}
        return Settings.model_validate(keys | given)

    def base_url(self, wire: str) -> str:
        return self.url + "/v1" if wire == "openai" else self.url

    def said(self) -> str:
        """All that ever reached the server, headers apart."""
        with self._lock:
            return "\n".join(json.dumps(request.body, ensure_ascii=False) for request in self.requests)

    def step(self, request: Request) -> Step:
        with self._lock:
            self.requests.append(request)
            if refused := sorted(self._refuses & request.features):
                return Fail(400, f"this model does not support {refused[0]}")
            if callable(self._script):
                return self._script(request)
            step = self._script[min(self._taken, len(self._script) - 1)]
            self._taken += 1
            return step


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, scripted: Scripted, tls: ssl.SSLContext | None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.scripted = scripted
        if tls is not None:
            # The handshake is the handler's affair: a failed one must not end the server.
            self.socket = tls.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that does not trust the certificate hangs up, which is no error of the server."""


@contextmanager
def start_scripted(
    script: Script, *, refuses: Sequence[Feature] = (), tls: ssl.SSLContext | None = None
) -> Iterator[Scripted]:
    scripted = Scripted(script, frozenset(refuses))
    server = _Server(scripted, tls)
    scripted.url = f"http{'s' if tls else ''}://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield scripted
    finally:
        scripted.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Quiet: the requests are kept instead."""

    def do_POST(self) -> None:
        assert isinstance(self.server, _Server)
        scripted = self.server.scripted
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length) or b"{}")
        wire = wires.wire_of(self.path)
        if wire is None:
            self._send(404, {"error": {"message": f"no {self.path} here"}})
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(wire, self.path, headers, body)
        try:
            self._play(request, scripted.step(request), scripted.ended)
        except (BrokenPipeError, ConnectionResetError):
            return

    def _play(self, request: Request, step: Step, ended: threading.Event) -> None:
        if isinstance(step, Say):
            self._say(request, step)
        elif isinstance(step, Call):
            text = step.arguments if isinstance(step.arguments, str) else json.dumps(step.arguments)
            told = wires.Told(text, "stop", (11, 7), step.tool, step.content)
            self._send(200, wires.reply(request.wire, request.body, told))
        elif isinstance(step, Late):
            ended.wait(step.seconds)
            self._say(request, step.then)
        elif isinstance(step, Slow):
            ended.wait(step.reading_s)
            self._write_slowly(request, step, ended)
        elif isinstance(step, Fail):
            self._send(step.status, wires.failure(request.wire, step.status, step.message), step.headers)
        elif isinstance(step, Garbage):
            self._raw(200, "application/json", step.body.encode())
        elif isinstance(step, Stall):
            self._stall(request, step)
            ended.wait()

    def _say(self, request: Request, step: Say) -> None:
        text = step.what if isinstance(step.what, str) else json.dumps(step.what)
        told = wires.Told(text, step.finish, step.tokens)
        self._send(200, wires.reply(request.wire, request.body, told))

    def _write_slowly(self, request: Request, step: Slow, ended: threading.Event) -> None:
        text = step.then.what if isinstance(step.then.what, str) else json.dumps(step.then.what)
        told = wires.Told(text, step.then.finish, step.then.tokens)
        body = json.dumps(wires.reply(request.wire, request.body, told)).encode()
        self._head(200, "application/json", {"content-length": str(len(body))})
        size = len(body) // step.pieces + 1
        for start in range(0, len(body), size):
            self.wfile.write(body[start : start + size])
            self.wfile.flush()
            ended.wait(step.writing_s / step.pieces)

    def _stall(self, request: Request, step: Stall) -> None:
        if step.after == "first_piece":
            told = wires.Told('{"intent": "plan"}', "stop", (1, 1))
            whole = json.dumps(wires.reply(request.wire, request.body, told)).encode()
            self._head(200, "application/json", {})
            self.wfile.write(whole[:20])
            self.wfile.flush()

    def _send(self, status: int, what: Any, headers: Mapping[str, str] | None = None) -> None:
        self._raw(status, "application/json", json.dumps(what).encode(), headers or {})

    def _raw(self, status: int, kind: str, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self._head(status, kind, {**(headers or {}), "content-length": str(len(body))})
        self.wfile.write(body)

    def _head(self, status: int, kind: str, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
