"""One run from claim to capsule: the pipeline, raced against a request to stop it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

import structlog
from structlog.contextvars import bound_contextvars

from sandtable.capsule.bounds import PAYLOAD_BYTES
from sandtable.capsule.keys import SigningKey
from sandtable.capsule.query import CodeQuery
from sandtable.capsule.seal import Envelope, Oversized, seal
from sandtable.errors import ErrorCode, Problem, SandtableError
from sandtable.observing import Span, trace_of
from sandtable.retrying import retried
from sandtable.runs.cache import Cache
from sandtable.runs.cells import SessionKey
from sandtable.runs.draft import Draft, capsule_of, ended_run
from sandtable.runs.model import Run, as_stored, body_of, result_of
from sandtable.runs.parts import RunParts
from sandtable.runs.pipeline import LARGE_CELLS, LARGE_TEXT, STORE_AWAY, advance
from sandtable.runs.refusals import rule_of
from sandtable.runs.waiters import Waiters
from sandtable.store.run_store import Ending, HolderGone, RunRecord, RunStore, StoreUnavailable

log = structlog.get_logger(__name__)

Stop = Literal["cancel", "close"]


@dataclass(slots=True)
class Stopper:
    """Whether a run must stop, and why. `cancel` may become `close`, not the other way round."""

    reason: Stop | None = None
    _event: asyncio.Event = field(default_factory=asyncio.Event)
    _closing: asyncio.Event = field(default_factory=asyncio.Event)

    def stop(self, reason: Stop) -> None:
        if self.reason is None or reason == "close":
            self.reason = reason
        if reason == "close":
            self._closing.set()
        self._event.set()

    async def wait(self) -> None:
        await self._event.wait()

    async def pause(self, seconds: float) -> None:
        """Sleep, but wake up when the server closes."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closing.wait()


