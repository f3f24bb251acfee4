"""`sandtable mcp` as a client starts it: the real command, over its stdin and stdout, with the real sandbox."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
import yaml
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

ROOT = Path(__file__).parents[2]
PROGRAM = ["-c", "from sandtable.cli import main; main(prog_name='sandtable')"]
EXAMPLES = ROOT / "docs" / "examples" / "mcp"

pytestmark = [pytest.mark.needs("landlock")]


def configured(name: str, folder: Path) -> list[str]:
    """How a client with this configuration starts it in a folder."""
    read = yaml.safe_load((EXAMPLES / name).read_text("utf-8"))
    servers = read.get("mcpServers") or read.get("servers") or read["extensions"]
    server = servers["sandtable"]
    assert (server.get("command") or server.get("cmd")) == "sandtable"
    return [*PROGRAM, *(option.replace("${workspaceFolder}", str(folder)) for option in server["args"])]


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    file = tmp_path / "orders.csv"
    file.write_text("region,amount\nnorth,10\nsouth,30\nnorth,5\n", encoding="utf-8")
    return file


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "SANDTABLE_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT / "src")}


async def choose(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
    return types.ElicitResult(action="cancel")


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
async def test_a_question_about_a_file(orders: Path, environment: dict[str, str], mode: str) -> None:
    command = StdioServerParameters(
        command=sys.executable, args=configured("vscode.json", orders.parent), env=environment
    )
    async with Client(command, mode=mode, read_timeout_seconds=120, elicitation_callback=choose) as client:
        [dataset, *_] = (await client.call_tool("list_datasets", {})).structured_content["datasets"]
        gave = await client.call_tool(
            "ask", {"dataset_id": dataset["id"], "question": "total amount by region"}
        )
        answer = gave.structured_content
        assert answer["outcome"] == "answered", gave
        assert sorted(answer["run"]["rows"]) == [["north", 15], ["south", 30]]
        assert answer["run"]["has_chart"] and gave.meta is not None and gave.meta["sandtable/figure"]["data"]
        verified = await client.call_tool("verify_run", {"run_id": answer["run"]["run_id"]})
        assert verified.structured_content["ok"] and verified.structured_content["complete"]
        if mode != "legacy":
            refused = await client.call_tool(
                "run_sql", {"dataset_id": dataset["id"], "sql": "SELECT * FROM read_csv('/etc/passwd')"}
            )
            [said, *_] = refused.content
            assert refused.is_error and isinstance(said, types.TextContent)
            assert "SQL_POLICY_VIOLATION" in said.text
            coded = await client.call_tool(
                "run_python", {"dataset_id": dataset["id"], "code": "print(orders.amount.sum())"}
            )
            assert coded.structured_content["stdout"].strip() == "45"


@pytest.fixture
def started(
    tmp_path: Path, environment: dict[str, str], request: pytest.FixtureRequest
) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, *configured(request.param, tmp_path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=environment, **pipes) as process:  # pyright: ignore[reportCallIssue, reportArgumentType] - pipes are pipes
        yield process
        process.kill()


HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}


def _greeted(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    assert process.stdin and process.stdout
    process.stdin.write(json.dumps(HELLO).encode() + b"\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


@pytest.mark.parametrize("started", ["claude-desktop.json", "claude-code.json"], indirect=True)
def test_it_ends_with_its_input_and_says_nothing_else(started: subprocess.Popen[bytes]) -> None:
    assert _greeted(started)["result"]["protocolVersion"] == "2025-11-25"
    assert started.stdin
    # Too long, no JSON, no UTF-8: each is answered or passed over, and the next request is served.
    started.stdin.write(b'{"x": "' + b"y" * (3 << 20) + b'"}\n{\n\xff\xfe\n')
    started.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}).encode() + b"\n")
    started.stdin.flush()
    assert started.stdout
    answers = (json.loads(line) for line in started.stdout)
    assert next(answer for answer in answers if answer.get("id") == 2)["result"]["tools"]
    said, logged = started.communicate(timeout=60)
    assert (started.returncode, said) == (0, b"")
    assert b"Traceback" not in logged


@pytest.mark.parametrize(
    ("started", "number", "code"),
    [("cursor.json", signal.SIGINT, 130), ("goose.yaml", signal.SIGTERM, 143)],
    indirect=["started"],
)
def test_a_signal_ends_it_at_once(started: subprocess.Popen[bytes], number: int, code: int) -> None:
    _greeted(started)
    started.send_signal(number)
    # Its input stays open.
    assert started.wait(30) == code
    assert started.stderr and b"Traceback" not in started.stderr.read()
