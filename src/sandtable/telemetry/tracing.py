"""Traces by OpenTelemetry, exported by OTLP over HTTP. Loaded only where traces are switched on.

Invariant: an export happens on a thread of its own, from a bounded queue that drops what does not fit: a collector that
is slow or away costs an answer nothing. A span holds ids, codes, counts and times; of an exception, its type alone.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext

from opentelemetry import context, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import NonRecordingSpan, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from sandtable import __version__
from sandtable.observing import UNOBSERVED, Attribute, Link, Span

EXPORT_S = 10.0
"""For one request to the collector, on its own thread."""
CLOSE_S = 3.0
"""How long a server that ends waits for the last export."""
_LOGGED_EVERY_S = 60.0
_LOGGERS = (
    "opentelemetry.exporter.otlp.proto.http.trace_exporter",
    "opentelemetry.sdk._shared_internal",
)


class OtelTracer:
    """Implements `observing.Tracer`, and opens the spans of requests."""

    def __init__(self, provider: TracerProvider) -> None:
        self._tracer = provider.get_tracer("sandtable", __version__)

    @property
    def link(self) -> str:
        here = trace.get_current_span().get_span_context()
        if not here.is_valid:
            return ""
        return f"00-{here.trace_id:032x}-{here.span_id:016x}-{int(here.trace_flags):02x}"

    def span(self, name: str, **attributes: Attribute | None) -> AbstractContextManager[Span]:
        return self._opened(name, attributes) if self.link else UNOBSERVED.tracer.span(name)

    def root(self, name: str, **attributes: Attribute | None) -> AbstractContextManager[Span]:
        return self._opened(name, attributes)

    def under(self, link: str) -> AbstractContextManager[None]:
        found = Link.read(link)
        if found is None:
            return nullcontext()
        flags = TraceFlags(found.flags & TraceFlags.SAMPLED)
        there = SpanContext(int(found.trace, 16), int(found.span, 16), is_remote=True, trace_flags=flags)
        return _current(NonRecordingSpan(there))

    def passed(self, name: str, began: float, ended: float, **attributes: Attribute | None) -> None:
        if self.link:
            span = self._tracer.start_span(name, start_time=_ns(began))
            OtelSpan(span).set(**attributes)
            span.end(_ns(max(began, ended)))

    def request(self, method: str) -> RequestSpan:
        """Ended by its caller, who knows the route only afterwards."""
        return RequestSpan(self._tracer.start_span(method, kind=SpanKind.SERVER), method)

    @contextmanager
    def _opened(self, name: str, attributes: dict[str, Attribute | None]) -> Generator[Span, None, None]:
        span = self._tracer.start_span(name)
        made = OtelSpan(span)
        made.set(**attributes)
        try:
            with _current(span):
                yield made
        except Exception as error:
            made.fail(type(error).__name__)
            raise
        except BaseException:
            # Cancelled: the end of a run or a turn says by whom.
            made.set(cancelled=True)
            raise
        finally:
            span.end()


class OtelSpan:
    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def set(self, **attributes: Attribute | None) -> None:
        for name, value in attributes.items():
            if value is not None:
                self._span.set_attribute(f"sandtable.{name}", value)

    def fail(self, code: str) -> None:
        self._span.set_attribute("error.type", code)
        self._span.set_status(Status(StatusCode.ERROR))


class RequestSpan:
    def __init__(self, span: trace.Span, method: str) -> None:
        self._span = span
        self._method = method

    def current(self) -> AbstractContextManager[None]:
        return _current(self._span)

    def end(self, route: str, status: int, request_id: str) -> None:
        self._span.update_name(f"{self._method} {route}")
        self._span.set_attributes(
            {
                "http.request.method": self._method,
                "http.route": route,
                "http.response.status_code": status,
                "sandtable.request_id": request_id,
            }
        )
        if status >= 500:
            self._span.set_attribute("error.type", str(status))
            self._span.set_status(Status(StatusCode.ERROR))
        self._span.end()


@contextmanager
def _current(span: trace.Span) -> Generator[None, None, None]:
    token = context.attach(trace.set_span_in_context(span))
    try:
        yield
    finally:
        context.detach(token)


def _ns(seconds: float) -> int:
    return int(seconds * 1e9)


@asynccontextmanager
async def open_tracing(endpoint: str, service: str) -> AsyncGenerator[OtelTracer, None]:
    """`endpoint`: where traces are posted, such as `http://localhost:4318/v1/traces`. `service`: the name under which
    they are reported where OTEL_SERVICE_NAME is not set. OTEL_* variables say the rest."""
    provider = TracerProvider(resource=_resource(service), shutdown_on_exit=False)
    exporter = OTLPSpanExporter(endpoint, timeout=EXPORT_S)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    seldom = _Seldom()
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(seldom)
    try:
        yield OtelTracer(provider)
    finally:
        await _closed(provider, exporter)
        for name in _LOGGERS:
            logging.getLogger(name).removeFilter(seldom)


async def _closed(provider: TracerProvider, exporter: OTLPSpanExporter) -> None:
    """A daemon thread: a collector that does not answer must not keep the process."""
    closing = threading.Thread(target=provider.shutdown, name="close-tracing", daemon=True)
    closing.start()
    await asyncio.to_thread(closing.join, CLOSE_S)
    if closing.is_alive():
        # Ends the pause before another attempt.
        exporter.shutdown()
        await asyncio.to_thread(closing.join, CLOSE_S)


def _resource(service: str) -> Resource:
    found = Resource.create({SERVICE_VERSION: __version__})
    if str(found.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):
        return found.merge(Resource({SERVICE_NAME: service}))
    return found


class _Seldom(logging.Filter):
    """While a collector is away, one line a minute says so."""

    def __init__(self) -> None:
        super().__init__()
        self._last = -_LOGGED_EVERY_S

    def filter(self, record: logging.LogRecord) -> bool:
        now = time.monotonic()
        if now - self._last < _LOGGED_EVERY_S:
            return False
        self._last = now
        # Its traceback is that of a library.
        record.exc_info = None
        return True
