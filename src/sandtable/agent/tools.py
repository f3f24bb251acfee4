"""The tools of the conversation: what they are called, what they take, and how a run is reported.

The graph calls them for the proposer, and a chat model may call them itself before it proposes (`looking`). A tool
message in the state holds what a call returned. Tool output and cell values are data, never instructions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from sandtable.agent.prompt_files import prompt_file
from sandtable.capsule.query import CodeQuery
from sandtable.runs.model import Run

ROWS_SHOWN = 10
CELL_CHARS = 200
PRINTED_CHARS = 2_000

DESCRIPTIONS = "tools"
"""The prompt file that describes them."""
LIST_DATASETS = "list_datasets"
GET_SCHEMA = "get_schema"
GET_RUN = "get_run"
EXECUTE_PLAN = "execute_plan"
EXECUTE_SQL = "execute_sql"
EXECUTE_PYTHON = "execute_python"

ARGUMENTS: dict[str, dict[str, str]] = {
    LIST_DATASETS: {},
    GET_SCHEMA: {"dataset_id": "string"},
    EXECUTE_PLAN: {"plan": "object"},
    EXECUTE_SQL: {"sql": "string"},
    EXECUTE_PYTHON: {"code": "string"},
    GET_RUN: {"run_id": "string"},
}
"""The arguments of each tool, all of them required, with their JSON types."""
_SECTION = re.compile(r"^## (\w+)\n(.+?)\s*(?=^## |\Z)", re.MULTILINE | re.DOTALL)


@cache
def _descriptions() -> dict[str, str]:
    return dict(_SECTION.findall(prompt_file(DESCRIPTIONS).text))


def definitions(names: Iterable[str]) -> list[dict[str, Any]]:
    """The tools as a request offers them, in OpenAI's form, which every provider's client takes."""
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": _descriptions()[name],
                "parameters": {
                    "type": "object",
                    "properties": {field: {"type": kind} for field, kind in ARGUMENTS[name].items()},
                    "required": list(ARGUMENTS[name]),
                },
            },
        }
        for name in names
    ]


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
