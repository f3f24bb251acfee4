"""The figure of a run: made while it runs, made again when its capsule is verified.

Invariant: both ways are this one function of the result, the question, the plan, the row limit and the dataset. Of the
dataset the title alone depends, and only on what the plan's SQL depends on, too (`wording.titles.chart_words`).
"""

from __future__ import annotations

from typing import Any

import structlog

from sandtable.catalog.model import Dataset
from sandtable.chart.figure import chart_of
from sandtable.chart.layout import MAKER
from sandtable.chart.shape import NO_WORDS, Words
from sandtable.plan.model import QueryPlan
from sandtable.plan.reading import read_plan
from sandtable.sandbox.job import JobResult
from sandtable.wording.titles import chart_words

log = structlog.get_logger(__name__)


def draw(
    result: JobResult,
    question: str,
    plan: dict[str, Any] | None,
    most_rows: int,
    dataset: Dataset | None = None,
    maker: str = MAKER,
) -> dict[str, Any] | None:
    """Nothing when no chart fits. A defect in drawing costs the chart, never the answer.

    Without the `dataset`, the title is made of the names of columns. `maker` says by whose rules it is drawn.
    """
    columns = [(column.name, column.type) for column in result.columns]
    # A compiled plan asks for no more rows than are allowed, so its result is never marked as truncated.
    cut = result.truncated or len(result.rows) >= most_rows
    try:
        words = _words(result, plan, dataset)
        parsed = read_plan(plan) if plan is not None else None
        known = parsed if isinstance(parsed, QueryPlan) else None
        return chart_of(
            columns, result.rows, question=question, plan=known, truncated=cut, words=words, maker=maker
        )
    except Exception:
        log.exception("chart_not_made", job_id=result.job_id)
        return None


def _words(result: JobResult, plan: dict[str, Any] | None, dataset: Dataset | None) -> Words:
    if plan is None or dataset is None:
        return NO_WORDS
    said = chart_words(plan, dataset, [column.name for column in result.columns], len(result.rows))
    return Words(said.columns, said.head, said.scope)
