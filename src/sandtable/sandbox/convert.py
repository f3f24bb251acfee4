"""Conversion of source files, by an ingest job in a sandbox of the indexing pool."""

from __future__ import annotations

import secrets
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import BaseModel, ConfigDict, FailFast, Field, ValidationError

from sandtable.catalog.convert import ConvertedColumn, ConvertRequest, ConvertResult
from sandtable.errors import ErrorCode, InvalidInput, RunnerBroken
from sandtable.sandbox.executor import Executor
from sandtable.sandbox.job import Job, JobResult, Limits

_LIMITS = Limits(wall_ms=1_800_000, cpu_s=3600, memory_mb=2048, tmp_mb=0, pids=64, rows=0)
_MAX_OUTPUT_MB = 64 << 10
_MOST_COLUMNS = 100_000


class _Column(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: str
    sql_type: str
    nullable: bool


class _Found(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    columns: Annotated[list[_Column], FailFast()] = Field(max_length=_MOST_COLUMNS)
    rows: int = Field(ge=0)
    output: str
    latest: dict[str, str] = Field(max_length=_MOST_COLUMNS)


class SandboxedConvert:
    """Implements `catalog.convert.Convert`."""

    def __init__(self, executor: Executor, *, threads: int) -> None:
        self._executor = executor
        self._threads = threads

    async def __call__(self, request: ConvertRequest, /) -> ConvertResult:
        source = PurePosixPath(request.source)
        options = {
            "source": source.name,
            "format": request.format,
            "columns": [list(pair) for pair in request.columns] if request.columns else None,
            "output": f"{request.table}.parquet",
            "folder": str(source.parent),
            "staging": PurePosixPath(request.staging).name,
            "file_mb": _MAX_OUTPUT_MB,
        }
        job = Job(
            id=f"ingest_{secrets.token_hex(8)}",
            mode="ingest",
            threads=self._threads,
            limits=_LIMITS,
            options=options,
        )
        await self._executor.submit(job)
        return _read(await self._executor.result(job.id), source.name)


def _read(result: JobResult, file: str) -> ConvertResult:
    if result.error is not None:
        if result.error.code in (ErrorCode.RUNNER_INTERNAL_ERROR, ErrorCode.SANDBOX_UNAVAILABLE):
            raise RunnerBroken(
                f"converting {file} failed: {result.error.message}",
                suggestion=result.error.suggestion,
                stderr=result.stderr,
            )
        raise InvalidInput(result.error.message, suggestion=result.error.suggestion)
    if result.status != "succeeded":
        raise RunnerBroken(f"converting {file} was {result.status}")
    try:
        found = _Found.model_validate(result.output)
    except ValidationError as error:
        raise RunnerBroken(
            f"what the sandbox says about {file} does not have the agreed form",
            suggestion="Try again; if it fails again, report it.",
        ) from error
    columns = tuple(ConvertedColumn(c.name, c.sql_type, c.nullable) for c in found.columns)
    return ConvertResult(columns, found.rows, found.output, found.latest)
