"""Sandboxes for code that are started before they are needed."""

from __future__ import annotations

import asyncio
from typing import Any

from sandtable.sandbox.executor import Tier


class Ahead:
    """Starts sandboxes for Python before the first code arrives: the first start takes seconds."""

    def __init__(self, executor: Tier) -> None:
        self._executor = executor
        self._task: asyncio.Task[Any] | None = None

    def begin(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._executor.start("py"))

    async def aclose(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
