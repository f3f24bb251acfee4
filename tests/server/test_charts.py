"""Charts of any kind and origins over REST: any client asks for them, the server alone makes them."""

from __future__ import annotations

from typing import Any

import pytest
from httpx import AsyncClient

from sandtable.capsule.model import Origin, Prompt
from sandtable.capsule.query import SqlQuery
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
    run = await house.runs.submit(RunRequest(dataset_id="shop", query=SqlQuery(SQL), origin=ORIGIN))
    shown = (await client.get(f"/runs/{run.id}?wait=10")).json()
    assert shown["origin"] == ORIGIN.model_dump(mode="json")


async def test_a_chart_must_be_asked_for_plainly(client: AsyncClient) -> None:
    assert (await client.post("/runs", json=ask(chart="yes"))).status_code == 422


async def test_the_rows_of_a_run_are_drawn_as_another_kind(client: AsyncClient) -> None:
    made = (await client.post("/runs?wait=10", json=ask(chart=True))).json()
    path = f"/runs/{made['run_id']}/chart"
    own = (await client.get(path)).json()
    assert own == {
        "run_id": made["run_id"],
        "kind": "column",
        "figure": made["chart"],
        "kinds": ["column", "horizontal_bar", "line", "pie"],
    }
    other = (await client.get(path, params={"kind": "pie"})).json()
    assert (other["kind"], other["kinds"]) == ("pie", own["kinds"])
    assert other["figure"]["data"][0]["values"] == [2, 1]
    assert (await client.get(f"/runs/{made['run_id']}")).json()["chart"] == made["chart"]


async def test_a_run_without_a_chart_can_be_drawn_too(client: AsyncClient) -> None:
    made = (await client.post("/runs?wait=10", json=ask())).json()
    path = f"/runs/{made['run_id']}/chart"
    own = (await client.get(path)).json()
    assert (own["kind"], own["figure"]) == (None, None)
    assert (await client.get(path, params={"kind": own["kinds"][0]})).json()["figure"]["data"]


async def test_a_plan_gives_every_kind_its_title(client: AsyncClient, house: House) -> None:
    plan = {
        "table": "orders",
        "select": [{"column": "region"}, {"agg": "count", "as": "n"}],
        "group_by": ["region"],
    }
    body = {"dataset_id": "shop", "plan": plan, "chart": True, "cache": False}
    compiled = (await client.post("/runs?wait=10", json=body)).json()["executed_sql"]
    rows = [("North", 2), ("South", 1)]
    house.executor.on(compiled, Script(columns=[("region", "VARCHAR"), ("n", "BIGINT")], rows=rows))
    made = (await client.post("/runs?wait=10", json=body)).json()
    assert made["chart"]["layout"]["title"] == {"text": "Number of orders by region"}
    pie = (await client.get(f"/runs/{made['run_id']}/chart?kind=pie")).json()
    assert pie["figure"]["layout"]["title"] == made["chart"]["layout"]["title"]


async def test_a_kind_that_does_not_fit_is_refused_with_those_that_do(client: AsyncClient) -> None:
    made = (await client.post("/runs?wait=10", json=ask())).json()
    answer = await client.get(f"/runs/{made['run_id']}/chart?kind=scatter")
    problem = answer.json()["error"]
    assert (answer.status_code, problem["code"]) == (422, "VALIDATION_ERROR")
    assert problem["message"].startswith(
        "these rows cannot be shown as a scatter plot, for which there must be"
    )
    assert problem["suggestion"] == "Choose one of: column, horizontal_bar, line, pie."
    assert problem["details"]["kinds"] == ["column", "horizontal_bar", "line", "pie"]
    assert (await client.get(f"/runs/{made['run_id']}/chart?kind=radar")).status_code == 422


async def test_without_a_result_there_is_nothing_to_draw(client: AsyncClient) -> None:
    made = (await client.post("/runs?wait=10", json=ask(mode="dry_run"))).json()
    answer = await client.get(f"/runs/{made['run_id']}/chart")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "NOT_FOUND")
    assert (await client.get("/runs/run_unknown/chart")).status_code == 404
