"""The address `/mcp`: what is loaded when, and what the guard refuses."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from sandtable.server.mcp import route
from tests.server.talking import Served

CALL: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
HEADERS = {"Accept": "application/json, text/event-stream"}


def test_a_server_starts_without_the_sdk() -> None:
    names = "{'mcp', 'mcp_types', 'jsonschema'}"
    said = f"import sys, sandtable.server.app; print(sorted({names} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


async def test_a_server_without_the_extra_says_so(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(route, "find_spec", lambda name: None)
    answer = await server.client.post("/mcp", json=CALL, headers=HEADERS)
    assert answer.status_code == 404
    assert "pip install 'sandtable[mcp]'" in answer.json()["error"]["suggestion"]


async def test_a_failure_to_load_is_tried_again(server: Served) -> None:
    loaded = server.app.state.mcp
    build, loaded._build = loaded._build, lambda: 1 / 0
    assert (await server.client.post("/mcp", json=CALL, headers=HEADERS)).status_code == 500
    loaded._build = build
    assert (await server.client.post("/mcp", json=CALL, headers=HEADERS)).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({"Host": "evil.example"}, 421, id="another-host"),
        pytest.param({"Origin": "https://evil.example"}, 403, id="another-origin"),
        pytest.param({"Sec-Fetch-Site": "cross-site"}, 403, id="cross-site"),
        pytest.param({"Content-Type": "text/plain"}, 415, id="a-form"),
        pytest.param({"Accept": "text/html"}, 406, id="no-json"),
    ],
)
async def test_the_guard_stands_before_it(server: Served, headers: dict[str, str], status: int) -> None:
    answer = await server.client.post("/mcp", json=CALL, headers=HEADERS | headers)
    assert answer.status_code == status


async def test_bodies_are_bounded_and_only_posted(server: Served) -> None:
    large = {**CALL, "params": {"x": "y" * (1 << 20)}}
    assert (await server.client.post("/mcp", json=large, headers=HEADERS)).status_code == 413
    for method in ("GET", "DELETE"):
        answer = await server.client.request(method, "/mcp", headers=HEADERS)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    broken = await server.client.post(
        "/mcp", content=b"{", headers=HEADERS | {"Content-Type": "application/json"}
    )
    assert broken.status_code == 400


async def test_each_answer_carries_the_security_headers(server: Served) -> None:
    answer = await server.client.post("/mcp", json=CALL, headers=HEADERS)
    assert answer.status_code == 200
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "access-control-allow-origin" not in answer.headers
