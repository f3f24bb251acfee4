"""The sandbox seam. A tier is one class with these methods; `tests/sandbox/conformance` holds for all."""

from __future__ import annotations

from typing import Literal, Protocol

from sandtable.sandbox.job import Job, JobResult

JobStatus = Literal["unknown", "pending", "running", "done"]


class Executor(Protocol):
    name: str
    """`local`, `docker`, `kubernetes`, `remote`, `fake`: recorded in the capsule."""

    async def submit(self, job: Job) -> None:
        """Take the job. Returns once it is accepted; submitting the same id again is a no-op."""
        ...

    async def result(self, job_id: str) -> JobResult:
        """Wait for the job's end. Every outcome, a crash included, is a JobResult; unknown ids raise NotFound."""
        ...

    async def status(self, job_id: str) -> JobStatus: ...

    async def cancel(self, job_id: str) -> None:
        """Kill it now. `result` then answers `cancelled`, unless the job had already ended."""
        ...

    async def aclose(self) -> None:
        """End every sandbox this executor started."""
        ...
