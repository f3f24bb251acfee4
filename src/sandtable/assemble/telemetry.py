"""Settings → who listens to what the parts report.

Invariant: commands and the library load neither Prometheus' nor OpenTelemetry's client; a server loads the second one
only where traces are switched on.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import structlog

from sandtable.errors import InvalidInput
from sandtable.observing import UNOBSERVED, Observer
from sandtable.settings import Settings

if TYPE_CHECKING:
    from sandtable.telemetry.metrics import Metrics
    from sandtable.telemetry.tracing import OtelTracer

DEFAULT_ENDPOINT = "http://localhost:4318"
_TRACES = "/v1/traces"

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Telemetry:
    observer: Observer = UNOBSERVED
    metrics: Metrics | None = None
    """None where there is no server to ask for them."""
    tracer: OtelTracer | None = None
    """None where nothing is traced."""


@asynccontextmanager
async def open_telemetry(settings: Settings, *, serving: bool) -> AsyncGenerator[Telemetry, None]:
    """Raises InvalidInput for traces that cannot be exported."""
    if not serving:
        yield Telemetry()
        return
    from sandtable.telemetry.loop_lag import watching_the_loop
    from sandtable.telemetry.metrics import Metrics  # loads Prometheus' client, which commands do without

    metrics = Metrics()
    async with AsyncExitStack() as stack:
        tracer = await open_tracer(settings, stack)
        await stack.enter_async_context(watching_the_loop(metrics))
        observer = Observer(metrics) if tracer is None else Observer(metrics, tracer)
        yield Telemetry(observer, metrics, tracer)


async def open_tracer(
    settings: Settings, stack: AsyncExitStack, *, service: str = "sandtable"
) -> OtelTracer | None:
    """None where traces are off. Raises InvalidInput."""
    endpoint = traces_endpoint(settings)
    if endpoint is None:
        return None
    try:
        from sandtable.telemetry.tracing import open_tracing  # loads OpenTelemetry's SDK
    except ImportError as error:
        what = f"traces need a package that is not installed: {error.name or error}"
        how = "Install it with `pip install 'sandtable[tracing]'`, or set SANDTABLE_TRACING=off."
        if settings.tracing == "on":
            raise InvalidInput(what, suggestion=how) from error
        log.warning("tracing_not_installed", reason=what, suggestion=how)
        return None
    tracer = await stack.enter_async_context(open_tracing(endpoint, service))
    log.info("tracing_on", endpoint=endpoint)
    return tracer


def traces_endpoint(settings: Settings) -> str | None:
    """Where traces are posted; None where they are off. Raises InvalidInput."""
    if settings.tracing == "off" or (settings.tracing == "auto" and not settings.otlp_endpoint):
        return None
    base = (settings.otlp_endpoint or DEFAULT_ENDPOINT).rstrip("/")
    endpoint = base if base.endswith(_TRACES) else base + _TRACES
    parts = urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidInput(
            "the address for traces is no http or https address",
            suggestion="Set OTEL_EXPORTER_OTLP_ENDPOINT to that of an OTLP/HTTP collector, such as"
            f" {DEFAULT_ENDPOINT}, or SANDTABLE_TRACING=off.",
        )
    return endpoint
