"""Kept questions and boards over REST, above a scripted sandbox."""

from __future__ import annotations

from typing import Any

import pytest
from httpx import AsyncClient

from sandtable.sandbox.fake import Script
from tests.server.house import House

PLAN: dict[str, Any] = {"table": "orders", "select": [{"agg": "sum", "column": "amount", "as": "total"}]}
LARGE = {"column": "amount", "op": ">", "value": 100}


async def answered(client: AsyncClient, **query: Any) -> dict[str, Any]:
    body = {"dataset_id": "shop", "question": "what did we sell?", "chart": True, **(query or {"plan": PLAN})}
    run = (await client.post("/runs?wait=10", json=body)).json()
    assert run["status"] == "succeeded", run
    return run


async def kept(client: AsyncClient, name: str = "Sales", **query: Any) -> dict[str, Any]:
    run = await answered(client, **query)
    made = await client.post("/questions", json={"run_id": run["run_id"], "name": name})
    assert made.status_code == 201, made.text
    return made.json()


def tile(question: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": "t", "question_id": question["id"], "x": 0, "y": 0, "w": 6, "h": 4, **more}


async def board(client: AsyncClient, *tiles: dict[str, Any], **more: Any) -> dict[str, Any]:
    made = await client.post("/boards", json={"name": "Shop", "tiles": tiles, **more})
    assert made.status_code == 201, made.text
    return made.json()


async def results(client: AsyncClient, made: dict[str, Any]) -> list[dict[str, Any]]:
    answer = await client.get(f"/boards/{made['id']}/results")
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


async def changed(client: AsyncClient, made: dict[str, Any], **more: Any) -> dict[str, Any]:
    body = {"before": made["edition"], "name": made["name"], "tiles": made["tiles"], **more}
    answer = await client.put(f"/boards/{made['id']}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(answer: Any, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.json()["error"]["suggestion"]
    return answer.json()["error"]


async def test_an_answer_is_kept_under_a_name(client: AsyncClient) -> None:
    made = await kept(client)
    assert (made["name"], made["question"], made["kind"]) == ("Sales", "what did we sell?", "plan")
    assert made["plan"]["select"] == PLAN["select"] and made["kept_run"] == made["latest_run"]
    assert (await client.get("/questions")).json() == [made]
    assert (await client.get(f"/questions/{made['id']}")).json() == made


async def test_sql_is_kept_too(client: AsyncClient) -> None:
    made = await kept(client, sql="SELECT 1")
    assert (made["kind"], made["sql"], made["plan"]) == ("sql", "SELECT 1", None)


async def test_only_an_answer_can_be_kept(client: AsyncClient) -> None:
    body = {"dataset_id": "shop", "plan": PLAN, "mode": "dry_run"}
    run = (await client.post("/runs?wait=10", json=body)).json()
    answer = await client.post("/questions", json={"run_id": run["run_id"], "name": "x"})
    assert "gave an answer" in refused(answer, 422)["message"]
    refused(await client.post("/questions", json={"run_id": "run_none", "name": "x"}), 404)
    assert (await client.post("/questions", json={"run_id": run["run_id"], "name": " "})).status_code == 422


async def test_a_name_and_a_chart_are_changed_from_the_edition_that_was_read(client: AsyncClient) -> None:
    made = await kept(client)
    path = f"/questions/{made['id']}"
    renamed = (await client.patch(path, json={"before": 1, "name": "Revenue", "chart": "line"})).json()
    assert (renamed["name"], renamed["chart"], renamed["edition"]) == ("Revenue", "line", 2)
    again = (await client.patch(path, json={"before": 2, "name": "Sales"})).json()
    assert (again["name"], again["chart"]) == ("Sales", "line")
    error = refused(await client.patch(path, json={"before": 2, "name": "Mine"}), 409)
    assert error["details"]["edition"] == 3
    assert (await client.delete(path)).status_code == 204
    refused(await client.get(path), 404)


async def test_a_question_that_is_run_again_shows_the_new_run(client: AsyncClient, house: House) -> None:
    made = await kept(client)
    run = (await client.post(f"/questions/{made['id']}/run", json={})).json()
    assert run["status"] == "succeeded" and run["run_id"] != made["kept_run"]
    after = (await client.get(f"/questions/{made['id']}")).json()
    assert (after["kept_run"], after["latest_run"]) == (made["kept_run"], run["run_id"])
    house.executor._default = Script(raises=RuntimeError("no"))
    failed = (await client.post(f"/questions/{made['id']}/run", json={})).json()
    assert failed["status"] == "failed"
    assert (await client.get(f"/questions/{made['id']}")).json()["latest_run"] == run["run_id"]


async def test_a_board_shows_the_runs_that_are_kept(client: AsyncClient, house: House) -> None:
    made = await kept(client)
    shown = await board(client, tile(made), {"id": "n", "text": "Hello", "x": 6, "y": 0, "w": 6, "h": 2})
    assert shown["questions"] == {made["id"]: made} and shown["right"] == "own"
    before = len(house.executor.jobs)
    [result] = await results(client, shown)
    assert len(house.executor.jobs) == before
    assert (result["run"]["run_id"], result["run"]["rows"]) == (made["kept_run"], [[42]])
    assert "42" in result["sentence"] and (result["missing"], result["newer_data"]) == ("", False)


async def test_a_tile_shows_no_more_rows_than_fit(client: AsyncClient, house: House) -> None:
    house.executor._default = Script(rows=[(n,) for n in range(120)])
    [result] = await results(client, await board(client, tile(await kept(client))))
    assert len(result["run"]["rows"]) == 50 and result["run"]["row_count"] == 120


async def test_a_tile_shows_the_chart_that_is_wished_for_where_it_fits(
    client: AsyncClient, house: House
) -> None:
    columns, rows = [("region", "VARCHAR"), ("total", "BIGINT")], [("North", 2), ("South", 1)]
    house.executor._default = Script(columns=columns, rows=rows)
    made = await kept(client, sql="SELECT region, total")
    shown = await board(client, tile(made))
    kinds: list[tuple[str, bool]] = []
    for edition, wish in enumerate((None, "pie", "heatmap"), start=1):
        change = {"before": edition, "chart": wish}
        assert (await client.patch(f"/questions/{made['id']}", json=change)).status_code == 200
        [result] = await results(client, shown)
        kinds.append((result["run"]["chart"]["data"][0]["type"], result["run"]["run_id"] == made["kept_run"]))
    # A heat map cannot show these rows: the run's own chart does.
    assert kinds == [("bar", True), ("pie", True), ("bar", True)]


async def test_a_tile_says_that_the_data_are_newer(
    client: AsyncClient, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = await board(client, tile(await kept(client)))
    newer = house.datasets.get("shop").model_copy(update={"version": f"sha256:{'9' * 64}"})
    monkeypatch.setattr(house.datasets, "as_found", lambda dataset_id: newer)
    [result] = await results(client, shown)
    assert result["newer_data"] is True and result["run"]["rows"] == [[42]]


async def test_what_is_gone_is_said(client: AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    made = await kept(client)
    shown = await board(client, tile(made))
    await client.delete(f"/questions/{made['id']}")
    [result] = await results(client, shown)
    assert (result["missing"], result["run"]) == ("question", None)
    assert (await client.get(f"/boards/{shown['id']}")).json()["questions"] == {}
    refused(await client.post(f"/boards/{shown['id']}/tiles/t/run", json={}), 404)


async def test_filters_are_conditions_in_the_plan_of_each_tile(client: AsyncClient, house: House) -> None:
    made = await kept(client)
    shown = await board(client, tile(made))
    filtered = await changed(client, shown, filters=[LARGE])
    [waiting] = await results(client, filtered)
    assert (waiting["missing"], waiting["run"]) == ("filters", None)
    ran = (await client.post(f"/boards/{shown['id']}/tiles/t/run", json={})).json()
    assert ran["run"]["plan"]["filters"] == [LARGE] and ran["not_filtered"] == []
    assert ran["run"]["question"] == "what did we sell? (filtered by amount > 100)"
    [result] = await results(client, filtered)
    assert result["run"]["run_id"] == ran["run"]["run_id"]
    # The question itself goes on showing what was kept.
    assert (await client.get(f"/questions/{made['id']}")).json()["latest_run"] == made["kept_run"]
    without = await changed(client, filtered, filters=[])
    [result] = await results(client, without)
    assert result["run"]["run_id"] == made["kept_run"]


async def test_a_filter_that_does_not_fit_is_named_with_the_reason(client: AsyncClient) -> None:
    planned, sql = await kept(client), await kept(client, sql="SELECT 1")
    region = {"column": "region", "op": "=", "value": "North"}
    shown = await board(client, tile(planned), tile(sql, id="s", x=6), filters=[region])
    first, second = await results(client, shown)
    assert first["run"]["run_id"] == planned["kept_run"]
    assert first["not_filtered"] == [
        {"column": "region", "reason": "the dataset `shop` has no column `region`"}
    ]
    assert second["not_filtered"][0]["reason"].startswith("the question is SQL")
    ran = (await client.post(f"/boards/{shown['id']}/tiles/t/run", json={})).json()
    assert "filters" not in ran["run"]["plan"] and ran["not_filtered"] == first["not_filtered"]


async def test_filters_of_one_run_leave_the_board_as_it_is(client: AsyncClient) -> None:
    shown = await board(client, tile(await kept(client)))
    [before] = await results(client, shown)
    ran = (await client.post(f"/boards/{shown['id']}/tiles/t/run", json={"filters": [LARGE]})).json()
    assert ran["run"]["plan"]["filters"] == [LARGE]
    assert await results(client, shown) == [before]


async def test_two_editors_do_not_overwrite_each_other(client: AsyncClient) -> None:
    shown = await board(client)
    await changed(client, shown, name="First")
    answer = await client.put(f"/boards/{shown['id']}", json={"before": 1, "name": "Second"})
    assert "changed by somebody else" in refused(answer, 409)["message"]
    [listed] = (await client.get("/boards")).json()
    assert (listed["name"], listed["edition"]) == ("First", 2)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        pytest.param({"tiles": [{"id": "a", "x": 0, "y": 0, "w": 2, "h": 2}]}, "either", id="empty-tile"),
        pytest.param({"filters": [{"column": "a", "op": "=", "value": None}]}, "value", id="no-value"),
        pytest.param(
            {"tiles": [{"id": i, "text": "x", "x": 0, "y": 0, "w": 2, "h": 2} for i in "ab"]},
            "overlap",
            id="overlap",
        ),
    ],
)
async def test_a_board_that_cannot_be_is_refused(client: AsyncClient, body: Any, says: str) -> None:
    error = refused(await client.post("/boards", json={"name": "x", **body}), 422)
    assert says in str(error)


async def test_a_question_that_is_not_there_cannot_be_put_on_a_board(client: AsyncClient) -> None:
    missing = {"id": f"q_{'0' * 32}"}
    refused(await client.post("/boards", json={"name": "x", "tiles": [tile(missing)]}), 404)
