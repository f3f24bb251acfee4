"""The steps of a run: resolve, write SQL, look back, judge, recall, execute, and draw if a chart was requested.

Invariant: `advance` always leaves the draft ended, unless it is cancelled from outside. Nothing reaches a sandbox
without the gate's approval, and what reaches it is the gate's canonical text; the one exception is code that a person
on their own machine chose to run unchecked, which its capsule records.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any

import structlog

from sandtable.capsule.model import VerdictRecord
from sandtable.capsule.query import CodeQuery, PlanQuery, SqlQuery, plan_of
from sandtable.catalog.model import Dataset, on_the_day
from sandtable.catalog.stored.integrity import OpenData, damaged
from sandtable.errors import ErrorCode, InvalidInput, Problem, SandboxUnavailable, SandtableError
from sandtable.observing import Span, Stage
from sandtable.policy.verdict import Approved, Refused, Verdict
from sandtable.retrying import Backoff, retried
from sandtable.runs.cache import Cache, cache_key
from sandtable.runs.cells import SessionKey, latest, recorded, replay_warnings
from sandtable.runs.code import options_of, switched_off, without_files
from sandtable.runs.draft import Draft
from sandtable.runs.draw import draw
from sandtable.runs.parts import Route, RunParts
from sandtable.runs.sandbox_spans import report_stages
from sandtable.runs.sessions import Sessions, Sitting
from sandtable.runs.unknown_names import advised
from sandtable.runs.watch import HUNG, bounded, run_watched, wait_ready
from sandtable.sandbox.artifact import last_figure
from sandtable.sandbox.job import DataRef, Job, JobResult, Limits, refs_of
from sandtable.store.run_store import StoreUnavailable

log = structlog.get_logger(__name__)

LARGE_CELLS = 2_000
"""Results with at least this many cells are processed off the event loop."""
LARGE_TEXT = 128 << 10
"""Texts with at least this many characters are processed off the event loop."""
STORE_AWAY = Backoff((0.2, 0.5, 1.0, 2.0, 5.0))
"""Backoff while the store is unavailable; the last pause repeats without limit."""
_TRIES = 2
Step = Callable[[Draft, RunParts, Cache], Awaitable[None]]


async def advance(draft: Draft, parts: RunParts, cache: Cache) -> None:
    for stage, step in STEPS:
        started = time.perf_counter()
        with parts.observer.stage(stage) as span:
            await _take(step, draft, parts, cache)
            _tell(span, draft)
        draft.stats[f"{step.__name__}_ms"] = (time.perf_counter() - started) * 1000
        if draft.status is not None:
            break
    if draft.status == "succeeded" and draft.run.request.chart:
        with parts.observer.stage("chart"):
            await illustrate(draft)
    if draft.status == "failed":
        await advise(draft, parts)


async def _take(step: Step, draft: Draft, parts: RunParts, cache: Cache) -> None:
    try:
        # A job that was started in a sandbox is never started again here.
        taken = step if step is execute else partial(_patiently, step, step.__name__)
        await taken(draft, parts, cache)
    except SandtableError as error:
        draft.fail(error)
    except Exception as error:
        log.exception("run_step_broke", run_id=draft.run.id, step=step.__name__)
        draft.fail(_broken(step.__name__, error))


def _tell(span: Span, draft: Draft) -> None:
    """What became of a step, by ids and codes."""
    span.set(status=draft.status, cached_from=draft.cached_from)
    if draft.error is not None:
        span.fail(draft.error.code)


async def _patiently(step: Step, name: str, draft: Draft, parts: RunParts, cache: Cache) -> None:
    """These steps only read, so they are retried until the store answers."""

    async def report(error: StoreUnavailable) -> None:
        log.warning("run_step_waits", run_id=draft.run.id, step=name, reason=error.message)

    await retried(lambda: step(draft, parts, cache), on=StoreUnavailable, backoff=STORE_AWAY, between=report)


async def resolve(draft: Draft, parts: RunParts, cache: Cache) -> None:
    """Uses the versions of data and catalog that were current when the run was accepted, not the current ones."""
    run = draft.run
    data = await parts.datasets.open(run.request.dataset_id, run.dataset_version, run.catalog_version)
    draft.data = replace(data, dataset=on_the_day(data.dataset, run.created_at))


async def write_sql(draft: Draft, parts: RunParts, cache: Cache) -> None:
    query = draft.run.request.query
    if not isinstance(query, PlanQuery):
        return
    try:
        compiled = _route(draft, parts).compile(query.plan, _dataset(draft), draft.run.limits.rows)
    except InvalidInput as error:
        draft.reject_plan(error)
        return
    draft.sql = compiled.sql
    draft.columns = compiled.columns
    draft.warnings += compiled.warnings


async def look_back(draft: Draft, parts: RunParts, cache: Cache) -> None:
    """The names that the code can use: for tables, and all that the earlier cells of its session defined."""
    query, key = draft.run.request.query, SessionKey.of(draft.run)
    if not isinstance(query, CodeQuery):
        return
    draft.names = frozenset(query.names)
    if key is None:
        return
    if parts.sessions is None:
        raise SandboxUnavailable("no session is kept here", suggestion="Run it as code of its own.")
    past = parts.sessions.past(key)
    if past is None or past.last != await latest(cache.store, key):
        past = await recorded(cache.store, key)
    draft.sitting = Sitting(key, past, _opening(draft, query, parts))
    if parts.bound_names is not None and query.check:
        for cell in past.cells:
            draft.names |= await parts.bound_names(cell.python)


async def judge(draft: Draft, parts: RunParts, cache: Cache) -> None:
    request = draft.run.request
    match request.query:
        case CodeQuery(code, check=False) if parts.may_skip_check:
            draft.approved = Approved(code)
            draft.verdict = VerdictRecord.unchecked()
            draft.warnings += draft.verdict.warnings
            return
        case _:
            pass
    verdict = await bounded(_verdict(draft, parts), parts.judge_s)
    if verdict is HUNG:
        draft.fail(_gate_hung(parts.judge_s))
    elif isinstance(verdict, Refused):
        draft.reject(verdict)
    else:
        draft.approved = verdict
        draft.verdict = VerdictRecord.of(verdict)
        draft.warnings += verdict.warnings
        # A person may compute anything; in a model's answer, the numbers must come from the data.
        proposed = isinstance(request.query, SqlQuery) and request.origin is not None
        if verdict.not_from_data and proposed:
            draft.reject_proposal(verdict.not_from_data, _dataset(draft))


async def _verdict(draft: Draft, parts: RunParts) -> Verdict:
    data, route = _data(draft), _route(draft, parts)
    match draft.run.request.query:
        case CodeQuery(code):
            if parts.judge_python is None:
                # Accepted by another process of this home, which had Python enabled.
                raise switched_off()
            refused = without_files(data.dataset)
            return refused or await parts.judge_python(code, data.dataset, draft.names)
        case PlanQuery(plan) if route.judge_plan is not None:
            return await route.judge_plan(plan, data.dataset, draft.run.limits.rows)
        case PlanQuery() if route.judge_compiled is not None:
            assert draft.sql is not None
            return await route.judge_compiled(draft.sql, data.dataset, refs_of(data), draft.run.limits)
        case PlanQuery() | SqlQuery():
            assert draft.sql is not None
            return await route.judge(draft.sql, data.dataset)


async def recall(draft: Draft, parts: RunParts, cache: Cache) -> None:
    approved, run = _approved(draft), draft.run
    if (
        _route(draft, parts).pin is not None
        or approved.volatile
        or _unchecked(draft)
        or SessionKey.of(run) is not None
    ):
        # Rows in a database change. The result of a session's cell depends on the cells before it.
        parts.observer.meter.counted("cache", outcome="off")
        return
    of_code = isinstance(run.request.query, CodeQuery)
    engine = parts.engine_of(run.request.dataset_id, run.dataset_version, code=of_code)
    copy_id = _data(draft).whole.copy_id
    draft.cache_key = cache_key(run.request, run.dataset_version, copy_id, approved.sql, run.limits, engine)
    found = await cache.find(draft.cache_key) if run.request.cache else None
    looked = "off" if not run.request.cache else "miss" if found is None else "hit"
    parts.observer.meter.counted("cache", outcome=looked)
    if found is not None:
        draft.cached_from = found.run_id
        draft.named_from = found.named_for(run.request.user)
        draft.take(found.result)


async def execute(draft: Draft, parts: RunParts, cache: Cache) -> None:
    """A result counts only if the files did not change meanwhile. If they did, and are whole, the job is executed once
    more: a backup touches files, too. Jobs only read, so that is safe."""
    query = draft.run.request.query
    if isinstance(query, CodeQuery):
        await wait_ready(parts.ready_for_code, parts.start_s)
    for number in range(1, _TRIES + 1):
        data = _data(draft)
        result = await _execute(draft, data, parts, number)
        if await parts.datasets.unchanged(data):
            draft.take(result)
            return
        if draft.sitting is not None and parts.sessions is not None:
            # Its variables may hold data that was read meanwhile.
            await parts.sessions.end(draft.sitting.key.session)
            draft.kept = None
        log.warning("data_touched_under_run", run_id=draft.run.id, dataset_id=draft.run.request.dataset_id)
        draft.cache_key = None
        await resolve(draft, parts, cache)
        if draft.sitting is not None and isinstance(query, CodeQuery):
            draft.sitting = replace(draft.sitting, opening=_opening(draft, query, parts))
    why = "its files changed again and again while they were read"
    raise damaged(draft.run.dataset_version, why, draft.run.request.dataset_id)


async def _execute(draft: Draft, data: OpenData, parts: RunParts, number: int) -> JobResult:
    job = job_for(draft, _approved(draft), refs_of(data), parts, number)
    executor = _route(draft, parts).executor
    log.debug("run_submitted", run_id=draft.run.id, job_id=job.id, executor=executor.name)
    began = time.time()
    if draft.sitting is not None and parts.sessions is not None:
        result = await _execute_cell(draft, draft.sitting, parts.sessions, job)
    else:
        result = await run_watched(executor, job, parts.grace_s)
    report_stages(parts.observer.tracer, result, began, time.time())
    return result


async def _execute_cell(draft: Draft, sitting: Sitting, sessions: Sessions, job: Job) -> JobResult:
    try:
        ran = await sessions.cell(sitting, draft.run.id, job)
    finally:
        now = sessions.past(sitting.key)
        if now is not None and now.last == draft.run.id:
            draft.kept = sitting.key.text
    draft.sitting = replace(sitting, past=ran.past)
    if ran.rebuilt:
        draft.replayed = len(ran.past.cells)
        draft.warnings += replay_warnings(ran.past)
    return ran.result


STEPS: tuple[tuple[Stage, Step], ...] = (
    ("resolve", resolve),
    ("compile", write_sql),
    ("look_back", look_back),
    ("judge", judge),
    ("recall", recall),
    ("sandbox", execute),
)


async def illustrate(draft: Draft) -> None:
    request, result = draft.run.request, draft.result
    if result is None or request.mode == "dry_run" or not result.columns or last_figure(draft.artifacts):
        return
    started = time.perf_counter()
    given = (result, request.question, plan_of(request.query), draft.run.limits.rows, _dataset(draft))
    large = len(result.rows) * len(result.columns) > LARGE_CELLS
    draft.chart = await asyncio.to_thread(draw, *given) if large else draw(*given)
    draft.stats["draw_ms"] = (time.perf_counter() - started) * 1000


async def advise(draft: Draft, parts: RunParts) -> None:
    """SQL with a column that its tables do not have gets the advice of the whole dataset."""
    query, error, approved = draft.run.request.query, draft.error, draft.approved
    if isinstance(query, SqlQuery) and error is not None and approved is not None:
        draft.error = await advised(error, query.sql, approved.tables, _dataset(draft), parts.profile)


def job_for(
    draft: Draft, approved: Approved, refs: tuple[DataRef, ...], parts: RunParts, number: int = 1
) -> Job:
    """`number`: the number of this execution within the attempt."""
    run, request = draft.run, draft.run.request
    options: dict[str, Any] = {}
    if isinstance(query := request.query, CodeQuery):
        checked = not _unchecked(draft)
        options = options_of(query.code, run.dataset_version, query.names, check=checked)
    if draft.columns:
        options["columns"] = [column.model_dump() for column in draft.columns]
    return Job(
        # A new id for each attempt: a tier may still remember the attempt that a crash interrupted.
        id=f"{run.id}-{draft.attempt}" + (f".{number}" if number > 1 else ""),
        mode=request.mode,
        dataset_id=request.dataset_id,
        dataset_version=run.dataset_version,
        data=refs,
        text=approved.sql,
        threads=threads_for(approved, refs, parts),
        limits=run.limits,
        options=options,
    )


def _opening(draft: Draft, query: CodeQuery, parts: RunParts) -> Job:
    run, refs = draft.run, refs_of(_data(draft))
    large = sum(ref.rows or 0 for ref in refs) >= parts.large_rows
    return Job(
        id=f"session-{run.id}-{draft.attempt}",
        mode="session",
        dataset_id=run.request.dataset_id,
        dataset_version=run.dataset_version,
        data=refs,
        threads=parts.threads if large else 1,
        limits=parts.limits,
        options={"names": dict(query.names), "check": query.check or not parts.may_skip_check},
    )


def threads_for(approved: Approved, refs: tuple[DataRef, ...], parts: RunParts) -> int:
    if approved.serial:
        return 1
    read = {name.lower() for name in approved.tables}
    rows = sum(ref.rows or 0 for ref in refs if ref.table.lower() in read)
    return parts.threads if rows >= parts.large_rows else 1


def limits_for(limits: Limits, max_rows: int | None, timeout_ms: int | None) -> Limits:
    """The installation's limits, lowered as requested. Raises InvalidInput for more than they allow."""
    asked = {"rows": ("max_rows", max_rows), "wall_ms": ("timeout_ms", timeout_ms)}
    lowered: dict[str, int] = {}
    for name, (field, value) in asked.items():
        most = getattr(limits, name)
        if value is not None and value > most:
            raise InvalidInput(
                f"`{field}` is {value}, and at most {most} is allowed",
                suggestion=f"Ask for {most} or less, or leave it out.",
                field=field,
            )
        if value is not None:
            lowered[name] = value
    return limits.model_copy(update=lowered)


def _route(draft: Draft, parts: RunParts) -> Route:
    return parts.route(draft.run.request.dataset_id, draft.run.dataset_version)


def _data(draft: Draft) -> OpenData:
    assert draft.data is not None
    return draft.data


def _dataset(draft: Draft) -> Dataset:
    return _data(draft).dataset


def _approved(draft: Draft) -> Approved:
    assert draft.approved is not None
    return draft.approved


def _unchecked(draft: Draft) -> bool:
    return draft.verdict is not None and draft.verdict.decision == "unchecked"


def _gate_hung(seconds: float) -> Problem:
    return Problem(
        code=ErrorCode.RUNNER_TIMEOUT,
        message=f"the gate gave no verdict within {seconds:g} s",
        suggestion="Run it again; if it happens again, simplify the query.",
    )


def _broken(step: str, error: Exception) -> Problem:
    return Problem(
        code=ErrorCode.RUNNER_INTERNAL_ERROR,
        message=f"the step {step!r} broke: {type(error).__name__}",
        suggestion="This is a defect of Sandtable: report it with the server's log.",
    )
