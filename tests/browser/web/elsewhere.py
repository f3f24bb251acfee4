"""A host that is not ours, which hears of everything that is loaded from it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


class _Heard(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.server.heard.append(self.path)  # pyright: ignore[reportAttributeAccessIssue]  # set below
        self.send_response(200)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()

    do_POST = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on the terminal."""


@contextmanager
def elsewhere() -> Iterator[tuple[str, list[str]]]:
    """Its address, and the list of what was asked of it."""
    heard: list[str] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Heard)
    server.heard = heard  # pyright: ignore[reportAttributeAccessIssue]  # read by the handler
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", heard
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
