"""`WS /v2/stream/{session_id}`: order, replay, several listeners, and who is not let in."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from sandtable.conversations.journal import Journal
from sandtable.server.v2 import following, listeners
from sandtable.server.v2.following import SPAN
from sandtable.server.v2.stream import MOST_MISTAKES
from tests.server.talking import Served, served
from tests.server.v2.listening import ask, closed, kinds, listen, next_one, until


async def test_a_query_is_told_in_order(server: Served) -> None:
    asked = await ask(server.client, "query it")
    said = await listen(asked["websocket_url"])
    assert [one["seq"] for one in said] == list(range(1, len(said) + 1))
    assert all(set(one) == {"type", "payload", "seq"} for one in said)
    order = [kind for kind in kinds(said) if kind != "thought"]
    assert order[:2] == ["code", "log"] and order[-1] == "final_response" and "table" in order
    code = next(one for one in said if one["type"] == "code")
    assert code["payload"].split() == ["SELECT", "1", "AS", "n", "FROM", "orders"]
    assert kinds(said)[0] == "thought" and "Executing code cell 1..." in [one["payload"] for one in said]


@pytest.mark.parametrize("told", [True, False], ids=["told", "taken by another server"])
async def test_it_stays_open_between_queries(
    server: Served, monkeypatch: pytest.MonkeyPatch, told: bool
) -> None:
    monkeypatch.setattr(following, "LOOK_AGAIN_S", 600 if told else 0.05)
    if not told:
        monkeypatch.setattr(server.app.state.listeners, "wake", lambda session_id: None)
    asked = await ask(server.client, "one")
    async with connect(asked["websocket_url"]) as socket:
        first = await until(socket)
        await ask(server.client, "two", session_id=asked["session_id"])
        second = await until(socket)
    assert (first[-1]["payload"], second[-1]["payload"]) == ("You said: one", "You said: two")
    assert second[0]["seq"] == SPAN + 1 and first[-1]["seq"] < SPAN


async def test_queries_of_a_session_wait_in_line(server: Served) -> None:
    asked = await ask(server.client, "slow one")
    await server.script.waiting.wait()
    await ask(server.client, "two", session_id=asked["session_id"])
    async with connect(asked["websocket_url"]) as socket:
        begun = [await next_one(socket)]
        assert begun[0]["seq"] == 1
        server.script.go.set()
        assert (await until(socket))[-1]["payload"] == "You said: slow one"
        assert (await until(socket))[-1]["payload"] == "You said: two"


@pytest.mark.parametrize("heard", range(8))
async def test_whoever_comes_back_is_told_what_they_missed(server: Served, heard: int) -> None:
    asked = await ask(server.client, "query slow")
    url = asked["websocket_url"]
    async with connect(url) as socket:
        before = [await next_one(socket) for _ in range(min(heard, 2))]
    server.script.go.set()
    whole = await listen(url)
    before += whole[len(before) : heard]
    after = await listen(url, after=before[-1]["seq"] if before else 0)
    assert before + after == whole


async def test_whoever_comes_back_later_is_told_of_all_queries_since(server: Served) -> None:
    asked = await ask(server.client, "one")
    url, session = asked["websocket_url"], asked["session_id"]
    first = await listen(url)
    await ask(server.client, "two", session_id=session)
    await ask(server.client, "three", session_id=session)
    async with connect(f"{url}?after={first[0]['seq']}") as socket:
        said = [*await until(socket), *await until(socket), *await until(socket)]
    assert said[: len(first) - 1] == first[1:]
    ends = [one["payload"] for one in said if one["type"] == "final_response"]
    assert ends == ["You said: one", "You said: two", "You said: three"]
    assert (await listen(url))[-1]["payload"] == "You said: three"


@pytest.mark.parametrize("after", ["", "null", "-1", "x", "1e9", "9" * 40])
async def test_a_number_that_is_none_means_from_the_beginning(server: Served, after: str) -> None:
    asked = await ask(server.client, "one")
    async with connect(f"{asked['websocket_url']}?after={after}") as socket:
        assert (await until(socket))[0]["seq"] == 1


async def test_a_number_that_nobody_was_given_does_not_silence_what_comes(server: Served) -> None:
    asked = await ask(server.client, "one")
    await listen(asked["websocket_url"])
    async with connect(f"{asked['websocket_url']}?after={10**14}") as socket:
        await ask(server.client, "two", session_id=asked["session_id"])
        assert (await until(socket))[-1]["payload"] == "You said: two"


async def test_two_listeners_hear_the_same(server: Served) -> None:
    asked = await ask(server.client, "query slow")
    url = asked["websocket_url"]
    async with connect(url) as one, connect(url) as other:
        await next_one(one)
        server.script.go.set()
        assert (await until(one)) == (await until(other))[1:]


async def test_turns_of_other_interfaces_are_not_told_here(server: Served) -> None:
    asked = await ask(server.client, "one")
    session = asked["session_id"]
    first = await listen(asked["websocket_url"])
    await server.client.post("/chat", json={"thread_id": session, "message": "over there"})
    await server.events(session, "and there")
    assert await listen(asked["websocket_url"]) == first
    async with connect(f"{asked['websocket_url']}?after={first[-1]['seq']}") as socket:
        await ask(server.client, "two", session_id=session)
        assert (await until(socket))[-1]["payload"] == "You said: two"


async def test_a_session_that_nobody_knows(server: Served) -> None:
    async with connect(f"ws{server.url.removeprefix('http')}/v2/stream/nobody") as socket:
        assert await closed(socket) == (4404, "no session nobody")


async def test_a_session_that_is_deleted(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "LOOK_AGAIN_S", 0.05)
    asked = await ask(server.client, "one")
    async with connect(asked["websocket_url"]) as socket:
        await until(socket)
        await (await server.conversation()).store.delete(asked["session_id"])
        assert (await closed(socket))[0] == 4404


async def test_a_listener_too_many(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listeners, "MOST", 1)
    asked = await ask(server.client, "one")
    async with connect(asked["websocket_url"]) as socket:
        await until(socket)
        async with connect(asked["websocket_url"]) as other:
            assert (await closed(other))[0] == 1013
    assert (await listen(asked["websocket_url"]))[0]["seq"] == 1


async def test_one_users_listeners_leave_room_for_others(behind_proxy: Served) -> None:
    server = behind_proxy
    server.app.state.listeners = listeners.Listeners(0.004)
    asked = await ask(server.client, "one")
    async with AsyncExitStack() as stack:
        for _ in range(2):
            socket = await stack.enter_async_context(connect(asked["websocket_url"]))
            await until(socket)
        async with connect(asked["websocket_url"]) as third:
            code, reason = await closed(third)
            assert code == 1013 and reason.startswith("the user @127.0.0.1 has 2 streams open")
        named, shares = {"X-Sandtable-User": "bob"}, f"/shares/thread/{asked['session_id']}"
        await server.client.put(shares, json={"recipient": "person", "name": "bob"})
        async with connect(asked["websocket_url"], additional_headers=named) as other:
            assert (await until(other))[0]["seq"] == 1


FOREIGN = {
    "another host": {"Origin": "http://evil.example"},
    "another port": {"Origin": "http://127.0.0.1:1"},
    "a page without origin": {"Origin": "null"},
    "a name that begins alike": {"Origin": "http://HOST.evil.example"},
    "said by the browser": {"Sec-Fetch-Site": "cross-site"},
    "a name that anybody can forward": {"Origin": "http://data.example", "X-Forwarded-Host": "data.example"},
}


@pytest.mark.parametrize("headers", FOREIGN.values(), ids=FOREIGN.keys())
async def test_pages_of_another_origin_cannot_listen(server: Served, headers: dict[str, str]) -> None:
    asked = await ask(server.client, "one")
    host = server.url.removeprefix("http://")
    given = {name: value.replace("HOST", host) for name, value in headers.items()}
    with pytest.raises(InvalidStatus) as refused:
        await listen_with(asked["websocket_url"], given)
    assert refused.value.response.status_code == 403
    assert json.loads(refused.value.response.body or b"")["error"]["code"] == "UNAUTHORIZED"


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_our_own_pages_can(server: Served, scheme: str) -> None:
    asked = await ask(server.client, "one")
    host = server.url.removeprefix("http://")
    headers = {"Origin": f"{scheme}://{host}", "Sec-Fetch-Site": "same-origin"}
    assert await listen_with(asked["websocket_url"], headers)


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_our_own_pages_can_by_the_name_of_a_trusted_proxy(behind_proxy: Served, scheme: str) -> None:
    asked = await ask(behind_proxy.client, "one")
    headers = {"Origin": f"{scheme}://data.example", "X-Forwarded-Host": "data.example"}
    assert await listen_with(asked["websocket_url"], headers)


async def listen_with(url: str, headers: dict[str, str]) -> list[dict[str, Any]]:
    async with connect(url, additional_headers=headers) as socket:
        return await until(socket)


async def test_a_query_can_be_cancelled(server: Served) -> None:
    asked = await ask(server.client, "slow one")
    await server.script.waiting.wait()
    async with connect(asked["websocket_url"]) as socket:
        await next_one(socket)
        await socket.send('{"type": "cancel"}')
        said = await until(socket)
        assert [one["type"] for one in said[-2:]] == ["error", "final_response"]
        assert said[-2]["payload"] == "UserInterrupt: the answer was cancelled"
        assert "cancelled" in said[-1]["payload"]
        # And the session goes on.
        await ask(server.client, "two", session_id=asked["session_id"])
        assert (await until(socket))[-1]["payload"] == "You said: two"
        await socket.send('{"type": "cancel"}')
        assert (await next_one(socket))["payload"].startswith("NOT_FOUND: no answer is under way")


NONSENSE = ["", "hm", "[]", "7", '{"type": "query"}', "[" * 3000, "x" * 5000, b"\x00", '{"type":["cancel"]}']


@pytest.mark.parametrize("text", NONSENSE, ids=lambda t: repr(t)[:20])
async def test_what_means_nothing_is_answered_with_an_error(server: Served, text: str | bytes) -> None:
    asked = await ask(server.client, "one")
    async with connect(asked["websocket_url"]) as socket:
        await until(socket)
        await socket.send(text)
        answer = await next_one(socket)
        assert (answer["type"], answer["seq"]) == ("error", None) and "cancel" in answer["payload"]
        await ask(server.client, "two", session_id=asked["session_id"])
        assert (await until(socket))[-1]["payload"] == "You said: two"


async def test_nobody_may_talk_nonsense_for_ever(server: Served) -> None:
    asked = await ask(server.client, "one")
    async with connect(asked["websocket_url"]) as socket:
        await until(socket)
        for _ in range(MOST_MISTAKES):
            await socket.send("hm")
        assert (await closed(socket))[0] == 1008


async def test_what_breaks_inside_ends_with_a_message(server: Served) -> None:
    said = await listen((await ask(server.client, "boom"))["websocket_url"])
    assert kinds(said)[-2:] == ["error", "final_response"]
    assert "inside of the server" not in json.dumps(said)


async def test_a_restart_keeps_what_was_told(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        asked = await ask(server.client, "query it")
        before = await listen(asked["websocket_url"])
        cut = await ask(server.client, "query slow")
        async with connect(cut["websocket_url"]) as socket:
            heard = await next_one(socket)
    async with served(tmp_path) as server:
        base = f"ws{server.url.removeprefix('http')}/v2/stream/"
        assert await listen(base + asked["session_id"]) == before
        assert await listen(base + asked["session_id"], after=3) == before[3:]
        ended = await listen(base + cut["session_id"], after=heard["seq"])
        assert kinds(ended)[-2:] == ["error", "final_response"] and "ask again" in ended[-1]["payload"]
        # Also for those who heard what the dying server had no time to write down.
        assert await listen(base + cut["session_id"], after=400) == ended[-2:]


async def test_what_is_no_longer_kept_is_said_to_be(server: Served) -> None:
    asked = await ask(server.client, "one")
    await listen(asked["websocket_url"])
    store = (await server.conversation()).store
    await store.drop_logs("9", 0)
    (said,) = await listen(asked["websocket_url"])
    assert said["type"] == "final_response" and "no longer kept" in said["payload"]


async def test_a_slow_listener_misses_nothing(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even when the journal keeps next to nothing in memory."""
    monkeypatch.setattr(Journal.__init__, "__defaults__", (1,))
    asked = await ask(server.client, "query slow")
    async with connect(asked["websocket_url"]) as socket:
        await server.script.waiting.wait()
        server.script.go.set()
        said = await until(socket)
    assert [one["seq"] for one in said] == list(range(1, len(said) + 1))
    assert said == await listen(asked["websocket_url"])


async def test_what_waits_for_a_person_is_said(tmp_path: Path) -> None:
    async with served(tmp_path, approval="sql") as server:
        asked = await ask(server.client, "query it")
        said = await listen(asked["websocket_url"])
        assert said[-1]["payload"].startswith("May I run this?") and "table" not in kinds(said)
        decision = {"thread_id": asked["session_id"], "resume": {"decisions": [{"type": "approve"}]}}
        answer = await server.client.post("/chat", json=decision)
        assert answer.json()["ending"] == "answered"


async def test_everybody_is_told_that_the_server_stops(server: Served) -> None:
    asked = await ask(server.client, "one")
    async with connect(asked["websocket_url"]) as socket:
        await until(socket)
        await asyncio.wait_for(server.app.state.listeners.aclose(), 5)
        assert (await closed(socket))[0] == 1001
