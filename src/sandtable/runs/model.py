"""A run as callers see it: what was asked for, and how far it has come.

Invariant: a request holds exactly one of a plan and SQL, and its plan is already in the form in
which the capsule keeps it (`1.0` and `1` are one number there), so a plan compiles now as it will
when somebody verifies it.
"""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sandtable.capsule.canonical import canonical, loads, plain
from sandtable.capsule.model import Origin, VerdictRecord
from sandtable.capsule.store import TERMINAL, RunRecord, Status
from sandtable.errors import InvalidInput, Problem
from sandtable.sandbox.job import Limits, ResultColumn

LONGEST_SQL = 2 << 20
LONGEST_PLAN = 256 << 10
LONGEST_QUESTION = 16 << 10


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RunRequest(_Frozen):
    dataset_id: str
    plan: dict[str, Any] | None = None
    sql: str | None = None
    question: str = ""
    mode: Literal["sql", "dry_run"] = "sql"
    user: str = Field(default="local", min_length=1, max_length=128)
    max_rows: int | None = Field(default=None, ge=1)
    timeout_ms: int | None = Field(default=None, ge=1)
    cache: bool = True
    """Whether an earlier, identical run may answer."""
    chart: bool = False
    """Whether a figure is to be made of the result."""
    origin: Origin | None = None
    """Who proposed the plan or SQL. Only the server's own conversation says so, never a caller."""

    @model_validator(mode="before")
    @classmethod
    def _normal(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        made = dict(given)
        for name in ("sql", "question", "user", "dataset_id"):
            if isinstance(made.get(name), str):
                made[name] = plain(made[name])
        if isinstance(made.get("plan"), dict):
            made["plan"] = _normal_plan(made["plan"])
        return made

    @model_validator(mode="after")
    def _one_of_plan_and_sql(self) -> Self:
        if (self.plan is None) == (self.sql is None):
            both = self.plan is not None
            raise InvalidInput(
                "a run has either a plan or SQL, not both" if both else "a run needs a plan or SQL",
                suggestion="Give exactly one of `plan` and `sql`.",
            )
        longest = (("sql", self.sql, LONGEST_SQL), ("question", self.question, LONGEST_QUESTION))
        for name, text, most in longest:
            if text is not None and len(text) > most:
                raise InvalidInput(
                    f"`{name}` has {len(text):,} characters, more than {most:,}",
                    suggestion="Shorten it.",
                    field=name,
                )
        return self


def _normal_plan(plan: dict[str, Any]) -> dict[str, Any]:
    try:
        text = canonical(plan)
    except RecursionError:
        raise InvalidInput("the plan is nested too deeply", suggestion="Flatten its filters.") from None
    if len(text) > LONGEST_PLAN:
        raise InvalidInput(
            f"the plan has {len(text):,} bytes, more than {LONGEST_PLAN:,}",
            suggestion="Ask a smaller question, or split it into several plans.",
            field="plan",
        )
    return loads(text)


class Run(_Frozen):
    id: str
    status: Status
    request: RunRequest
    dataset_version: str
    limits: Limits
    created_at: str
    started_at: str | None = None
    finished_at: str | None = None
    sql: str | None = None
    """As submitted, or compiled from the plan."""
    executed_sql: str | None = None
    verdict: VerdictRecord | None = None
    warnings: tuple[str, ...] = ()
    columns: tuple[ResultColumn, ...] = ()
    rows: tuple[tuple[Any, ...], ...] | None = None
    """Nothing while there is no result, and in lists."""
    row_count: int | None = None
    truncated: bool = False
    exec_time_ms: float | None = None
    output: dict[str, Any] = Field(default_factory=dict)
    """What a dry run explains."""
    chart: dict[str, Any] | None = None
    """The Plotly figure, as it is in the capsule; nothing when none was asked for or none fits, and in lists."""
    stdout: str = ""
    stderr: str = ""
    error: Problem | None = None
    cached_from: str | None = None
    stats: dict[str, float] = Field(default_factory=dict)
    """Milliseconds by step, and what the sandbox measured."""

    @property
    def ended(self) -> bool:
        return self.status in TERMINAL


_IN_COLUMNS = {"id", "status", "started_at"}
_IN_RESULT = {"rows", "output"}
_IN_CAPSULE = {"chart"}


def body_of(run: Run) -> dict[str, Any]:
    return run.model_dump(mode="json", exclude=_IN_COLUMNS | _IN_RESULT | _IN_CAPSULE)


def result_of(run: Run) -> dict[str, Any] | None:
    # Not `model_dump`: it turns an infinity into null.
    return None if run.rows is None else {"rows": plain(run.rows), "output": plain(run.output)}


def run_of(record: RunRecord) -> Run:
    return Run.model_validate(
        {
            "id": record.id,
            "status": record.status,
            "started_at": record.started_at,
            **record.body,
            **(record.result or {}),
        }
    )


def search_text(request: RunRequest) -> str:
    asked = request.sql if request.sql is not None else canonical(request.plan).decode()
    return f"{request.question}\n{asked}"[: 4 << 10]
