"""The official AG-UI client, `HttpAgent` of the npm package @ag-ui/client, as a process that is driven step by step."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from scripts.node import find_node

NPM = Path(__file__).parent / "npm"
MOST_BYTES = 16 << 20
PATIENCE_S = 60.0


@dataclass(frozen=True)
class Ran:
    """What came of one run, as the client has it."""

    events: list[dict[str, Any]]
    failure: dict[str, Any] | None
    result: Any
    messages: list[dict[str, Any]]
    state: Any
    pending: list[dict[str, Any]]
    threadId: str

    @property
    def kinds(self) -> list[str]:
        return [event["type"] for event in self.events]

    @property
    def said(self) -> list[tuple[str, str]]:
        """Who said what, without what is only shown."""
        return [(one["role"], one["content"]) for one in self.messages if one["role"] != "activity"]

    def shown(self, kind: str) -> list[dict[str, Any]]:
        named = f"sandtable.{kind}"
        return [one["content"] for one in self.messages if one.get("activityType") == named]

    @property
    def answer(self) -> dict[str, Any]:
        return self.state["sandtable"]["answers"][-1]


class Driver:
    def __init__(self, process: asyncio.subprocess.Process, name: str = "") -> None:
        self._process = process
        self._name = name

    def renamed(self) -> Driver:
        """Its agents are other ones than those of any other driver."""
        return Driver(self._process, str(uuid4()))

    async def run(self, url: str, *say: tuple[str, str], agent: str = "one", **step: Any) -> Ran:
        """`say`: messages, as id and text, that the user adds before the run."""
        assert self._process.stdin and self._process.stdout
        line = json.dumps({"url": url, "agent": f"{self._name}{agent}", "say": say, **step})
        self._process.stdin.write(f"{line}\n".encode())
        async with asyncio.timeout(PATIENCE_S):
            return Ran(**json.loads(await self._process.stdout.readline()))


@asynccontextmanager
async def driver() -> AsyncGenerator[Driver, None]:
    process = await asyncio.create_subprocess_exec(
        str(find_node()),
        str(NPM / "drive.mjs"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=MOST_BYTES,
    )
    try:
        yield Driver(process)
    finally:
        assert process.stdin
        process.stdin.close()
        await process.wait()
