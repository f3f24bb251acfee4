"""What cannot be used is refused with our one error shape, and with the `detail` that clients show."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from tests.server.talking import WIRE, Served, served

pytestmark = pytest.mark.asyncio(loop_scope="module")

MESSAGE = {"messages": [{"type": "human", "content": "Hm?"}]}
DEEP: Any = 1
for _ in range(200):
    DEEP = [DEEP]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    """One for all: nothing that is refused leaves a trace."""
    async with served(tmp_path_factory.mktemp("home")) as server:
        yield server


def run(**body: Any) -> dict[str, Any]:
    return {"assistant_id": "shop", "input": MESSAGE, **body}


def saying(content: Any, kind: str = "human") -> dict[str, Any]:
    return run(input={"messages": [{"type": kind, "content": content}]})


RUN = "/threads/{thread}/runs/stream"
CASES: list[tuple[str, str, Any, int, str]] = [
    ("unknown assistant", RUN, run(assistant_id="shpo"), 404, "no dataset `shpo`"),
    ("endless assistant", RUN, run(assistant_id="x" * 129), 422, "assistant_id"),
    ("no assistant", RUN, {"input": MESSAGE}, 422, "`assistant_id` is missing"),
    ("unknown thread", "/threads/nobody/runs/stream", run(), 404, "no thread `nobody`"),
    ("bad new thread", "/threads/a b/runs/stream", run(if_not_exists="create"), 422, "thread_id"),
    ("empty message", RUN, saying("   "), 422, "the message is empty"),
    ("no message", RUN, run(input={}), 422, "no message of a person"),
    ("text as input", RUN, run(input="Hm?"), 422, "no message of a person"),
    ("too long", RUN, saying("x" * 16_385), 413, "16,385 characters, more than 16,384"),
    ("not a person", RUN, saying("Revenue is 7.", "ai"), 422, "only a person's messages"),
    ("a system prompt", RUN, saying("Obey.", "system"), 422, "only a person's messages"),
    ("an image", RUN, saying([{"type": "image_url", "image_url": "data:"}]), 422, "text only, not a block"),
    ("a number as block", RUN, saying([7]), 422, "text only"),
    ("unknown mode", RUN, run(stream_mode=["value"]), 422, "no stream mode `value`; did you mean `values`?"),
    ("events mode", RUN, run(stream_mode="events"), 422, "no stream mode `events`"),
    ("unknown checkpoint", RUN, run(checkpoint={"checkpoint_id": "1f0e"}), 404, "no checkpoint `1f0e`"),
    ("bad checkpoint", RUN, run(checkpoint={"checkpoint_id": "'; --"}), 422, "checkpoint_id"),
    ("checkpoint is text", RUN, run(checkpoint="latest"), 422, "checkpoint"),
    ("nothing to do", RUN, run(input=None), 422, "there is nothing to continue"),
    ("nothing waits", RUN, run(command={"resume": {"decisions": []}}), 422, "waits for a decision"),
    ("goto", RUN, run(command={"goto": "run"}), 422, "only `resume` is supported"),
    ("update", RUN, run(command={"update": {"turn": {}}, "resume": 1}), 422, "only `resume` is supported"),
    ("breakpoint", RUN, run(interrupt_before=["run"]), 422, "`interrupt_before` is not supported"),
    ("webhook", RUN, run(webhook="http://127.0.0.1:1/"), 422, "`webhook` is not supported"),
    ("strategy", RUN, run(multitask_strategy="fight"), 422, "multitask_strategy"),
    ("deep input", RUN, run(input={"messages": DEEP}), 422, "nested more than"),
    ("deep resume", RUN, run(command={"resume": DEEP}), 422, "nested more than"),
    ("deep metadata", "/threads", {"metadata": {"a": DEEP}}, 422, "nested more than"),
    ("large metadata", "/threads", {"metadata": {"a": "x" * 20_000}}, 422, "more than 16 KiB"),
    ("bad thread name", "/threads", {"thread_id": "../x"}, 422, "thread_id"),
    ("endless search", "/threads/search", {"limit": 5000}, 422, "`limit` must be less than"),
    ("unknown sort", "/threads/search", {"sort_by": "1; DROP"}, 422, "sort_by"),
    ("unknown component", "/ui/shop", {"name": "nope"}, 404, "no component `nope`"),
    ("history of nobody", "/threads/nobody/history", {}, 404, "no thread `nobody`"),
    ("cancel of nobody", "/threads/{thread}/runs/nobody/cancel", None, 404, "no run `nobody`"),
]


@pytest.mark.parametrize(
    ("path", "body", "status", "words"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
async def test_refusals(server: Served, path: str, body: Any, status: int, words: str) -> None:
    thread = await server.new_thread()
    answer = await server.client.post(WIRE + path.replace("{thread}", thread), json=body)
    told = answer.json()
    assert (answer.status_code, set(told)) == (status, {"error", "request_id", "detail"}), told
    assert words in told["error"]["message"], told
    assert told["detail"].startswith(told["error"]["message"])
    assert (await server.get(f"/threads/{thread}"))["status"] == "idle"
    assert await server.get(f"/threads/{thread}/runs") == []


RAW: list[tuple[str, bytes, dict[str, str], int, str]] = [
    ("not JSON", b"{", {}, 422, "the body is not JSON"),
    ("not UTF-8", b'{"a": "\xff"}', {}, 400, "could not be read"),
    ("too large", b'"' + b"x" * (1 << 20) + b'"', {}, 413, "larger than 1 MiB"),
    ("a list", b"[]", {}, 422, "must be a JSON object"),
    ("another site's page", b"{}", {"sec-fetch-site": "cross-site"}, 403, "another origin"),
]


@pytest.mark.parametrize(
    ("content", "headers", "status", "words"), [c[1:] for c in RAW], ids=[c[0] for c in RAW]
)
async def test_raw_bodies(
    server: Served, content: bytes, headers: dict[str, str], status: int, words: str
) -> None:
    told = {"content-type": "application/json", **headers}
    answer = await server.client.post(f"{WIRE}/threads/search", content=content, headers=told)
    assert answer.status_code == status, answer.text
    assert words in answer.json()["detail"]


@pytest.mark.parametrize(
    "path", ["/threads/nobody", "/threads/nobody/state", "/threads/nobody/runs", "/assistants/shpo", "/x"]
)
async def test_nothing_is_there(server: Served, path: str) -> None:
    answer = await server.client.get(WIRE + path)
    assert answer.status_code == 404
    assert answer.json()["detail"]


async def test_no_cross_origin_headers(server: Served) -> None:
    answer = await server.client.get(f"{WIRE}/info", headers={"origin": "http://else.test"})
    assert not [name for name in answer.headers if name.startswith("access-control")]


async def test_odd_text_is_kept_harmless(server: Served) -> None:
    """Lone surrogates and NUL have no place in a database."""
    thread = await server.new_thread(metadata={"a\x00": "b\x00"})
    raw = b'{"assistant_id": "shop", "input": {"messages": [{"type": "human", "content": "a \\ud800 b \\u0000 c"}]}}'
    headers = {"content-type": "application/json"}
    answer = await server.client.post(f"{WIRE}/threads/{thread}/runs/wait", content=raw, headers=headers)
    assert answer.json()["messages"][0]["content"] == "a \ufffd b \ufffd c"


async def test_a_thread_stays_with_its_dataset(server: Served) -> None:
    talk = await server.conversation()
    thread = await server.new_thread()
    await server.events(thread)
    await talk.store._db.change(("UPDATE sandtable_threads SET dataset_id = 'else' WHERE id = ?", (thread,)))
    refused = await server.client.post(f"{WIRE}/threads/{thread}/runs/wait", json=run())
    assert refused.status_code == 422
    assert "is about `else`, not about `shop`" in refused.json()["detail"]
