"""What the library returns: plain values for a program or an agent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sandtable.agent.read_as.model import Offer, ReadAs
from sandtable.errors import Problem
from sandtable.runs.explanation import Explanation
from sandtable.runs.model import Run
from sandtable.sandbox.artifact import Artifact

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of plain values: text, numbers, booleans, None. Dates, times and long numbers are text."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    """DuckDB's type names, one for each column."""
    rows: tuple[Row, ...]
    truncated: bool = False
    """There were more rows than may be shown."""

    def records(self) -> list[dict[str, Any]]:
        """One dict for each row, which is also what `pandas.DataFrame(…)` takes."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run of code ended. Refusals, errors in the code and timeouts are results too, never exceptions."""

    stdout: str
    """What the code printed; the primary output."""
    stderr: str
    """Warnings, and the traceback when the code failed."""
    success: bool
    error_message: str | None = None
    """What went wrong, and what to do about it; None if nothing did."""
    artifacts: tuple[Artifact, ...] = ()
    """What the code showed: tables, plots, HTML, Mermaid diagrams, Markdown. `.model_dump()` makes dicts of them."""
    run_id: str | None = None
    """Identifies the run's signed capsule; `sandtable verify RUN_ID` verifies it. None when nothing was recorded."""
    code: str | None = None
    """The kind of error, such as `PYTHON_POLICY_VIOLATION` or `RUNNER_TIMEOUT`."""
    table: Table | None = None
    """The last table that was shown."""
    chart: dict[str, Any] | None = None
    """The last Plotly figure that was shown, as JSON."""
    warnings: tuple[str, ...] = ()
    exec_time_ms: float | None = None
    _capsule: Callable[[], dict[str, Any]] | None = field(default=None, repr=False, compare=False)

    def capsule(self) -> dict[str, Any]:
        """The signed record of the run, with a readable copy of its content under `capsule`. Raises NotFound."""
        if self._capsule is None:
            raise LookupError("this run was not recorded: it has no capsule")
        return self._capsule()

    def as_dict(self) -> dict[str, Any]:
        """JSON values only."""
        return {
            "stdout": self.stdout,
            "stderr": self.stderr,
            "success": self.success,
            "error_message": self.error_message,
            "code": self.code,
            "artifacts": [artifact.model_dump(mode="json") for artifact in self.artifacts],
            "run_id": self.run_id,
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to a question in plain language."""

    text: str
    """The answer, or the question back, or why there is none; Markdown."""
    status: str
    """`answered`, `asked` (it asks back), `conversed`, `refused`, `failed`, or `waiting` for a person's approval."""
    table: Table | None = None
    """The rows that the numbers in the text come from."""
    chart: dict[str, Any] | None = None
    """A Plotly figure, as JSON, where one fits."""
    run_id: str | None = None
    """Identifies the run's signed capsule."""
    reading: str = ""
    """How the question was understood, in words."""
    read_as: ReadAs | None = None
    """The same in parts, each with the words it came from and its choices. `ask(choice.message, data,
    thread=answer.thread, plan=choice.plan)` takes one of them."""
    sql: str | None = None
    """The SQL that ran."""
    suggestions: tuple[str, ...] = ()
    """Questions that could come next."""
    choices: tuple[Offer, ...] = ()
    """For the status `asked`: the possible readings of the question, to be used like a choice in `read_as`."""
    code: str | None = None
    """The kind of error, if there was one."""
    thread: str = ""
    """Pass it to the next `ask` for a follow-up such as "and by month?"."""
    others: tuple[Answer, ...] = ()
    """If the message asks several questions: the answers to the others, in order."""
    _explain: Callable[[], Explanation] | None = field(default=None, repr=False, compare=False)

    def explain(self) -> Explanation:
        """Why the answer found nothing: the first condition that leaves no rows and the values that no row has, in
        `text`, the runs that counted them, in `run_ids`, and corrected queries that the gate approves, in `fixes`.

        `ask(fix.title, data, thread=answer.thread, plan=fix.plan)` takes a plan, `ask(fix.text, data)` takes SQL. Empty
        for an answer that found something or has no run. It executes further runs and waits for them, in `aio`, too.
        """
        return Explanation() if self._explain is None else self._explain()

    @property
    def success(self) -> bool:
        return all(one.status in ("answered", "conversed") for one in (self, *self.others))


def table_of(run: Run) -> Table | None:
    if run.rows is None or not run.columns:
        return None
    return Table(
        columns=tuple(column.name for column in run.columns),
        types=tuple(column.type for column in run.columns),
        rows=run.rows,
        truncated=run.truncated,
    )


def result_of(run: Run, capsule: Callable[[], dict[str, Any]] | None = None) -> RunResult:
    return RunResult(
        stdout=run.stdout,
        stderr=run.stderr,
        success=run.status == "succeeded",
        error_message=_message(run),
        artifacts=run.artifacts,
        run_id=run.id,
        code=run.error.code.value if run.error else None,
        table=table_of(run),
        chart=run.chart,
        warnings=run.warnings,
        exec_time_ms=run.exec_time_ms,
        _capsule=capsule,
    )


def failure(problem: Problem, stdout: str = "", stderr: str = "") -> RunResult:
    """The result of a run that was not recorded."""
    return RunResult(stdout, stderr, success=False, error_message=problem.in_words, code=problem.code.value)


def _message(run: Run) -> str | None:
    if run.status == "succeeded":
        return None
    return run.error.in_words if run.error else f"the run was {run.status}"
