"""A run in progress: filled in step by step, then sealed in its current state.

Whatever stops the run, the capsule holds what was known at that moment.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from sandtable.capsule.bounds import BEFORE_BYTES, BEFORE_CELLS
from sandtable.capsule.canonical import canonical
from sandtable.capsule.digests import digests_of, prompts_of
from sandtable.capsule.model import LOG_CHARS, SCHEMA, Asker, Capsule, Ended, ResultRecord, VerdictRecord
from sandtable.capsule.pin import ContentPin
from sandtable.capsule.query import CodeQuery, SqlQuery, plan_of
from sandtable.capsule.shown import ROOM_BYTES, records_of
from sandtable.catalog.model import Dataset
from sandtable.catalog.stored.integrity import OpenData
from sandtable.errors import ErrorCode, Problem, SandtableError
from sandtable.policy.verdict import Approved, Refused
from sandtable.runs.model import Run, run_of
from sandtable.runs.parts import RunParts
from sandtable.runs.sessions import Sitting
from sandtable.sandbox.artifact import Artifact, artifacts_in, last_figure
from sandtable.sandbox.job import JobResult, ResultColumn
from sandtable.store.run_store import RunRecord


@dataclass(slots=True)
class Draft:
    run: Run
    attempt: int
    data: OpenData | None = None
    """The dataset, with the state in which its files were found whole."""
    sql: str | None = None
    columns: tuple[ResultColumn, ...] = ()
    """`CompiledPlan.columns`."""
    warnings: list[str] = field(default_factory=list)
    verdict: VerdictRecord | None = None
    approved: Approved | None = None
    cache_key: str | None = None
    cached_from: str | None = None
    """The run that holds the result, which may be another user's."""
    named_from: str | None = None
    """The same as the run's own user may know it."""
    result: JobResult | None = None
    artifacts: tuple[Artifact, ...] = ()
    chart: dict[str, Any] | None = None
    """Made from the result's rows."""
    status: Ended | None = None
    error: Problem | None = None
    stats: dict[str, float] = field(default_factory=dict)
    sitting: Sitting | None = None
    """For a session's cell: where it runs, and after which cells."""
    names: frozenset[str] = frozenset()
    """Further names that the code can use: of tables, and of what its session's earlier cells defined."""
    kept: str | None = None
    """The session that survives with the run's changes."""
    replayed: int = 0

    @classmethod
    def of(cls, record: RunRecord) -> Draft:
        run = run_of(record)
        query = run.request.query
        return cls(run=run, attempt=record.attempts, sql=query.sql if isinstance(query, SqlQuery) else None)

    def fail(self, error: Problem | SandtableError) -> None:
        self.status = "failed"
        self.error = error.problem if isinstance(error, SandtableError) else error

    def reject_plan(self, error: SandtableError) -> None:
        self.status = "rejected"
        self.error = error.problem
        self.verdict = VerdictRecord(
            decision="refused",
            code=error.code,
            construct="plan",
            message=error.message,
            suggestion=error.suggestion,
        )

    def reject(self, refused: Refused) -> None:
        self.status = "rejected"
        self.verdict = VerdictRecord.of(refused)
        place = {"construct": refused.construct, "position": refused.position, "length": refused.length}
        self.error = Problem(
            code=refused.code,
            message=refused.message,
            suggestion=refused.suggestion,
            details={**refused.details, **place},
        )

    def reject_proposal(self, why: str, dataset: Dataset) -> None:
        """The gate has approved it, and its verdict stays on record, but it cannot serve as an answer."""
        self.status = "rejected"
        tables = ", ".join(table.name for table in dataset.tables)
        self.error = Problem(
            code=ErrorCode.VALIDATION_ERROR,
            message=f"the proposed query does not answer from the data: {why}",
            suggestion=f"Select columns of the dataset's tables: {tables}.",
            details={"type": "NotFromData"},
        )

    def cancel(self) -> None:
        self.status = "cancelled"
        self.result = None
        self.artifacts = ()
        self.chart = None
        self.error = None

    def take(self, result: JobResult) -> None:
        """Ends the run by the sandbox's answer. Raises RunnerBroken for one without the agreed form."""
        self.stats |= result.metrics
        if isinstance(self.run.request.query, CodeQuery):
            self.artifacts = artifacts_in(result)
        self.result = result
        if result.status == "succeeded":
            self.status = "succeeded"
        elif result.error is not None:
            error = result.error
            self.fail(
                Problem(
                    code=error.code,
                    message=error.message,
                    suggestion=error.suggestion,
                    details={"type": error.type},
                )
            )
        else:
            self.fail(_stopped())


