"""Jupyter's own client, as anybody would use it, with what a cell gave in one value."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_core.utils import ensure_event_loop

T = TypeVar("T")

_PATIENCE_S = 60


@dataclass(slots=True)
class Reply:
    status: str
    error: str
    text: str = ""
    shown: list[dict[str, Any]] = field(default_factory=list)
    """What each display and the last expression gave, by kind of data."""


class Thread:
    """jupyter_client keeps an event loop for each thread that calls it, and leaves it open."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(max_workers=1)

    async def do(self, call: Callable[..., T], *given: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._executor, call, *given)

    async def close(self) -> None:
        await self.do(lambda: ensure_event_loop().close())
        self._executor.shutdown()


class Client:
    def __init__(self, file: Path) -> None:
        # Its requests are made from others at run time, with parameters that no type checker sees.
        self.jupyter: Any = BlockingKernelClient(connection_file=str(file))
        self.jupyter.load_connection_file()
        self._main = Thread()
        self._aside = Thread()

    def _start(self) -> None:
        self.jupyter.start_channels()
        self.jupyter.wait_for_ready(timeout=_PATIENCE_S)

    async def start(self) -> None:
        await self._main.do(self._start)

    async def stop(self) -> None:
        await self._main.do(self.jupyter.stop_channels)
        await self._main.close()
        await self._aside.close()

    def _run(self, code: str) -> Reply:
        messages: list[dict[str, Any]] = []
        reply = self.jupyter.execute_interactive(
            code, timeout=_PATIENCE_S, output_hook=messages.append, allow_stdin=False
        )["content"]
        made = Reply(reply["status"], f"{reply.get('ename', '')}: {reply.get('evalue', '')}")
        for message in messages:
            content = message["content"]
            if message["msg_type"] == "stream":
                made.text += content["text"]
            elif message["msg_type"] in ("execute_result", "display_data"):
                made.shown.append(content["data"])
        return made

    async def run(self, code: str) -> Reply:
        return await self._main.do(self._run, code)

    async def value(self, code: str) -> str:
        """Of the last expression, as text."""
        reply = await self.run(code)
        assert reply.status == "ok", reply.error
        return reply.shown[-1]["text/plain"]

    def _ask(self, kind: str) -> dict[str, Any]:
        message = self.jupyter.session.msg(kind, {})
        self.jupyter.control_channel.send(message)
        return self.jupyter.get_control_msg(timeout=_PATIENCE_S)["content"]

    async def interrupt(self) -> dict[str, Any]:
        """As a client does that has no process to send a signal to."""
        return await self._aside.do(self._ask, "interrupt_request")

    async def complete(self, code: str) -> list[str]:
        reply = await self._main.do(partial(self.jupyter.complete, code, reply=True, timeout=_PATIENCE_S))
        return reply["content"]["matches"]

    async def shut_down(self) -> None:
        await self._main.do(partial(self.jupyter.shutdown, reply=True, timeout=_PATIENCE_S))


@asynccontextmanager
async def connected(file: Path) -> AsyncIterator[Client]:
    client = Client(file)
    try:
        await client.start()
        yield client
    finally:
        await client.stop()
