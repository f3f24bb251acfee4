"""Downloads over HTTP, and corrections in verdicts and runs."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from httpx import AsyncClient

from sandtable.catalog.model import Dataset
from sandtable.errors import ErrorCode
from sandtable.policy.verdict import Refused, Verdict
from sandtable.sandbox.fake import Script
from sandtable.sandbox.job import JobError
from tests.runs.world import judge
from tests.server.house import House
from tests.server.test_errors import problem_in

PARQUET = b"PAR1" + bytes(8) + b"PAR1"


async def a_run(client: AsyncClient, sql: str = "SELECT 1", **more: Any) -> str:
    body = {"dataset_id": "shop", "sql": sql, **more}
    return (await client.post("/runs?wait=10", json=body)).json()["run_id"]


@pytest.mark.parametrize(
    ("kind", "media_type"),
    [
        ("csv", "text/csv; charset=utf-8"),
        ("json", "application/json"),
        ("parquet", "application/vnd.apache.parquet"),
    ],
)
async def test_a_result_is_downloaded_as_a_file(
    client: AsyncClient, house: House, kind: str, media_type: str
) -> None:
    run_id = await a_run(client)
    house.executor.on("", Script(columns=(), rows=(), output={"parquet": base64.b64encode(PARQUET).decode()}))
    answer = await client.get(f"/runs/{run_id}/result.{kind}")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == media_type
    assert answer.headers["content-disposition"] == f'attachment; filename="sandtable-{run_id}.{kind}"'
    assert answer.headers["x-sandtable-truncated"] == "false"
    assert answer.headers["x-content-type-options"] == "nosniff"
    match kind:
        case "csv":
            assert answer.text == "answer\r\n42\r\n"
        case "json":
            shown = (await client.get(f"/runs/{run_id}")).json()
            assert answer.json()["rows"] == shown["rows"]
            assert answer.json()["columns"] == [{"name": "answer", "type": "INTEGER"}]
        case _:
            assert answer.content == PARQUET
            assert house.executor.jobs[-1].options["rows"] == [[42]]


async def test_a_cut_result_says_so(client: AsyncClient, house: House) -> None:
    house.executor.on("SELECT 1;", Script(rows=[[1], [2], [3]]))
    run_id = await a_run(client, max_rows=2)
    answer = await client.get(f"/runs/{run_id}/result.csv")
    assert (answer.text, answer.headers["x-sandtable-truncated"]) == ("answer\r\n1\r\n2\r\n", "true")


@pytest.mark.parametrize("kind", ["csv", "json", "parquet"])
async def test_without_a_result_there_is_no_file(client: AsyncClient, kind: str) -> None:
    refused = await a_run(client, "SELECT read_csv")
    problem = problem_in(await client.get(f"/runs/{refused}/result.{kind}"), 404, "NOT_FOUND")
    assert "it is rejected" in problem["message"] and refused in problem["suggestion"]
    problem_in(await client.get(f"/runs/nope/result.{kind}"), 404, "NOT_FOUND")


async def test_a_broken_sandbox_is_told_of(client: AsyncClient, house: House) -> None:
    run_id = await a_run(client)
    house.executor.on("", Script(columns=(), rows=(), output={"parquet": "?"}))
    problem = problem_in(await client.get(f"/runs/{run_id}/result.parquet"), 500, "RUNNER_INTERNAL_ERROR")
    assert "CSV" in problem["suggestion"]


async def picky(text: str, dataset: Dataset) -> Verdict:
    """A gate that knows one table."""
    if "oders" not in text:
        return await judge(text, dataset)
    message, at = "There is no table 'oders'.", text.index("oders")
    return Refused(ErrorCode.VALIDATION_ERROR, "oders", message, "use orders", position=at, length=5)


FIXED = [{"title": "Use `orders`", "text": "SELECT 1 FROM orders", "plan": None}]


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> None:
    """To be asked for before the house is."""
    monkeypatch.setattr("tests.server.house.judge", picky)
    monkeypatch.setattr("tests.runs.world.judge", picky)


@pytest.mark.usefixtures("gate")
async def test_a_refusal_is_answered_with_its_fixes(client: AsyncClient) -> None:
    body = {"dataset_id": "shop", "sql": "SELECT 1 FROM oders"}
    verdict = (await client.post("/check", json=body)).json()
    assert (verdict["verdict"], verdict["position"], verdict["fixes"]) == ("refused", 14, FIXED)
    approved = (await client.post("/check", json={**body, "sql": "SELECT 1 FROM orders"})).json()
    assert approved["fixes"] == []


@pytest.mark.usefixtures("gate")
async def test_a_rejected_run_is_shown_with_its_fixes(client: AsyncClient) -> None:
    body = {"dataset_id": "shop", "sql": "SELECT 1 FROM oders"}
    run = (await client.post("/runs?wait=10", json=body)).json()
    assert (run["status"], run["fixes"]) == ("rejected", FIXED)
    assert (await client.get(f"/runs/{run['run_id']}")).json() == run
    [listed] = (await client.get("/runs")).json()["runs"]
    assert listed["fixes"] == []


async def test_a_failed_run_is_shown_with_its_fixes(client: AsyncClient, house: House) -> None:
    message, hint = 'there is no column "amont" in the tables of this query', 'did you mean "amount"?'
    error = JobError(
        code=ErrorCode.VALIDATION_ERROR, type="BinderException", message=message, suggestion=hint
    )
    house.executor.on("SELECT sum(amont) FROM orders;", Script(error=error))
    run_id = await a_run(client, "SELECT sum(amont) FROM orders")
    [fix] = (await client.get(f"/runs/{run_id}")).json()["fixes"]
    assert (fix["title"], fix["text"]) == ("Use `amount`", "SELECT sum(amount) FROM orders")
