"""Upper bounds on a sandbox's answer.

Invariant: this works on plain JSON values and builds no objects. Only an answer within the bounds is made into a
JobResult, so an answer with a million wrong fields costs no more than the first of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import Any

from sandtable.errors import ErrorCode
from sandtable.sandbox.artifact import MOST_ARTIFACTS
from sandtable.sandbox.job import CODE, Job, JobResult, Limits, Mode

RUNNERS_CODES = frozenset(
    {
        ErrorCode.VALIDATION_ERROR,
        ErrorCode.RUNNER_RESOURCE_EXCEEDED,
        ErrorCode.RUNNER_TIMEOUT,
        ErrorCode.RUNNER_INTERNAL_ERROR,
    }
)
"""Errors that the program inside the sandbox may report; all other codes are set by the server."""
NOTE_BYTES = 200
"""The note at the end of cut output."""

_MOST_COLUMNS = 20_000
_MOST_METRICS = 32
_LARGEST_FIGURE = 1e15
_SAFE_INTEGER = 1 << 53
_LONGEST = {"code": 40, "type": 200, "message": 20_000, "suggestion": 20_000}
_ARTIFACT_FIELDS = 8
_DEEPEST = 100
_DEEPEST_TREE = 500
_OUTPUTS: dict[Mode, frozenset[str]] = {
    "sql": frozenset(),
    "dry_run": frozenset({"explain"}),
    "fetch_schema": frozenset({"tables"}),
    "ingest": frozenset({"tables", "questions", "repairs", "ones", "pairs"}),
    "profile": frozenset({"tables"}),
    "export": frozenset({"parquet", "columns"}),
    "probe": frozenset({"attempts"}),
    "python": frozenset({"artifacts", "displayed", "loaded"}),
    "session": frozenset({"artifacts", "displayed", "loaded"}),
}
"""Fields of `output` by mode; those of `parse` are checked by the gate."""


def breach_of(job: Job, answer: dict[str, Any], codes: Collection[str]) -> str | None:
    """The first bound that the answer exceeds, if any. `codes`: the error codes that it may have."""
    if unknown := answer.keys() - JobResult.model_fields.keys():
        return f"{len(unknown)} unknown fields"
    checks: tuple[Callable[[], str | None], ...] = (
        lambda: _breach_of_figures(answer),
        lambda: _breach_of_texts(answer, job.limits.log_bytes + NOTE_BYTES),
        lambda: _breach_of_error(answer.get("error"), codes),
        lambda: breach_of_table(answer.get("columns", []), answer.get("rows", []), job.limits),
        lambda: _breach_of_output(job, answer.get("output", {})),
        lambda: _breach_of_metrics(answer.get("metrics", {})),
    )
    return next((breach for check in checks if (breach := check()) is not None), None)


def breach_of_table(columns: Any, rows: Any, limits: Limits) -> str | None:
    if not isinstance(columns, list) or not isinstance(rows, list):
        return "columns or rows that are no list"
    if len(columns) > _MOST_COLUMNS or len(rows) > limits.rows:
        return f"{len(columns)} columns and {len(rows)} rows, where {limits.rows} are allowed"
    for column in columns:
        if not isinstance(column, dict) or column.keys() != {"name", "type"}:
            return "a column that is not a name and a type"
    for row in rows:
        if not isinstance(row, list) or len(row) != len(columns):
            return "a row that has not as many cells as there are columns"
        for cell in row:
            if breach := _breach_of_cell(cell, limits.cell_bytes):
                return breach
    return None


def _breach_of_cell(cell: Any, most: int) -> str | None:
    kind = type(cell)
    if kind is str:
        return "a value that is too long" if len(cell) > most else None
    if kind is int:
        return None if -_SAFE_INTEGER <= cell <= _SAFE_INTEGER else "an integer that should be text"
    if kind is list or kind is dict:
        if _is_deeper(cell, _DEEPEST):
            return "a value that is nested too deep"
        return "a value that is too long" if len(json.dumps(cell, ensure_ascii=False)) > 2 * most else None
    return None


def _breach_of_figures(answer: dict[str, Any]) -> str | None:
    if not _is_figure(answer.get("exec_time_ms", 0)):
        return "a time that is no length of time"
    count = answer.get("row_count", 0)
    if type(count) is not int or not 0 <= count <= _SAFE_INTEGER:
        return "a number of rows that is none"
    return None if type(answer.get("truncated", False)) is bool else "a flag that is neither true nor false"


def _is_figure(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= _LARGEST_FIGURE


def _breach_of_texts(answer: dict[str, Any], most: int) -> str | None:
    for name in ("stdout", "stderr"):
        text = answer.get(name, "")
        if not isinstance(text, str) or len(text) > most or len(text.encode()) > most:
            return f"a {name} that is no text, or more than {most} bytes"
    return None


def _breach_of_error(error: Any, codes: Collection[str]) -> str | None:
    if error is None:
        return None
    if not isinstance(error, dict) or not error.keys() <= _LONGEST.keys():
        return "an error with unknown fields"
    for name, text in error.items():
        if not isinstance(text, str) or len(text) > _LONGEST[name]:
            return f"the {name} of an error that is no text, or too long"
    return None if error.get("code") in codes else "an error code that is not the sandbox's to give"


def _breach_of_output(job: Job, output: Any) -> str | None:
    if not isinstance(output, dict):
        return "an output that is no object"
    known = _OUTPUTS.get(job.mode)
    if known is not None and (unknown := output.keys() - known):
        return f"an output of {len(unknown)} unknown fields"
    if _is_deeper(output, _DEEPEST_TREE if job.mode == "parse" else _DEEPEST):
        return "an output that is nested too deep"
    return _breach_of_artifacts(output.get("artifacts", []), job.limits) if job.mode in CODE else None


def _breach_of_artifacts(artifacts: Any, limits: Limits) -> str | None:
    if not isinstance(artifacts, list) or len(artifacts) > MOST_ARTIFACTS:
        return f"more than {MOST_ARTIFACTS} artifacts"
    for artifact in artifacts:
        if not isinstance(artifact, dict) or len(artifact) > _ARTIFACT_FIELDS:
            return "an artifact with unknown fields"
        if artifact.get("kind") == "table" and (
            breach := breach_of_table(artifact.get("columns"), artifact.get("rows"), limits)
        ):
            return breach
    return None


def _breach_of_metrics(metrics: Any) -> str | None:
    if not isinstance(metrics, dict) or len(metrics) > _MOST_METRICS:
        return f"more than {_MOST_METRICS} metrics"
    if any(len(name) > 64 or not _is_figure(value) for name, value in metrics.items()):
        return "a metric that is no figure"
    return None


def _is_deeper(value: Any, most: int) -> bool:
    """Iterates level by level: recursion would fail on deep nesting."""
    level = [value]
    for _ in range(most):
        level = [
            item
            for container in level
            for item in (container.values() if type(container) is dict else container)
            if type(item) is dict or type(item) is list
        ]
        if not level:
            return False
    return True
