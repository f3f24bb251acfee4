"""People at the server: each has a name, submits runs, waits for them, and keeps the ids of what was accepted.

Invariant: every id that the server has answered with is noted, so that afterwards each can be looked up.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import httpx

DATASET = "ecommerce"
TERMINAL = {"succeeded", "failed", "rejected", "cancelled"}
WAIT_S = 50
MOST_CUT_OFF = 20
"""More than this is no coincidence of a server that closes an idle connection and a client that uses it."""
_NUMBERS = count(1)


@dataclass(slots=True)
class Ledger:
    """What the server said to all of them."""

    accepted: set[str] = field(default_factory=set)
    statuses: Counter[int] = field(default_factory=Counter)
    """Of answers, by HTTP status."""
    cut_off: int = 0
    """Requests whose connection ended before their answer."""

    @property
    def broken(self) -> int:
        """Answers that say that the server failed; 503 says when to come back, and does not."""
        return sum(n for status, n in self.statuses.items() if status >= 500 and status != 503)


@dataclass(frozen=True, slots=True)
class Person:
    client: httpx.AsyncClient
    ledger: Ledger
    name: str

    async def call(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Comes back when the server says so, and asks again when a connection was closed at this moment."""
        while True:
            try:
                answer = await self.client.request(
                    method, path, headers={"X-Sandtable-User": self.name}, **more
                )
            except (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError):
                self.ledger.cut_off += 1
                if self.ledger.cut_off > MOST_CUT_OFF:
                    raise
                continue
            self.ledger.statuses[answer.status_code] += 1
            if answer.status_code != 503:
                return answer
            await asyncio.sleep(min(1.0, float(answer.headers["Retry-After"])))

    async def submit(self, body: dict[str, Any], wait: float = 0) -> dict[str, Any]:
        answer = await self.call("POST", "/runs", params={"wait": wait}, json={"dataset_id": DATASET, **body})
        answer.raise_for_status()
        run = answer.json()
        self.ledger.accepted.add(run["run_id"])
        return run

    async def ended(self, run: dict[str, Any]) -> dict[str, Any]:
        while run["status"] not in TERMINAL:
            path = f"/runs/{run['run_id']}"
            run = (await self.call("GET", path, params={"wait": WAIT_S})).raise_for_status().json()
        return run

    async def ask(self, message: str) -> None:
        answer = await self.call("POST", "/chat", json={"dataset_id": DATASET, "message": message})
        if answer.status_code == 200:
            self.ledger.accepted.update(answer.json()["run_ids"])

    async def hang_up(self, message: str) -> None:
        """Begins a conversation as a stream, and leaves after its first event."""
        headers = {"X-Sandtable-User": self.name, "Accept": "text/event-stream"}
        body = {"dataset_id": DATASET, "message": message}
        async with self.client.stream("POST", "/chat", json=body, headers=headers) as answer:
            self.ledger.statuses[answer.status_code] += 1
            await anext(answer.aiter_bytes())

    async def timed_ms(self) -> float:
        """How long a question that nothing has cached takes, from its submission to its result."""
        began = time.perf_counter()
        run = await self.ended(await self.submit(fresh_query(), wait=WAIT_S))
        if run["status"] != "succeeded":
            raise RuntimeError(f"a query that is known to work ended as {run['status']}: {run['error']}")
        return (time.perf_counter() - began) * 1e3


def fresh_query() -> dict[str, Any]:
    """SQL whose result is in no cache."""
    return {"sql": f"SELECT {next(_NUMBERS)} + count(*) AS n FROM orders"}


@asynccontextmanager
async def at(url: str, connections: int) -> AsyncGenerator[httpx.AsyncClient, None]:
    # A connection is given up before the server does so: a request on one that is being closed is lost.
    limits = httpx.Limits(
        max_connections=connections, max_keepalive_connections=connections, keepalive_expiry=2.0
    )
    timeout = httpx.Timeout(WAIT_S + 20, pool=None)
    async with httpx.AsyncClient(base_url=url, limits=limits, timeout=timeout) as client:
        yield client
