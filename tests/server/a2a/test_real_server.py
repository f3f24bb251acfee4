"""The two ports of a server as it is started: the built-in planner, the real sandbox, the official client."""

from __future__ import annotations

import json
import signal
import socket
from pathlib import Path

import httpx
import pytest

from tests.server.a2a.asking import artifact, asking, data_in, says, state, text
from tests.server.test_serve import served


async def http_get(url: str) -> httpx.Response:
    async with httpx.AsyncClient() as client:
        return await client.get(url)


def _free() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


@pytest.mark.needs("userns")
async def test_messages_and_grpc_are_started_by_one_setting(tmp_path: Path) -> None:
    messages, grpc_port = _free(), _free()
    on = {"A2A": "on", "A2A_PORT": messages, "A2A_GRPC_PORT": grpc_port}
    question = "How many orders are there? And what is the monthly revenue in 2025?"
    with served(tmp_path, "--port", "0", "--json", **on) as process:
        assert process.stdout and process.stderr
        assert json.loads(process.stdout.readline())["url"]
        agent = f"http://127.0.0.1:{messages}"
        async with asking(agent, "GRPC", stream=True) as client:
            *_, last = await client.events(says(question, {"dataset": "ecommerce"}))
            task = await client.get(last.status_update.task_id)
        assert state(task) == "COMPLETED", text(task)
        names = {one.artifact_id for one in task.artifacts}
        assert {"answer-1", "table-1", "capsule-1", "answer-2", "table-2", "chart-2", "capsule-2"} <= names
        assert len(data_in(artifact(task, "table-2"))["rows"]) == 12
        assert data_in(artifact(task, "chart-2"))["data"][0]["type"] == "scatter"
        async with asking(agent, "JSONRPC") as client:
            which = await client.events(says("How many are there?"))
            assert data_in(which[0].message)["datasets"] == ["ecommerce", "support", "sensors"]
            card = (await http_get(f"{agent}/.well-known/agent-card.json")).json()
            example = next(skill for skill in card["skills"] if skill["id"] == "support")["examples"][0]
            named = await client.send(says(example))
            assert named.metadata["dataset"] == "support" and state(named) == "COMPLETED", example
        process.send_signal(signal.SIGTERM)
        logs = [json.loads(line) for line in process.stderr.read().splitlines()]
        assert process.wait(20) == 0
    assert not [line for line in logs if line["level"] in ("error", "critical")]
    with served(tmp_path, "--port", "0", "--json", **on) as process:
        assert process.stdout
        process.stdout.readline()
        async with asking(agent, "JSONRPC") as client:
            assert await client.get(task.id) == task
