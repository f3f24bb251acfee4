"""A live session: code runs in cells, one after another, and their variables are kept between them.

A tier that can hold sessions is a `SessionHost` besides being an `Executor`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from sandtable.sandbox.job import Job, JobResult, Limits


class Session(Protocol):
    @property
    def alive(self) -> bool:
        """False once its process is gone: every further cell fails."""
        ...

    async def cell(
        self,
        code: str,
        *,
        seed: int = 0,
        timeout_ms: int | None = None,
        limits: Limits | None = None,
        names: Mapping[str, str] | None = None,
    ) -> JobResult:
        """Run one cell; a second one waits for the first. Omitted arguments are as in the job of `open_session`.

        A cell over its time limit is interrupted and the state is kept; if the interrupt has no effect, the session
        dies. Both give a JobResult with RUNNER_TIMEOUT, and `alive` tells them apart. Memory and scratch space are the
        session's: `limits` cannot change them.
        """
        ...

    def interrupt(self) -> None:
        """Stop the running cell, if any; its `cell` call then returns RUNNER_TIMEOUT, type Interrupted."""
        ...

    async def aclose(self) -> None:
        """End it and discard its state. May be called more than once."""
        ...


class SessionHost(Protocol):
    async def open_session(self, job: Job) -> Session:
        """`job` has mode `session`, the data and limits as for a run, and no text.

        Raises SandboxUnavailable where Python cannot run, and RunnerBroken.
        """
        ...
