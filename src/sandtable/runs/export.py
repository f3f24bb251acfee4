"""The rows of a run as a file: CSV, JSON or Parquet.

Invariant: the rows are those that the run keeps and that its readers see; nothing is run again.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from sandtable.catalog.stored.store import DataStore
from sandtable.engines.duckdb.types import facts
from sandtable.errors import NotFound
from sandtable.runs.model import Run
from sandtable.sandbox.executor import Executor
from sandtable.sandbox.export import parquet_of

Format = Literal["csv", "json", "parquet"]

MEDIA_TYPES: dict[Format, str] = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
}
# A spreadsheet treats text that begins with these as a formula, and runs it.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_NEEDS_QUOTES = re.compile(r'[",\r\n]')
_UNSAFE = re.compile(r"[^\w.-]", re.ASCII)


@dataclass(frozen=True, slots=True)
class Exported:
    name: str
    media_type: str
    content: bytes
    truncated: bool
    """The query had more rows than the run keeps."""


async def export_run(run: Run, kind: Format, executor: Executor, store: DataStore) -> Exported:
    """Raises NotFound for a run without a result; InvalidInput and RunnerBroken where no Parquet can be made."""
    require_result(run)
    if kind == "parquet":
        content = await parquet_of(executor, store, run.columns, run.rows or (), run.limits)
    else:
        content = await asyncio.to_thread(csv_of if kind == "csv" else json_of, run)
    return Exported(
        name=f"sandtable-{_UNSAFE.sub('_', run.id)}.{kind}",
        media_type=MEDIA_TYPES[kind],
        content=content,
        truncated=run.truncated,
    )


def require_result(run: Run) -> None:
    """Raises NotFound for a run without rows, with what to do about it."""
    if not run.ended:
        raise NotFound(
            f"run {run.id} has no result yet: it is {run.status}",
            suggestion="Wait until the run has ended.",
            status=run.status,
        )
    if run.status != "succeeded" or run.rows is None:
        raise NotFound(
            f"run {run.id} has no result: it is {run.status}",
            suggestion=f"GET /runs/{run.id} says why; correct it and run it again.",
            status=run.status,
        )
    if run.request.mode == "python" and not run.columns:
        raise NotFound(
            f"run {run.id} has no result: its code showed no table",
            suggestion="Let the last line be a DataFrame, or call `show_table`, and run it again.",
            status=run.status,
        )
    if run.request.mode == "dry_run":
        raise NotFound(
            f"run {run.id} has no result: it was a dry run, which reads no rows",
            suggestion='Run it again with `mode` "sql".',
            status=run.status,
        )


def json_of(run: Run) -> bytes:
    """Columns with their types, then rows as arrays, because two columns may have the same name."""
    document = {
        "run_id": run.id,
        "dataset_id": run.request.dataset_id,
        "dataset_version": run.dataset_version,
        "columns": [column.model_dump() for column in run.columns],
        "rows": run.rows,
        "row_count": run.row_count,
        "truncated": run.truncated,
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def csv_of(run: Run) -> bytes:
    """RFC 4180 in UTF-8, with a header; nulls are empty, empty text is `""`, nested values are JSON."""
    return "".join(_lines(run)).encode("utf-8", "replace")


def _lines(run: Run) -> Iterator[str]:
    inert = [facts(column.type).inert for column in run.columns]
    yield _line([_field(column.name, inert=False) for column in run.columns])
    for row in run.rows or ():
        yield _line([_field(cell, inert=safe) for cell, safe in zip(row, inert, strict=True)])


def _line(fields: list[str]) -> str:
    # Most readers would skip an empty line.
    return (",".join(fields) or '""') + "\r\n"


def _field(cell: Any, *, inert: bool) -> str:
    """`inert`: the column's type cannot be a formula, as with -1 or -Infinity."""
    if cell is None:
        return ""
    text = cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False, separators=(",", ":"))
    if isinstance(cell, str) and not inert and text.startswith(_FORMULA):
        text = "'" + text
    return '"' + text.replace('"', '""') + '"' if not text or _NEEDS_QUOTES.search(text) else text
