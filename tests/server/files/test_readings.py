"""The files and readings of datasets that were added."""

from __future__ import annotations

from httpx import AsyncClient

from tests.server.files.importing import (
    SALES,
    SHOPS,
    ids,
    imported,
    until,
)


async def test_files_are_listed_and_taken_away(client: AsyncClient) -> None:
    await imported(client, ("sales.csv", SALES), ("shops.csv", SHOPS))
    files = (await client.get("/files")).json()
    assert [(f["name"], f["dataset_id"], f["tables"], f["bytes"]) for f in files] == [
        ("sales.csv", "sales", ["sales"], 37),
        ("shops.csv", "sales", ["shops"], 17),
    ]
    assert (await client.delete(f"/files/{files[0]['id']}")).status_code == 204
    reading = (await client.get("/datasets/sales/reading")).json()
    assert [table["table"] for table in reading["tables"]] == ["shops"]
    assert [version["changes"] for version in reading["versions"]] == [["table sales removed"], []]
    assert (await client.delete(f"/files/{files[1]['id']}")).status_code == 204
    assert await ids(client) == ["shop"] and (await client.get("/files")).json() == []
    assert (await client.delete(f"/files/{files[1]['id']}")).status_code == 404


async def test_a_reading_is_shown_and_corrected(client: AsyncClient) -> None:
    await imported(client, ("sales.csv", SALES))
    table = (await client.get("/datasets/sales/reading")).json()["tables"][0]
    assert (table["file"], table["recipe"]["columns"][0]["read_as"]) == ("sales.csv", "date")
    assert (await client.patch("/datasets/sales/reading", json={})).status_code == 422
    begun = await client.patch("/datasets/sales/reading", json={"answers": {"sales.day": "text"}})
    assert begun.status_code == 202
    shown = await until(client, begun.json()["id"], "ready")
    assert shown["changes"] == ["column sales.day was DATE and is VARCHAR"]
    versions = (await client.get("/datasets/sales/reading")).json()["versions"]
    assert versions[0]["version"] == shown["version"] and len(versions) == 2


async def test_datasets_that_were_not_added_stay(client: AsyncClient) -> None:
    for refused in (
        await client.delete("/datasets/shop"),
        await client.get("/datasets/shop/reading"),
        await client.patch("/datasets/shop/reading", json={"answers": {"a": "b"}}),
    ):
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "VALIDATION_ERROR")
    assert (await client.delete("/datasets/nothing")).status_code == 404
    assert await ids(client) == ["shop"]


async def test_what_columns_mean(client: AsyncClient) -> None:
    tables = (await client.get("/datasets/shop/meanings")).json()["tables"]
    assert tables and all(column["why"] for table in tables for column in table["columns"])
