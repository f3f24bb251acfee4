"""The SQL gate: parse in a sandbox, judge here.

Invariant: SQL text is parsed by DuckDB only inside a sealed sandbox. Untrusted text is parsed without data, by a parser
that never serves two people; text of our own compiler is parsed where it will run. Whatever a text can cause there (too
slow, too deep, a crash) is a refusal.
"""

from __future__ import annotations

import secrets
from collections.abc import Generator
from contextlib import contextmanager

from sandtable.catalog.model import ColumnType, Dataset
from sandtable.engines.rules import Rules
from sandtable.errors import ErrorCode, RunnerBroken
from sandtable.observing import UNOBSERVED, Observer
from sandtable.policy.conditions import SqlConditions, conditions_of
from sandtable.policy.gate import judge
from sandtable.policy.pregate import pregate
from sandtable.policy.verdict import Approved, Refused, Verdict
from sandtable.recent import Recent
from sandtable.sandbox.executor import Executor, executed
from sandtable.sandbox.job import DataRef, Job, JobResult, Limits

MACHINERY = frozenset({"SandboxLost", "NoAnswer", "BadAnswer", "Killed"})
"""Errors that no text causes by itself; whatever a text can cause is a refusal."""

LARGE_ROWS = 500_000
"""Tables with fewer rows are read by one thread, so that sums equal those of the engine alone."""

SECOND_MS = 10_000
"""For the second try of a parse that got no processor time."""

SHORT = 4 << 10
"""Characters. The parsers read any text of this length in 50 ms of processor time."""

_LONGEST_REMEMBERED = 16 << 10

_LIMITS = Limits(
    wall_ms=800, cpu_s=60, memory_mb=256, tmp_mb=0, pids=4, rows=0, result_bytes=16 << 20, log_bytes=4096
)
_OF_A_PARSE = {name: getattr(_LIMITS, name) for name in ("wall_ms", "rows", "result_bytes", "log_bytes")}


def parse_id() -> str:
    return f"parse_{secrets.token_hex(8)}"


async def parsed(executor: Executor, job: Job, observer: Observer = UNOBSERVED) -> JobResult:
    with observer.stage("parse"):
        return await _parsed(executor, job)


async def _parsed(executor: Executor, job: Job) -> JobResult:
    """Retry once if the parse timed out with less than half its CPU budget used: the host was busy, the query is not
    hostile. A short text is retried in any case: on a virtual machine whose processors are shared, the time that other
    machines took is counted as the text's."""
    result = await executed(executor, job)
    if not _was_starved(job, result):
        return result
    limits = job.limits.model_copy(update={"wall_ms": SECOND_MS})
    return await executed(executor, job.model_copy(update={"id": parse_id(), "limits": limits}))


def _was_starved(job: Job, result: JobResult) -> bool:
    """False for a long text whose processor time is unknown."""
    if result.error is None or result.error.type != "Timeout":
        return False
    return len(job.text) <= SHORT or result.metrics.get("cpu_ms", job.limits.wall_ms) < job.limits.wall_ms / 2


