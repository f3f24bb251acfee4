"""Headers, logs, pages and the OpenAPI description."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import Any

import pytest
from httpx import AsyncClient

from sandtable.errors import ErrorCode
from sandtable.server import views
from sandtable.server.app import create_app
from tests.server.conftest import LogLines
from tests.server.house import House

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\" onload='x'"


@pytest.mark.parametrize("path", ["/", "/docs", "/datasets", "/nothing", "/openapi.json", "/healthz"])
async def test_every_answer_carries_the_security_headers(client: AsyncClient, path: str) -> None:
    headers = (await client.get(path)).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert "access-control-allow-origin" not in headers


async def test_even_an_unexpected_error_carries_them(
    client: AsyncClient, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(house.datasets, "datasets", lambda: 1 / 0)
    answer = await client.get("/datasets")
    assert answer.status_code == 500
    assert "content-security-policy" in answer.headers


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        pytest.param("abc-123", True, id="sane"),
        pytest.param("x" * 129, False, id="long"),
        pytest.param('a"b', False, id="quote"),
        pytest.param("a b", False, id="space"),
    ],
)
async def test_a_request_id_is_kept_when_it_is_sane(client: AsyncClient, given: str, kept: bool) -> None:
    answer = await client.get("/healthz", headers={"X-Request-Id": given})
    assert (answer.headers["x-request-id"] == given) == kept
    assert answer.headers["x-request-id"]


async def test_a_request_is_one_log_line_with_its_ids(client: AsyncClient, log_lines: LogLines) -> None:
    body = {"dataset_id": "shop", "sql": "SELECT 1"}
    answer = await client.post("/runs?wait=10", json=body, headers={"X-Request-Id": "r-1"})
    [line] = [line for line in log_lines() if line["event"] == "request"]
    assert line["request_id"] == "r-1"
    assert (line["method"], line["path"], line["status"]) == ("POST", "/runs", 200)
    assert (line["dataset_id"], line["run_id"]) == ("shop", answer.json()["run_id"])
    assert line["duration_ms"] > 0


async def test_an_unexpected_error_is_logged_with_its_cause(
    client: AsyncClient, house: House, log_lines: LogLines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(house.datasets, "datasets", lambda: 1 / 0)
    answer = await client.get("/datasets")
    [line] = [line for line in log_lines() if line["event"] == "request_broke"]
    assert "ZeroDivisionError" in line["exception"]
    assert line["request_id"] == answer.headers["x-request-id"]


async def test_ids_of_one_request_do_not_reach_the_next(client: AsyncClient, log_lines: LogLines) -> None:
    await client.get("/datasets/shop")
    await client.get("/datasets")
    first, second = [line for line in log_lines() if line["event"] == "request"]
    assert first["dataset_id"] == "shop" and "dataset_id" not in second


async def test_the_page_shows_datasets_and_runs(client: AsyncClient) -> None:
    await client.post("/runs?wait=10", json={"dataset_id": "shop", "sql": "SELECT 1", "question": "one?"})
    page = (await client.get("/")).text
    for text in ("shop", "one?", "succeeded", "/docs"):
        assert text in page


async def test_what_people_wrote_cannot_become_markup(client: AsyncClient) -> None:
    await client.post("/runs?wait=10", json={"dataset_id": "shop", "sql": "SELECT 1", "question": HOSTILE})
    await client.post("/runs?wait=10", json={"dataset_id": "shop", "sql": HOSTILE})
    page = (await client.get("/")).text
    assert "&lt;script&gt;" in page
    assert not re.search(r"<script|<img|<[^>]*\son\w+=", page)


async def test_the_pages_style_is_the_one_the_policy_names(client: AsyncClient) -> None:
    answer = await client.get("/")
    [style] = re.findall(r"<style>(.*?)</style>", answer.text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in answer.headers["content-security-policy"]


async def test_docs_name_every_operation(client: AsyncClient) -> None:
    spec = (await client.get("/openapi.json")).json()
    page = (await client.get("/docs")).text
    for path in spec["paths"]:
        assert f"<code>{path}</code>" in page


def _operations(house: House) -> list[dict[str, Any]]:
    spec = create_app(house).openapi()  # pyright: ignore[reportArgumentType] - a double of Parts
    return [
        {"path": path, "method": method, **operation}
        for path, operations in spec["paths"].items()
        for method, operation in operations.items()
    ]


async def test_operation_ids_are_stable(house: House) -> None:
    assert sorted(operation["operationId"] for operation in _operations(house)) == [
        "add_member", "add_team", "add_user", "answer_import", "begin_import", "begin_upload",
        "cancel_run", "change_board", "change_catalog", "change_password", "change_question",
        "change_user", "chat", "chat_page", "check", "connect_database", "continue_upload",
        "copy_tables", "correct_reading", "create_board", "delete_board", "delete_dataset",
        "delete_file", "delete_import", "delete_question", "delete_upload", "describe_uploads",
        "disconnect_database", "download_csv", "download_json", "download_parquet",
        "end_my_other_sessions", "end_my_session", "end_sessions_of_user", "explain_run",
        "export_catalog", "export_run", "export_thread", "get_board", "get_board_results",
        "get_capsule", "get_catalog", "get_chart", "get_dataset", "get_import", "get_me",
        "get_meanings", "get_plan_schema", "get_profile", "get_proposals", "get_question",
        "get_reading", "get_run", "get_schema", "get_shares", "get_sharing", "get_upload",
        "healthz", "import_catalog", "keep_question", "list_boards", "list_databases",
        "list_datasets", "list_files", "list_imports", "list_keys", "list_keys_of_user",
        "list_my_keys", "list_my_sessions", "list_questions", "list_runs", "list_sessions_of_user",
        "list_teams", "list_users", "look_at_database", "make_live_dataset", "make_my_key", "query",
        "readyz", "remove_member", "remove_team", "remove_user", "replace_catalog",
        "restore_catalog", "revoke_key_of_user", "revoke_my_key", "run_question", "run_tile",
        "share", "sign_in", "sign_in_page", "sign_out", "submit_run", "unshare", "upload", "verify",
        "verify_run",
    ]  # fmt: skip


async def test_every_operation_is_described(house: House) -> None:
    for operation in _operations(house):
        assert operation["summary"] and operation["tags"], operation["path"]


async def test_examples_are_good_requests(house: House, client: AsyncClient) -> None:
    [submit] = [operation for operation in _operations(house) if operation["operationId"] == "submit_run"]
    examples = submit["requestBody"]["content"]["application/json"]["examples"]
    assert len(examples) >= 3
    for example in examples.values():
        assert views.RunBody.model_validate(example["value"])


async def test_the_rest_page_names_every_operation_and_code(house: House) -> None:
    page = (ROOT / "docs/rest.md").read_text("utf-8")
    for operation in _operations(house):
        assert f"{operation['method'].upper()} {operation['path']}" in page, operation["path"]
    for code in ErrorCode:
        assert f"`{code}`" in page, code
