"""Job in, JobResult out: the one contract of every tier.

Invariant: both are plain JSON. The runner (`sandtable_runner`) reads a job from a socket or stdin and writes a result
to a dedicated channel; it never receives a Python object of ours.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from sandtable.catalog.stored.integrity import OpenData
from sandtable.catalog.stored.store import parquet_name
from sandtable.errors import ErrorCode

Mode = Literal[
    "sql", "dry_run", "fetch_schema", "parse", "ingest", "profile", "export", "probe", "python", "session"
]
MODES: frozenset[Mode] = frozenset(get_args(Mode))
WRITES: frozenset[Mode] = frozenset({"ingest", "export"})
"""Modes that write a file into their own folder: no sandbox is sealed for them in advance."""
READS: frozenset[Mode] = MODES - WRITES - {"session"}
"""Modes without side effects: such a job may run a second time."""
CODE: frozenset[Mode] = frozenset({"python", "session"})
"""Modes that run Python, in sandboxes that have its libraries."""


class _Wire(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Limits(_Wire):
    """Hard limits of one run. They are part of the capsule."""

    wall_ms: int = Field(default=30_000, ge=1)
    cpu_s: int = Field(default=60, ge=1)
    memory_mb: int = Field(default=1024, ge=64)
    tmp_mb: int = Field(default=256, ge=0)
    pids: int = Field(default=64, ge=1)
    """Threads: a sandbox cannot start processes at all."""
    rows: int = Field(default=200, ge=0)
    cell_bytes: int = Field(default=64 << 10, ge=16)
    result_bytes: int = Field(default=4 << 20, ge=256)
    log_bytes: int = Field(default=64 << 10, ge=0)


class DataRef(_Wire):
    """One table: where its Parquet file lies inside the data store, and what it must contain."""

    table: str
    path: str
    """Relative to the dataset's folder in the data store, such as `orders.parquet`."""
    rows: int | None = None
    stamp: str = Field(default="", exclude=True)
    """The file's state when it was verified: a sandbox that was made for another state is not used. Local to this
    process; not sent to runners or services."""


def refs_of(data: OpenData) -> tuple[DataRef, ...]:
    """The files of an opened dataset; none where its rows stay in a database."""
    if data.dataset.live is not None:
        return ()
    files = [(table, parquet_name(table.name)) for table in data.dataset.tables]
    return tuple(
        DataRef(table=table.name, path=file, rows=table.rows, stamp=data.whole.stamp(file))
        for table, file in files
    )


class Job(_Wire):
    id: str
    mode: Mode
    dataset_id: str = ""
    dataset_version: str = ""
    """`sha256:…`; names the folder in the data store that becomes the sandbox's only data."""
    data: tuple[DataRef, ...] = ()
    text: str = ""
    threads: int = Field(default=1, ge=1)
    limits: Limits = Limits()
    options: dict[str, Any] = Field(default_factory=dict)
    """Mode-specific, such as `float_columns` for `parse`, `source` or `pairs` for `ingest`, `rows` for `export`,
    `names` (alias → table), `seed`, `check` and `before` (`code` and `seed` of earlier cells, whose output is
    thrown away) for `python`; `columns` (`name` and `type` of each) for `sql` that runs in a connected database."""


class ResultColumn(_Wire):
    name: str
    type: str
    """DuckDB's type name."""


class JobError(_Wire):
    code: ErrorCode
    type: str
    """The engine's class of error, such as `BinderException`."""
    message: str
    suggestion: str = ""


class JobResult(_Wire):
    job_id: str
    status: Literal["succeeded", "failed", "cancelled"]
    columns: tuple[ResultColumn, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    """JSON values, as the runner's `encode` makes them: long integers and decimals, dates and times are text."""
    row_count: int = 0
    """Rows in `rows`."""
    truncated: bool = False
    """The query had more rows than `limits.rows`."""
    exec_time_ms: float = 0.0
    stdout: str = ""
    stderr: str = ""
    error: JobError | None = None
    output: dict[str, Any] = Field(default_factory=dict)
    """Answer of the modes that return no table (`parse`, `fetch_schema`, `ingest`, `profile`, `export`, `probe`).
    Of `python`: `artifacts`, `displayed` (an artifact's id), `loaded` (table → columns or "all")."""
    metrics: dict[str, float] = Field(default_factory=dict)
    """Timings in ms and peaks, never hashed."""