def _stopped() -> Problem:
    return Problem(
        code=ErrorCode.RUNNER_INTERNAL_ERROR,
        message="the sandbox was stopped before the run had ended",
        suggestion="Run it again.",
    )


def ended_run(draft: Draft, finished_at: str) -> Run:
    answered = draft.result or JobResult(job_id=draft.run.id, status="cancelled")
    succeeded = draft.status == "succeeded"
    of_code = isinstance(draft.run.request.query, CodeQuery)
    most = draft.run.limits.log_bytes + LOG_CHARS if of_code else LOG_CHARS
    return draft.run.model_copy(
        update={
            "status": draft.status,
            "finished_at": finished_at,
            "sql": draft.sql,
            "executed_sql": draft.approved.sql if draft.approved and not of_code else None,
            "verdict": draft.verdict,
            "warnings": tuple(draft.warnings),
            "columns": answered.columns if succeeded else (),
            "rows": answered.rows if succeeded else None,
            "row_count": answered.row_count if succeeded else None,
            "truncated": succeeded and answered.truncated,
            "exec_time_ms": answered.exec_time_ms if draft.result else None,
            "output": answered.output if succeeded and not of_code else {},
            "artifacts": draft.artifacts,
            "chart": (draft.chart or last_figure(draft.artifacts)) if succeeded else None,
            "stdout": answered.stdout[:most],
            "stderr": answered.stderr[:LOG_CHARS],
            "error": draft.error,
            "cached_from": draft.named_from,
            "replayed": draft.replayed,
            "stats": {name: round(value, 3) for name, value in draft.stats.items()},
        }
    )


def capsule_of(draft: Draft, run: Run, parts: RunParts, *, lean: bool = False) -> Capsule:
    """`lean`: rows and artifacts by their digests alone, and no chart, for content that is otherwise too large."""
    request, query = run.request, run.request.query
    of_code = isinstance(query, CodeQuery)
    recorded = ResultRecord.of(draft.result) if draft.result and run.status == "succeeded" else None
    if recorded is not None and lean:
        recorded = recorded.without_rows()
    route = parts.route(request.dataset_id, run.dataset_version)
    origin = request.origin.model_dump(mode="json") if request.origin else None
    before = [cell.model_dump(mode="json") for cell in draft.sitting.past.cells] if draft.sitting else []
    fields: dict[str, Any] = {
        "schema_version": SCHEMA,
        "run_id": run.id,
        "created_at": run.created_at,
        "finished_at": run.finished_at,
        "status": run.status,
        "mode": query.mode,
        "dataset_id": request.dataset_id,
        "dataset_version": run.dataset_version,
        "catalog_version": run.catalog_version or None,
        "question": request.question,
        "plan": plan_of(query),
        "sql": run.sql,
        "executed_sql": run.executed_sql,
        "python": query.code if of_code else None,
        "names": dict(query.names) if of_code else None,
        "before": before if of_code and not _too_long(before) else None,
        "artifacts": records_of(run.artifacts, room=0 if lean else ROOM_BYTES),
        "verdict": asdict(run.verdict) if run.verdict else None,
        "executor": route.executor.name,
        "engine": parts.engine_of(request.dataset_id, run.dataset_version, code=of_code),
        "isolation": list(parts.isolation if route.isolation is None else route.isolation),
        "limits": run.limits.model_dump(mode="json"),
        "result": recorded.model_dump(mode="json") if recorded else None,
        "stdout": run.stdout[:LOG_CHARS],
        "stderr": run.stderr,
        "error": run.error.model_dump(mode="json") if run.error else None,
        "exec_time_ms": run.exec_time_ms or 0.0,
        "cached_from": run.cached_from,
        "prompts": prompts_of(origin),
        "chart": draft.chart if run.status == "succeeded" and not lean else None,
        "origin": origin,
        "pin": (route.pin or ContentPin()).model_dump(mode="json"),
        "asked_by": Asker.of(request.user).model_dump(mode="json"),
    }
    digests = digests_of(fields, recorded.digest if recorded else None, run.stdout, before)
    return Capsule.model_validate({**fields, "digests": digests})


def _too_long(before: list[dict[str, Any]]) -> bool:
    return len(before) > BEFORE_CELLS or len(canonical(before)) > BEFORE_BYTES
