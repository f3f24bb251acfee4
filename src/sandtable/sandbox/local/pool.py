"""Sandboxes kept ready, so that nobody waits for a fork.

Three ways to get one, fastest first: *presealed* for this very dataset, *standby* (warm, not yet
bound to data), *fresh* (forked now). All serve one job. What was taken is replaced when the
job has ended, not before: the refill must not compete with the run that a person waits for.
"""

from __future__ import annotations

import asyncio
from typing import Any, Literal

from sandtable.sandbox.job import WRITES, Job
from sandtable.sandbox.key import Key, unsealed
from sandtable.sandbox.local.sandbox import Garbled, Sandbox
from sandtable.sandbox.local.template import TemplateProcess
from sandtable.sandbox.shelves import KEYS_KEPT, Shelves

Origin = Literal["kept", "held", "presealed", "standby", "fresh"]

_UNBOUND = WRITES | {"session"}
"""Their walls are their own: a session's last for days."""
_READY_BYTES = 4096
_READY_S = 10.0


class Pool:
    def __init__(
        self, template: TemplateProcess, *, standby: int, presealed: int, keys: int = KEYS_KEPT
    ) -> None:
        self._template = template
        self._standby_target = standby
        self._presealed_target = presealed
        self._standby: Shelves[int, Sandbox] = Shelves()
        """By the size of their scratch space."""
        self._presealed: Shelves[Key, Sandbox] = Shelves(keys, Key.outdates)
        self._refill_lock = asyncio.Lock()
        self._closed = False

    def take(self, job: Job, *, origin: Origin | None = None) -> tuple[Sandbox, Origin]:
        """Never waits. `origin` forces one way (for measuring)."""
        key = Key.of(job)
        if (
            origin in (None, "presealed")
            and job.mode not in _UNBOUND
            and (sandbox := self._presealed.take(key))
        ):
            return sandbox, "presealed"
        if origin in (None, "standby") and (sandbox := self._standby.take(key.tmp_mb)):
            return sandbox, "standby"
        return self._template.spawn(unsealed(key.tmp_mb, key.memory_mb, warm=False)), "fresh"

    def expect(self, key: Key) -> None:
        """Jobs of this kind will come: `refill` keeps sandboxes for them from now on."""
        self._presealed.expect(key)

    async def refill(self, job: Job) -> None:
        """Bring the shelves for jobs like this one back to their targets, one sandbox at a time."""
        key = Key.of(job)
        async with self._refill_lock:
            while self._presealed.lacking(key, self._presealed_target) and self._template.alive:
                if (sandbox := await self._ready(key.order())) is None:
                    break
                self._presealed.put(key, sandbox)
            self._standby.expect(key.tmp_mb)
            while self._standby.lacking(key.tmp_mb, self._standby_target) and self._template.alive:
                order = unsealed(key.tmp_mb, key.memory_mb, warm=True)
                if (sandbox := await self._ready(order)) is None:
                    break
                self._standby.put(key.tmp_mb, sandbox)

    async def _ready(self, order: dict[str, Any]) -> Sandbox | None:
        sandbox = self._template.spawn(order)
        try:
            async with asyncio.timeout(_READY_S):
                await sandbox.receive(_READY_BYTES)
        except (Garbled, TimeoutError):
            # The next job of this kind meets the same trouble in the open and reports it.
            sandbox.dispose()
            return None
        except BaseException:
            sandbox.dispose()
            raise
        if self._closed:
            sandbox.dispose()
            return None
        return sandbox

    def close(self) -> None:
        self._closed = True
        self._presealed.close()
        self._standby.close()
