"""Ingest one file the way the server does: a job in a sandbox, bytes in, Parquet out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import duckdb

from sandtable.sandbox.executor import Executor
from sandtable.sandbox.job import Job, JobResult, Limits

_ids = count()


@dataclass(frozen=True, slots=True)
class Ingested:
    result: JobResult
    parquet: Path

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """Read by an engine of our own, not by the one that wrote it."""
        with duckdb.connect() as connection:
            return connection.execute(f"SELECT * FROM read_parquet('{self.parquet}')").fetchall()

    @property
    def columns(self) -> list[tuple[str, str]]:
        return [(column["name"], column["sql_type"]) for column in self.table["columns"]]

    @property
    def table(self) -> dict[str, Any]:
        (table,) = self.result.output["tables"]
        return table


@dataclass(frozen=True, slots=True)
class Intake:
    executor: Executor
    root: Path

    async def __call__(
        self,
        content: bytes | Path,
        *,
        name: str = "orders.csv",
        kind: str = "csv",
        columns: list[list[str]] | None = None,
        limits: Limits | None = None,
    ) -> Ingested:
        job_id = f"ingest-{next(_ids)}"
        incoming, staging = self.root / "incoming" / job_id, self.root / "staging" / job_id
        incoming.mkdir()
        staging.mkdir()
        staging.chmod(0o777)
        source = incoming / name
        if isinstance(content, Path):
            content.rename(source)
        else:
            source.write_bytes(content)
        options = {
            "source": name,
            "format": kind,
            "table": "orders",
            "columns": columns,
            "recipes": None,
            "answers": {},
            "repairs": [],
            "folder": f"incoming/{job_id}",
            "staging": job_id,
            "file_mb": 512,
        }
        job = Job(id=job_id, mode="ingest", options=options, limits=limits or Limits(wall_ms=20_000))
        await self.executor.submit(job)
        return Ingested(await self.executor.result(job_id), staging / "orders.parquet")
