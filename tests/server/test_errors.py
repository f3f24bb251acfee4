"""Whatever goes wrong over HTTP has one shape, the right status, and no traceback."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from httpx import AsyncClient, Response

from sandtable.errors import DataDamaged, ErrorCode, QueueFull, RunnerBroken, SandboxUnavailable
from sandtable.server import errors
from sandtable.store.run_store import StoreFull
from tests.server.house import House

JSON = {"Content-Type": "application/json"}


def problem_in(answer: Response, status: int, code: str = "VALIDATION_ERROR") -> dict[str, Any]:
    """The error, after checking that the shape is whole."""
    body = answer.json()
    assert answer.status_code == status, body
    assert body.keys() == {"error", "request_id"}
    assert body["error"].keys() == {"code", "message", "suggestion", "details"}
    assert body["error"]["code"] == code
    assert body["request_id"] == answer.headers["x-request-id"]
    assert "Traceback" not in answer.text
    return body["error"]


def test_every_code_has_a_status() -> None:
    assert errors.STATUS.keys() == set(ErrorCode)


@pytest.mark.parametrize(
    ("method", "path", "status", "code", "says"),
    [
        pytest.param("GET", "/nothing", 404, "NOT_FOUND", "nothing is at /nothing", id="no such path"),
        pytest.param(
            "PUT", "/runs", 405, "VALIDATION_ERROR", "/runs does not answer PUT", id="no such method"
        ),
        pytest.param("GET", "/datasets/shpo", 404, "NOT_FOUND", "did you mean `shop`", id="no such dataset"),
        pytest.param("GET", "/runs/nope", 404, "NOT_FOUND", "no run `nope`", id="no such run"),
        pytest.param(
            "GET", "/runs?status=done", 422, "VALIDATION_ERROR", "`status` must be", id="query value"
        ),
        pytest.param("GET", "/runs?limit=x", 422, "VALIDATION_ERROR", "`limit` must be", id="query type"),
        pytest.param("GET", "/runs/x?wait=1e9", 422, "VALIDATION_ERROR", "`wait` must be", id="query bound"),
        pytest.param("POST", "/runs/nope/cancel", 404, "NOT_FOUND", "no run `nope`", id="cancel nothing"),
    ],
)
async def test_paths_and_queries(
    client: AsyncClient, method: str, path: str, status: int, code: str, says: str
) -> None:
    problem = problem_in(await client.request(method, path), status, code)
    assert says in problem["message"]
    assert problem["suggestion"]


async def test_a_wrong_method_hears_every_right_one(client: AsyncClient) -> None:
    answer = await client.put("/runs")
    assert answer.headers["allow"] == "GET, POST"
    assert problem_in(answer, 405)["suggestion"] == "Use GET or POST."


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        pytest.param(b"", 422, "the request has no body", id="empty"),
        pytest.param(b'{"dataset_id":', 422, "not JSON: Expecting value at character 14", id="cut off"),
        pytest.param(b"[]", 422, "must be a JSON object", id="list"),
        pytest.param(b"null", 422, "must be a JSON object", id="null"),
        pytest.param(b"{}", 422, "`dataset_id` is missing", id="no dataset"),
        pytest.param(b'{"dataset_id": "shop"}', 422, "a run needs a plan, SQL or Python", id="neither"),
        pytest.param(
            b'{"dataset_id": "shop", "sql": "x", "plan": {}}', 422, "both `plan` and `sql`", id="both"
        ),
        pytest.param(b'{"dataset_id": "shop", "sqll": "x"}', 422, "`sqll`; did you mean `sql`?", id="typo"),
        pytest.param(b'{"dataset_id": 7, "sql": "x"}', 422, "`dataset_id` must be a valid string", id="type"),
        pytest.param(b'{"dataset_id": "shop", "plan": []}', 422, "`plan` must be", id="plan type"),
        pytest.param(b'{"dataset_id": "shop", "sql": "x", "max_rows": 0}', 422, "`max_rows`", id="zero rows"),
        pytest.param(b'{"dataset_id": "shop", "sql": "x", "max_rows": 999}', 422, "at most 200", id="rows"),
        pytest.param(b'{"dataset_id": "shop", "sql": "x", "max_rows": "9"}', 422, "`max_rows`", id="text"),
        pytest.param(b'{"dataset_id": "\\ud800", "sql": "x"}', 422, "`dataset_id`", id="lone surrogate"),
        pytest.param(b'"\xff"', 400, "not UTF-8, or nested", id="not UTF-8"),
        pytest.param(b'{"plan":' + b"[" * 100_000 + b"]" * 100_000 + b"}", 400, "nested", id="very deep"),
        pytest.param(
            b'{"dataset_id": "shop", "plan": {"a":' + b"[" * 300 + b"]" * 300 + b"}}",
            422,
            "nested too deeply",
            id="deep plan",
        ),
        pytest.param(b" " * ((1 << 20) + 1), 413, "larger than 1 MiB", id="large"),
    ],
)
async def test_bodies(client: AsyncClient, body: bytes, status: int, says: str) -> None:
    problem = problem_in(await client.post("/runs", content=body, headers=JSON), status)
    assert says in problem["message"]
    assert problem["suggestion"]


async def test_every_problem_of_a_body_is_told(client: AsyncClient) -> None:
    body = {"dataset": "shop", "sql": "x", "max_rows": -1}
    problem = problem_in(await client.post("/runs", json=body), 422)
    assert {entry["field"] for entry in problem["details"]["errors"]} == {"dataset_id", "dataset", "max_rows"}
    assert "and 2 more problems" in problem["message"]


async def test_a_large_envelope_is_read_and_a_larger_one_is_not(client: AsyncClient) -> None:
    large = json.dumps({"payload": "x" * (2 << 20)})
    report = await client.post("/verify", content=large, headers=JSON)
    assert (report.status_code, report.json()["ok"]) == (200, False)
    answer = await client.post("/verify", content=b"0" * ((16 << 20) + 1), headers=JSON)
    assert "16 MiB" in problem_in(answer, 413)["message"]


async def test_a_body_without_a_declared_length_is_bounded_too(client: AsyncClient) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(40):
            yield b" " * (1 << 16)

    answer = await client.post("/runs", content=endless(), headers=JSON)
    assert problem_in(answer, 413)["details"] == {"limit_bytes": 1 << 20}


async def test_only_json_is_taken(client: AsyncClient) -> None:
    answer = await client.post("/runs", content=b"{}", headers={"Content-Type": "text/plain"})
    assert "application/json" in problem_in(answer, 415)["suggestion"]


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_another_origin_changes_nothing(client: AsyncClient, house: House, site: str) -> None:
    headers = {"Sec-Fetch-Site": site}
    answer = await client.post("/runs", json={"dataset_id": "shop", "sql": "SELECT 1"}, headers=headers)
    problem_in(answer, 403, "UNAUTHORIZED")
    assert await house.runs.list() == []
    problem_in(await client.get("/datasets", headers=headers), 403, "UNAUTHORIZED")


async def test_the_folders_of_the_server_are_for_its_log(
    client: AsyncClient, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = house.settings.home

    async def broken(*_: Any) -> None:
        raise RunnerBroken(
            f"the database {home}/sandtable.db cannot be used",
            suggestion=f"Check {home}.",
            stderr=f'File "{home}/x.py"',
            complaint="Traceback",
            file=f"{home}/data",
        )

    monkeypatch.setattr(house.runs, "submit", broken)
    answer = await client.post("/runs", json={"dataset_id": "shop", "sql": "SELECT 1"})
    problem = problem_in(answer, 500, "RUNNER_INTERNAL_ERROR")
    assert str(home) not in answer.text
    assert problem["message"] == "the database SANDTABLE_HOME/sandtable.db cannot be used"
    assert problem["details"] == {"file": "SANDTABLE_HOME/data"}


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        pytest.param(SandboxUnavailable("no sandbox"), 503, "SANDBOX_UNAVAILABLE", id="no sandbox"),
        pytest.param(QueueFull("full"), 503, "QUEUE_FULL", id="queue full"),
        pytest.param(StoreFull("no space"), 503, "RUNNER_INTERNAL_ERROR", id="disk full"),
        pytest.param(DataDamaged("changed"), 503, "DATA_DAMAGED", id="damaged data"),
        pytest.param(RunnerBroken("broken"), 500, "RUNNER_INTERNAL_ERROR", id="broken"),
        pytest.param(ZeroDivisionError("secret"), 500, "RUNNER_INTERNAL_ERROR", id="unexpected"),
    ],
)
async def test_trouble_behind_the_adapter(
    client: AsyncClient,
    house: House,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    status: int,
    code: str,
) -> None:
    async def broken(*_: Any) -> None:
        raise error

    monkeypatch.setattr(house.runs, "submit", broken)
    answer = await client.post("/runs", json={"dataset_id": "shop", "sql": "SELECT 1"})
    problem_in(answer, status, code)
    assert "secret" not in answer.text
    assert ("retry-after" in answer.headers) == (status == 503)
    assert (await client.get("/healthz")).status_code == 200
