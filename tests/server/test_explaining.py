"""Why a run found nothing, over HTTP."""

from __future__ import annotations

from typing import Any

from httpx import AsyncClient

from sandtable.plan.emptying import funnel_of
from sandtable.runs.model import normal_plan
from sandtable.sandbox.fake import Script
from tests.capsule.samples import SHOP
from tests.runs.world import compile_plan
from tests.server.house import House

PLAN: dict[str, Any] = {
    "dataset_id": "shop",
    "table": "orders",
    "select": [{"agg": "count", "as": "n"}],
    "filters": [{"column": "amount", "op": ">", "value": 5}],
}


def on(house: House, plan: dict[str, Any], *row: int) -> None:
    columns = [(item["as"], "BIGINT") for item in plan["select"]]
    house.executor.on(
        f"{compile_plan(normal_plan(plan), SHOP, 200).sql};", Script(columns=columns, rows=(row,))
    )


async def _a_run(client: AsyncClient) -> str:
    return (await client.post("/runs?wait=10", json={"dataset_id": "shop", "plan": PLAN})).json()["run_id"]


async def test_an_empty_result_is_explained_by_a_further_run(client: AsyncClient, house: House) -> None:
    funnel = funnel_of(PLAN, SHOP)
    assert funnel is not None
    on(house, PLAN, 0)
    on(house, funnel.plan, 9, 0)
    run_id = await _a_run(client)
    assert len(house.executor.jobs) == 1, "only on request"
    why = (await client.post(f"/runs/{run_id}/explain")).json()
    [counted] = why.pop("run_ids")
    assert why == {
        "run_id": run_id, "text": "Of 9 orders, none is left where amount is above 5.", "fixes": []
    }  # fmt: skip
    assert (await client.get(f"/runs/{counted}")).json()["rows"] == [[9, 0]]


async def test_empty_sql_is_explained_too(client: AsyncClient, house: House) -> None:
    sql = "SELECT count(*) AS n FROM orders WHERE amount > 5"
    counts = (
        "SELECT count(*) AS all_rows, count(*) FILTER (WHERE condition_1) AS left_1 "
        "FROM (SELECT (amount > 5) AS condition_1 FROM orders) AS conditions_met"
    )
    house.executor.on(f"{sql};", Script(columns=[("n", "BIGINT")], rows=((0,),)))
    columns = [("all_rows", "BIGINT"), ("left_1", "BIGINT")]
    house.executor.on(f"{counts};", Script(columns=columns, rows=((9, 0),)))
    run_id = (await client.post("/runs?wait=10", json={"dataset_id": "shop", "sql": sql})).json()["run_id"]
    why = (await client.post(f"/runs/{run_id}/explain")).json()
    assert why["text"] == "Of 9 rows of `orders`, none is left where `amount > 5`."
    [counted] = why["run_ids"]
    assert (await client.get(f"/runs/{counted}")).json()["sql"] == counts


async def test_a_run_that_found_something_needs_no_explanation(client: AsyncClient, house: House) -> None:
    run_id = await _a_run(client)
    why = (await client.post(f"/runs/{run_id}/explain")).json()
    assert (why["text"], why["run_ids"], why["fixes"]) == ("", [], []) and len(house.executor.jobs) == 1


async def test_a_run_without_a_result_has_no_explanation(client: AsyncClient) -> None:
    body = {"dataset_id": "shop", "sql": "SELECT * FROM read_csv('x')"}
    run_id = (await client.post("/runs?wait=10", json=body)).json()["run_id"]
    said = (await client.post(f"/runs/{run_id}/explain")).json()
    assert said == {"run_id": run_id, "text": "", "run_ids": [], "fixes": []}
    assert (await client.post("/runs/run_none/explain")).status_code == 404
