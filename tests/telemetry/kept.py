"""A tracer whose spans stay in memory."""

from __future__ import annotations

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from sandtable.telemetry.tracing import OtelTracer


class Kept:
    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.tracer = OtelTracer(provider)

    @property
    def all(self) -> tuple[ReadableSpan, ...]:
        return self._exporter.get_finished_spans()

    @property
    def spans(self) -> dict[str, ReadableSpan]:
        return {span.name: span for span in self.all}

    def below(self, name: str) -> list[str]:
        """The names of the spans whose parent has this name, by their beginning."""
        ids = {span.context.span_id for span in self.all if span.name == name and span.context}
        found = [span for span in self.all if span.parent is not None and span.parent.span_id in ids]
        return [span.name for span in sorted(found, key=lambda span: span.start_time or 0)]

    def require_one_trace(self) -> None:
        """One root, and every other span inside its parent."""
        by_id = {span.context.span_id: span for span in self.all if span.context}
        assert sum(span.parent is None for span in self.all) == 1, [span.name for span in self.all]
        assert len({span.context.trace_id for span in self.all if span.context}) == 1
        for span in self.all:
            assert span.start_time is not None and span.end_time is not None
            assert span.start_time <= span.end_time, span.name
            if span.parent is not None:
                parent = by_id[span.parent.span_id]
                assert parent.start_time is not None and parent.end_time is not None
                assert parent.start_time <= span.start_time, (span.name, parent.name)
                assert span.end_time <= parent.end_time, (span.name, parent.name)
