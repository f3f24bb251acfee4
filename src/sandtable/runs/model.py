"""A run as callers see it: the request, and its progress.

Invariant: the query of a request is already in the form in which the capsule keeps it (`1.0` and `1` are one number
there), so a plan compiles now as it will when the capsule is verified.
"""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
)

from sandtable.capsule.bounds import PAYLOAD_BYTES
from sandtable.capsule.canonical import canonical, loads, plain
from sandtable.capsule.model import LOG_CHARS, Origin, VerdictRecord
from sandtable.capsule.query import CodeQuery, Mode, PlanQuery, Query, SqlQuery, fields_of, query_of
from sandtable.errors import InvalidInput, Problem
from sandtable.quoting import quote
from sandtable.sandbox.artifact import Artifact, last_figure
from sandtable.sandbox.job import Limits, ResultColumn
from sandtable.store.run_store import TERMINAL, RunRecord, Status

LONGEST_SQL = PAYLOAD_BYTES * 3 // 8
"""Bytes as JSON: a capsule holds the whole text, even that of a run which is refused for its length. For SQL it also
holds the canonical text."""
LONGEST_PYTHON = PAYLOAD_BYTES // 2
LONGEST_PLAN = 256 << 10
LONGEST_QUESTION = 16 << 10
MOST_NAMES = 100
LONGEST_NAME = 128


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class RunRequest(_Frozen):
    dataset_id: str
    query: Query = Field(exclude=True)
    """Serialized field by field; see `_fields`."""
    question: str = ""
    user: str = Field(default="local", min_length=1, max_length=128)
    max_rows: int | None = Field(default=None, ge=1)
    timeout_ms: int | None = Field(default=None, ge=1)
    cache: bool = True
    """Whether an earlier, identical run may answer."""
    chart: bool = False
    """Whether a figure is to be made of the result."""
    origin: Origin | None = None
    """Who proposed the query. Only the server's own conversation sets it, never a caller."""

    @property
    def mode(self) -> Mode:
        return self.query.mode

    @field_validator("question", "user", "dataset_id", mode="before")
    @classmethod
    def _plain(cls, text: Any) -> Any:
        return plain(text) if isinstance(text, str) else text

    @field_validator("question")
    @classmethod
    def _short_enough(cls, question: str) -> str:
        if len(question) > LONGEST_QUESTION:
            raise _too_long("question", f"{len(question):,} characters", LONGEST_QUESTION)
        return question

    @field_validator("query")
    @classmethod
    def _as_recorded(cls, query: Query) -> Query:
        match query:
            case PlanQuery(plan):
                return replace(query, plan=normal_plan(plan))
            case SqlQuery(sql):
                return replace(query, sql=_bounded("sql", plain(sql), LONGEST_SQL))
            case CodeQuery(code, names, session=session):
                check_names(names)
                if session is not None and not 1 <= len(session) <= LONGEST_NAME:
                    raise InvalidInput(
                        f"the name of the session has {len(session)} characters",
                        suggestion=f"Give one of 1 to {LONGEST_NAME} characters.",
                        field="session",
                    )
                return replace(query, code=_bounded("python", plain(code), LONGEST_PYTHON))

    @model_serializer(mode="wrap")
    def _fields(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """The form of rows in the run store, in every version: the query's fields beside the others."""
        return serialize(self) | fields_of(self.query)


_OF_QUERY = frozenset({"plan", "sql", "python", "names", "mode", "check", "session"})


def read_request(fields: Mapping[str, Any]) -> RunRequest:
    """From a REST body or a row of the run store. Raises InvalidInput, and pydantic's ValidationError."""
    query = query_of(**{name: value for name, value in fields.items() if name in _OF_QUERY})
    return RunRequest(query=query, **{name: fields[name] for name in fields.keys() - _OF_QUERY})


def _bounded(name: str, text: str, most: int) -> str:
    # At most six bytes for a character, and two quotation marks.
    if len(text) * 6 + 2 > most and (size := len(canonical(text))) > most:
        raise _too_long(name, f"{size:,} bytes as JSON", most)
    return text


def _too_long(name: str, size: str, most: int) -> InvalidInput:
    return InvalidInput(f"`{name}` has {size}, more than {most:,}", suggestion="Shorten it.", field=name)


def check_names(names: Mapping[str, str]) -> None:
    """Raises InvalidInput for names that code cannot use for tables."""
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
    """The plan as the capsule keeps it. Raises InvalidInput for one that is nested too deeply or is too long."""
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


def _request_in(given: Any) -> Any:
    return read_request(given) if isinstance(given, dict) else given


class Run(_Frozen):
    id: str
    status: Status
    request: Annotated[RunRequest, BeforeValidator(_request_in)]
    dataset_version: str
    catalog_version: str = ""
    """Of the dataset's catalog when the run was accepted; empty for runs that were stored before it had versions."""
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
    """None while there is no result, and in lists."""
    row_count: int | None = None
    truncated: bool = False
    exec_time_ms: float | None = None
    output: dict[str, Any] = Field(default_factory=dict)
    """What a dry run explains."""
    artifacts: tuple[Artifact, ...] = ()
    """What code showed; empty in lists."""
    chart: dict[str, Any] | None = None
    """The Plotly figure that code showed last; else the one that was made from the result, as in the capsule. None when
    none was requested or none fits, and in lists."""
    stdout: str = ""
    stderr: str = ""
    error: Problem | None = None
    cached_from: str | None = None
    """The earlier run that answered; `hidden` for one of another user."""
    replayed: int = 0
    """How many earlier cells of its session were run again first, because the session had ended."""
    stats: dict[str, float] = Field(default_factory=dict)
    """Milliseconds by step, and what the sandbox measured."""
    traceparent: str = ""
    """The span that the run is a part of, where questions are traced: any server may execute it."""

    @property
    def ended(self) -> bool:
        return self.status in TERMINAL


_IN_COLUMNS = {"id", "status", "started_at"}
_IN_RESULT = {"rows", "output", "artifacts"}
_IN_CAPSULE = {"chart"}


def body_of(run: Run) -> dict[str, Any]:
    untraced = set[str]() if run.traceparent else {"traceparent"}
    body = run.model_dump(mode="json", exclude=_IN_COLUMNS | _IN_RESULT | _IN_CAPSULE | untraced)
    return body | {"stdout": run.stdout[:LOG_CHARS]}


def result_of(run: Run) -> dict[str, Any] | None:
    """Stored apart from the run, because lists omit it."""
    # Not `model_dump` in JSON mode, which turns an infinity into null.
    made: dict[str, Any] = {}
    if run.rows is not None:
        made = {"rows": plain(run.rows), "output": plain(run.output)}
    if run.artifacts:
        made["artifacts"] = plain([artifact.model_dump() for artifact in run.artifacts])
    if len(run.stdout) > LOG_CHARS:
        made["stdout"] = run.stdout
    return made or None


def as_stored(run: Run) -> Run:
    """As `run_of` would read it, for use before it is read from the store."""
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
    match request.query:
        case PlanQuery(plan):
            text = canonical(plan).decode()
        case SqlQuery(text) | CodeQuery(text):
            pass
    return f"{request.question}\n{text}"[: 4 << 10]