@dataclass(frozen=True, slots=True)
class Worker:
    store: RunStore
    parts: RunParts
    key: SigningKey
    waiters: Waiters
    now: Callable[[], datetime]
    max_attempts: int
    remember: Callable[[Run], None] = lambda run: None
    """Called with every run that has ended and is stored."""

    async def work(self, record: RunRecord, stopper: Stopper) -> None:
        tracer = self.parts.observer.tracer
        with tracer.under(str(record.body.get("traceparent", ""))):
            self._tell_wait(record)
            about = {"run_id": record.id, "dataset_id": record.dataset_id, "attempt": record.attempts}
            with tracer.root("run", **about) as span, bound_contextvars(**trace_of(tracer.link)):
                async with AsyncExitStack() as until_stored:
                    await self._work(record, stopper, until_stored, span)

    def _tell_wait(self, record: RunRecord) -> None:
        """A run that is executed again waited before."""
        if record.attempts <= 1:
            began, now = _moment(record.created_at), self.now()
            self.parts.observer.meter.timed("run_stage", (now - began).total_seconds(), stage="queue")
            self.parts.observer.tracer.passed("queue", began.timestamp(), now.timestamp(), run_id=record.id)

    async def _work(
        self, record: RunRecord, stopper: Stopper, until_stored: AsyncExitStack, span: Span
    ) -> None:
        draft = Draft.of(record)
        context = {"run_id": record.id, "dataset_id": record.dataset_id, "attempt": record.attempts}
        log.info("run_started", **context)
        if record.cancel_requested:
            draft.cancel()
        elif record.attempts > self.max_attempts:
            draft.fail(_given_up(record.attempts - 1))
        else:
            await self._advance(draft, stopper, until_stored)
        span.set(status=draft.status or "put back")
        if draft.error is not None:
            span.fail(draft.error.code)
        if draft.status is None:
            log.info("run_put_back", **context)
            return
        try:
            await self._end_patiently(draft, record, stopper)
        except SandtableError:
            raise
        except Exception as error:
            bare = Draft.of(record)
            if isinstance(error, Oversized):
                log.error("run_too_large_to_record", reason=str(error), **context)
                bare.fail(_too_large())
            else:
                log.exception("run_not_sealed", **context)
                bare.fail(_not_sealed())
            await self._end_patiently(bare, record, stopper)

    async def _advance(self, draft: Draft, stopper: Stopper, until_stored: AsyncExitStack) -> None:
        async def in_turn() -> None:
            key, sessions = SessionKey.of(draft.run), self.parts.sessions
            if key is not None and sessions is not None:
                # The session's next cell reads its predecessors from the store.
                await until_stored.enter_async_context(sessions.turn(key))
            await advance(draft, self.parts, Cache(self.store, self.key))

        work = asyncio.create_task(in_turn())
        stop = asyncio.create_task(stopper.wait())
        await asyncio.wait({work, stop}, return_when=asyncio.FIRST_COMPLETED)
        stop.cancel()
        if not work.done():
            work.cancel()
            await asyncio.wait({work})
        if draft.status is None and stopper.reason == "cancel":
            draft.cancel()

    async def end(self, draft: Draft, record: RunRecord, expected: Literal["pending", "running"]) -> bool:
        """Seal and store. False when another process ended or adopted the run meanwhile."""
        assert draft.status is not None
        finished_at = iso(self.now())
        run = ended_run(draft, finished_at)
        with self.parts.observer.stage("capsule"):
            envelope = await self._seal(draft, run)
        cached = draft.cached_from is not None
        ending = Ending(
            id=run.id,
            owner=record.owner,
            expected=expected,
            status=draft.status,
            finished_at=finished_at,
            body=body_of(run),
            envelope=envelope,
            result=None if cached else result_of(run),
            result_of=draft.cached_from,
            cache_key=draft.cache_key if draft.status == "succeeded" and not cached else None,
            session=draft.kept,
        )
        with self.parts.observer.stage("store"), self.parts.observer.storing("finish"):
            try:
                stored = await self.store.finish(ending)
            except HolderGone:
                whole = replace(ending, result=result_of(run), result_of=None, cache_key=draft.cache_key)
                stored = await self.store.finish(whole)
        if stored:
            self.remember(as_stored(run))
            self.waiters.tell(run.id)
            _log_end(run)
            self._count(run)
        return stored

    def _count(self, run: Run) -> None:
        meter, verdict = self.parts.observer.meter, run.verdict
        meter.counted("run", status=run.status, code=run.error.code if run.error else "")
        meter.timed("run", (self.now() - _moment(run.created_at)).total_seconds(), status=run.status)
        if verdict is not None and verdict.decision == "refused" and verdict.code is not None:
            rule = rule_of(verdict, self.parts.route(run.request.dataset_id, run.dataset_version).rules)
            meter.counted("refusal", code=verdict.code, rule=rule)

    async def _seal(self, draft: Draft, run: Run) -> Envelope:
        def make() -> Envelope:
            try:
                return seal(capsule_of(draft, run, self.parts), self.key)
            except Oversized as error:
                log.warning("capsule_cut", run_id=run.id, reason=str(error))
                return seal(capsule_of(draft, run, self.parts, lean=True), self.key)

        return await asyncio.to_thread(make) if _is_large(draft, run) else make()

    async def _end_patiently(self, draft: Draft, record: RunRecord, stopper: Stopper) -> None:
        """A full disk loses no result: waiting callers get the error, and the result is stored when possible."""

        async def report(error: StoreUnavailable) -> None:
            log.error("run_not_stored", run_id=record.id, reason=error.message)
            self.waiters.fail(record.id, error)
            if stopper.reason == "close":
                raise error

        try:
            stored = await retried(
                lambda: self.end(draft, record, "running"),
                on=StoreUnavailable,
                backoff=STORE_AWAY,
                between=report,
                sleep=stopper.pause,
            )
        except StoreUnavailable:
            # `report` logged it. The next start of the server finds the run and repeats it.
            return
        if not stored:
            log.warning("run_ended_elsewhere", run_id=record.id)


def iso(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _is_large(draft: Draft, run: Run) -> bool:
    """Whether sealing it would block the event loop noticeably."""
    query = run.request.query
    texts = (run.sql, run.executed_sql, query.code if isinstance(query, CodeQuery) else None)
    return (
        bool(run.artifacts)
        or (draft.sitting is not None and bool(draft.sitting.past.cells))
        or len(run.rows or ()) * len(run.columns) > LARGE_CELLS
        or sum(len(text or "") for text in texts) > LARGE_TEXT
    )


def _given_up(times: int) -> Problem:
    return Problem(
        code=ErrorCode.RUNNER_INTERNAL_ERROR,
        message=f"the run was begun {times} times and the server died or was stopped each time",
        suggestion="Look in the server's log for the reason, then submit it again.",
    )


def _too_large() -> Problem:
    return Problem(
        code=ErrorCode.RUNNER_RESOURCE_EXCEEDED,
        message=f"the record of the run takes more than {PAYLOAD_BYTES >> 20} MiB, and a run without one has no answer",
        suggestion="Shorten the query or the code.",
    )


def _not_sealed() -> Problem:
    return Problem(
        code=ErrorCode.RUNNER_INTERNAL_ERROR,
        message="the answer could not be sealed",
        suggestion="This is a defect of Sandtable: report it with the server's log.",
    )


def _log_end(run: Run) -> None:
    log.info(
        "run_finished",
        run_id=run.id,
        dataset_id=run.request.dataset_id,
        status=run.status,
        code=run.error.code if run.error else None,
        cached_from=run.cached_from,
        exec_time_ms=run.exec_time_ms,
        row_count=run.row_count,
        **run.stats,
    )
