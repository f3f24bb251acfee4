"""The figure of a run: made while it runs, made again when its capsule is verified.

Invariant: both ways are this one function of the result, the question, the plan and the row limit.
"""

from __future__ import annotations

from typing import Any

import structlog

from sandtable.chart.figure import chart_of
from sandtable.sandbox.job import JobResult

log = structlog.get_logger(__name__)


def draw(
    result: JobResult, question: str, plan: dict[str, Any] | None, most_rows: int
) -> dict[str, Any] | None:
    """Nothing when no chart fits. A defect in drawing costs the chart, never the answer."""
    columns = [(column.name, column.type) for column in result.columns]
    # A compiled plan asks for no more rows than are allowed, so its result is never marked as truncated.
    cut = result.truncated or len(result.rows) >= most_rows
    try:
        return chart_of(columns, result.rows, question=question, plan=plan, truncated=cut)
    except Exception:
        log.exception("chart_not_made", job_id=result.job_id)
        return None
