"""A web server on this machine that offers one file, and misbehaves as it is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread


@dataclass(slots=True)
class Web:
    content: bytes
    url: str = ""
    etag: str | None = '"v1"'
    last_modified: str | None = None
    content_type: str = "text/csv"
    ranges: bool = True
    """Whether a part can be asked for."""
    drop_after: list[int | None] = field(default_factory=list)
    """For each answer in turn: how many bytes of it are sent before the connection drops."""
    statuses: list[int] = field(default_factory=list)
    """Answers that come before the file."""
    length: bool = True
    headers: dict[str, str] = field(default_factory=dict)
    asked: list[dict[str, str]] = field(default_factory=list)
    """The headers of each request."""
    stall: Event | None = None
    """Sent half, then waits for this."""
    on_request: Callable[[], None] = lambda: None


@contextmanager
def serving(web: Web) -> Iterator[Web]:
    class Answer(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"

        def do_GET(self) -> None:
            _answer(web, self)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    web.url = f"http://127.0.0.1:{server.server_port}/award_data.csv"
    try:
        yield web
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _answer(web: Web, request: BaseHTTPRequestHandler) -> None:
    web.asked.append(dict(request.headers))
    web.on_request()
    if web.statuses:
        status = web.statuses.pop(0)
        request.send_response(status)
        if status in (301, 302):
            request.send_header("Location", web.headers["Location"])
        request.end_headers()
        return
    start = _start(web, request)
    if start is not None and start >= len(web.content):
        request.send_response(416)
        request.send_header("Content-Range", f"bytes */{len(web.content)}")
        request.end_headers()
        return
    body = web.content[start or 0 :]
    request.send_response(200 if start is None else 206)
    for name, value in _headers(web, start, body).items():
        request.send_header(name, value)
    request.end_headers()
    most = web.drop_after.pop(0) if web.drop_after else None
    if web.stall is not None:
        request.wfile.write(body[: len(body) // 2])
        request.wfile.flush()
        web.stall.wait(20)
        return
    request.wfile.write(body if most is None else body[:most])


def _headers(web: Web, start: int | None, body: bytes) -> dict[str, str]:
    made = {"Content-Type": web.content_type, **web.headers}
    if web.length:
        made["Content-Length"] = str(len(body))
    if web.etag is not None:
        made["ETag"] = web.etag
    if web.last_modified is not None:
        made["Last-Modified"] = web.last_modified
    if start is not None:
        made["Content-Range"] = f"bytes {start}-{len(web.content) - 1}/{len(web.content)}"
    return made


def _start(web: Web, request: BaseHTTPRequestHandler) -> int | None:
    """Where the part that was asked for begins; None when the whole is sent."""
    wanted = request.headers.get("Range")
    if wanted is None or not web.ranges:
        return None
    condition = request.headers.get("If-Range")
    if condition is not None and condition not in (web.etag, web.last_modified):
        return None
    return int(wanted.removeprefix("bytes=").removesuffix("-"))
