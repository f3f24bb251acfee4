"""The OpenAPI document against a real server: what it says is what occurs, and the other way round."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from sandtable.server.app import create_app, openapi_document
from sandtable.server.openapi import response_of
from sandtable.settings import Settings
from tests.server.house import House, open_house
from tests.server.test_serve import served

CONFIGURATION = Path(__file__).parent / "schemathesis.toml"


@pytest.mark.needs("userns")
def test_schemathesis_finds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDTABLE_PYTHON", "on")
    with (
        (tmp_path / "log").open("w") as log,
        served(tmp_path / "home", "--port", "0", "--json", stderr=log) as process,
    ):
        assert process.stdout
        url = json.loads(process.stdout.readline())["url"]
        command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(CONFIGURATION)]
        tested = subprocess.run(
            [*command, "run", f"{url}/openapi.json", "--no-color"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=400,
        )
        process.terminate()
        assert process.wait(30) == 0
    # Long texts are among the requests that it shows.
    found = "\n".join(line[:400] for line in tested.stdout.splitlines())
    assert tested.returncode == 0, found
    assert "Tested: 90" in found, found


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for operations in document["paths"].values():
        yield from operations.items()


def test_every_answer_is_described_with_its_shape_and_headers() -> None:
    document = openapi_document()
    for method, operation in operations(document):
        answers = {status: response_of(document, one) for status, one in operation["responses"].items()}
        expected = {"400", "403", "408", "414", "421", "422", "431", "500", "503"}
        expected |= {"413", "415"} if method == "post" else set()
        assert expected <= set(answers), operation["operationId"]
        assert all(
            answer["description"] and "X-Request-Id" in answer["headers"] for answer in answers.values()
        )
        assert "Retry-After" in answers["503"]["headers"]
        schema = answers["422"]["content"]["application/json"]["schema"]
        assert schema == {"$ref": "#/components/schemas/ErrorBody"}
    assert "HTTPValidationError" not in document["components"]["schemas"]


async def test_the_limits_of_this_server_are_in_its_document(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, web=tmp_path / "not-built", max_rows=123)
    async with open_house(tmp_path, settings) as house:
        app = create_app(house)  # pyright: ignore[reportArgumentType] - a double of Parts
    number = app.openapi()["components"]["schemas"]["RunBody"]["properties"]["max_rows"]["anyOf"][0]
    assert (number["minimum"], number["maximum"]) == (1, 123)


PYTHON = {"dataset_id": "shop", "python": "1"}
SQL = {"dataset_id": "shop", "sql": "SELECT 1"}


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        pytest.param("/check", {**SQL, "names": {"a": "orders"}}, 422, id="names-without-python"),
        pytest.param("/check", {**PYTHON, "names": {"class": "orders"}}, 422, id="a-keyword-as-name"),
        pytest.param("/runs", {**PYTHON, "names": {"a": "nothing"}}, 404, id="a-name-for-no-table"),
        pytest.param("/runs?wait=10", {**SQL, "max_rows": 5.0}, 200, id="a-whole-number-with-a-point"),
        pytest.param("/runs?wait=10", {**SQL, "max_rows": 5.5}, 422, id="no-whole-number"),
    ],
)
async def test_bodies_are_judged_as_the_document_says(
    client: httpx.AsyncClient, path: str, body: dict[str, Any], status: int
) -> None:
    answer = await client.post(path, json=body)
    assert answer.status_code == status, answer.text


async def test_a_run_with_little_time_still_has_a_parquet_file(
    client: httpx.AsyncClient, house: House
) -> None:
    run = (await client.post("/runs?wait=10", json={**SQL, "timeout_ms": 1})).json()
    assert run["status"] == "succeeded"
    await client.get(f"/runs/{run['run_id']}/result.parquet")
    job = house.executor.jobs[-1]
    assert (job.mode, job.limits.wall_ms) == ("export", 30_000)
