"""A collector on loopback: an HTTP server that reads what OTLP exporters post."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


@dataclass(frozen=True)
class SeenSpan:
    name: str
    trace: str
    id: str
    parent: str
    began: int
    ended: int
    failed: bool
    attributes: dict[str, Any]


@dataclass
class Receiver:
    url: str = ""
    status: int = 200
    delay_s: float = 0.0
    bodies: list[bytes] = field(default_factory=list)
    resource: dict[str, Any] = field(default_factory=dict)

    @property
    def spans(self) -> list[SeenSpan]:
        found: list[SeenSpan] = []
        for body in self.bodies:
            for group in ExportTraceServiceRequest.FromString(body).resource_spans:
                self.resource = _attributes(group.resource.attributes)
                found += [_seen(span) for scope in group.scope_spans for span in scope.spans]
        return found


def _seen(span: Any) -> SeenSpan:
    return SeenSpan(
        name=span.name,
        trace=span.trace_id.hex(),
        id=span.span_id.hex(),
        parent=span.parent_span_id.hex(),
        began=span.start_time_unix_nano,
        ended=span.end_time_unix_nano,
        failed=span.status.code == 2,
        attributes=_attributes(span.attributes),
    )


def _attributes(given: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in given}


@contextmanager
def receiver() -> Iterator[Receiver]:
    made = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            time.sleep(made.delay_s)
            if self.path == "/v1/traces" and made.status == 200:
                made.bodies.append(body)
            answer = ExportTraceServiceResponse().SerializeToString()
            self.send_response(made.status)
            self.send_header("content-type", "application/x-protobuf")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    made.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def children(spans: list[SeenSpan], of: SeenSpan) -> list[SeenSpan]:
    return [span for span in spans if span.parent == of.id]


def one(spans: list[SeenSpan], fits: str | Callable[[SeenSpan], bool]) -> SeenSpan:
    found = [span for span in spans if (span.name == fits if isinstance(fits, str) else fits(span))]
    assert len(found) == 1, (fits, [span.name for span in spans])
    return found[0]
