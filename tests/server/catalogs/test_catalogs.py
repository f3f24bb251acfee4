"""What people say about a dataset, over REST."""

from __future__ import annotations

from typing import Any

import pytest
from httpx import AsyncClient, Response

from tests.server.files.importing import SALES, imported
from tests.server.house import House

METRIC = {"table": "orders", "numerator": {"agg": "sum", "column": "amount"}, "format": "currency"}


async def shown(client: AsyncClient, dataset_id: str = "shop") -> dict[str, Any]:
    answer = await client.get(f"/datasets/{dataset_id}/catalog")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def change(client: AsyncClient, changes: dict[str, Any], **more: Any) -> Response:
    before = more.pop("before", None) or (await shown(client))["catalog_version"]
    return await client.patch("/datasets/shop/catalog", json={"before": before, "changes": changes, **more})


def column(**said: Any) -> dict[str, Any]:
    return {"tables": {"orders": {"columns": {"amount": said}}}}


def _problem(answer: Response) -> dict[str, Any]:
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (422, "VALIDATION_ERROR"), answer.text
    return error


async def test_a_dataset_about_which_nothing_was_said(client: AsyncClient) -> None:
    catalog = await shown(client)
    assert (catalog["editable"], catalog["misfits"], catalog["editions"]) == (True, [], [])
    assert catalog["semantics"] == catalog["found"] and catalog["stated"]["tables"] == {}
    assert catalog["catalog_version"] == catalog["found_version"]
    assert list(catalog["semantics"]["tables"]["orders"]["columns"]) == ["amount"]


async def test_changes_make_editions_that_are_listed(client: AsyncClient) -> None:
    first = (await change(client, column(unit="EUR", synonyms=["turnover"]), note="Euros")).json()
    assert first["semantics"]["tables"]["orders"]["columns"]["amount"]["unit"] == "EUR"
    assert first["found"]["tables"]["orders"]["columns"]["amount"]["unit"] == ""
    second = (await change(client, column(masked=True) | {"title": "Our shop"})).json()
    said = second["stated"]["tables"]["orders"]["columns"]["amount"]
    assert (said["unit"], said["synonyms"], said["masked"]) == ("EUR", ["turnover"], True)
    assert [e["version"] for e in second["editions"]] == [
        second["catalog_version"],
        first["catalog_version"],
    ]
    assert (second["editions"][1]["note"], second["editions"][1]["by"]) == ("Euros", "@127.0.0.1")
    dataset = (await client.get("/datasets/shop")).json()
    assert (dataset["title"], dataset["catalog_version"]) == ("Our shop", second["catalog_version"])
    assert dataset["tables"][0]["columns"][0]["masked"] is True


async def test_null_takes_back_what_was_said(client: AsyncClient) -> None:
    await change(client, column(unit="EUR", description="Money"))
    catalog = (await change(client, column(unit=None))).json()
    said = catalog["stated"]["tables"]["orders"]["columns"]["amount"]
    assert (said["unit"], said["description"]) == (None, "Money")
    assert catalog["semantics"]["tables"]["orders"]["columns"]["amount"]["unit"] == ""
    assert (await change(client, {"tables": None})).json()["catalog_version"] == catalog["found_version"]


async def test_a_metric_is_added_and_taken_away(client: AsyncClient) -> None:
    assert (await change(client, {"metrics": {"revenue": METRIC}})).json()["misfits"] == []
    assert [m["name"] for m in (await client.get("/datasets/shop")).json()["metrics"]] == ["revenue"]
    assert (await change(client, {"metrics": {"revenue": None}})).json()["semantics"]["metrics"] == {}


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        pytest.param(
            {"tables": {"order": {"description": "x"}, "orders": {"key": ["amont"]}}},
            [
                "there is no table `order`; did you mean `orders`?",
                "orders has no column `amont`; did you mean",
            ],
            id="names-that-are-not-there",
        ),
        pytest.param(
            {"metrics": {"m": {"table": "orders", "numerator": {"agg": "sum", "column": "price"}}}},
            ["metric"],
            id="a-metric-that-does-not-fit",
        ),
        pytest.param({"titel": "Shop"}, ["titel: "], id="no-such-field"),
        pytest.param(
            {"week_start": "tuesday", "fiscal_year_start": 4},
            ["week_start: ", "fiscal_year_start: "],
            id="no-such-value",
        ),
        pytest.param({"tables": {"orders": None, "x": 3}}, ["tables.x: "], id="no-table"),
    ],
)
async def test_what_does_not_fit_is_refused_with_each_part(
    client: AsyncClient, changes: dict[str, Any], problems: list[str]
) -> None:
    error = _problem(await change(client, changes))
    assert error["suggestion"]
    assert len(error["details"]["problems"]) == len(problems), error
    for found, expected in zip(error["details"]["problems"], problems, strict=True):
        assert found.startswith(expected)
    assert (await shown(client))["editions"] == []


