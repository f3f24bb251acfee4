"""Conversion of source files and comparison of the converted tables, by ingest jobs in a sandbox of the indexing pool.

Invariant: the sandbox's answer is not trusted. It is used only when it has the agreed form.
"""

from __future__ import annotations

import secrets
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sandtable.catalog.convert import (
    ColumnPlace,
    CompareRequest,
    Comparison,
    ConvertRequest,
    ConvertResult,
    Counts,
)
from sandtable.errors import ErrorCode, InvalidInput, RunnerBroken
from sandtable.sandbox.converted import Answered, repairs_in, result_of
from sandtable.sandbox.executor import Executor, executed
from sandtable.sandbox.job import Job, JobResult, Limits

_LIMITS = Limits(
    wall_ms=1_800_000, cpu_s=3600, memory_mb=2048, tmp_mb=0, pids=64, rows=0, result_bytes=32 << 20
)
_COMPARING = Limits(wall_ms=300_000, cpu_s=1200, memory_mb=1024, tmp_mb=0, pids=64, rows=0)
_MAX_OUTPUT_MB = 64 << 10

_TOO_MUCH = (ErrorCode.RUNNER_RESOURCE_EXCEEDED, ErrorCode.RUNNER_TIMEOUT)
_Count = Annotated[int, Field(ge=0, strict=True)]


class _Compared(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    ones: list[tuple[_Count, _Count, _Count, _Count] | None]
    pairs: list[tuple[_Count, _Count | None]]


class SandboxedConvert:
    """Implements `catalog.convert.Convert`."""

    def __init__(self, executor: Executor, *, threads: int) -> None:
        self._executor = executor
        self._threads = threads

    async def __call__(self, request: ConvertRequest, /) -> ConvertResult:
        source = PurePosixPath(request.source)
        recipes = request.recipes
        options = {
            "source": source.name,
            "format": request.format,
            "table": request.table,
            "columns": [list(pair) for pair in request.columns] if request.columns else None,
            "recipes": None
            if recipes is None
            else [
                {"table": name, "recipe": recipe.model_dump(mode="json")} for name, recipe in recipes.items()
            ],
            "answers": dict(request.answers),
            "repairs": list(request.repairs),
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
        return _read(await executed(self._executor, job), source.name, request)

    async def compare(self, request: CompareRequest, /) -> Comparison:
        """When memory or time runs out, the comparison is empty: nothing is known of any column."""
        options = {
            "files": [list(pair) for pair in request.files.items()],
            "ones": [_pair(place) for place in request.ones],
            "pairs": [[_pair(many), _pair(one)] for many, one in request.pairs],
            "folder": request.incoming,
            "staging": PurePosixPath(request.staging).name,
            "file_mb": 1,
        }
        job = Job(
            id=f"compare_{secrets.token_hex(8)}",
            mode="ingest",
            threads=self._threads,
            limits=_COMPARING,
            options=options,
        )
        return _read_comparison(await executed(self._executor, job), request)


def _pair(place: ColumnPlace) -> list[str]:
    return [place.table, place.column]


def _read_comparison(result: JobResult, request: CompareRequest) -> Comparison:
    if result.error is not None and result.error.code in _TOO_MUCH:
        return Comparison((None,) * len(request.ones), ((0, None),) * len(request.pairs))
    if result.status != "succeeded":
        why = result.error.message if result.error else result.status
        raise RunnerBroken(
            f"the tables could not be compared: {why}",
            suggestion="Try again; if it fails again, report it.",
            stderr=result.stderr,
        )
    try:
        found = _Compared.model_validate(result.output)
    except ValidationError as error:
        raise _disagreed("the tables") from error
    if (len(found.ones), len(found.pairs)) != (len(request.ones), len(request.pairs)):
        raise _disagreed("the tables")
    return Comparison(
        tuple(None if counts is None else Counts(*counts) for counts in found.ones), tuple(found.pairs)
    )


def _disagreed(what: str) -> RunnerBroken:
    return RunnerBroken(
        f"what the sandbox says about {what} does not have the agreed form",
        suggestion="Try again; if it fails again, report it.",
    )


def _read(result: JobResult, file: str, request: ConvertRequest) -> ConvertResult:
    if result.error is not None:
        if result.error.code in (ErrorCode.RUNNER_INTERNAL_ERROR, ErrorCode.SANDBOX_UNAVAILABLE):
            raise RunnerBroken(
                f"converting {file} failed: {result.error.message}",
                suggestion=result.error.suggestion,
                stderr=result.stderr,
            )
        try:
            repairs = repairs_in(result.output)
        except ValidationError as error:
            raise _disagreed(file) from error
        raise InvalidInput(
            result.error.message,
            suggestion=result.error.suggestion,
            repairs=[repair.model_dump() for repair in repairs],
            questions=[],
        )
    if result.status != "succeeded":
        raise RunnerBroken(f"converting {file} was {result.status}")
    try:
        return result_of(Answered.model_validate(result.output), declared=request.columns is not None)
    except ValidationError as error:
        raise _disagreed(file) from error
