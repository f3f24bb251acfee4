"""Which jobs can use the same sandbox prepared in advance, and how it is prepared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sandtable.sandbox.job import Job


@dataclass(frozen=True, slots=True)
class PresealKey:
    """Jobs that can use the same presealed sandbox."""

    parses: bool
    version: str
    tables: tuple[tuple[str, str], ...]
    stamps: tuple[str, ...]
    threads: int
    memory_mb: int
    tmp_mb: int
    cpu_s: int
    pids: int

    @classmethod
    def of(cls, job: Job) -> PresealKey:
        limits = job.limits
        tables = tuple((ref.table, ref.path) for ref in job.data)
        return cls(
            job.mode == "parse" and not job.options.get("hold"),
            job.dataset_version,
            tables,
            tuple(ref.stamp for ref in job.data),
            job.threads,
            limits.memory_mb,
            limits.tmp_mb,
            limits.cpu_s,
            limits.pids,
        )

    def outdates(self, other: PresealKey) -> bool:
        """Whether the data changed between the two keys, so that sandboxes made for `other` are stale."""
        return self.version == other.version and self.tables == other.tables and self.stamps != other.stamps

    @property
    def folder(self) -> str | None:
        """The dataset's folder in the data store."""
        return f"versions/{self.version.removeprefix('sha256:')}" if self.version else None

    def order(self) -> dict[str, Any]:
        """How to prepare a sandbox for this key. A presealed sandbox may write to its scratch space only."""
        return {
            "presealed": True,
            "warm": True,
            "mode": "parse" if self.parses else "sql",
            "cell": {
                "folder": self.folder,
                "staging": None,
                "memory_mb": self.memory_mb,
                "tmp_mb": self.tmp_mb,
                "file_mb": self.tmp_mb,
                "cpu_s": self.cpu_s,
                "pids": self.pids,
            },
            "data": [{"table": table, "path": path} for table, path in self.tables],
            "threads": self.threads,
        }


def unsealed(tmp_mb: int, memory_mb: int, *, warm: bool) -> dict[str, Any]:
    """How to prepare a sandbox that is not bound to data yet."""
    return {"presealed": False, "warm": warm, "cell": {"tmp_mb": tmp_mb, "memory_mb": memory_mb}}
