"""The figure of a run: drawn while it runs, drawn again when its capsule is verified; and its rows as other kinds.

Invariant: the run's figure is a function of the result, the question, the plan, the row limit and the dataset, as the
catalog describes it that the run used. The title depends on what the plan's SQL depends on, too
(`wording.titles.chart_words`); units are those of that catalog.
"""

from __future__ import annotations

from typing import Any

import structlog

from sandtable.capsule.query import plan_of
from sandtable.catalog.model import Dataset
from sandtable.chart.figure import FigureKind, chart_of, charts_of
from sandtable.chart.rules import MAKER
from sandtable.chart.shape import NO_WORDS, Words
from sandtable.plan.model import QueryPlan
from sandtable.plan.reading import read_plan
from sandtable.plan.result_columns import describe_result
from sandtable.runs.model import Run
from sandtable.sandbox.job import JobResult, ResultColumn
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
    """None when no chart fits. A bug in drawing loses the chart, never the answer.

    Without the `dataset`, the title consists of the names of columns, and units are those of the plan alone. `maker`
    selects the drawing rules.
    """
    try:
        words = _words(result.columns, len(result.rows), plan, dataset)
        return chart_of(
            _typed(result.columns),
            result.rows,
            question=question,
            plan=_read(plan),
            truncated=_cut(result.truncated, len(result.rows), most_rows),
            words=words,
            maker=maker,
        )
    except Exception:
        log.exception("chart_not_made", job_id=result.job_id)
        return None


def draw_each_kind(run: Run, dataset: Dataset | None = None) -> dict[FigureKind, dict[str, Any]]:
    """The run's stored rows, as each kind of chart that can show them."""
    rows, plan = run.rows or (), plan_of(run.request.query)
    return charts_of(
        _typed(run.columns),
        rows,
        question=run.request.question,
        plan=_read(plan),
        truncated=_cut(run.truncated, len(rows), run.limits.rows),
        words=_words(run.columns, len(rows), plan, dataset),
    )


def _read(plan: dict[str, Any] | None) -> QueryPlan | None:
    read = read_plan(plan) if plan is not None else None
    return read if isinstance(read, QueryPlan) else None


def _typed(columns: tuple[ResultColumn, ...]) -> list[tuple[str, str]]:
    return [(column.name, column.type) for column in columns]


def _cut(truncated: bool, rows: int, most_rows: int) -> bool:
    """A compiled plan asks for no more rows than are allowed, so its result is never marked as truncated."""
    return truncated or rows >= most_rows


def _words(
    columns: tuple[ResultColumn, ...], rows: int, plan: dict[str, Any] | None, dataset: Dataset | None
) -> Words:
    if plan is None or dataset is None:
        return NO_WORDS
    names = [column.name for column in columns]
    said = chart_words(plan, dataset, names, rows)
    units = tuple(meaning.unit for meaning in describe_result(plan, names, dataset))
    return Words(said.columns, said.head, said.scope, units)
