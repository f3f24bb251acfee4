"""Sandboxes that have parsed a text of our own compiler, held for a moment until they run it.

Invariant: a held sandbox runs only the canonical form of the text that it parsed, on the data and within the limits for
which it was sealed. It is disposed of after a short timeout.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from sandtable.sandbox.job import Job, JobResult
from sandtable.sandbox.key import PresealKey
from sandtable.sandbox.local.sandbox import Sandbox

_PATIENCE_S = 2.0

_Waiting = tuple[PresealKey, str]


class Held:
    def __init__(self, most: int) -> None:
        self._most = most
        self._sandboxes: OrderedDict[_Waiting, tuple[Sandbox, asyncio.TimerHandle]] = OrderedDict()

    def hold(self, job: Job, result: JobResult, sandbox: Sandbox) -> bool:
        """Whether it is held from now on: only after a job that asked for it, and only if it is alive."""
        canonical = result.output.get("canonical")
        if not job.options.get("hold") or not isinstance(canonical, str) or not sandbox.alive:
            return False
        waiting = (PresealKey.of(job), canonical)
        self._drop(waiting)
        later = asyncio.get_running_loop().call_later(_PATIENCE_S, self._drop, waiting)
        self._sandboxes[waiting] = (sandbox, later)
        while len(self._sandboxes) > self._most:
            self._drop(next(iter(self._sandboxes)))
        return True

    def take(self, job: Job) -> Sandbox | None:
        if job.mode not in ("sql", "dry_run") or not self._sandboxes:
            return None
        sandbox, later = self._sandboxes.pop((PresealKey.of(job), job.text), (None, None))
        if later is not None:
            later.cancel()
        if sandbox is not None and not sandbox.alive:
            sandbox.dispose()
            return None
        return sandbox

    def close(self) -> None:
        for waiting in list(self._sandboxes):
            self._drop(waiting)

    def _drop(self, waiting: _Waiting) -> None:
        sandbox, later = self._sandboxes.pop(waiting, (None, None))
        if sandbox is not None and later is not None:
            later.cancel()
            sandbox.dispose()
