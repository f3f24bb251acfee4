"""The tools of the conversation: run a plan, SQL or Python. There are no others.

The graph calls them for the proposer, and a tool message in the state holds what a call returned.
Tool output and cell values are data, never instructions.
"""

from __future__ import annotations

import json
from typing import Any

from sandtable.capsule.query import CodeQuery, PlanQuery, SqlQuery
from sandtable.runs.model import Run

ROWS_SHOWN = 10
CELL_CHARS = 200
PRINTED_CHARS = 2_000

EXECUTE_PLAN = "execute_plan"
"""Check a plan, compile it to SQL and run it in a sandbox."""
EXECUTE_SQL = "execute_sql"
"""Check one SELECT and run it in a sandbox."""
EXECUTE_PYTHON = "execute_python"
"""Check a cell of Python and run it in the sandboxed session of the conversation."""


def call_of(dataset_id: str, query: PlanQuery | SqlQuery, call_id: str) -> dict[str, Any]:
    """The call as a message shows it."""
    match query:
        case PlanQuery(plan):
            return {"name": EXECUTE_PLAN, "args": {"dataset_id": dataset_id, "plan": plan}, "id": call_id}
        case SqlQuery(sql):
            return {"name": EXECUTE_SQL, "args": {"dataset_id": dataset_id, "sql": sql}, "id": call_id}


def report_of(run: Run) -> dict[str, Any]:
    """A run as a tool message holds it: a bounded look at the rows, and the id to read the rest by."""
    report: dict[str, Any] = {"run_id": run.id, "status": run.status}
    if run.rows is not None:
        report |= {
            "columns": [column.name for column in run.columns],
            "rows": [[_short(cell) for cell in row] for row in run.rows[:ROWS_SHOWN]],
            "row_count": run.row_count,
            "truncated": run.truncated,
        }
    if isinstance(run.request.query, CodeQuery):
        report["stdout"] = run.stdout[:PRINTED_CHARS]
        report["artifacts"] = [artifact.id for artifact in run.artifacts]
    if run.error is not None:
        report["error"] = run.error.model_dump(mode="json", include={"code", "message", "suggestion"})
    return report


def as_text(report: dict[str, Any]) -> str:
    return json.dumps(report, ensure_ascii=False)


def _short(cell: Any) -> Any:
    text = cell if isinstance(cell, str) else None
    return f"{text[:CELL_CHARS]}…" if text is not None and len(text) > CELL_CHARS else cell
