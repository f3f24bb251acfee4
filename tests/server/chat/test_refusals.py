"""What `POST /chat` cannot use is refused before anything is begun, in both forms of the answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.server.talking import Served, served

pytestmark = pytest.mark.asyncio(loop_scope="module")

EVENTS = {"accept": "text/event-stream"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    """One for all: nothing that is refused leaves a trace."""
    async with served(tmp_path_factory.mktemp("home")) as server:
        yield server


CASES: list[tuple[str, dict[str, Any], int, str]] = [
    ("nothing", {}, 422, "`message` is missing"),
    ("no message", {"dataset_id": "shop"}, 422, "`message` is missing"),
    ("empty", {"dataset_id": "shop", "message": " \n "}, 422, "the message is empty"),
    ("no dataset", {"message": "Hm?"}, 422, "`dataset_id` is missing"),
    (
        "too long",
        {"dataset_id": "shop", "message": "x" * 100_000},
        413,
        "100,000 characters, more than 16,384",
    ),
    ("unknown dataset", {"dataset_id": "shpo", "message": "Hm?"}, 404, "did you mean `shop`?"),
    ("unknown thread", {"thread_id": "nobody", "message": "Hm?"}, 404, "no thread `nobody`"),
    ("wrong type", {"dataset_id": "shop", "message": 7}, 422, "`message` must be a valid string"),
    ("unknown field", {"dataset_id": "shop", "mesage": "Hm?"}, 422, "did you mean `message`?"),
    ("decision without thread", {"resume": {"decisions": [{}]}}, 422, "with its `thread_id`"),
    (
        "decision with message",
        {"thread_id": "t", "message": "x", "resume": {"decisions": [{}]}},
        422,
        "without a `message`",
    ),
    ("two decisions", {"thread_id": "t", "resume": {"decisions": [{}, {}]}}, 422, "resume.decisions"),
]


@pytest.mark.parametrize(("body", "status", "words"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
@pytest.mark.parametrize("headers", [{}, EVENTS], ids=["json", "events"])
async def test_refusals(
    server: Served, body: dict[str, Any], status: int, words: str, headers: dict[str, str]
) -> None:
    answer = await server.client.post("/chat", json=body, headers=headers)
    assert answer.status_code == status, answer.text
    assert words in answer.json()["error"]["message"]
    assert await server.post("/threads/count") == 0
