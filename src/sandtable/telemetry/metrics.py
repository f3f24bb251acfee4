"""The metrics of one server, in a registry of its own.

Invariant: no global state: two servers in one process count apart. Labels come from code and from templates of routes;
of what a caller writes, only the method of a request is one, and then one of those that exist.
"""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from sandtable.observing import Counted, Timed
from sandtable.telemetry.measures import (
    COUNTED,
    HTTP_OPEN,
    HTTP_REQUESTS,
    HTTP_SECONDS,
    LOOKED_UP,
    TIMED,
    Measure,
)

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4


class Metrics:
    """Implements `observing.Meter`."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._timed = {what: self._histogram(measure) for what, measure in TIMED.items()}
        self._counted = {what: self._counter(measure) for what, measure in COUNTED.items()}
        self._gauges = {measure.name: self._gauge(measure) for measure in (*LOOKED_UP, HTTP_OPEN)}
        self._http_seconds = self._histogram(HTTP_SECONDS)
        self._http_requests = self._counter(HTTP_REQUESTS)
        ProcessCollector(registry=self.registry)

    def _histogram(self, of: Measure) -> Histogram:
        return Histogram(of.name, of.about, of.labels, buckets=of.buckets, registry=self.registry)

    def _counter(self, of: Measure) -> Counter:
        return Counter(of.name, of.about, of.labels, registry=self.registry)

    def _gauge(self, of: Measure) -> Gauge:
        return Gauge(of.name, of.about, of.labels, registry=self.registry)

    def timed(self, what: Timed, seconds: float, **labels: str) -> None:
        metric = self._timed[what]
        (metric.labels(**labels) if labels else metric).observe(max(0.0, seconds))

    def counted(self, what: Counted, amount: float = 1, **labels: str) -> None:
        if amount > 0:
            self._counted[what].labels(**labels).inc(amount)

    def set(self, name: str, value: float, **labels: str) -> None:
        gauge = self._gauges[name]
        (gauge.labels(**labels) if labels else gauge).set(value)

    def clear(self, name: str) -> None:
        """Forgets the series of a gauge: those that are not set again do not exist any more."""
        self._gauges[name].clear()

    def opened(self, by: int) -> None:
        self._gauges[HTTP_OPEN.name].inc(by)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """`method`: one that exists. `route`: the template, such as `/runs/{run_id}`."""
        self._http_seconds.labels(method=method, route=route).observe(seconds)
        self._http_requests.labels(method=method, route=route, status=str(status)).inc()

    def text(self) -> bytes:
        return generate_latest(_WithoutTimes(self.registry))


class _WithoutTimes(Collector):
    """Leaves out when each series was made, which would be half of all lines."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterator[Metric]:
        for metric in self._registry.collect():
            metric.samples = [one for one in metric.samples if not one.name.endswith("_created")]
            yield metric
