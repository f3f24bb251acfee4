"""How long a person waits for an answer from a served conversation, alone and among twenty.

The server is a process of its own, as users run it; every question is new to its cache (another limit each
time), and everyone talks in a thread of their own.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import httpx

from benchmarks.measure import Timings

TALKERS = 20
QUESTIONS = (
    ("ecommerce", "Which {n} categories have the highest return rate?"),
    ("ecommerce", "Top {n} products by revenue in the last 90 days"),
    ("support", "Which {n} agents have the lowest average CSAT?"),
    ("sensors", "Top {n} devices by peak vibration"),
    ("support", "SLA breach rate by priority and region, top {n}"),
    ("ecommerce", "How many orders cost more than {n} EUR, by channel?"),
)
_PROGRAM = (sys.executable, "-c", "from sandtable.cli import main; main(prog_name='sandtable')")


@dataclass(frozen=True, slots=True)
class Chats:
    first_event: Timings
    complete: Timings
    crowded: Timings
    unanswered: int


async def measure(rounds: int, turns_each: int) -> Chats:
    numbers = count(2)
    # All of them come from one address, and so count as one user.
    async with (
        server({"SANDTABLE_USER_SHARE": "1"}) as url,
        httpx.AsyncClient(base_url=url, timeout=60) as client,
    ):
        for dataset, question in QUESTIONS:
            await _ask(client, dataset, question.format(n=next(numbers)))
        alone = [
            await _ask(client, dataset, question.format(n=next(numbers)))
            for _ in range(rounds)
            for dataset, question in QUESTIONS
        ]
        crowd = await asyncio.gather(*(_talk(client, at, turns_each, numbers) for at in range(TALKERS)))
    together = [turn for talker in crowd for turn in talker]
    return Chats(
        Timings([turn.first_ms for turn in alone]),
        Timings([turn.whole_ms for turn in alone]),
        Timings([turn.whole_ms for turn in together]),
        sum(not turn.answered for turn in (*alone, *together)),
    )


@dataclass(frozen=True, slots=True)
class _Turn:
    first_ms: float
    whole_ms: float
    answered: bool
    thread_id: str


async def _talk(client: httpx.AsyncClient, talker: int, turns: int, numbers: count[int]) -> list[_Turn]:
    dataset, question = QUESTIONS[talker % len(QUESTIONS)]
    said = [await _ask(client, dataset, question.format(n=next(numbers)))]
    while len(said) < turns:
        said.append(await _ask(client, dataset, question.format(n=next(numbers)), said[0].thread_id))
    return said


async def _ask(client: httpx.AsyncClient, dataset: str, question: str, thread_id: str | None = None) -> _Turn:
    body = {"dataset_id": dataset, "message": question, "thread_id": thread_id}
    started, first, events = time.perf_counter(), 0.0, ""
    headers = {"Accept": "text/event-stream"}
    async with client.stream("POST", "/chat", json=body, headers=headers) as response:
        async for chunk in response.aiter_text():
            first = first or time.perf_counter()
            events += chunk
    ended = time.perf_counter()
    told = [json.loads(line[6:]) for line in events.splitlines() if line.startswith("data: ")]
    ending = next((event.get("ending") for event in told if event.get("type") == "message"), None)
    thread = next((event["thread_id"] for event in told if event.get("type") == "thread"), "")
    return _Turn((first - started) * 1e3, (ended - started) * 1e3, ending == "answered", thread)


@asynccontextmanager
async def server(settings: Mapping[str, str] | None = None) -> AsyncGenerator[str, None]:
    """A server of its own for the time of a measurement."""
    with tempfile.TemporaryDirectory(prefix="sandtable-bench-chat-") as home:
        with (Path(home) / "log").open("wb") as log:
            process = await asyncio.create_subprocess_exec(
                *_PROGRAM,
                *("serve", "--port", "0", "--json"),
                env={**os.environ, "SANDTABLE_HOME": home, "SANDTABLE_MODEL": "builtin", **(settings or {})},
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
            )
        assert process.stdout
        try:
            yield json.loads(await process.stdout.readline())["url"]
        finally:
            process.terminate()
            await process.wait()
