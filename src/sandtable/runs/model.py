"""A run as callers see it: what was asked for, and how far it has come.

Invariant: a request holds exactly one of a plan, SQL and Python, and its plan is already in the form in
which the capsule keeps it (`1.0` and `1` are one number there), so a plan compiles now as it will
when somebody verifies it.
"""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from sandtable.capsule.bounds import PAYLOAD_BYTES
from sandtable.capsule.canonical import canonical, loads, plain
from sandtable.capsule.model import LOG_CHARS, Origin, VerdictRecord
from sandtable.errors import InvalidInput, Problem
from sandtable.quoting import quote
from sandtable.sandbox.artifact import Artifact, last_figure
from sandtable.sandbox.job import Limits, ResultColumn
from sandtable.store.run_store import TERMINAL, RunRecord, Status

LONGEST_SQL = PAYLOAD_BYTES * 3 // 8
"""Bytes as JSON: a capsule holds the whole text, that of a run which is refused for its length, too. Of SQL it holds
the canonical text besides."""
LONGEST_PYTHON = PAYLOAD_BYTES // 2
LONGEST_PLAN = 256 << 10
LONGEST_QUESTION = 16 << 10
MOST_NAMES = 100
LONGEST_NAME = 128

Mode = Literal["sql", "dry_run", "python"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RunRequest(_Frozen):
    dataset_id: str
    plan: dict[str, Any] | None = None
    sql: str | None = None
    python: str | None = None
    names: dict[str, str] = Field(default_factory=dict)
    """Further names under which code finds tables of the dataset."""
    check: bool = True
    """Whether code is judged before it runs. Only a person at their own machine may do without, never a wire."""
    question: str = ""
    mode: Mode = "sql"
    """Of a request with code it is always `python`."""
    user: str = Field(default="local", min_length=1, max_length=128)
    max_rows: int | None = Field(default=None, ge=1)
    timeout_ms: int | None = Field(default=None, ge=1)
    cache: bool = True
    """Whether an earlier, identical run may answer."""
    chart: bool = False
    """Whether a figure is to be made of the result."""
    origin: Origin | None = None
    """Who proposed the plan or SQL. Only the server's own conversation says so, never a caller."""
    session: str | None = Field(default=None, min_length=1, max_length=128)
    """The living session whose next cell this code is. Only a conversation says so, never a caller."""

    @model_validator(mode="before")
    @classmethod
    def _normal(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        made = dict(given)
        for name in ("sql", "python", "question", "user", "dataset_id"):
            if isinstance(made.get(name), str):
                made[name] = plain(made[name])
        if isinstance(made.get("plan"), dict):
            made["plan"] = normal_plan(made["plan"])
        if made.get("python") is not None and made.get("mode", "sql") == "sql":
            made["mode"] = "python"
        return made

    @model_validator(mode="after")
    def _one_thing_to_run(self) -> Self:
        given = [name for name in ("plan", "sql", "python") if getattr(self, name) is not None]
        if len(given) != 1:
            both = f"a run cannot have both {' and '.join(quote(name) for name in given)}"
            raise InvalidInput(
                both if given else "a run needs a plan, SQL or Python",
                suggestion="Give exactly one of `plan`, `sql` and `python`.",
            )
        if len(self.question) > LONGEST_QUESTION:
            raise _too_long("question", f"{len(self.question):,} characters", LONGEST_QUESTION)
        for name, text, most in (("sql", self.sql, LONGEST_SQL), ("python", self.python, LONGEST_PYTHON)):
            # At most six bytes for a character, and two quotation marks.
            if len(text or "") * 6 + 2 > most and (size := len(canonical(text))) > most:
                raise _too_long(name, f"{size:,} bytes as JSON", most)
        _check_mode(self)
        check_names(self.names, self.python)
        return self


def _too_long(name: str, size: str, most: int) -> InvalidInput:
    return InvalidInput(f"`{name}` has {size}, more than {most:,}", suggestion="Shorten it.", field=name)


def _check_mode(request: RunRequest) -> None:
    if (request.python is not None) == (request.mode == "python"):
        if request.python is None and not request.check:
            raise InvalidInput("only Python can run unchecked", suggestion="Leave `check` as it is.")
        return
    raise InvalidInput(
        f"the mode {quote(request.mode)} is not for {'SQL' if request.python is None else 'Python'}",
        suggestion="Leave `mode` out; whether code would be let through is told by a check.",
        field="mode",
    )


def check_names(names: Mapping[str, str], python: str | None) -> None:
    """Raises InvalidInput."""
    if python is None and names:
        raise InvalidInput("only Python has further names for tables", suggestion="Leave `names` out.")
    if len(names) > MOST_NAMES:
        raise InvalidInput(f"there are more than {MOST_NAMES} names", suggestion="Give fewer.", field="names")
    for name in names:
        if len(name) > LONGEST_NAME or not name.isidentifier() or keyword.iskeyword(name) or name[0] == "_":
            raise InvalidInput(
                f"{quote(name)} cannot be a name in Python",
                suggestion="Use letters, digits and underscores, beginning with a letter.",
                field="names",
            )


def normal_plan(plan: dict[str, Any]) -> dict[str, Any]:
    """As the capsule keeps it. Raises InvalidInput for one that is nested too deeply or is too long."""
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
    artifacts: tuple[Artifact, ...] = ()
    """What code showed; nothing in lists."""
    chart: dict[str, Any] | None = None
    """The Plotly figure that code showed last; else the one that was made of the result, as it is in the capsule.
    Nothing when none was asked for or none fits, and in lists."""
    stdout: str = ""
    stderr: str = ""
    error: Problem | None = None
    cached_from: str | None = None
    replayed: int = 0
    """How many earlier cells of its session were run again first, because the session had ended."""
    stats: dict[str, float] = Field(default_factory=dict)
    """Milliseconds by step, and what the sandbox measured."""

    @property
    def ended(self) -> bool:
        return self.status in TERMINAL


_IN_COLUMNS = {"id", "status", "started_at"}
_IN_RESULT = {"rows", "output", "artifacts"}
_IN_CAPSULE = {"chart"}


def body_of(run: Run) -> dict[str, Any]:
    body = run.model_dump(mode="json", exclude=_IN_COLUMNS | _IN_RESULT | _IN_CAPSULE)
    return body | {"stdout": run.stdout[:LOG_CHARS]}


def result_of(run: Run) -> dict[str, Any] | None:
    """What is kept apart from the run, because lists do without it."""
    # Not `model_dump` in JSON mode: it turns an infinity into null.
    made: dict[str, Any] = {}
    if run.rows is not None:
        made = {"rows": plain(run.rows), "output": plain(run.output)}
    if run.artifacts:
        made["artifacts"] = plain([artifact.model_dump() for artifact in run.artifacts])
    if len(run.stdout) > LOG_CHARS:
        made["stdout"] = run.stdout
    return made or None


def as_stored(run: Run) -> Run:
    """As `run_of` would read it, for those who need it before anyone has read it."""
    rows = None if run.rows is None else tuple(tuple(row) for row in plain(run.rows))
    return run.model_copy(update={"rows": rows, "output": plain(run.output)})


def run_of(record: RunRecord) -> Run:
    run = Run.model_validate(
        {
            "id": record.id,
            "status": record.status,
            "started_at": record.started_at,
            **record.body,
            **(record.result or {}),
        }
    )
    return run.model_copy(update={"chart": last_figure(run.artifacts)}) if run.artifacts else run


def search_text(request: RunRequest) -> str:
    text = request.python if request.sql is None else request.sql
    asked = canonical(request.plan).decode() if text is None else text
    return f"{request.question}\n{asked}"[: 4 << 10]
