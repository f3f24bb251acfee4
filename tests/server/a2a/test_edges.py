"""What is refused, how, and what a client learns of it; the card; the ports; and what is not loaded."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import httpx
import pytest
import pytest_asyncio
from a2a.helpers import new_url_part
from a2a.types import (
    GetExtendedAgentCardRequest,
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Role,
    SendMessageRequest,
    TaskPushNotificationConfig,
)
from a2a.types.a2a_pb2_grpc import A2AServiceStub
from a2a.utils.errors import (
    ContentTypeNotSupportedError,
    InvalidParamsError,
    PushNotificationNotSupportedError,
    TaskNotFoundError,
)
from google.protobuf.json_format import MessageToJson

from sandtable.errors import InvalidInput
from sandtable.server.a2a import addresses, ports
from sandtable.settings import Settings
from tests.server.a2a.asking import BINDINGS, Reached, reached, says, state
from tests.server.conftest import LogLines
from tests.server.house import THIS_MACHINE

VERSION = {"A2A-Version": "1.0"}
RPC: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "none"}}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Reached]:
    async with reached(tmp_path_factory.mktemp("edges")) as server:
        yield server


pytestmark = pytest.mark.asyncio(loop_scope="module")


def _with_url() -> Message:
    message = says("look at this")
    message.parts.append(new_url_part("https://example.org/a.csv", media_type="text/plain"))
    return message


def _by_agent() -> Message:
    message = says("hello")
    message.role = Role.ROLE_AGENT
    return message


REFUSED = {
    "empty": (says("  "), InvalidParamsError, "empty"),
    "by-agent": (_by_agent(), InvalidParamsError, "ROLE_USER"),
    "file": (_with_url(), ContentTypeNotSupportedError, "url"),
    "long": (says("x" * 20_000), InvalidParamsError, "more than"),
    "dataset": (says("hello", {"dataset": "nowhere"}), InvalidParamsError, "nowhere"),
    "field": (says("hello", {"datasett": "shop"}), InvalidParamsError, "datasett"),
    "context": (says("hello", context_id="../../etc"), InvalidParamsError, "context"),
    "task": (says("hello", task_id="no-task"), TaskNotFoundError, "no-task"),
}


@pytest.mark.parametrize("binding", BINDINGS)
@pytest.mark.parametrize("case", REFUSED)
async def test_a_message_that_cannot_be_used_is_refused(server: Reached, binding: str, case: str) -> None:
    message, error, why = REFUSED[case]
    async with server.asking(binding) as asking:
        with pytest.raises(error, match=why):
            await asking.send(message)


@pytest.mark.parametrize("binding", BINDINGS)
async def test_other_operations_refuse_what_they_cannot_do(server: Reached, binding: str) -> None:
    async with server.asking(binding) as asking:
        for task_id in ("none", "0d6cf3f4-1d5c-4f7e-9d52-000000000000", "%"):
            with pytest.raises(TaskNotFoundError):
                await asking.get(task_id)
        with pytest.raises(InvalidParamsError):
            await asking.client.list_tasks(ListTasksRequest(page_token="not one"))
        with pytest.raises(InvalidParamsError):
            await asking.client.list_tasks(ListTasksRequest(page_size=101))
        with pytest.raises(PushNotificationNotSupportedError):
            await asking.client.create_task_push_notification_config(
                TaskPushNotificationConfig(task_id="t", url="https://example.org")
            )


async def test_there_is_no_extended_card(server: Reached) -> None:
    async with grpc.aio.insecure_channel(f"127.0.0.1:{server.ports.grpc_port}") as channel:
        with pytest.raises(grpc.aio.AioRpcError, match="public one") as refused:
            await A2AServiceStub(channel).GetExtendedAgentCard(
                GetExtendedAgentCardRequest(), metadata=(("a2a-version", "1.0"),)
            )
    assert refused.value.code() == grpc.StatusCode.FAILED_PRECONDITION


async def test_the_inside_of_the_server_stays_inside(server: Reached, log_lines: LogLines) -> None:
    async with server.asking() as asking:
        broken = await asking.send(says("boom"))
    assert state(broken) == "FAILED" and "inside" not in str(broken)


async def test_an_unexpected_error_is_logged_and_not_told(
    server: Reached, log_lines: LogLines, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = await server.served.conversation()
    monkeypatch.setattr(talk.store, "turn_named", lambda _: 1 / 0)
    for binding in BINDINGS:
        async with server.asking(binding) as asking:
            with pytest.raises(Exception, match="unexpected error") as told:
                await asking.get("0d6cf3f4-1d5c-4f7e-9d52-000000000000")
        assert "division" not in str(told.value)
    lines = [line for line in log_lines() if line["event"] == "a2a_request_broke"]
    assert len(lines) == 3 and "ZeroDivisionError" in lines[0]["exception"]


async def test_requests_in_another_form_are_answered_in_that_of_the_binding(server: Reached) -> None:
    client = server.served.client
    wrong = {"Content-Type": "text/plain", **VERSION}
    answer = await client.post("/a2a", content="{}", headers=wrong)
    assert (answer.status_code, answer.json()["error"]["code"]) == (415, -32005)
    answer = await client.post("/a2a/message:send", content="{}", headers=wrong)
    assert (answer.status_code, answer.json()["error"]["status"]) == (415, "INVALID_ARGUMENT")
    large = b'{"x": "' + b"x" * (1 << 20) + b'"}'
    for path in ("/a2a", "/a2a/message:send"):
        answer = await client.post(
            path, content=large, headers={"Content-Type": "application/json", **VERSION}
        )
        assert answer.status_code == 413 and "1 MiB" in answer.json()["error"]["message"]
    answer = await client.post("/a2a", json=RPC)
    assert answer.json()["error"]["code"] == -32009, "a request without a version is one of 0.3"
    answer = await client.post("/a2a", content="{", headers={"Content-Type": "application/json", **VERSION})
    assert answer.json()["error"]["code"] == -32700
    deep = "[" * 100_000 + "]" * 100_000
    answer = await client.post("/a2a", content=deep, headers={"Content-Type": "application/json", **VERSION})
    assert "error" in answer.json() and answer.status_code == 200
    typed = {"Content-Type": "application/a2a+json", **VERSION}
    answer = await client.post("/a2a/message:send", content=b'{"message": {}}', headers=typed)
    assert answer.json()["error"]["details"][0]["reason"] == "INVALID_PARAMS"
    assert (await client.get("/tenant/a2a/tasks", headers=VERSION)).status_code == 404


@pytest.mark.parametrize(
    ("body", "accept", "expected"),
    [
        ("application/json", "*/*", "application/json"),
        ("application/json; charset=utf-8", None, "application/json"),
        ("application/a2a+json", "*/*", "application/a2a+json"),
        (None, "*/*", "application/a2a+json"),
        (None, "application/json", "application/json"),
        ("application/a2a+json", "text/html, application/json;q=0.9", "application/json"),
        ("application/json", "application/a2a+json", "application/a2a+json"),
        ("application/json", "application/json, application/a2a+json", "application/a2a+json"),
        ("application/json", "application/json;q=0.5, application/a2a+json;q=0.4", "application/json"),
        ("application/a2a+json", "application/json;q=much", "application/a2a+json"),
    ],
)
async def test_an_answer_has_the_json_type_that_its_client_uses(
    server: Reached, body: str | None, accept: str | None, expected: str
) -> None:
    client = server.served.client
    typed = {"Content-Type": body} if body else {}
    named = {"Accept": accept} if accept else {}
    headers = {**typed, **named, **VERSION}
    if body is None:
        answer = await client.get("/a2a/tasks", headers=headers)
    else:
        sent = MessageToJson(SendMessageRequest(message=says("shop: how many orders")))
        answer = await client.post("/a2a/message:send", content=sent, headers=headers)
    assert (answer.status_code, answer.headers["content-type"]) == (200, expected), answer.text
    assert isinstance(answer.json(), dict)


async def test_grpc_has_bounds(server: Reached) -> None:
    async with grpc.aio.insecure_channel(f"127.0.0.1:{server.ports.grpc_port}") as channel:
        stub, version = A2AServiceStub(channel), ("a2a-version", "1.0")
        for message, metadata, code in (
            (says("x" * (2 << 20)), (version,), grpc.StatusCode.RESOURCE_EXHAUSTED),
            (says("hello"), (), grpc.StatusCode.FAILED_PRECONDITION),
            (says("hello"), (("a2a-version", "99.0"),), grpc.StatusCode.FAILED_PRECONDITION),
            (says("hello"), (version, ("origin", "https://evil.example")), grpc.StatusCode.INVALID_ARGUMENT),
            (says("hello"), (version, ("x-sandtable-user", "ada")), grpc.StatusCode.PERMISSION_DENIED),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await stub.SendMessage(SendMessageRequest(message=message), metadata=metadata)
            assert refused.value.code() == code, refused.value.details()
        with pytest.raises(grpc.aio.AioRpcError) as late:
            await stub.SendMessage(
                SendMessageRequest(message=says("slow one")), metadata=(version,), timeout=0.5
            )
        assert late.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    server.served.script.go.set()


async def test_calls_over_grpc_count_for_the_limits_of_a_user(tmp_path: Path) -> None:
    settings = {"trusted_proxies": THIS_MACHINE, "rate_writes": 1, "rate_reads": 2}
    async with (
        reached(tmp_path, settings) as server,
        grpc.aio.insecure_channel(f"127.0.0.1:{server.ports.grpc_port}") as channel,
    ):
        stub = A2AServiceStub(channel)
        send, get = SendMessageRequest(message=says("hello")), GetTaskRequest(id="none")
        ada, bob = ((("a2a-version", "1.0"), ("x-sandtable-user", name)) for name in ("ada", "bob"))
        await stub.SendMessage(send, metadata=ada)
        with pytest.raises(grpc.aio.AioRpcError, match="ada has sent 1 requests") as refused:
            await stub.SendMessage(send, metadata=ada)
        assert refused.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert int(dict(refused.value.trailing_metadata())["retry-after"]) > 0
        await stub.SendMessage(send, metadata=bob)
        codes: list[grpc.StatusCode] = []
        for _ in range(3):
            with pytest.raises(grpc.aio.AioRpcError) as asked:
                await stub.GetTask(get, metadata=ada)
            codes.append(asked.value.code())
    assert codes == [grpc.StatusCode.NOT_FOUND] * 2 + [grpc.StatusCode.RESOURCE_EXHAUSTED]


async def test_the_port_of_messages_answers_a2a_only_and_is_guarded(server: Reached) -> None:
    async with httpx.AsyncClient(base_url=server.messages, headers=VERSION) as client:
        for path in ("/messages", "/messages/", "/a2a"):
            assert (await client.post(path, json=RPC)).json()["error"]["code"] == -32001
        assert (await client.get("/a2a/tasks")).status_code == 200
        elsewhere = await client.get("/runs")
        assert elsewhere.status_code == 404 and "A2A only" in elsewhere.json()["error"]["message"]
        assert elsewhere.headers["x-content-type-options"] == "nosniff"
        foreign = await client.post("/messages", json=RPC, headers={"Origin": "https://evil.example"})
        assert foreign.status_code == 403 and "another origin" in foreign.json()["error"]["message"]
        rebound = await client.post("/messages", json=RPC, headers={"Host": "evil.example"})
        assert rebound.status_code >= 400 and "-32001" not in rebound.text
        card = (await client.get(addresses.CARD)).json()
    assert [(one["protocolBinding"], one["url"]) for one in card["supportedInterfaces"]] == [
        ("JSONRPC", f"{server.messages}/messages"),
        ("HTTP+JSON", f"{server.messages}/a2a"),
        ("GRPC", f"127.0.0.1:{server.ports.grpc_port}"),
    ]


async def test_the_card_can_be_kept_and_asked_for_again(server: Reached) -> None:
    client = server.served.client
    answer = await client.get(addresses.CARD)
    assert "max-age=60" in answer.headers["cache-control"] and answer.headers["last-modified"]
    same = await client.get(addresses.CARD, headers={"If-None-Match": answer.headers["etag"]})
    assert same.status_code == 304 and not same.content
    card = answer.json()
    [skill] = card["skills"]
    assert skill["id"] == "shop" and "orders" in skill["description"]
    assert card["capabilities"] == {"streaming": True, "pushNotifications": False, "extendedAgentCard": False}
    assert (await client.head(addresses.CARD)).status_code == 200


async def test_streams_and_waits_end_when_the_server_stops(tmp_path: Path) -> None:
    async with reached(tmp_path) as server, server.asking("GRPC", stream=True) as asking:
        coming = asking.stream(says("slow one"))
        task = (await anext(coming)).task
        await server.served.script.waiting.wait()
        server.served.app.state.shutdown.begin(2)
        rest = [one async for one in coming]
        assert all(one.HasField("status_update") for one in rest)
        assert state(await asking.get(task.id)) == "WORKING"


async def test_a_port_in_use_is_said(server: Reached, tmp_path: Path) -> None:
    for http_port, grpc_port in ((server.ports.messages_port, 0), (0, server.ports.grpc_port)):
        settings = Settings(home=tmp_path, a2a=True, a2a_port=http_port, a2a_grpc_port=grpc_port)
        with pytest.raises(InvalidInput, match="cannot listen") as refused:
            async with ports.opened(settings):
                pass
        assert "SANDTABLE_A2A_" in refused.value.suggestion


async def test_without_the_extra_it_says_what_to_install(
    server: Reached, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = addresses.find_spec
    monkeypatch.setattr(addresses, "find_spec", lambda name: None if name == "grpc" else found(name))
    with pytest.raises(InvalidInput) as refused:
        async with ports.opened(Settings(home=tmp_path, a2a=True)):
            pass
    assert "sandtable[a2a]" in refused.value.suggestion
    answer = await server.served.client.get(addresses.CARD)
    assert answer.status_code == 404 and "sandtable[a2a]" in answer.json()["error"]["suggestion"]


async def test_a_start_loads_neither_the_sdk_nor_grpc() -> None:
    program = (
        "import sys, sandtable.server.listen, sandtable.server.app\n"
        "print(sorted({'a2a', 'grpc', 'google.protobuf', 'sse_starlette'} & set(sys.modules)))"
    )
    done = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE)
    said, _ = await done.communicate()
    assert (done.returncode, said.strip()) == (0, b"[]")
