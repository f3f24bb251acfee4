"""The parts that the library's calls share: opened at the first call, closed when the process ends.

Invariant: one set of parts for each distinct set of settings, and another for runs that ask for more time, rows or
memory than the settings give: in the library, the caller's arguments override the limits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any

import structlog

from sandtable.assemble import Parts, assemble
from sandtable.library.bridge import at_close
from sandtable.library.handover import Handover
from sandtable.process import load_settings, quiet_logs
from sandtable.settings import Settings

MOST_SECONDS = 3600.0
MOST_ROWS = 100_000
MOST_MEMORY_MB = 1 << 20


class OpenParts:
    """One set of parts with what the calls on it share."""

    def __init__(self, parts: Parts, handover: Handover, stack: AsyncExitStack) -> None:
        self.parts = parts
        self.handover = handover
        self._stack = stack
        self._analyst: Any = None
        self._opening = asyncio.Lock()

    async def analyst(self) -> Any:
        """An `agent.analyst.Analyst`. Raises ModelTrouble when the settings name a model that cannot be opened."""
        async with self._opening:
            if self._analyst is None:
                converse = await asyncio.to_thread(_load_converse)
                self._analyst = await self._stack.enter_async_context(converse(self.parts))
            return self._analyst


class OpenPartsCache:
    """The open parts, by event loop and settings."""

    def __init__(self) -> None:
        self._loops: dict[asyncio.AbstractEventLoop, dict[Settings, asyncio.Task[OpenParts]]] = {}
        """A forked child has another loop; the parts opened in the parent are not touched."""

    async def get(
        self, *, timeout_s: float | None = None, max_rows: int | None = None, memory_mb: int | None = None
    ) -> OpenParts:
        """Raises SandboxUnavailable, and InvalidInput for settings that cannot be used."""
        settings = _raised(load_settings(), timeout_s, max_rows, memory_mb)
        for ended in [loop for loop in self._loops if loop.is_closed()]:
            del self._loops[ended]
        opened = self._loops.setdefault(asyncio.get_running_loop(), {})
        task = opened.get(settings)
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            task = opened[settings] = asyncio.create_task(_open(settings))
        # A cancelled caller does not cancel opening for the other callers.
        return await asyncio.shield(task)


OPEN_PARTS = OpenPartsCache()


def _load_converse() -> Callable[[Parts], AbstractAsyncContextManager[Any]]:
    from sandtable.assemble.conversation import converse  # loads LangGraph, which takes most of a second

    return converse


async def _open(settings: Settings) -> OpenParts:
    _keep_quiet()
    stack = AsyncExitStack()
    async with stack:
        parts = await stack.enter_async_context(assemble(settings))
        handover = stack.enter_context(Handover.open(settings.home))
        kept = stack.pop_all()
    at_close(kept.aclose)
    return OpenParts(parts, handover, kept)


def _raised(
    settings: Settings, timeout_s: float | None, max_rows: int | None, memory_mb: int | None
) -> Settings:
    """Raised limits are rounded up in steps, so that different arguments do not open many sets of parts."""
    more: dict[str, Any] = {}
    if (timeout_s or 0) > settings.timeout_s or (max_rows or 0) > settings.max_rows:
        more = {"timeout_s": MOST_SECONDS, "max_rows": MOST_ROWS}
    if (memory_mb or 0) > settings.memory_mb:
        more["memory_mb"] = 1 << (int(memory_mb or 0) - 1).bit_length()
    return settings.model_copy(update=more)


def _keep_quiet() -> None:
    """Silences logs, because stdout is the caller's, unless the caller has configured structlog."""
    if not structlog.is_configured():
        quiet_logs()
