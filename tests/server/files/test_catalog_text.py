"""The catalog of a dataset as a file, over HTTP."""

from __future__ import annotations

import json

from httpx import AsyncClient

from tests.server.files.importing import SALES, imported
from tests.server.house import House

PLACE = "/datasets/sales/catalog.yaml"
YAML = {"content-type": "text/yaml"}
OSSIE = """
semantic_model:
  - name: m
    datasets: [{name: sales, source: db.public.sales, description: One row per sale}]
    metrics:
      - {name: total, expression: {dialects: [{dialect: ANSI_SQL, expression: SUM(sales.amount)}]}}
      - {name: odd, expression: {dialects: [{dialect: MDX, expression: x}]}}
"""


async def test_a_catalog_is_exported_changed_and_imported(client: AsyncClient) -> None:
    await imported(client, ("sales.csv", SALES))
    exported = await client.get(PLACE)
    assert exported.status_code == 200 and exported.headers["content-type"].startswith("text/yaml")
    assert 'filename="sales.yaml"' in exported.headers["content-disposition"]
    text = exported.text.replace("      amount: {}", "      amount: {unit: EUR, synonyms: [takings]}")
    assert text != exported.text
    tried = await client.put(PLACE, content=text, headers=YAML, params={"dry_run": "true"})
    places = ["tables.sales.columns.amount.synonyms", "tables.sales.columns.amount.unit"]
    assert [each["place"] for each in tried.json()["changes"]] == places and not tried.json()["written"]
    assert (await client.get(PLACE)).text == exported.text
    made = await client.put(PLACE, content=text, headers=YAML, params={"note": "units"})
    assert made.status_code == 200 and made.json()["written"]
    assert made.json()["catalog_version"] == tried.json()["catalog_version"]
    again = await client.put(PLACE, content=(await client.get(PLACE)).text, headers=YAML)
    assert again.json()["changes"] == [] and again.json()["catalog_version"] == made.json()["catalog_version"]


async def test_a_file_that_was_made_for_an_earlier_version_is_refused(client: AsyncClient) -> None:
    await imported(client, ("sales.csv", SALES))
    before = (await client.get("/datasets/sales/catalog")).json()["catalog_version"]
    params = {"before": before}
    assert (await client.put(PLACE, content="title: Ours", headers=YAML, params=params)).status_code == 200
    refused = await client.put(PLACE, content="title: Mine", headers=YAML, params=params)
    assert refused.status_code == 422 and "changed meanwhile" in refused.json()["error"]["message"]
    assert "title: Ours" in (await client.get(PLACE)).text


async def test_a_semantic_layer_is_put_over_it(client: AsyncClient) -> None:
    await imported(client, ("sales.csv", SALES))
    found = (await client.put(PLACE, content=OSSIE, headers=YAML)).json()
    assert found["format"] == "ossie"
    assert {each["place"] for each in found["changes"]} == {"tables.sales.description", "metrics.total"}
    assert "only in MDX" in next(each["reason"] for each in found["unused"] if each["name"] == "odd")
    exported = await client.get(PLACE, params={"format": "ossie"})
    assert "SUM(sales.amount)" in exported.text and "dialect: MDX" in exported.text
    json_text = json.dumps({"semantic_model": []})
    empty = await client.put(PLACE, content=json_text, headers={"content-type": "application/json"})
    assert empty.status_code == 422 and "none of the tables" in empty.json()["error"]["message"]


async def test_what_cannot_be_used_changes_nothing(client: AsyncClient) -> None:
    before = (await client.get("/datasets/shop/catalog.yaml")).text
    for content, problem in (
        (b"tables: {nothing: {}}", "there is no table `nothing`"),
        (b"titel: x", "did you mean `title`"),
        (b"\xff", "not UTF-8"),
        (b"", "it is empty"),
        (b"metrics: {m: {table: orders, numerator: {agg: sum, column: nothing}}}", "does not fit"),
    ):
        refused = await client.put("/datasets/shop/catalog.yaml", content=content, headers=YAML)
        assert refused.status_code == 422 and problem in refused.json()["error"]["message"], refused.text
    assert (await client.get("/datasets/shop/catalog.yaml")).text == before
    assert (await client.get("/datasets/nothing/catalog.yaml")).status_code == 404
    assert (
        await client.put("/datasets/nothing/catalog.yaml", content="a: b", headers=YAML)
    ).status_code == 404


async def test_data_of_one_process_have_no_catalog(client: AsyncClient, house: House) -> None:
    house.datasets.of_this_process.add("shop")
    refused = await client.put("/datasets/shop/catalog.yaml", content="title: x", headers=YAML)
    assert refused.status_code == 422 and "would last" in refused.json()["error"]["message"]


async def test_only_this_place_takes_texts(client: AsyncClient) -> None:
    for place, kind in ((PLACE, "text/plain"), ("/runs", "text/yaml"), ("/query", "text/yaml")):
        send = client.put if place == PLACE else client.post
        assert (await send(place, content="a: b", headers={"content-type": kind})).status_code == 415
