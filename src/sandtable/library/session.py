"""A session: code in several pieces, with what they made kept between them. Written once, on the library's loop.

Invariant: every piece is checked before it runs, and one runs at a time. A session whose process is gone (killed
over its time or memory, closed with the library, or left behind by a fork) starts another at the next piece, and
the result says that what it held is gone.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from typing import Any

from sandtable.assemble import limits_of
from sandtable.catalog.model import Dataset
from sandtable.errors import InvalidInput, Problem
from sandtable.library.house import STREET, House
from sandtable.library.result import RunResult, Table, failure, said
from sandtable.library.work import Data, memory_of, require_text, timeout_of
from sandtable.policy.verdict import Refused
from sandtable.runs.code import require_tables, seed_of
from sandtable.runs.pipeline import refs_of
from sandtable.sandbox.artifact import artifacts_in, last_figure
from sandtable.sandbox.job import Job, JobResult
from sandtable.sandbox.session import Session

LOST = "the session was started anew: what earlier code had defined is gone"


class LiveSession:
    def __init__(
        self,
        data: Data,
        seconds: float,
        names: Mapping[str, str] | None,
        check: bool,
        memory_mb: int | None,
    ) -> None:
        timeout_of(seconds)
        self._memory_mb = memory_of(memory_mb)
        self._data = data
        self._seconds = seconds
        self._names = dict(names or {})
        self._check = check
        self._lock: asyncio.Lock | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._house: House | None = None
        self._dataset: Dataset | None = None
        self._session: Session | None = None
        self._began = False
        self._closed = False

    async def run(self, code: str, timeout: float | None = None) -> RunResult:  # noqa: ASYNC109 - the sandbox's limit
        """Run the next piece of code; it finds what earlier ones defined. See `sandtable.run` for what it may do.

        A piece that takes longer than `timeout` seconds (by default those of the session) is interrupted and the
        state kept, where it lets itself be interrupted; otherwise the session ends and the next piece begins anew.
        """
        require_text(code, "code")
        timeout_ms = timeout_of(self._seconds if timeout is None else timeout)
        async with self._turn():
            if self._closed:
                raise InvalidInput("the session is closed", suggestion="Open another.")
            house, dataset = await self._place(timeout_ms / 1000)
            verdict = (
                await house.parts.check(dataset, python=code, names=self._names) if self._check else None
            )
            if isinstance(verdict, Refused):
                return failure(
                    Problem(code=verdict.code, message=verdict.message, suggestion=verdict.suggestion)
                )
            session, warnings = await self._open(house, dataset)
            ran = await session.cell(
                code, seed=seed_of(code, dataset.version), timeout_ms=timeout_ms, names=self._names
            )
            return result_of(ran, warnings)

    async def close(self) -> None:
        """End it and all it holds. May be called more than once."""
        async with self._turn():
            self._closed = True
            session, self._session = self._session, None
            if session is not None and self._loop is asyncio.get_running_loop():
                await session.aclose()

    def _turn(self) -> asyncio.Lock:
        """A lock belongs to one loop; a forked child has another."""
        loop = asyncio.get_running_loop()
        if self._lock is None or self._loop is not loop:
            self._lock, self._loop = asyncio.Lock(), loop
            self._house = self._dataset = self._session = None
        return self._lock

    async def _place(self, seconds: float) -> tuple[House, Dataset]:
        if self._house is None or self._dataset is None:
            house = await STREET.house(timeout_s=max(seconds, self._seconds), memory_mb=self._memory_mb)
            dataset = await house.handover.dataset(self._data, house.parts.library)
            require_tables(self._names, dataset)
            self._house, self._dataset = house, dataset
        return self._house, self._dataset

    async def _open(self, house: House, dataset: Dataset) -> tuple[Session, tuple[str, ...]]:
        if self._session is not None and self._session.alive:
            return self._session, ()
        job = Job(
            id=f"session-{secrets.token_hex(8)}",
            mode="session",
            dataset_id=dataset.id,
            dataset_version=dataset.version,
            data=refs_of(dataset),
            limits=limits_of(house.parts.settings),
            options={"names": self._names},
        )
        self._session = await house.parts.tiers.sessions.open_session(job)
        began, self._began = self._began, True
        return self._session, (LOST,) if began else ()


def result_of(ran: JobResult, warnings: tuple[str, ...]) -> RunResult:
    artifacts = artifacts_in(ran)
    error = ran.error
    problem = error and Problem(code=error.code, message=error.message, suggestion=error.suggestion)
    table: Any = None
    if ran.columns:
        names, types = zip(*((column.name, column.type) for column in ran.columns), strict=True)
        table = Table(names, types, ran.rows, ran.truncated)
    return RunResult(
        stdout=ran.stdout,
        stderr=ran.stderr,
        success=ran.status == "succeeded",
        error_message=said(problem) if problem else None if ran.status == "succeeded" else ran.status,
        artifacts=artifacts,
        code=problem.code.value if problem else None,
        table=table,
        chart=last_figure(artifacts),
        warnings=warnings,
        exec_time_ms=ran.exec_time_ms,
    )
