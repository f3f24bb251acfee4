"""Charts and origins over REST: asked for by anyone, told by the server alone."""

from __future__ import annotations

from typing import Any

import pytest
from httpx import AsyncClient

from sandtable.capsule.model import Origin, Prompt
from sandtable.runs.model import RunRequest
from sandtable.sandbox.fake import Script
from tests.server.house import House

SQL = "SELECT region, total"
ORIGIN = Origin(proposer="builtin", prompts=(Prompt(name="plan", sha256="ab" * 32),), repairs=2)


@pytest.fixture(autouse=True)
def _result(house: House) -> None:
    rows = [("North", 2), ("South", 1)]
    house.executor.on(f"{SQL};", Script(columns=[("region", "VARCHAR"), ("total", "BIGINT")], rows=rows))


def ask(**more: Any) -> dict[str, Any]:
    return {"dataset_id": "shop", "sql": SQL, **more}


async def test_a_chart_comes_with_the_run_that_asked_for_it(client: AsyncClient) -> None:
    made = (await client.post("/runs?wait=10", json=ask(chart=True))).json()
    assert made["chart"]["data"][0]["y"] == [2, 1]
    assert (await client.get(f"/runs/{made['run_id']}")).json()["chart"] == made["chart"]
    [listed] = (await client.get("/runs")).json()["runs"]
    assert listed["chart"] is None
    capsule = (await client.get(f"/runs/{made['run_id']}/capsule")).json()
    assert set(capsule) == {"payloadType", "payload", "signatures"}
    report = (await client.post(f"/runs/{made['run_id']}/verify")).json()
    assert {"name": "chart", "status": "ok", "detail": ""} in report["links"]


async def test_without_asking_there_is_none(client: AsyncClient) -> None:
    made = (await client.post("/runs?wait=10", json=ask())).json()
    assert (made["chart"], made["origin"]) == (None, None)


async def test_nobody_outside_says_where_a_plan_comes_from(client: AsyncClient, house: House) -> None:
    answer = await client.post("/runs", json=ask(origin=ORIGIN.model_dump(mode="json")))
    assert answer.status_code == 422
    assert "origin" in answer.text
    assert await house.runs.list() == []


async def test_the_origin_of_a_run_is_shown(client: AsyncClient, house: House) -> None:
    run = await house.runs.submit(RunRequest(dataset_id="shop", sql=SQL, origin=ORIGIN))
    shown = (await client.get(f"/runs/{run.id}?wait=10")).json()
    assert shown["origin"] == ORIGIN.model_dump(mode="json")


async def test_a_chart_must_be_asked_for_plainly(client: AsyncClient) -> None:
    assert (await client.post("/runs", json=ask(chart="yes"))).status_code == 422
