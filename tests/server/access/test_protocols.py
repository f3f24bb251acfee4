"""Each protocol as its clients speak it, and who gets what: anonymous, another user, the team with which a conversation
is shared, its owner, an administrator, and an expired key."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import grpc.aio
import httpx
import pytest
import pytest_asyncio
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageRequest,
    SubscribeToTaskRequest,
)
from a2a.types.a2a_pb2_grpc import A2AServiceStub

from sandtable.server.a2a.grpc_server import GrpcServer
from tests.server.access.world import SECRET, World, key_of, session_of, with_accounts
from tests.server.accounts.conftest import OWN

pytestmark = pytest.mark.asyncio(loop_scope="module")

OK, MISSING, UNPROVEN, FORBIDDEN = "ok", "does not exist", "401", "403"
WHO = ("anonymous", "expired key", "other", "team", "owner", "admin")
# What may be read by those with whom the conversation is shared, and what is its owner's.
READ = (UNPROVEN, UNPROVEN, MISSING, OK, OK, OK)
CHANGE = (UNPROVEN, UNPROVEN, MISSING, FORBIDDEN, OK, OK)
VERSION = {"A2A-Version": "1.0"}
MCP = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}


@dataclass
class Stage:
    world: World
    grpc_port: int
    task: str
    """Of Anna, over A2A, which asks something back."""
    context: str

    async def post(
        self, who: str, path: str, body: Any, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        async with self.world.client(who) as client:
            return await client.post(path, json=body, headers=headers)

    async def get(self, who: str, path: str, headers: dict[str, str] | None = None) -> httpx.Response:
        async with self.world.client(who) as client:
            return await client.get(path, headers=headers)

    @asynccontextmanager
    async def stub(self, who: str) -> AsyncIterator[tuple[A2AServiceStub, Any]]:
        metadata = [(name.lower(), value) for name, value in {**VERSION, **self.world.people[who]}.items()]
        async with grpc.aio.insecure_channel(f"127.0.0.1:{self.grpc_port}") as channel:
            yield A2AServiceStub(channel), metadata


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    home = tmp_path_factory.mktemp("protocols")
    async with with_accounts(home, a2a_grpc_port=0) as (world, accounts):
        # Over gRPC a cookie proves nothing: all have keys here.
        every = ("ask", "data", "read", "share")
        for who, name in (("other", "bob"), ("owner", "anna")):
            world.people[who] = await key_of(accounts, name, *every)
        world.people["admin"] = await key_of(accounts, "olga", *every, "admin")
        world.people["expired key"] = await key_of(accounts, "anna", *every, "admin", ended="expired")
        server = GrpcServer(world.app.state.parts.settings)
        await server.start(world.app)
        try:
            body = {"message": _a2a_message(f"shop: unsure {SECRET}", message_id="m-0")}
            async with world.client("owner") as anna:
                begun = await anna.post("/a2a/message:send", json=body, headers=VERSION)
                assert begun.status_code == 200, begun.text
                task = begun.json()["task"]
                for thread in (task["contextId"], world.things.ids["thread"]):
                    shared = {"recipient": "team", "name": "sales"}
                    assert (await anna.put(f"/shares/thread/{thread}", json=shared)).status_code == 200
            yield Stage(world, server.port, task["id"], task["contextId"])
        finally:
            await server.stop(0)


def _a2a_message(text: str, message_id: str = "", **fields: str) -> dict[str, Any]:
    return {
        "messageId": message_id or str(uuid4()),
        "role": "ROLE_USER",
        "parts": [{"text": text}],
        **fields,
    }


# What the answers of each protocol mean


def _of_http(answer: httpx.Response) -> str:
    return {200: OK, 401: UNPROVEN, 403: FORBIDDEN, 404: MISSING}.get(answer.status_code, answer.text)


def _of_a2a_error(code: Any, words: str) -> str:
    """The protocol has no error for what only an owner may do, and an unknown context can be begun by nobody else."""
    if code in (-32001, 404) or "context's id cannot be used" in words:
        return MISSING
    return FORBIDDEN if "belongs to anna" in words else f"{code} {words}"


def _of_jsonrpc(answer: httpx.Response) -> str:
    if answer.status_code != 200:
        return _of_http(answer)
    text = answer.text
    if text.startswith(("data:", ":")) or "\ndata: " in text:
        text = next(line[6:] for line in text.splitlines() if line.startswith("data: "))
    error = json.loads(text).get("error")
    return OK if error is None else _of_a2a_error(error["code"], error["message"])


def _of_a2a_http(answer: httpx.Response) -> str:
    if answer.status_code in (200, 401, 403):
        return _of_http(answer)
    return _of_a2a_error(answer.status_code, answer.text)


def _of_tool(answer: httpx.Response) -> str:
    if answer.status_code != 200:
        return _of_http(answer)
    text = answer.text
    if not text.startswith("{"):
        text = [line[6:] for line in text.splitlines() if line.startswith("data: ")][-1]
    said = json.loads(text)
    if "error" in said:
        return MISSING if "no resource" in text or "no run" in text else text
    if not said["result"].get("isError"):
        return OK
    words = said["result"]["content"][0]["text"]
    return FORBIDDEN if "UNAUTHORIZED" in words else MISSING if "NOT_FOUND" in words else words


async def _of_grpc(call: Awaitable[Any]) -> str:
    try:
        await call
    except grpc.aio.AioRpcError as error:
        known = {
            grpc.StatusCode.UNAUTHENTICATED: UNPROVEN,
            grpc.StatusCode.PERMISSION_DENIED: FORBIDDEN,
            grpc.StatusCode.NOT_FOUND: MISSING,
        }
        words = error.details() or ""
        return known.get(error.code()) or _of_a2a_error(error.code(), words)
    return OK


# What is asked over each


async def _websocket(stage: Stage, who: str) -> str:
    code = await stage.world.listens(who, f"/v2/stream/{stage.world.things.ids['thread']}")
    return {101: OK, 401: UNPROVEN, 403: FORBIDDEN, 4404: MISSING}[code]


def _turn_body() -> dict[str, Any]:
    return {"assistant_id": "shop", "input": {"messages": [{"type": "human", "content": "hm"}]}}


async def _langgraph_stream(stage: Stage, who: str) -> str:
    path = f"/langgraph/threads/{stage.world.things.ids['thread']}/runs/stream"
    return _of_http(await stage.post(who, path, _turn_body()))


async def _langgraph_follow(stage: Stage, who: str) -> str:
    ids = stage.world.things.ids
    path = f"/langgraph/threads/{ids['thread']}/runs/{ids['turn']}/stream"
    return _of_http(await stage.get(who, path))


async def _chat(stage: Stage, who: str) -> str:
    body = {"thread_id": stage.world.things.ids["thread"], "message": "hm"}
    return _of_http(await stage.post(who, "/chat", body))


async def _chat_stream(stage: Stage, who: str) -> str:
    body = {"thread_id": stage.world.things.ids["thread"], "message": "hm"}
    return _of_http(await stage.post(who, "/chat", body, {"Accept": "text/event-stream"}))


async def _v2_query(stage: Stage, who: str) -> str:
    body = {"session_id": stage.world.things.ids["thread"], "dataset_name": "shop", "query": "hm"}
    answer = await stage.post(who, "/v2/query", body)
    return OK if answer.status_code == 202 else _of_http(answer)


def _agui_body(thread: str, messages: list[dict[str, str]]) -> dict[str, Any]:
    return {"threadId": thread, "runId": str(uuid4()), "messages": messages}


async def _agui_read(stage: Stage, who: str) -> str:
    """A run without a message restates the conversation. One that does not exist has nothing to restate."""
    answer = await stage.post(who, "/agui?dataset=shop", _agui_body(stage.world.things.ids["thread"], []))
    if answer.status_code == 422 and "this conversation has not begun" in answer.text:
        assert SECRET not in answer.text
        return MISSING
    if answer.status_code == 200:
        assert "MESSAGES_SNAPSHOT" in answer.text and SECRET in answer.text
    return _of_http(answer)


async def _agui_ask(stage: Stage, who: str) -> str:
    message = {"id": str(uuid4()), "role": "user", "content": "hm"}
    body = _agui_body(stage.world.things.ids["thread"], [message])
    return _of_http(await stage.post(who, "/agui?dataset=shop", body))


def _tool(name: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


async def _mcp_run(stage: Stage, who: str) -> str:
    call = _tool("get_run", run_id=stage.world.things.ids["thread_run"])
    return _of_tool(await stage.post(who, "/mcp", call, MCP))


async def _mcp_resource(stage: Stage, who: str) -> str:
    params = {"uri": f"sandtable://runs/{stage.world.things.ids['thread_run']}/capsule"}
    call = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": params}
    return _of_tool(await stage.post(who, "/mcp", call, MCP))


async def _mcp_ask(stage: Stage, who: str) -> str:
    call = _tool("ask", question="hm", thread_id=stage.world.things.ids["thread"])
    return _of_tool(await stage.post(who, "/mcp", call, MCP))


def _rpc(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


async def _jsonrpc_get(stage: Stage, who: str) -> str:
    return _of_jsonrpc(await stage.post(who, "/a2a", _rpc("GetTask", id=stage.task), VERSION))


async def _jsonrpc_ask(stage: Stage, who: str) -> str:
    message = _a2a_message("hm", contextId=stage.context)
    return _of_jsonrpc(await stage.post(who, "/a2a", _rpc("SendMessage", message=message), VERSION))


async def _jsonrpc_stream(stage: Stage, who: str) -> str:
    message = _a2a_message("hm", contextId=stage.context)
    return _of_jsonrpc(await stage.post(who, "/a2a", _rpc("SendStreamingMessage", message=message), VERSION))


async def _http_get(stage: Stage, who: str) -> str:
    return _of_a2a_http(await stage.get(who, f"/a2a/tasks/{stage.task}", VERSION))


async def _http_answer(stage: Stage, who: str) -> str:
    body = {"message": _a2a_message("unsure again", taskId=stage.task)}
    return _of_a2a_http(await stage.post(who, "/a2a/message:send", body, VERSION))


async def _new_task(stage: Stage) -> str:
    """Of Anna, in the shared conversation; it waits for an answer, so it can be cancelled."""
    body = {"message": _a2a_message("unsure once more", contextId=stage.context)}
    return (await stage.post("owner", "/a2a/message:send", body, VERSION)).json()["task"]["id"]


async def _http_cancel(stage: Stage, who: str) -> str:
    path = f"/a2a/tasks/{await _new_task(stage)}:cancel"
    return _of_a2a_http(await stage.post(who, path, {}, VERSION))


async def _grpc_get(stage: Stage, who: str) -> str:
    async with stage.stub(who) as (stub, metadata):
        return await _of_grpc(stub.GetTask(GetTaskRequest(id=stage.task), metadata=metadata))


async def _grpc_subscribe(stage: Stage, who: str) -> str:
    async with stage.stub(who) as (stub, metadata):
        stream = stub.SubscribeToTask(SubscribeToTaskRequest(id=stage.task), metadata=metadata)
        return await _of_grpc(stream.read())


async def _grpc_ask(stage: Stage, who: str) -> str:
    message = Message(
        message_id=str(uuid4()), role=Role.ROLE_USER, parts=[Part(text="hm")], context_id=stage.context
    )
    async with stage.stub(who) as (stub, metadata):
        return await _of_grpc(stub.SendMessage(SendMessageRequest(message=message), metadata=metadata))


async def _grpc_cancel(stage: Stage, who: str) -> str:
    task = await _new_task(stage)
    async with stage.stub(who) as (stub, metadata):
        return await _of_grpc(stub.CancelTask(CancelTaskRequest(id=task), metadata=metadata))


CALLS: tuple[tuple[Callable[[Stage, str], Awaitable[str]], tuple[str, ...]], ...] = (
    (_websocket, READ),
    (_langgraph_follow, READ),
    (_langgraph_stream, CHANGE),
    (_chat, CHANGE),
    (_chat_stream, CHANGE),
    (_v2_query, CHANGE),
    (_agui_read, READ),
    (_agui_ask, CHANGE),
    (_mcp_run, READ),
    (_mcp_resource, READ),
    (_mcp_ask, CHANGE),
    (_jsonrpc_get, READ),
    (_jsonrpc_ask, CHANGE),
    (_jsonrpc_stream, CHANGE),
    (_http_get, READ),
    (_http_answer, CHANGE),
    (_http_cancel, CHANGE),
    (_grpc_get, READ),
    (_grpc_subscribe, READ),
    (_grpc_ask, CHANGE),
    (_grpc_cancel, CHANGE),
)


@pytest.mark.parametrize(("call", "expected"), CALLS, ids=[call.__name__[1:] for call, _ in CALLS])
async def test_who_gets_what(
    stage: Stage, call: Callable[[Stage, str], Awaitable[str]], expected: tuple[str, ...]
) -> None:
    assert {who: await call(stage, who) for who in WHO} == dict(zip(WHO, expected, strict=True))


async def test_a_list_of_tasks_has_those_that_may_be_seen(stage: Stage) -> None:
    for who in WHO:
        listed = await stage.post(who, "/a2a", _rpc("ListTasks"), VERSION)
        over_http = await stage.get(who, "/a2a/tasks", VERSION)
        sees = who in ("team", "owner", "admin")
        for answer in (listed, over_http):
            assert (answer.status_code == 401) == (who in WHO[:2])
            assert (stage.task in answer.text) == sees and (SECRET in answer.text) == sees, (who, answer.text)
        async with stage.stub(who) as (stub, metadata):
            try:
                page = await stub.ListTasks(ListTasksRequest(), metadata=metadata)
            except grpc.aio.AioRpcError as error:
                assert who in WHO[:2] and error.code() == grpc.StatusCode.UNAUTHENTICATED
            else:
                assert (stage.task in [task.id for task in page.tasks]) == sees


async def test_a_key_that_only_reads_does_not_ask_over_grpc(stage: Stage) -> None:
    stage.world.people["narrow"] = await key_of(stage.world.app.state.accounts, "anna", "read")
    assert await _grpc_get(stage, "narrow") == FORBIDDEN
    assert await _http_get(stage, "narrow") == OK


async def test_a_cookie_proves_nothing_over_grpc(stage: Stage) -> None:
    stage.world.people["browser"] = await session_of(stage.world.app.state.accounts, "anna") | OWN
    assert await _http_get(stage, "browser") == OK
    assert await _grpc_get(stage, "browser") == UNPROVEN


async def test_when_a_share_ends_the_task_is_gone_at_once(stage: Stage) -> None:
    shared = {"recipient": "person", "name": "bob"}
    path = f"/shares/thread/{stage.context}"
    async with stage.world.client("owner") as anna:
        assert (await anna.put(path, json=shared)).status_code == 200
        assert [await call(stage, "other") for call in (_jsonrpc_get, _http_get, _grpc_get)] == [OK] * 3
        assert (await anna.delete(path, params=shared)).status_code == 200
    assert [await call(stage, "other") for call in (_jsonrpc_get, _http_get, _grpc_get)] == [MISSING] * 3
