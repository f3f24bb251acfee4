"""A server of its own for the time of a measurement, on a loopback address, and the memory that it takes."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

_PROGRAM = (sys.executable, "-c", "from sandtable.cli import main; main(prog_name='sandtable')")
_SETTINGS = {
    "SANDTABLE_MODEL": "builtin",
    # The measurement stands for the proxy that names its users.
    "SANDTABLE_TRUSTED_PROXIES": "127.0.0.1",
    "SANDTABLE_ADMINS": "auditor",
}
AUDITOR = {"X-Sandtable-User": "auditor"}
"""Who looks at the runs of all people afterwards."""
_STARTS_S = 120.0


@dataclass(frozen=True, slots=True)
class Serving:
    url: str
    pid: int
    home: Path


@asynccontextmanager
async def serving(home: Path) -> AsyncGenerator[Serving, None]:
    with (home / "server.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *(*_PROGRAM, "serve", "--port", "0", "--json"),
            env={**os.environ, **_SETTINGS, "SANDTABLE_HOME": str(home)},
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
        )
    assert process.stdout
    try:
        async with asyncio.timeout(_STARTS_S):
            url = json.loads(await process.stdout.readline())["url"]
        yield Serving(url.replace("localhost", "127.0.0.1"), process.pid, home)
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


@dataclass(slots=True)
class Memory:
    """Resident memory of a process over time."""

    every_s: float = 0.5
    samples: list[tuple[float, float]] = field(default_factory=list)
    """Seconds since the beginning, MB."""

    async def watch(self, pid: int) -> None:
        began = time.monotonic()
        while True:
            self.samples.append((time.monotonic() - began, resident_mb(pid)))
            await asyncio.sleep(self.every_s)

    @property
    def settled(self) -> list[tuple[float, float]]:
        """Without the first third, in which caches fill and pools grow to their size."""
        return self.samples[len(self.samples) // 3 :]

    @property
    def mb_per_minute(self) -> float:
        """The slope of a line through the settled samples."""
        settled = self.settled
        if len(settled) < 2:
            return 0.0
        seconds, sizes = zip(*settled, strict=True)
        return statistics.linear_regression(seconds, sizes).slope * 60

    @property
    def grown_mb(self) -> float:
        """What the line through the settled samples gains between its ends."""
        settled = self.settled
        minutes = (settled[-1][0] - settled[0][0]) / 60 if settled else 0.0
        return self.mb_per_minute * minutes


def resident_mb(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    found = next(line for line in lines if line.startswith("VmRSS:"))
    return int(found.split()[1]) / 1024