class Gate:
    def __init__(
        self,
        executor: Executor,
        rules: Rules,
        *,
        max_bytes: int,
        max_rows: int = 200,
        one_person: bool = False,
        remembered: int = 256,
        observer: Observer = UNOBSERVED,
    ) -> None:
        """`one_person`: all texts come from the same person, so that a parser may serve several of them.
        `remembered`: how many approvals are kept."""
        self._executor = executor
        self._rules = rules
        self._one_person = one_person
        self._max_rows = max_rows
        self._max_bytes = max_bytes
        self._observer = observer
        self._approved: Recent[tuple[str, str], Approved] = Recent(remembered)
        """Approvals by text and data version. Refusals are not remembered."""

    async def __call__(self, text: str, dataset: Dataset) -> Verdict:
        refused = pregate(text, self._max_bytes)
        if refused is not None:
            return refused
        known = self._approved.get((text, dataset.version))
        if known is not None:
            return known
        return await self._look(text, dataset, parse_job(text, dataset, keep=self._one_person))

    async def compiled(
        self, text: str, dataset: Dataset, refs: tuple[DataRef, ...], limits: Limits
    ) -> Verdict:
        """For a text that was compiled from a plan: the sandbox that parses it is held for a moment, so that the run of
        the canonical text finds it already sealed for these data and limits."""
        if is_large(dataset):
            return await self(text, dataset)
        settled = pregate(text, self._max_bytes) or self._approved.get((text, dataset.version))
        if settled is not None:
            return settled
        job = parse_job(text, dataset)
        held = {
            "dataset_id": dataset.id, "dataset_version": dataset.version, "data": refs,
            "limits": limits.model_copy(update=_OF_A_PARSE), "options": {**job.options, "hold": True},
        }  # fmt: skip
        return await self._look(text, dataset, job.model_copy(update=held))

    async def conditions(self, text: str, dataset: Dataset) -> SqlConditions:
        """What a text restricts its rows by; nothing for one that the gate does not approve."""
        if pregate(text, self._max_bytes) is not None:
            return SqlConditions()
        result = await parsed(self._executor, parse_job(text, dataset, keep=self._one_person))
        if result.status != "succeeded" or not isinstance(self._judged(text, dataset, result), Approved):
            return SqlConditions()
        with _in_agreed_form():
            return conditions_of(text, result.output, dataset, self._rules.functions)

    async def _look(self, text: str, dataset: Dataset, job: Job) -> Verdict:
        result = await parsed(self._executor, job, self._observer)
        if result.status != "succeeded":
            return _unparsed(result)
        verdict = self._judged(text, dataset, result)
        if isinstance(verdict, Approved) and len(text) <= _LONGEST_REMEMBERED:
            self._approved.put((text, dataset.version), verdict)
        return verdict

    def _judged(self, text: str, dataset: Dataset, result: JobResult) -> Verdict:
        with _in_agreed_form():
            return judge(text, result.output, dataset, self._rules, max_rows=self._max_rows)


@contextmanager
def _in_agreed_form() -> Generator[None]:
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        # The engine never writes such a tree; a parser compromised by the text can.
        raise RunnerBroken(
            "what the parser made of the text does not have the agreed form",
            suggestion="Run it again; if it fails again, report the query",
        ) from error


def parse_job(text: str, dataset: Dataset, *, keep: bool = False) -> Job:
    options = {"keep": keep, "float_columns": _float_columns(text, dataset) if is_large(dataset) else None}
    return Job(id=parse_id(), mode="parse", text=text, limits=_LIMITS, options=options)


def is_large(dataset: Dataset) -> bool:
    """Large enough for several threads to help; their partial sums are added in any order."""
    return sum(table.rows or 0 for table in dataset.tables) >= LARGE_ROWS


def _float_columns(text: str, dataset: Dataset) -> list[str]:
    """Only of tables that the text may read: another table's column of the same name may be exact."""
    read = [t for t in dataset.tables if t.name.lower() in text.lower() or '"' in t.name]
    return sorted({c.name for t in read for c in t.columns if c.type is ColumnType.FLOAT})


def _unparsed(result: JobResult) -> Refused:
    error = result.error
    if error is not None and error.type in MACHINERY:
        raise RunnerBroken(f"the gate lost its sandbox: {error.message}", suggestion="Run it again")
    if error is not None and error.code in (ErrorCode.RUNNER_TIMEOUT, ErrorCode.RUNNER_RESOURCE_EXCEEDED):
        why = "the text takes too long or too much memory to parse"
    else:
        why = f"the text could not be parsed: {error.message if error else result.status}"
    return Refused(
        code=ErrorCode.SQL_POLICY_VIOLATION,
        construct="statement",
        message=why,
        suggestion="Write a shorter query with less nesting",
    )
