"""Answers and failures as Markdown: the sentence, a bounded look at the rows, and what it was read as.

Invariant: pure. Cells are shown as text that no Markdown renderer acts on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sandtable.agent.markdown import barred, cell, fenced, sentence, table
from sandtable.agent.state import TurnNotes, read_as_of
from sandtable.capsule.query import SqlQuery
from sandtable.chart.wishes import shown_instead, unmet_wish
from sandtable.errors import ErrorCode, Problem
from sandtable.policy.verdict import NOT_FROM_DATA
from sandtable.quoting import in_markdown, quote
from sandtable.runs.model import Run
from sandtable.wording.field import Field

MOST_ROWS = 10
MOST_COLUMNS = 12

_LEADS = {
    ErrorCode.SQL_POLICY_VIOLATION: "The query was rejected by policy and not run",
    ErrorCode.VALIDATION_ERROR: "The query does not fit the data",
    ErrorCode.RUNNER_TIMEOUT: "The query took too long",
    ErrorCode.RUNNER_RESOURCE_EXCEEDED: "The query needed more memory or space than it may use",
    ErrorCode.SANDBOX_UNAVAILABLE: "There is no sandbox to run it in",
    ErrorCode.QUEUE_FULL: "The query was not run",
    ErrorCode.DATA_DAMAGED: "Nothing was answered",
}
_SMALLER = "Ask for less: add a filter or a shorter time window, or ask for totals instead of single rows."


def whole_answer(said: str, run: Run, turn: TurnNotes, fields: Sequence[Field] = ()) -> str:
    """`fields` say how the cells of each column are shown."""
    # A paragraph of its own: clients that show table and reading by themselves leave theirs out of the text.
    note = turn.get("note")
    parts = [*labels_of(run), said, *(f"*{remark}*" for remark in (note, _on_the_chart(run, turn)) if remark)]
    if shows_table(run):
        parts.append(table_of(run, fields))
    if turn.get("wants_sql") and run.sql:
        parts.append(fenced("sql", run.sql))
    read = read_as_of(turn)
    reading = read.line if read else turn.get("reading")
    noted = [f"Read as: {reading}"] if reading else []
    noted += [read.joined] if read and read.joined else []
    noted += [in_markdown(used) for used in turn.get("used") or ()]
    if noted:
        parts.append("\n".join(f"*{line}*  " for line in noted).rstrip())
    return "\n\n".join(parts)


def _on_the_chart(run: Run, turn: TurnNotes) -> str:
    """That the chart is another one than was asked for, and why."""
    why = unmet_wish(turn.get("asked", ""), turn.get("plan"), run.chart)
    return sentence(f"{why}; {shown_instead(run.chart)}") if why else ""


def labels_of(run: Run) -> list[str]:
    """What of the result is not from the data, said before the result itself."""
    said = (
        text.removeprefix(f"{NOT_FROM_DATA}: ") for text in run.warnings if text.startswith(NOT_FROM_DATA)
    )
    return [f"**{NOT_FROM_DATA}:** {in_markdown(words)}" for words in said]


def shows_table(run: Run) -> bool:
    """A value, or one named value, is in the sentence already."""
    return len(run.rows or ()) > 1 or (len(run.columns) > 2 and bool(run.rows))


def table_of(run: Run, fields: Sequence[Field] = ()) -> str:
    columns, rows = run.columns[:MOST_COLUMNS], run.rows or ()
    shown_by = {field.index: field for field in fields}

    def show(place: int, value: Any) -> str:
        field = shown_by.get(place)
        return cell(value) if field is None or value is None else barred(field.show_cell(value))

    shown = (
        [show(place, value) for place, value in enumerate(row[:MOST_COLUMNS])] for row in rows[:MOST_ROWS]
    )
    left = (
        [] if len(rows) <= MOST_ROWS else [f"the first {MOST_ROWS} of {len(rows)}{'+' * run.truncated} rows"]
    )
    left += [] if len(run.columns) <= MOST_COLUMNS else [f"{MOST_COLUMNS} of {len(run.columns)} columns"]
    return table(columns, shown) + (f"\n\nShown: {', '.join(left)}." if left else "")


def failure_text(problem: Problem | None, run: Run | None, *, repairs: int, note: str = "") -> str:
    if problem is None:
        if run is not None and run.status == "cancelled":
            return "The run was cancelled, so there is no result."
        return "The run gave no result."
    lead = _LEADS.get(problem.code, "There is no result")
    if (
        problem.code == ErrorCode.VALIDATION_ERROR
        and run is not None
        and isinstance(run.request.query, SqlQuery)
    ):
        lead = "The SQL cannot be run"
    parts = [sentence(f"{lead}: {in_markdown(problem.message)}")]
    construct = problem.details.get("construct")
    if problem.code == ErrorCode.SQL_POLICY_VIOLATION and construct:
        parts.append(f"Not allowed: {quote(str(construct))}")
    suggestion = problem.suggestion
    if problem.code in (ErrorCode.RUNNER_TIMEOUT, ErrorCode.RUNNER_RESOURCE_EXCEEDED):
        suggestion = suggestion or _SMALLER
    if suggestion:
        parts.append(sentence(in_markdown(suggestion)))
    if note:
        parts.append(f"*{note}*")
    if repairs:
        parts.append(f"I tried it {repairs + 1} times, each time with the reason in hand.")
    return "\n\n".join(parts)
