"""Sandboxes kept ready, so that a job does not wait for a fork; and the template that they are forked from.

Three ways to get one, fastest first: *presealed* for this very dataset, *standby* (warm, not yet bound to data),
*fresh* (forked now). All serve one job. A taken sandbox is replaced only when its job has ended: the refill must not
compete with a run for the processor.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import structlog

from sandtable.sandbox.executor import Kind
from sandtable.sandbox.job import WRITES, Job
from sandtable.sandbox.key import PresealKey, unsealed
from sandtable.sandbox.local.sandbox import Garbled, Sandbox
from sandtable.sandbox.local.template import TemplateProcess
from sandtable.sandbox.shelves import KEYS_KEPT, Shelves

Origin = Literal["kept", "held", "presealed", "standby", "fresh"]

_UNBOUND = WRITES | {"session"}
"""Modes whose sandboxes are sealed when they are taken."""
_READY_BYTES = 4096
_READY_S = 10.0

log = structlog.get_logger(__name__)


class Pool:
    def __init__(
        self, template: TemplateProcess, *, standby: int, presealed: int, keys: int = KEYS_KEPT
    ) -> None:
        self._template = template
        self._standby_target = standby
        self._presealed_target = presealed
        self._standby: Shelves[int, Sandbox] = Shelves()
        """By the size of their scratch space."""
        self._presealed: Shelves[PresealKey, Sandbox] = Shelves(keys, PresealKey.outdates)
        self._refill_lock = asyncio.Lock()
        self._closed = False

    def take(self, job: Job, *, origin: Origin | None = None) -> tuple[Sandbox, Origin]:
        """Never waits. `origin` forces one way (for measuring)."""
        key = PresealKey.of(job)
        if (
            origin in (None, "presealed")
            and job.mode not in _UNBOUND
            and (sandbox := self._presealed.take(key))
        ):
            return sandbox, "presealed"
        if origin in (None, "standby") and (sandbox := self._standby.take(key.tmp_mb)):
            return sandbox, "standby"
        return self._template.spawn(unsealed(key.tmp_mb, key.memory_mb, warm=False)), "fresh"

    def expect(self, key: PresealKey) -> None:
        """Jobs of this kind are expected: `refill` keeps sandboxes for them from now on."""
        self._presealed.expect(key)

    async def refill(self, job: Job) -> None:
        """Fill the shelves for jobs like this one up to their targets, one sandbox at a time."""
        key = PresealKey.of(job)
        async with self._refill_lock:
            await self._presealed.fill(key, self._presealed_target, lambda: self._ready(key.order()))
            self._standby.expect(key.tmp_mb)
            order = unsealed(key.tmp_mb, key.memory_mb, warm=True)
            await self._standby.fill(key.tmp_mb, self._standby_target, lambda: self._ready(order))

    async def _ready(self, order: dict[str, Any]) -> Sandbox | None:
        if not self._template.alive:
            return None
        sandbox = self._template.spawn(order)
        try:
            async with asyncio.timeout(_READY_S):
                await sandbox.receive(_READY_BYTES)
        except (Garbled, TimeoutError):
            # The next job of this kind fails in the same way and reports it.
            sandbox.dispose()
            return None
        except BaseException:
            sandbox.dispose()
            raise
        if self._closed:
            sandbox.dispose()
            return None
        return sandbox

    def ready_now(self) -> dict[str, int]:
        return {"presealed": len(self._presealed), "standby": len(self._standby)}

    def close(self) -> None:
        self._closed = True
        self._presealed.close()
        self._standby.close()


@dataclass(frozen=True, slots=True)
class PoolPlan:
    """How a template is started, and how many sandboxes are kept ready."""

    kind: Kind
    store: Path
    isolation: str
    nice: int
    memory_bytes: int
    pids: int
    standby: int
    presealed: int
    keys: int = KEYS_KEPT
    """Kinds of jobs that have presealed sandboxes."""


class RestartingPool:
    """A template and its pool: started when they are first needed, replaced when the template dies."""

    def __init__(self, plan: PoolPlan) -> None:
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

    def ready_now(self) -> dict[str, int]:
        return {} if self._pool is None else self._pool.ready_now()

    async def aclose(self) -> None:
        if self._pool:
            self._pool.close()
        if self._template:
            await self._template.aclose()
