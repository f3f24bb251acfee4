"""What happened in one run, as one immutable record.

Invariant: everything a stranger needs to repeat the run is here or is named by its digest.
`digests` is derived from the other fields (`digests_of`) and signed with them. A format that was
ever sealed is read for ever (`read_capsule`); only the newest one, `Capsule`, is made.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.dataclasses import dataclass

from sandtable.capsule.canonical import digest, plain
from sandtable.capsule.result_digest import result_digest
from sandtable.errors import ErrorCode, Problem
from sandtable.policy.verdict import Approved, Refused, Verdict
from sandtable.sandbox.job import JobResult, Limits, ResultColumn

SCHEMA = "2"
PREVIEW_ROWS = 200
PREVIEW_BYTES = 128 << 10
LOG_CHARS = 8 << 10

Ended = Literal["succeeded", "failed", "rejected", "cancelled"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid"))
class VerdictRecord:
    """What the gate said, without what it said it about."""

    decision: Literal["approved", "refused"]
    code: ErrorCode | None = None
    construct: str = ""
    message: str = ""
    suggestion: str = ""
    position: int | None = None
    length: int = 0
    warnings: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    serial: tuple[str, ...] = ()
    volatile: tuple[str, ...] = ()

    @classmethod
    def of(cls, verdict: Verdict) -> VerdictRecord:
        if isinstance(verdict, Approved):
            return cls(
                decision="approved",
                warnings=verdict.warnings,
                tables=verdict.tables,
                functions=verdict.functions,
                serial=verdict.serial,
                volatile=verdict.volatile,
            )
        return cls._of_refused(verdict)

    @classmethod
    def _of_refused(cls, refused: Refused) -> VerdictRecord:
        return cls(
            decision="refused",
            code=refused.code,
            construct=refused.construct,
            message=refused.message,
            suggestion=refused.suggestion,
            position=refused.position,
            length=refused.length,
        )


class ResultRecord(_Frozen):
    columns: tuple[ResultColumn, ...]
    rows: tuple[tuple[Any, ...], ...]
    """All rows of a small result, the first ones of a large result."""
    rows_complete: bool
    row_count: int
    truncated: bool
    digest: str
    """Over every row that the run returned; see `result_digest`."""

    @classmethod
    def of(cls, result: JobResult) -> ResultRecord:
        rows = _preview(result.rows)
        return cls(
            columns=result.columns,
            rows=rows,
            rows_complete=len(rows) == len(result.rows),
            row_count=result.row_count,
            truncated=result.truncated,
            digest=digest_of_rows(result.columns, result.rows),
        )


class Prompt(_Frozen):
    """A prompt file that was shown to a model."""

    name: str = Field(min_length=1, max_length=200)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Origin(_Frozen):
    """Who proposed what ran, and what that cost. Told by the server that asked; it cannot be derived again."""

    proposer: str = Field(min_length=1, max_length=200)
    """`builtin`, or provider and model such as `openai:gpt-5`."""
    prompts: tuple[Prompt, ...] = ()
    tokens_in: int = Field(default=0, ge=0)
    tokens_out: int = Field(default=0, ge=0)
    latency_ms: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    repairs: int = Field(default=0, ge=0)
    """How often a proposal was refused or failed before this one."""


class DigestsV1(_Frozen):
    data: str
    question: str
    plan: str | None
    sql: str | None
    executed_sql: str | None
    prompts: str
    limits: str
    result: str | None


class Digests(DigestsV1):
    chart: str | None
    origin: str | None


class _Recorded(_Frozen):
    """What every format holds."""

    run_id: str
    created_at: str
    finished_at: str
    status: Ended
    mode: Literal["sql", "dry_run"]
    dataset_id: str
    dataset_version: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")
    question: str
    plan: dict[str, Any] | None
    sql: str | None
    """As submitted, or compiled from the plan; nothing when the plan could not be compiled."""
    executed_sql: str | None
    """The gate's canonical text: what ran."""
    verdict: VerdictRecord | None
    """Nothing when the run was cancelled before it was judged."""
    executor: str
    engine: str
    isolation: tuple[str, ...]
    limits: Limits
    result: ResultRecord | None
    stdout: str
    stderr: str
    error: Problem | None
    exec_time_ms: float
    cached_from: str | None
    prompts: tuple[str, ...]
    """Digests of the prompts that led to the plan."""


class CapsuleV1(_Recorded):
    """As it was made before there were charts and conversations."""

    schema_version: Literal["1"]
    digests: DigestsV1


class Capsule(_Recorded):
    schema_version: Literal["2"] = SCHEMA
    chart: dict[str, Any] | None
    """The figure made from the result's rows; nothing when none was asked for or none fits."""
    origin: Origin | None
    """Nothing when a person or a program handed in the plan or SQL."""
    digests: Digests


AnyCapsule = CapsuleV1 | Capsule


def read_capsule(predicate: dict[str, Any]) -> AnyCapsule:
    """A capsule of any format. Raises pydantic's ValidationError."""
    made = CapsuleV1 if predicate.get("schema_version") == "1" else Capsule
    return made.model_validate(predicate)


def digests_of(fields: dict[str, Any], known_result: str | None = None) -> DigestsV1:
    """The digests of a capsule's content, given its fields in JSON form.

    `known_result` spares its maker from hashing a result twice; whoever verifies leaves it out.
    """

    def optional(name: str) -> str | None:
        return None if fields[name] is None else digest(fields[name])

    old = DigestsV1(
        data=fields["dataset_version"],
        question=digest(fields["question"]),
        plan=optional("plan"),
        sql=optional("sql"),
        executed_sql=optional("executed_sql"),
        prompts=digest(fields["prompts"]),
        limits=digest(fields["limits"]),
        result=known_result or _result_digest(fields["result"]),
    )
    if fields.get("schema_version", SCHEMA) == "1":
        return old
    return Digests(**old.model_dump(), chart=optional("chart"), origin=optional("origin"))


def prompts_of(origin: dict[str, Any] | None) -> list[str]:
    """The capsule's `prompts`, given its `origin` in JSON form."""
    return [f"sha256:{prompt['sha256']}" for prompt in origin["prompts"]] if origin else []


def _result_digest(result: dict[str, Any] | None) -> str | None:
    if result is None:
        return None
    if not result["rows_complete"]:
        return result["digest"]
    return result_digest([(c["name"], c["type"]) for c in result["columns"]], result["rows"])


def digest_of_rows(columns: tuple[ResultColumn, ...], rows: tuple[tuple[Any, ...], ...]) -> str:
    return result_digest([(column.name, column.type) for column in columns], rows)


def _preview(rows: tuple[tuple[Any, ...], ...]) -> tuple[tuple[Any, ...], ...]:
    kept: list[tuple[Any, ...]] = []
    room = PREVIEW_BYTES
    for row in rows[:PREVIEW_ROWS]:
        kept.append(tuple(plain(cell) for cell in row))
        room -= len(json.dumps(kept[-1]))
        if room < 0:
            kept.pop()
            break
    return tuple(kept)