async def test_changes_to_a_catalog_that_was_changed_meanwhile_are_refused(client: AsyncClient) -> None:
    before = (await shown(client))["catalog_version"]
    await change(client, {"title": "Theirs"}, before=before)
    error = _problem(await change(client, {"title": "Ours"}, before=before))
    assert "changed meanwhile" in error["message"] and error["suggestion"]
    assert (await shown(client))["semantics"]["title"] == "Theirs"


async def test_a_document_replaces_all_that_was_said(client: AsyncClient) -> None:
    await change(client, {"title": "One"})
    there = "/datasets/shop/catalog"
    replaced = (await client.put(there, json={"description": "Two"}, params={"note": "From afar"})).json()
    assert (replaced["stated"]["title"], replaced["semantics"]["description"]) == (None, "Two")
    assert replaced["editions"][0]["note"] == "From afar"
    stale = replaced["found_version"]
    _problem(await client.put(there, json={}, params={"before": stale}))
    # What is said here can be said elsewhere: the version is the same.
    whole = (await client.put(there, json=replaced["semantics"])).json()
    assert whole["catalog_version"] == replaced["catalog_version"]
    assert (await client.put(there, json={})).json()["catalog_version"] == replaced["found_version"]


async def test_an_earlier_edition_is_used_again(client: AsyncClient) -> None:
    first = (await change(client, {"title": "One"})).json()
    second = (await change(client, {"title": "Two"})).json()
    there = "/datasets/shop/catalog/restore"
    body = {"before": second["catalog_version"], "version": first["catalog_version"]}
    restored = (await client.post(there, json=body)).json()
    assert (restored["semantics"]["title"], len(restored["editions"])) == ("One", 3)
    assert restored["editions"][0]["note"].startswith("Restored from 20")
    body = {"before": restored["catalog_version"], "version": restored["found_version"]}
    assert (await client.post(there, json=body)).json()["stated"]["title"] is None
    body = {"before": restored["found_version"], "version": "sha256:" + "9" * 64}
    assert (await client.post(there, json=body)).status_code == 404


async def test_a_dataset_that_was_added_has_a_catalog_until_it_is_removed(client: AsyncClient) -> None:
    await imported(client, ("sales.csv", SALES))
    before = (await shown(client, "sales"))["catalog_version"]
    body = {"before": before, "changes": {"tables": {"sales": {"time_column": "day"}}}}
    assert (await client.patch("/datasets/sales/catalog", json=body)).status_code == 200
    assert (await client.delete("/datasets/sales")).status_code == 204
    for answer in (
        await client.get("/datasets/sales/catalog"),
        await client.patch("/datasets/sales/catalog", json=body),
        await client.put("/datasets/sales/catalog", json={}),
        await client.post("/datasets/sales/catalog/restore", json={"before": before, "version": before}),
    ):
        assert answer.status_code == 404
    await imported(client, ("sales.csv", SALES))
    assert (await shown(client, "sales"))["editions"] == []


async def test_nothing_is_written_about_data_of_this_process(client: AsyncClient, house: House) -> None:
    await change(client, {"title": "Another of this name"})
    house.datasets.of_this_process.add("shop")
    catalog = await shown(client)
    assert (catalog["editable"], catalog["editions"], catalog["stated"]["title"]) == (False, [], None)
    assert catalog["semantics"] == catalog["found"]
    error = _problem(await client.put("/datasets/shop/catalog", json={"title": "x"}))
    assert "data add" in error["suggestion"]


async def test_what_cannot_be_kept_is_refused(client: AsyncClient) -> None:
    deep: Any = {}
    for _ in range(60):
        deep = {"a": deep}
    unused = {"kind": "metric", "name": "m", "reason": "r", "content": deep}
    _problem(await client.put("/datasets/shop/catalog", json={"unused": [unused]}))
    _problem(await change(client, {"unused": [unused]}))
    half = b'{"unused": [{"kind": "a", "name": "b", "reason": "c", "content": {"d": "\\ud800"}}]}'
    headers = {"Content-Type": "application/json"}
    _problem(await client.put("/datasets/shop/catalog", content=half, headers=headers))
    assert (await shown(client))["editions"] == []


async def test_what_could_be_said_is_proposed_until_it_is_said(client: AsyncClient) -> None:
    found = (await client.get("/datasets/shop/proposals")).json()
    (metric,) = found["metrics"]
    assert metric["name"] == "total_amount" and "adds up" in metric["reason"]
    made = await change(client, {"metrics": {metric["name"]: metric["semantics"]}})
    assert made.status_code == 200, made.text
    assert (await client.get("/datasets/shop/proposals")).json()["metrics"] == []


async def test_there_are_no_proposals_for_a_dataset_that_is_not_there(client: AsyncClient) -> None:
    assert (await client.get("/datasets/shp/proposals")).status_code == 404
