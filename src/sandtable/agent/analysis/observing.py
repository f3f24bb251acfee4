"""What is stored of a cell that was run: its output, the heads of its tables, its error. Bounded, and plain JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from sandtable.agent.analysis.coder import Seen, SeenTable
from sandtable.capsule.query import CodeQuery
from sandtable.errors import Problem
from sandtable.runs.model import Run
from sandtable.sandbox.artifact import TableArtifact

LONGEST_OUTPUT = 4_000
MOST_TABLES = 4
MOST_ROWS = 8
MOST_COLUMNS = 30
_LONGEST_CELL = 120
_LONGEST_MESSAGE = 1_500
_LINE = re.compile(r'File "<cell[^"]*>", line (\d+)')
_ASSIGNED = re.compile(r"^([A-Za-z]\w*(?:\s*,\s*[A-Za-z]\w*)*)\s*(?::[^=\n]{1,80})?=(?!=)", re.MULTILINE)
_DEFINED = re.compile(r"^(?:def|class)\s+([A-Za-z]\w*)", re.MULTILINE)


def seen_of(run: Run, step: int, goal: str, thought: str = "") -> Seen:
    query, shown = run.request.query, run.artifacts
    assert isinstance(query, CodeQuery), "a cell is code"
    tables = [artifact for artifact in shown if isinstance(artifact, TableArtifact)]
    return Seen(
        thought=thought,
        step=step,
        goal=goal,
        code=query.code,
        run_id=run.id,
        status=run.status,
        stdout=_middle_cut(run.stdout, LONGEST_OUTPUT),
        tables=tuple(_head(table) for table in tables[-MOST_TABLES:]),
        plots=tuple(artifact.id for artifact in shown if artifact.kind == "plot"),
        others=tuple(artifact.id for artifact in shown if artifact.kind not in ("plot", "table")),
        problem=_short_problem(run),
        line=_line_of(run.stderr),
    )


def names_made(codes: Iterable[str]) -> list[str]:
    """Names that the code assigns at its top level, oldest first, found by static analysis."""
    found: dict[str, None] = {}
    for code in codes:
        for group in _ASSIGNED.findall(code):
            found |= dict.fromkeys(name.strip() for name in group.split(","))
        found |= dict.fromkeys(_DEFINED.findall(code))
    return list(found)


def _head(table: TableArtifact) -> SeenTable:
    rows = tuple(tuple(_short(cell) for cell in row[:MOST_COLUMNS]) for row in table.rows[:MOST_ROWS])
    return SeenTable(
        id=table.id,
        title=table.title,
        columns=table.columns[:MOST_COLUMNS],
        rows=rows,
        row_count=table.row_count,
    )


def _short(cell: Any) -> Any:
    text = cell if isinstance(cell, str) or cell is None else str(cell)
    if isinstance(cell, int | float | bool) or text is None:
        return cell
    return text if len(text) <= _LONGEST_CELL else text[:_LONGEST_CELL] + "…"


def _short_problem(run: Run) -> Problem | None:
    if run.error is None:
        return None
    kept = {name: run.error.details[name] for name in ("type", "construct") if name in run.error.details}
    message = run.error.message
    short = message if len(message) <= _LONGEST_MESSAGE else message[:_LONGEST_MESSAGE] + "…"
    return run.error.model_copy(update={"message": short, "details": kept})


def _line_of(stderr: str) -> int | None:
    places = _LINE.findall(stderr)
    return int(places[-1]) if places else None


def _middle_cut(text: str, most: int) -> str:
    """Keeps both ends: the first lines say what was printed, the last lines hold the result."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n… [{len(text) - most} characters left out] …\n{text[-half:]}"
