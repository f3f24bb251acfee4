"""Queries in a connected PostgreSQL, as the executor of its source runs them."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandtable.assemble.sources import executor_of
from sandtable.sandbox.executor import executed
from sandtable.sandbox.job import Job, JobResult, Limits, Mode
from sandtable.sandbox.live.executor import LiveExecutor
from sandtable.settings import Settings
from sandtable.sources.address import read_address
from sandtable.sources.records import SourceRecords, source_of

_NUMBERS = itertools.count()
Columns = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Live:
    executor: LiveExecutor
    records: SourceRecords

    async def run(
        self, text: str, columns: Columns | None = None, mode: Mode = "sql", **limits: int
    ) -> JobResult:
        return await executed(self.executor, job_of(text, columns, mode, **limits))


def job_of(text: str, columns: Columns | None = None, mode: Mode = "sql", **limits: int) -> Job:
    """A job; its query has one column of whole numbers where no `columns` are given."""
    declared = [{"name": name, "type": kind} for name, kind in columns or [("n", "INTEGER")]]
    name = f"job-{next(_NUMBERS)}"
    return Job(id=name, mode=mode, text=text, limits=Limits(**limits), options={"columns": declared})


def opened(home: Path, url: str, *, allowed_writer: str = "", **settings: Any) -> Live:
    made = Settings(home=home, **settings)
    address = read_address(url)
    records = SourceRecords(home)
    source = source_of(address, "shop", only_schema="", password_env="", allowed_writer=allowed_writer)
    records.write(source, address.password)
    return Live(executor_of(made, "shop"), records)


def error_of(result: JobResult) -> tuple[str, str, str]:
    """Code, type, and all its words."""
    assert result.status == "failed"
    assert result.error is not None
    return (
        result.error.code.value,
        result.error.type,
        f"{result.error.message} {result.error.suggestion} {result.stderr}",
    )


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.02)
