"""A result as a Parquet file, made by a job in a sandbox: the server process loads no engine.

Invariant: the sandbox's answer is untrusted. It is bounded, and passed on only as bytes that begin and end as a Parquet
file does.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import secrets
from collections.abc import Sequence
from typing import Any

from sandtable.catalog.stored.store import DataStore, disk_trouble
from sandtable.errors import InvalidInput, RunnerBroken
from sandtable.sandbox.executor import Executor, executed
from sandtable.sandbox.job import Job, JobResult, Limits, ResultColumn

_MARK = b"PAR1"
_SMALLEST = 12
_FILE_MB = 256
_MOST_CELL_BYTES = 48 << 20
"""Approximate bytes of cells in a job; the channel takes 64 MiB."""
_LEAST_WALL_MS = 30_000
"""The run may have had a shorter limit for its query, too short to write a Parquet file."""


async def parquet_of(
    executor: Executor,
    store: DataStore,
    columns: Sequence[ResultColumn],
    rows: Sequence[Sequence[Any]],
    limits: Limits,
) -> bytes:
    """`limits` are those of the run: the file may have as many bytes as its result.

    Raises InvalidInput for a result that is too large, and RunnerBroken.
    """
    if limits.result_bytes > _MOST_CELL_BYTES:
        limits = limits.model_copy(update={"result_bytes": _MOST_CELL_BYTES})
        if sum(len(str(cell)) + 4 for row in rows for cell in row) > _MOST_CELL_BYTES:
            raise _too_large(f"the result has more than {_MOST_CELL_BYTES >> 20} MiB")
    with disk_trouble(store.root):
        work = await asyncio.to_thread(store.open_workspace)
    try:
        job = Job(
            id=f"export_{secrets.token_hex(8)}",
            mode="export",
            # Base64 makes a file a third longer, and a small file has more metadata than rows.
            limits=limits.model_copy(
                update={
                    "rows": 0,
                    "result_bytes": limits.result_bytes * 2 + (1 << 20),
                    "wall_ms": max(limits.wall_ms, _LEAST_WALL_MS),
                }
            ),
            options={
                "columns": [column.model_dump() for column in columns],
                "rows": [list(row) for row in rows],
                "folder": work.incoming,
                "staging": work.id,
                "file_mb": _FILE_MB,
            },
        )
        return _read(await executed(executor, job))
    finally:
        await asyncio.to_thread(store.close_workspace, work)


def _read(result: JobResult) -> bytes:
    if result.status != "succeeded":
        error = result.error
        if error is not None and error.type == "ResultTooLarge":
            raise _too_large(error.message)
        raise RunnerBroken(
            f"the Parquet file could not be made: {error.message if error else result.status}",
            suggestion="Try again, or take the result as CSV or JSON.",
            stderr=result.stderr,
        )
    try:
        content = base64.b64decode(str(result.output.get("parquet")), validate=True)
    except binascii.Error as error:
        raise _unbelievable() from error
    if len(content) < _SMALLEST or not (content.startswith(_MARK) and content.endswith(_MARK)):
        raise _unbelievable()
    return content


def _too_large(why: str) -> InvalidInput:
    return InvalidInput(f"there is no Parquet file: {why}", suggestion="Take the result as CSV or JSON.")


def _unbelievable() -> RunnerBroken:
    return RunnerBroken(
        "what the sandbox made is no Parquet file",
        suggestion="Try again, or take the result as CSV or JSON.",
    )
