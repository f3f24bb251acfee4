"""How late the event loop is: a timer that should wake up twice a second, and when it does."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from sandtable.observing import Meter
from sandtable.stopping import stopped

EVERY_S = 0.5


@asynccontextmanager
async def watching_the_loop(meter: Meter) -> AsyncGenerator[None, None]:
    async def watch() -> None:
        while True:
            due = time.perf_counter() + EVERY_S
            await asyncio.sleep(EVERY_S)
            meter.timed("event_loop_lag", time.perf_counter() - due)

    task = asyncio.create_task(watch(), name="event loop lag")
    try:
        yield
    finally:
        await stopped(task)
