"""The official client over each binding, against a server on real ports; the proposer and the sandbox are scripted."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc.aio
import httpx
from a2a.client import Client, ClientConfig, create_client
from a2a.client.client import ClientCallContext
from a2a.helpers import new_data_part, new_text_message
from a2a.types import (
    Artifact,
    GetTaskRequest,
    Message,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    StreamResponse,
    Task,
    TaskState,
)
from google.protobuf.json_format import MessageToDict

from sandtable.server.a2a.ports import Ports, opened
from sandtable.server.acceptor import room_here
from sandtable.settings import Settings
from tests.server.talking import Served, served

BINDINGS = ("JSONRPC", "HTTP+JSON", "GRPC")


@dataclass
class Reached:
    """A server whose agent is asked."""

    served: Served
    ports: Ports

    @property
    def messages(self) -> str:
        return f"http://127.0.0.1:{self.ports.messages_port}"

    def asking(self, binding: str = "JSONRPC", *, stream: bool = False, user: str | None = None) -> Any:
        return asking(self.served.url, binding, stream=stream, user=user)


@asynccontextmanager
async def reached(home: Path, settings: dict[str, Any] | None = None, **given: Any) -> AsyncIterator[Reached]:
    """Twice over the same home is a restart."""
    chosen = Settings(home=home, a2a=True, a2a_port=0, a2a_grpc_port=0, **(settings or {}))
    async with opened(chosen) as ports, served(home, chosen, **given) as server:
        assert ports is not None
        async with ports.serving(server.app, room_here(), 2):
            yield Reached(server, ports)


class Asking:
    def __init__(self, client: Client, user: str | None) -> None:
        self.client = client
        named = {"X-Sandtable-User": user} if user else {}
        self.call = ClientCallContext(service_parameters=named)

    async def stream(self, message: Message, **how: Any) -> AsyncGenerator[StreamResponse, None]:
        request = SendMessageRequest(message=message, configuration=SendMessageConfiguration(**how))
        async for one in self.client.send_message(request, context=self.call):
            yield one

    async def events(self, message: Message, **how: Any) -> list[StreamResponse]:
        return [one async for one in self.stream(message, **how)]

    async def send(self, message: Message, **how: Any) -> Task:
        """The task that a request without a stream is answered with."""
        [answer] = await self.events(message, **how)
        assert answer.WhichOneof("payload") == "task", answer
        return answer.task

    async def get(self, task_id: str) -> Task:
        return await self.client.get_task(GetTaskRequest(id=task_id), context=self.call)


@asynccontextmanager
async def asking(
    url: str, binding: str, *, stream: bool = False, user: str | None = None
) -> AsyncIterator[Asking]:
    async with httpx.AsyncClient(timeout=30, headers={"X-Sandtable-User": user} if user else {}) as http:
        config = ClientConfig(
            streaming=stream,
            httpx_client=http,
            supported_protocol_bindings=[binding],
            grpc_channel_factory=grpc.aio.insecure_channel,
        )
        async with await create_client(url, client_config=config) as client:
            yield Asking(client, user)


def says(text: str, data: dict[str, Any] | None = None, **fields: str) -> Message:
    message = new_text_message(text, role=Role.ROLE_USER)
    if data is not None:
        message.parts.append(new_data_part(data))
    for name, value in fields.items():
        setattr(message, name, value)
    return message


def state(task: Task) -> str:
    return TaskState.Name(task.status.state).removeprefix("TASK_STATE_")


def text(task: Task) -> str:
    return "\n".join(part.text for part in task.status.message.parts if part.text)


def data_in(artifact: Artifact | Message) -> Any:
    return next(MessageToDict(part)["data"] for part in artifact.parts if part.HasField("data"))


def artifact(task: Task, name: str) -> Artifact:
    [found] = [one for one in task.artifacts if one.artifact_id == name]
    return found
