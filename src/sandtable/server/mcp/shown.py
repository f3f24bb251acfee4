"""What the tools give: the models behind their output schemas, and a run in that form.

Invariant: no cell, and nothing that may hold one, of what `Caller.privacy_of` withholds; nothing beyond the budget.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from sandtable.agent.endpoint import Privacy
from sandtable.agent.privacy import shown_problem
from sandtable.capsule.query import CodeQuery
from sandtable.capsule.report import LinkStatus
from sandtable.conversations.json_text import encode
from sandtable.errors import ErrorCode, Problem
from sandtable.runs.described import DescribedColumn, described_run
from sandtable.runs.export import csv_of
from sandtable.runs.model import Run
from sandtable.server.mcp.budget import Budget, most, shortened
from sandtable.store.run_store import Status

LONGEST_CELL = 400
WITHHELD = (
    "The result may hold values of masked columns, or the operator keeps cell values from models: a person sees it on "
    "the run's page in Sandtable."
)
Outcome = Literal["answered", "asked", "conversed", "refused", "failed", "waiting"]


class Shown(BaseModel):
    model_config = ConfigDict(frozen=True)


class ShownError(Shown):
    code: ErrorCode
    message: str
    suggestion: str = ""

    @classmethod
    def of(cls, problem: Problem, chars: int, privacy: Privacy = "off") -> ShownError:
        if privacy == "off":
            said, then = problem.message, problem.suggestion
        else:
            said, then = " ".join(shown_problem(problem, privacy)), ""
        return cls(code=problem.code, message=shortened(said, chars), suggestion=shortened(then, chars))

    @property
    def text(self) -> str:
        return f"{self.code.value}: {self.message.rstrip('.')}. {self.suggestion}".strip()


class ShownRun(Shown):
    """A run, with as many of its rows as the budget allows."""

    run_id: str
    """Also the id of its signed capsule: `verify_run` derives it again."""
    status: Status
    dataset_id: str
    dataset_version: str
    sql: str | None = None
    """What ran, as the gate approved it."""
    columns: tuple[DescribedColumn, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    offset: int = 0
    """The place of the first of these rows in the result, from 0."""
    row_count: int | None = None
    """How many rows the run keeps."""
    truncated: bool = False
    """Whether the query had more rows than the run keeps."""
    rows_uri: str | None = None
    """A resource with all rows, where they are not all here."""
    capsule_uri: str | None = None
    stdout: str = ""
    artifacts: tuple[str, ...] = ()
    """What Python showed: kind and title."""
    has_chart: bool = False
    withheld: str = ""
    """Why rows that there are, are not here."""
    exec_time_ms: float | None = None
    warnings: tuple[str, ...] = ()
    error: ShownError | None = None
    fixes: tuple[str, ...] = ()
    """SQL or plans that the gate would approve instead."""


class ShownAnswer(Shown):
    """The answer to one question."""

    thread_id: str
    """Give it to `ask` with a question that builds on this one."""
    outcome: Outcome
    message: str
    reading: str = ""
    """The question as it was understood, in words."""
    run: ShownRun | None = None
    choices: tuple[str, ...] = ()
    """Of a question back: what was possibly meant. Ask one of them, word by word, with the `thread_id`."""
    suggestions: tuple[str, ...] = ()
    """Questions that could come next."""
    pending_sql: str | None = None
    """What waits for a person's approval."""
    error: ShownError | None = None


class AskResult(ShownAnswer):
    others: tuple[ShownAnswer, ...] = ()
    """Of a message that asks several things: the answers to its further questions."""


class ShownTable(Shown):
    name: str
    description: str = ""
    rows: int | None = None
    columns: int


class ListedDataset(Shown):
    id: str
    title: str
    about: str
    """In one line."""
    tables: int


class DatasetList(Shown):
    datasets: tuple[ListedDataset, ...]
    not_shown: int = 0


class DescribedDataset(Shown):
    dataset_id: str
    version: str
    detail: Literal["tables", "columns", "values"]
    title: str = ""
    description: str = ""
    as_of: str | None = None
    """The day that `last month` and the like refer to."""
    tables: tuple[dict[str, Any], ...]
    relationships: tuple[dict[str, Any], ...] = ()
    metrics: tuple[dict[str, Any], ...] = ()
    example_questions: tuple[str, ...] = ()
    cut: str = ""
    """What was left out, and how to get it."""


