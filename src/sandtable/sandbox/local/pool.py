"""Sandboxes kept ready, so that nobody waits for a fork.

Three ways to get one, fastest first: *presealed* for this very dataset, *standby* (warm, not yet
bound to data), *fresh* (forked now). All serve one job. What was taken is replaced when the
job has ended, not before: the refill must not compete with the run that a person waits for.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import Any, Literal

from sandtable.sandbox.job import WRITES, Job
from sandtable.sandbox.local.sandbox import Garbled, Sandbox
from sandtable.sandbox.local.template import TemplateProcess

Origin = Literal["kept", "held", "presealed", "standby", "fresh"]

_READY_BYTES = 4096
_READY_S = 10.0
KEYS_KEPT = 8


@dataclass(frozen=True, slots=True)
class Key:
    """Jobs that can use the same presealed sandbox."""

    parses: bool
    version: str
    tables: tuple[tuple[str, str], ...]
    threads: int
    memory_mb: int
    tmp_mb: int
    cpu_s: int
    pids: int

    @classmethod
    def of(cls, job: Job) -> Key:
        limits = job.limits
        tables = tuple((ref.table, ref.path) for ref in job.data)
        return cls(
            job.mode == "parse" and not job.options.get("hold"),
            job.dataset_version,
            tables,
            job.threads,
            limits.memory_mb,
            limits.tmp_mb,
            limits.cpu_s,
            limits.pids,
        )

    def order(self) -> dict[str, Any]:
        """How a sandbox gets ready for this key. Only queries are presealed; their file limit is the scratch space."""
        return {
            "presealed": True,
            "warm": True,
            "mode": "parse" if self.parses else "sql",
            "cell": {
                "folder": f"versions/{self.version.removeprefix('sha256:')}" if self.version else None,
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


class Pool:
    def __init__(self, template: TemplateProcess, *, standby: int, presealed: int) -> None:
        self._template = template
        self._standby_target = standby
        self._presealed_target = presealed
        self._standby: dict[int, deque[Sandbox]] = {}
        self._presealed: OrderedDict[Key, deque[Sandbox]] = OrderedDict()
        self._refill_lock = asyncio.Lock()
        self._closed = False

    def take(self, job: Job, *, origin: Origin | None = None) -> tuple[Sandbox, Origin]:
        """Never waits. `origin` forces one way (for measuring)."""
        key = Key.of(job)
        if origin in (None, "presealed") and job.mode not in WRITES:
            shelf = self._shelf(key)
            if sandbox := _living(shelf):
                return sandbox, "presealed"
        if origin in (None, "standby") and (sandbox := _living(self._standby.get(key.tmp_mb, deque()))):
            return sandbox, "standby"
        return self._template.spawn(_unsealed(key.tmp_mb, key.memory_mb, warm=False)), "fresh"

    def _shelf(self, key: Key) -> deque[Sandbox]:
        """Marks the key as lately used; the least lately used one gives its sandboxes up."""
        shelf = self._presealed.setdefault(key, deque())
        self._presealed.move_to_end(key)
        while len(self._presealed) > KEYS_KEPT:
            _, dropped = self._presealed.popitem(last=False)
            _clear(dropped)
        return shelf

    def expect(self, key: Key) -> None:
        """Jobs of this kind will come: `refill` keeps sandboxes for them from now on."""
        self._shelf(key)

    async def refill(self, job: Job) -> None:
        """Bring the shelves for jobs like this one back to their targets, one sandbox at a time."""
        key = Key.of(job)
        async with self._refill_lock:
            shelf = self._presealed.get(key)
            while shelf is not None and len(shelf) < self._presealed_target and self._template.alive:
                if not await self._put(shelf, key.order()):
                    break
            if shelf is not None and self._presealed.get(key) is not shelf:
                # The key was given up while this waited: nobody would ever take from its shelf.
                _clear(shelf)
            standby = self._standby.setdefault(key.tmp_mb, deque())
            while len(standby) < self._standby_target and self._template.alive:
                if not await self._put(standby, _unsealed(key.tmp_mb, key.memory_mb, warm=True)):
                    break

    async def _put(self, shelf: deque[Sandbox], order: dict[str, Any]) -> bool:
        sandbox = self._template.spawn(order)
        try:
            async with asyncio.timeout(_READY_S):
                await sandbox.receive(_READY_BYTES)
        except (Garbled, TimeoutError):
            # The next job of this kind meets the same trouble in the open and reports it.
            sandbox.dispose()
            return False
        except BaseException:
            sandbox.dispose()
            raise
        if self._closed:
            sandbox.dispose()
            return False
        shelf.append(sandbox)
        return True

    def close(self) -> None:
        self._closed = True
        for shelf in (*self._presealed.values(), *self._standby.values()):
            _clear(shelf)
        self._presealed.clear()
        self._standby.clear()


def _unsealed(tmp_mb: int, memory_mb: int, *, warm: bool) -> dict[str, Any]:
    return {"presealed": False, "warm": warm, "cell": {"tmp_mb": tmp_mb, "memory_mb": memory_mb}}


def _clear(shelf: deque[Sandbox]) -> None:
    while shelf:
        shelf.pop().dispose()


def _living(shelf: deque[Sandbox]) -> Sandbox | None:
    while shelf:
        with contextlib.suppress(IndexError):
            sandbox = shelf.pop()
            if sandbox.alive:
                return sandbox
            sandbox.dispose()
    return None
