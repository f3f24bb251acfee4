"""How much a long conversation takes on disk: ordinary questions in one thread of a served conversation.

The server is a process of its own. The size of its file of states is read after it has ended, when all that was
written is in the file itself.
"""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx

from benchmarks.chat import server

TURNS = 80
QUESTIONS = (
    "Which {n} categories have the highest return rate?",
    "Top {n} products by revenue in the last 90 days",
    "How many orders cost more than {n} EUR, by channel?",
    "Revenue per month as a line chart, last {n} months",
    "Top {n} customers by revenue",
    "Orders by country, top {n}, as a bar chart",
)


@dataclass(frozen=True, slots=True)
class Growth:
    states_mb: float
    unanswered: int


async def measure(turns: int = TURNS) -> Growth:
    with tempfile.TemporaryDirectory(prefix="sandtable-bench-growth-") as home:
        states = Path(home) / "threads.db"
        async with (
            server({"SANDTABLE_HOME": home}) as url,
            httpx.AsyncClient(base_url=url, timeout=60) as client,
        ):
            thread_id, unanswered = None, 0
            for number in range(turns):
                question = QUESTIONS[number % len(QUESTIONS)].format(n=3 + number % 20)
                body = {"dataset_id": "ecommerce", "message": question, "thread_id": thread_id}
                answer = (await client.post("/chat", json=body)).json()
                thread_id = answer["thread_id"]
                unanswered += answer["ending"] != "answered"
        return Growth(_size(states) / 1e6, unanswered)


def _size(path: Path) -> int:
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.stat().st_size