class VerifiedLink(Shown):
    name: str
    status: LinkStatus
    detail: str = ""


class VerifyResult(Shown):
    run_id: str
    ok: bool
    """Nothing is broken."""
    complete: bool
    """Nothing that can be derived was left unchecked."""
    links: tuple[VerifiedLink, ...]
    keyid: str | None = Field(None, description="The key that signed the capsule.")


def rows_uri(run_id: str, offset: int = 0) -> str:
    return f"sandtable://runs/{run_id}/rows" + (f"?offset={offset}" if offset else "")


def capsule_uri(run_id: str) -> str:
    return f"sandtable://runs/{run_id}/capsule"


def shown_run(
    run: Run, privacy: Privacy, budget: Budget, *, offset: int = 0, fixes: tuple[str, ...] = ()
) -> ShownRun:
    """Without rows: `with_rows` adds those that fit beside what else is said."""
    error = None if run.error is None else ShownError.of(run.error, budget.text, privacy)
    made = ShownRun(
        run_id=run.id,
        status=run.status,
        dataset_id=run.request.dataset_id,
        dataset_version=run.dataset_version,
        capsule_uri=capsule_uri(run.id) if run.ended else None,
        exec_time_ms=run.exec_time_ms,
        error=error,
    )
    if privacy == "schema":
        return made.model_copy(update={"withheld": WITHHELD if run.status == "succeeded" else ""})
    sql = run.executed_sql or run.sql
    said: dict[str, Any] = {
        "sql": None if sql is None else shortened(sql, budget.text),
        "row_count": run.row_count,
        "truncated": run.truncated,
        "offset": offset,
        "warnings": tuple(shortened(each, budget.text // 4) for each in run.warnings[:4]),
        "has_chart": run.chart is not None,
        "fixes": tuple(each for each in fixes[:3] if len(each) <= budget.text),
    }
    if isinstance(run.request.query, CodeQuery):
        shown = (f"{each.kind}: {getattr(each, 'title', '') or each.id}" for each in run.artifacts[:20])
        said["artifacts"] = tuple(shortened(each, 200) for each in shown)
        said["stdout"] = shortened(run.stdout, budget.text)
    return made.model_copy(update=said)


def with_rows(made: ShownRun, run: Run, budget: Budget, *beside: str) -> ShownRun:
    """As many rows as fit into the budget with what else is said. Where no column fits, none is named."""
    if made.withheld or run.rows is None:
        return made
    columns = described_run(run)
    left = run.rows[made.offset : made.offset + budget.rows]
    cells = tuple(tuple(_cell(cell) for cell in row) for row in left)

    def taking(count: int) -> ShownRun:
        everything = made.offset == 0 and count == len(run.rows or ())
        return made.model_copy(
            update={
                "columns": columns,
                "rows": cells[:count],
                "rows_uri": None if everything else rows_uri(run.id, made.offset + count),
            }
        )

    def holds(count: int) -> bool:
        taken = taking(count)
        return budget.holds(encode(taken), table_text(taken, run), *beside)

    count = most(len(cells), holds)
    return taking(count) if count >= 0 else made.model_copy(update={"rows_uri": rows_uri(run.id)})


def table_text(made: ShownRun, run: Run) -> str:
    """The rows as CSV in a fence that no cell can close."""
    if not made.columns:
        return ""
    listed = csv_of(run.model_copy(update={"rows": made.rows})).decode("utf-8", "replace")
    fence = "`" * max(3, _longest_ticks(listed) + 1)
    return f"{fence}csv\n{listed}{fence}"


def _longest_ticks(text: str) -> int:
    longest = here = 0
    for letter in text:
        here = here + 1 if letter == "`" else 0
        longest = max(longest, here)
    return longest


def _cell(cell: Any) -> Any:
    if isinstance(cell, str):
        return shortened(cell, LONGEST_CELL)
    if cell is None or isinstance(cell, bool | int):
        return cell
    text = encode(cell)
    # An infinity has no number in JSON.
    plain = str(cell) if isinstance(cell, float) and text == "null" else json.loads(text)
    return shortened(text, LONGEST_CELL) if len(text) > LONGEST_CELL else plain
