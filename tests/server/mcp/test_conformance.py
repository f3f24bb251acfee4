"""The conformance suite of MCP against our own server, in both versions. What does not apply is listed with its reason.

The suite's scenarios for tools ask for tools of certain names; `everything` adds them.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from scripts import node
from scripts.install_clients import OLDEST_NODE
from tests.server.mcp.everything import with_fixtures
from tests.server.talking import Served, served

SUITE = Path(__file__).parent / "suite/node_modules/@modelcontextprotocol/conformance/dist/index.js"
pytestmark = [pytest.mark.needs("mcp_suite")]

_BACK = "a request of the server needs a session over HTTP, and there are none: `input_required` replaces it"
_LOGGING = "logging to clients, which 2026-07-28 deprecates, is not offered"
_SUBSCRIBING = "subscriptions need a session over HTTP"
_TASKS = "an extension that is not offered: a turn ends with its request"
NOT_APPLICABLE = {
    "2025-11-25": {
        "logging-set-level": _LOGGING,
        "tools-call-with-logging": _LOGGING,
        "tools-call-sampling": _BACK,
        "tools-call-elicitation": _BACK,
        "elicitation-sep1034-defaults": _BACK,
        "elicitation-sep1330-enums": _BACK,
        "resources-subscribe": _SUBSCRIBING,
        "resources-unsubscribe": _SUBSCRIBING,
        "server-session-lifecycle": "there are no sessions",
        "server-sse-multiple-streams": "the scenario begins with a session",
        "server-sse-polling": "the scenario begins with a session",
    },
    "2026-07-28": {
        "tasks-lifecycle": _TASKS,
        "tasks-capability-negotiation": _TASKS,
        "tasks-wire-fields": _TASKS,
        "tasks-request-state-removal": _TASKS,
        "tasks-mrtr-input": _TASKS,
        "tasks-request-headers": _TASKS,
        "tasks-dispatch-and-envelope": _TASKS,
        "tasks-status-notifications": _TASKS,
        "tasks-required-task-error": _TASKS,
        "tasks-mrtr-composition": _TASKS,
    },
}
_FOLDER = re.compile(r"server-(.+?)-\d{4}-\d\d-\d\dT[\d-]+Z")
PASSING = {"2025-11-25": 22, "2026-07-28": 40}
"""How many scenarios pass: a suite that runs nothing must not."""


@pytest_asyncio.fixture
async def everything(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as server:
        loaded = server.app.state.mcp
        build = loaded._build
        loaded._build = lambda: with_fixtures(build())
        yield server


@pytest.mark.parametrize("version", NOT_APPLICABLE)
async def test_every_scenario_that_applies_passes(everything: Served, tmp_path: Path, version: str) -> None:
    out = tmp_path / "results"
    program = node.find_node(OLDEST_NODE)
    options = ["--url", f"{everything.url}/mcp", "--requirements", version, "--output-dir", str(out)]
    suite = await asyncio.create_subprocess_exec(
        program,
        SUITE,
        "server",
        *options,
        env=node.environment(program),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await suite.communicate()
    found = {name: _verdict(checks) for name, checks in _checks(out).items()}
    passed = {name for name, verdict in found.items() if verdict == "passed"}
    assert found.keys() - passed == NOT_APPLICABLE[version].keys(), said.decode()[-6000:]
    assert len(passed) == PASSING[version], sorted(passed)


def _checks(out: Path) -> dict[str, list[dict[str, Any]]]:
    """By the name of the scenario."""
    return {
        _FOLDER.fullmatch(file.parent.name)[1]: json.loads(file.read_text("utf-8"))  # pyright: ignore[reportOptionalSubscript] - the suite calls them so
        for file in out.glob("*/checks.json")
    }


def _verdict(checks: list[dict[str, Any]]) -> str:
    """Failed, passed, or nothing was tried. A check of the wire's form says nothing of the scenario."""
    tried = {check["status"] for check in checks if check["id"] != "wire-schema-valid"}
    if "FAILURE" in tried or any(check["status"] == "FAILURE" for check in checks):
        return "failed"
    return "passed" if "SUCCESS" in tried else "not tried"
