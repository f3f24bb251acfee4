"""One run as one immutable record.

Invariant: everything that is needed to repeat the run elsewhere is here or is named by its digest. `digests` is derived
from the other fields (`digests.digests_of`) and signed with them. Every format that was ever sealed stays readable
(`read_capsule`); only the newest one, `Capsule`, is made.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.dataclasses import dataclass

from sandtable.capsule.asker import Asker
from sandtable.capsule.canonical import plain
from sandtable.capsule.pin import ContentPin, Pin
from sandtable.capsule.query import CodeQuery, PlanQuery, Query, SqlQuery
from sandtable.capsule.result_digest import result_digest
from sandtable.capsule.shown import ArtifactRecord
from sandtable.errors import ErrorCode, Problem
from sandtable.policy.verdict import Approved, Refused, Verdict
from sandtable.sandbox.job import JobResult, Limits, ResultColumn

SCHEMA = "6"
PREVIEW_ROWS = 200
PREVIEW_BYTES = 128 << 10
LOG_CHARS = 8 << 10
UNCHECKED = "the code was not checked before it ran; only the sandbox held it"

Ended = Literal["succeeded", "failed", "rejected", "cancelled"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


@dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid"))
class VerdictRecord:
    """The gate's verdict, without the text that it judges."""

    decision: Literal["approved", "refused", "unchecked"]
    """`unchecked`: the user switched the check of code off, on their own machine."""
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
    def unchecked(cls) -> VerdictRecord:
        return cls(decision="unchecked", warnings=(UNCHECKED,))

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

    def without_rows(self) -> ResultRecord:
        return self.model_copy(update={"rows": (), "rows_complete": not self.row_count})


class Prompt(_Frozen):
    """A prompt file that was shown to a model."""

    name: str = Field(min_length=1, max_length=200)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class Origin(_Frozen):
    """Who proposed what ran, and what that cost. As stated by the server that asked; it cannot be derived again."""

    proposer: str = Field(min_length=1, max_length=200)
    """`builtin`, `builtin-reader`, or provider and model such as `openai:gpt-5`."""
    prompts: tuple[Prompt, ...] = ()
    tokens_in: int = Field(default=0, ge=0)
    tokens_out: int = Field(default=0, ge=0)
    latency_ms: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    repairs: int = Field(default=0, ge=0)
    """How often a proposal was refused or failed before this one."""


class Earlier(_Frozen):
    """A cell that ran before in the same session, on whose variables the run may depend."""

    python: str
    interrupted: bool = False
    """It was stopped at a point that cannot be reproduced."""


class DigestsV1(_Frozen):
    data: str
    question: str
    plan: str | None
    sql: str | None
    executed_sql: str | None
    prompts: str
    limits: str
    result: str | None


class DigestsV2(DigestsV1):
    chart: str | None
    origin: str | None


class DigestsV3(DigestsV2):
    python: str | None
    names: str | None
    before: str | None
    artifacts: str | None
    stdout: str | None


class DigestsV4(DigestsV3):
    catalog: str | None


class DigestsV5(DigestsV4):
    asked_by: str


class Digests(DigestsV5):
    pin: str


class _Recorded(_Frozen):
    """Fields of every format."""

    run_id: str
    created_at: str
    finished_at: str
    status: Ended
    dataset_id: str
    dataset_version: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")
    question: str
    plan: dict[str, Any] | None
    sql: str | None
    """As submitted, or compiled from the plan; None when the plan could not be compiled."""
    executed_sql: str | None
    """The gate's canonical text: what ran."""
    verdict: VerdictRecord | None
    """None when the run was cancelled before it was judged."""
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
    """The format before charts and conversations."""

    schema_version: Literal["1"]
    mode: Literal["sql", "dry_run"]
    digests: DigestsV1


class CapsuleV2(_Recorded):
    """The format before Python."""

    schema_version: Literal["2"]
    mode: Literal["sql", "dry_run"]
    chart: dict[str, Any] | None
    origin: Origin | None
    digests: DigestsV2


class _OfCode(_Recorded):
    """Fields since Python."""

    mode: Literal["sql", "dry_run", "python"]
    python: str | None
    """The code as submitted, which is what ran."""
    names: dict[str, str] | None
    """Further names that the code had for tables; None when there is no code."""
    before: tuple[Earlier, ...] | None
    """What ran before in the code's session, in order; empty for code that ran alone. None when there is no code, or
    when it exceeded `bounds`."""
    artifacts: tuple[ArtifactRecord, ...]
    """What the code showed."""
    chart: dict[str, Any] | None
    """The figure made from the result's rows; None when none was requested or none fits, or when the code showed a
    Plotly figure, which is among the artifacts."""
    origin: Origin | None
    """None when a person or a program submitted the plan, SQL or code."""


class CapsuleV3(_OfCode):
    """The format before versions of the catalog."""

    schema_version: Literal["3"]
    digests: DigestsV3


class _OfCatalog(_OfCode):
    """Fields since versions of the catalog."""

    catalog_version: str | None = Field(pattern=r"^sha256:[0-9a-f]{64}$")
    """Of what the catalog said about the dataset: metrics, joins, units, the calendar. None for a run that was accepted
    before catalogs had versions."""


class CapsuleV4(_OfCatalog):
    """The format before it was recorded who asked."""

    schema_version: Literal["4"]
    digests: DigestsV4


class _OfAsker(_OfCatalog):
    """Fields since it is recorded who asked."""

    asked_by: Asker


class CapsuleV5(_OfAsker):
    """The format before data that stay in a database."""

    schema_version: Literal["5"]
    digests: DigestsV5


class Capsule(_OfAsker):
    schema_version: Literal["6"] = SCHEMA
    pin: Pin
    digests: Digests


AnyCapsule = CapsuleV1 | CapsuleV2 | CapsuleV3 | CapsuleV4 | CapsuleV5 | Capsule
CodeCapsule = CapsuleV3 | CapsuleV4 | CapsuleV5 | Capsule
"""Formats that may hold code."""
CatalogCapsule = CapsuleV4 | CapsuleV5 | Capsule
"""Formats that name the version of the catalog."""
AskedCapsule = CapsuleV5 | Capsule
"""Formats that say who asked."""


def pin_of(capsule: AnyCapsule) -> Pin:
    return capsule.pin if isinstance(capsule, Capsule) else ContentPin()


def query_in(capsule: AnyCapsule) -> Query:
    """The submitted query of a capsule with consistent content (`digests_of`). A plan includes its compiled SQL."""
    dry_run = capsule.mode == "dry_run"
    if isinstance(capsule, CodeCapsule) and capsule.python is not None:
        checked = capsule.verdict is None or capsule.verdict.decision != "unchecked"
        return CodeQuery(capsule.python, capsule.names or {}, checked)
    if capsule.plan is not None:
        return PlanQuery(capsule.plan, dry_run)
    assert capsule.sql is not None
    return SqlQuery(capsule.sql, dry_run)


_FORMATS: dict[Any, type[AnyCapsule]] = {
    "1": CapsuleV1,
    "2": CapsuleV2,
    "3": CapsuleV3,
    "4": CapsuleV4,
    "5": CapsuleV5,
}


def read_capsule(predicate: dict[str, Any]) -> AnyCapsule:
    """A capsule of any format. Raises pydantic's ValidationError."""
    version = predicate.get("schema_version")
    made = _FORMATS.get(version, Capsule) if isinstance(version, str) else Capsule
    return made.model_validate(predicate)


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
