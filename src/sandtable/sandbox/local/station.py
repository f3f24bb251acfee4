"""One kind of template with its shelf of sandboxes: started when it is first needed, replaced when it dies."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

import structlog

from sandtable.sandbox.executor import Kind
from sandtable.sandbox.local.pool import Pool
from sandtable.sandbox.local.template import TemplateProcess
from sandtable.sandbox.shelves import KEYS_KEPT

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Plan:
    """How a station starts its template, and how many sandboxes it keeps ready."""

    kind: Kind
    store: Path
    isolation: str
    nice: int
    memory_bytes: int
    pids: int
    standby: int
    presealed: int
    keys: int = KEYS_KEPT
    """Kinds of jobs that it keeps presealed ones for."""


class Station:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._starting = asyncio.Lock()
        self._template: TemplateProcess | None = None
        self._pool: Pool | None = None

    async def ready(self) -> tuple[TemplateProcess, Pool]:
        """Raises SandboxUnavailable."""
        async with self._starting:
            if self._template is None or self._pool is None or not self._template.alive:
                if self._template is not None:
                    log.warning("sandbox template was lost, starting another", kind=self._plan.kind)
                    await self._template.aclose()
                if self._pool is not None:
                    self._pool.close()
                plan = self._plan
                self._template = await TemplateProcess.start(
                    plan.store, kind=plan.kind, isolation=plan.isolation, nice=plan.nice,
                    memory_bytes=plan.memory_bytes, pids=plan.pids,
                )  # fmt: skip
                self._pool = Pool(
                    self._template, standby=plan.standby, presealed=plan.presealed, keys=plan.keys
                )
            return self._template, self._pool

    async def aclose(self) -> None:
        if self._pool:
            self._pool.close()
        if self._template:
            await self._template.aclose()
