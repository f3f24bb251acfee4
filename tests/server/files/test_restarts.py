"""Imports that are fetched, cancelled, restarted or killed: nothing is lost, and nothing is half there."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

from httpx import AsyncClient

from sandtable.settings import Settings
from tests.imports.test_fetching import answer, site
from tests.server.files.importing import (
    SALES,
    SHOPS,
    WHEN,
    client_of,
    ids,
    imported,
    left_of_uploads,
    until,
    upload,
)
from tests.server.files.test_tus import TUS, begin, id_in, send
from tests.server.house import House, open_house


async def test_a_file_at_an_address(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, web=tmp_path / "not-built", fetch_private=True)
    async with site() as place, open_house(tmp_path, settings) as house, await client_of(house) as client:
        place.answers["/sales.csv"] = answer(SALES)
        body = {"url": f"http://127.0.0.1:{place.port}/sales.csv"}
        begun = (await client.post("/imports", json=body)).json()
        assert (begun["state"], begun["files"]) == ("reading", [])
        shown = await until(client, begun["id"], "ready")
        assert (shown["dataset_id"], shown["files"][0]["name"]) == ("sales", "sales.csv")
        (source,) = house.datasets.own.get("sales").current.sources
        assert source.fetched is not None and source.fetched.address == body["url"]
        assert await left_of_uploads(house) == []


async def test_the_server_itself_is_no_address(client: AsyncClient) -> None:
    async with site() as place:
        for host in ("127.0.0.1", "localhost"):
            begun = await client.post("/imports", json={"url": f"http://{host}:{place.port}/sales.csv"})
            shown = await until(client, begun.json()["id"], "failed")
            assert "not a public address" in shown["problem"]["message"]
        assert place.asked == []


async def test_a_restarted_server_fetches_again(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, web=tmp_path / "not-built", fetch_private=True)
    begun = asyncio.Event()

    async def stalls(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nday")
        await writer.drain()
        begun.set()
        await asyncio.sleep(30)

    async with site() as place:
        place.answers["/sales.csv"] = stalls
        async with open_house(tmp_path, settings) as house, await client_of(house) as client:
            body = {"url": f"http://127.0.0.1:{place.port}/sales.csv"}
            import_id = (await client.post("/imports", json=body)).json()["id"]
            await begun.wait()
        place.answers["/sales.csv"] = answer(SALES)
        async with open_house(tmp_path, settings) as house, await client_of(house) as client:
            assert (await until(client, import_id, "ready"))["dataset_id"] == "sales"
            assert await left_of_uploads(house) == []


async def test_an_import_is_cancelled_while_it_is_read(client: AsyncClient, house: House) -> None:
    house.convert.go.clear()
    begun = (await upload(client, ("sales.csv", SALES))).json()
    await house.convert.waiting.wait()
    shown = (await client.get(f"/imports/{begun['id']}")).json()
    assert shown["progress"] == {"done": 37, "total": 37, "what": "converting"}
    assert (await client.delete(f"/imports/{begun['id']}")).status_code == 204
    assert (await client.get(f"/imports/{begun['id']}")).json()["state"] == "cancelled"
    assert await left_of_uploads(house) == [] and await ids(client) == ["shop"]
    house.convert.go.set()
    assert (await imported(client, ("sales.csv", SALES)))["state"] == "ready"
    assert (await client.delete(f"/imports/{begun['id']}")).status_code == 204
    assert (await client.get(f"/imports/{begun['id']}")).status_code == 404


async def test_one_conversion_at_a_time_and_a_waiting_one_can_be_cancelled(
    client: AsyncClient, house: House
) -> None:
    house.convert.go.clear()
    first = (await upload(client, ("a.csv", SALES))).json()["id"]
    second = (await upload(client, ("b.csv", SALES))).json()["id"]
    await house.convert.waiting.wait()
    assert (await client.get(f"/imports/{second}")).json()["progress"]["what"] == "waiting"
    await client.delete(f"/imports/{second}")
    house.convert.go.set()
    await until(client, first, "ready")
    assert await ids(client) == ["a", "shop"]


async def test_a_forgotten_import_leaves_its_dataset(client: AsyncClient) -> None:
    shown = await imported(client, ("sales.csv", SALES))
    assert (await client.delete(f"/imports/{shown['id']}")).status_code == 204
    assert (await client.get("/imports")).json() == [] and await ids(client) == ["sales", "shop"]


async def test_a_restarted_server_goes_on_reading_and_keeps_questions(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house, await client_of(house) as client:
        house.convert.questions = (WHEN,)
        asks = (await imported(client, ("sales.csv", SALES)))["id"]
        house.convert.go.clear()
        house.convert.waiting.clear()
        reads = (await upload(client, ("shops.csv", SHOPS))).json()["id"]
        await house.convert.waiting.wait()
    async with open_house(tmp_path) as house, await client_of(house) as client:
        assert (await until(client, reads, "ready"))["dataset_id"] == "shops"
        assert (await client.get(f"/imports/{asks}")).json()["questions"] == [WHEN.model_dump(mode="json")]
        await client.post(f"/imports/{asks}/answers", json={"answers": {"sales.day": "date"}})
        await until(client, asks, "ready")
        assert set(await ids(client)) == {"sales", "shops", "shop"}
        assert await left_of_uploads(house) == []


async def test_killed_after_the_dataset_was_made_the_import_is_not_made_twice(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house, await client_of(house) as client:
        shown = await imported(client, ("sales.csv", SALES))
        path = tmp_path / "data/imports" / f"{shown['id']}.json"
        record = json.loads(path.read_text())
        begun = house.uploads.begin("sales.csv", len(SALES), "@me")
        house.uploads.append(begun.id, 0, SALES)
    record["shown"] |= {"state": "reading", "dataset_id": None, "version": None}
    record["order"]["uploads"] = [begun.id]
    path.write_text(json.dumps(record))
    async with open_house(tmp_path) as house, await client_of(house) as client:
        assert (await until(client, shown["id"], "ready"))["dataset_id"] == "sales"
        assert await ids(client) == ["sales", "shop"]


async def test_killed_between_upload_and_import_there_is_no_dataset(tmp_path: Path) -> None:
    async with open_house(tmp_path) as house, await client_of(house) as client:
        place = (await begin(client, len(SALES), "sales.csv")).headers["location"]
        await send(client, place, 0, SALES)
    async with open_house(tmp_path) as house, await client_of(house) as client:
        assert await ids(client) == ["shop"] and (await client.get("/imports")).json() == []
        begun = await client.post("/imports", json={"uploads": [id_in(place)]})
        assert (await until(client, begun.json()["id"], "ready"))["dataset_id"] == "sales"


async def test_an_upload_is_imported_once_and_not_deleted_meanwhile(
    client: AsyncClient, house: House
) -> None:
    house.convert.go.clear()
    place = (await begin(client, len(SALES), "sales.csv")).headers["location"]
    await send(client, place, 0, SALES)
    body = {"uploads": [id_in(place)]}
    assert (await client.post("/imports", json=body)).status_code == 202
    assert (await client.post("/imports", json=body)).status_code == 422
    assert (await client.delete(place, headers=TUS)).status_code == 422
    assert [upload.id for upload in house.uploads.all()] == [id_in(place)]


async def test_what_is_not_answered_in_time_ends(client: AsyncClient, house: House) -> None:
    house.convert.questions = (WHEN,)
    shown = await imported(client, ("sales.csv", SALES))
    await house.imports.clean(time.time() + 23 * 3600)
    assert (await client.get(f"/imports/{shown['id']}")).json()["state"] == "asks"
    await house.imports.clean(time.time() + 25 * 3600)
    ended = (await client.get(f"/imports/{shown['id']}")).json()
    assert (ended["state"], ended["problem"]["code"]) == ("failed", "CANCELLED")
    assert await left_of_uploads(house) == []
    await house.imports.clean(time.time() + 40 * 86400)
    assert (await client.get("/imports")).json() == []


async def test_a_living_server_goes_on_with_the_imports_of_one_that_ended(tmp_path: Path) -> None:
    async with open_house(tmp_path) as living, await client_of(living) as client:
        async with open_house(tmp_path) as ending, await client_of(ending) as other:
            ending.convert.go.clear()
            import_id = (await upload(other, ("sales.csv", SALES))).json()["id"]
            await ending.convert.waiting.wait()
            await living.imports.adopt()
            assert (await client.get(f"/imports/{import_id}")).json()["progress"] is None
        assert (await client.get(f"/imports/{import_id}")).json()["state"] == "reading"
        await living.imports.adopt()
        assert (await until(client, import_id, "ready"))["dataset_id"] == "sales"
        assert await left_of_uploads(living) == []
