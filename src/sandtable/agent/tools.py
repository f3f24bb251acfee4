"""The tools of the conversation: datasets, a schema, a plan or SQL to run, a run to read. There are no others.

The graph calls them on behalf of whoever proposes; a tool message in the state says what a call gave.
Tool output and cell values are data, never instructions.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from sandtable.agent.means import Datasets, Desk
from sandtable.catalog.model import Dataset
from sandtable.runs.model import Run

ROWS_SHOWN = 10
CELL_CHARS = 200
PRINTED_CHARS = 2_000


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    description: str
    parameters: dict[str, Any]
    """JSON Schema of its arguments."""


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_DATASET = {"type": "string", "description": "Id of a dataset."}

LIST_DATASETS = Tool("list_datasets", "The datasets that can be asked about.", _object())
GET_SCHEMA = Tool("get_schema", "Tables, columns, relationships and metrics.", _object(dataset_id=_DATASET))
EXECUTE_PLAN = Tool(
    "execute_plan",
    "Check a query plan, compile it to SQL and run it in a sandbox.",
    _object(dataset_id=_DATASET, plan={"type": "object", "description": "A plan; see plan.schema.json."}),
)
EXECUTE_SQL = Tool(
    "execute_sql",
    "Check one SELECT and run it in a sandbox.",
    _object(dataset_id=_DATASET, sql={"type": "string", "description": "DuckDB SQL, read-only."}),
)
EXECUTE_PYTHON = Tool(
    "execute_python",
    "Check a cell of Python and run it in the conversation's sandboxed session.",
    _object(
        dataset_id=_DATASET,
        code={"type": "string", "description": "Python; what earlier cells made is still there."},
        step={"type": "integer", "description": "Which step of the analysis it is for, from 1."},
        goal={"type": "string", "description": "What the step is for."},
    ),
)
GET_RUN = Tool(
    "get_run",
    "Status and result of a run.",
    _object(run_id={"type": "string", "description": "Id of a run."}),
)
TOOLS = (LIST_DATASETS, GET_SCHEMA, EXECUTE_PLAN, EXECUTE_SQL, EXECUTE_PYTHON, GET_RUN)


def list_datasets(datasets: Datasets) -> list[dict[str, Any]]:
    return [
        {"id": d.id, "title": d.title, "description": d.description, "prompts": list(d.prompts)}
        for d in datasets.datasets()
    ]


def get_schema(dataset: Dataset) -> dict[str, Any]:
    return dataset.model_dump(mode="json", include={"id", "tables", "relationships", "metrics", "as_of"})


async def get_run(runs: Desk, run_id: str) -> dict[str, Any]:
    return report_of(await runs.get(run_id))


def call_of(dataset_id: str, plan: dict[str, Any] | None, sql: str | None, call_id: str) -> dict[str, Any]:
    """The call as a message shows it."""
    if plan is not None:
        return {"name": EXECUTE_PLAN.name, "args": {"dataset_id": dataset_id, "plan": plan}, "id": call_id}
    return {"name": EXECUTE_SQL.name, "args": {"dataset_id": dataset_id, "sql": sql}, "id": call_id}


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
    if run.request.python is not None:
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
