"""The stages that a sandbox reports of a job, as spans.

Invariant: what a sandbox measures is untrusted: its stages are placed one after the other at the end of the time in
which the answer was awaited, and never outside it.
"""

from __future__ import annotations

from sandtable.observing import Spent, Tracer, report_parts
from sandtable.sandbox.job import JobResult

_STAGES = ("seal_ms", "query_ms", "fetch_ms")
"""In their order: isolated, executed by the engine, rows written out."""


def report_stages(tracer: Tracer, result: JobResult, began: float, ended: float) -> None:
    if not tracer.link:
        return
    known = {name: result.metrics[name] / 1000 for name in _STAGES if name in result.metrics}
    if "query_ms" not in known:
        known["run_ms"] = result.exec_time_ms / 1000
    parts = {f"sandbox.{name.removesuffix('_ms')}": Spent(seconds) for name, seconds in known.items()}
    report_parts(tracer, parts, began, ended)
