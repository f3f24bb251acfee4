"""Imports over HTTP: files become datasets, and questions about them are asked and answered."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from httpx import ASGITransport, AsyncClient

from sandtable.catalog.recipe import Repair
from sandtable.errors import InvalidInput
from sandtable.server.app import create_app
from sandtable.settings import Settings
from tests.server.files.importing import (
    SALES,
    SHOPS,
    WHEN,
    ids,
    imported,
    left_of_uploads,
    until,
    upload,
)
from tests.server.files.test_tus import CROSS, begin, id_in, send
from tests.server.house import House, open_house


async def test_two_files_become_a_dataset(client: AsyncClient, house: House) -> None:
    shown = await imported(client, ("sales.csv", SALES), ("shops.csv", SHOPS), title="Our sales")
    assert (shown["state"], shown["dataset_id"], shown["problem"]) == ("ready", "sales", None)
    assert shown["files"] == [{"name": "sales.csv", "bytes": 37}, {"name": "shops.csv", "bytes": 17}]
    first, *others = (await client.get("/datasets")).json()
    assert (first["id"], first["title"], first["own"], first["version"]) == (
        "sales",
        "Our sales",
        True,
        shown["version"],
    )
    assert [table["name"] for table in first["tables"]] == ["sales", "shops"]
    assert [dataset["own"] for dataset in others] == [False]
    assert await left_of_uploads(house) == []
    listed = (await client.get("/imports")).json()
    assert [each["id"] for each in listed] == [shown["id"]]


async def test_newer_datasets_come_first(client: AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter(["2026-01-01T00:00:00+00:00", "2026-01-02T00:00:00+00:00"])
    monkeypatch.setattr("sandtable.catalog.own.datasets.now", lambda: next(times))
    await imported(client, ("b.csv", SHOPS))
    await imported(client, ("a.csv", SHOPS))
    assert await ids(client) == ["a", "b", "shop"]


async def test_uploads_become_tables_of_a_dataset(client: AsyncClient, house: House) -> None:
    await imported(client, ("sales.csv", SALES))
    place = (await begin(client, len(SHOPS), "shops.csv")).headers["location"]
    body = {"uploads": [id_in(place)], "dataset_id": "sales"}
    early = await client.post("/imports", json=body)
    assert (early.status_code, "has not arrived" in early.text) == (422, True)
    await send(client, place, 0, SHOPS)
    begun = await client.post("/imports", json=body)
    shown = await until(client, begun.json()["id"], "ready")
    assert (shown["dataset_id"], shown["changes"]) == ("sales", ["table shops added"])
    assert await left_of_uploads(house) == []


async def test_a_pasted_table(client: AsyncClient) -> None:
    begun = await client.post("/imports", json={"text": "a\tb\n1\t2\n", "name": "../My table.xlsx"})
    shown = await until(client, begun.json()["id"], "ready")
    assert shown["files"] == [{"name": "My table.tsv", "bytes": 8}]
    assert shown["dataset_id"] == "My_table"
    begun = await client.post("/imports", json={"text": "a,b\n1,2\n"})
    assert (await until(client, begun.json()["id"], "ready"))["files"][0]["name"] == "pasted.csv"


@pytest.mark.parametrize(
    "body",
    [{}, {"text": "a", "url": "http://x.test/"}, {"uploads": []}, {"uploads": ["x"] * 101}, {"url": "ftp://x"},
     {"text": ""}, {"text": "a", "unknown": 1}],
)  # fmt: skip
async def test_bodies_that_make_no_sense(client: AsyncClient, body: dict[str, Any]) -> None:
    assert (await client.post("/imports", json=body)).status_code == 422
    assert (await client.get("/imports")).json() == []


async def test_an_upload_or_a_dataset_that_is_not_there(client: AsyncClient, house: House) -> None:
    assert (await client.post("/imports", json={"uploads": ["0" * 32]})).status_code == 404
    assert (await upload(client, ("a.csv", SHOPS), dataset_id="nothing")).status_code == 404
    builtin = await upload(client, ("a.csv", SHOPS), dataset_id="shop")
    assert (builtin.status_code, builtin.json()["error"]["code"]) == (422, "VALIDATION_ERROR")
    assert await left_of_uploads(house) == []


async def test_a_question_is_asked_and_answered(client: AsyncClient, house: House) -> None:
    house.convert.questions = (WHEN,)
    shown = await imported(client, ("sales.csv", SALES))
    assert (shown["state"], shown["problem"]) == ("asks", None)
    assert shown["questions"] == [WHEN.model_dump(mode="json")]
    assert await ids(client) == ["shop"]
    answers = f"/imports/{shown['id']}/answers"
    assert (await client.post(answers, json={})).status_code == 422
    again = await client.post(answers, json={"answers": {"sales.day": "date"}})
    assert (again.status_code, again.json()["state"], again.json()["questions"]) == (202, "reading", [])
    ready = await until(client, shown["id"], "ready")
    assert ready["dataset_id"] == "sales"
    assert (await client.post(answers, json={"answers": {"sales.day": "text"}})).status_code == 422


async def test_a_refused_file_offers_its_repairs(client: AsyncClient, house: House) -> None:
    repair = Repair(id="pad-rows", label="Fill the short rows with empty cells")

    def refuse(request: Any) -> None:
        if "pad-rows" not in request.repairs:
            raise InvalidInput(
                "row 2 has 1 cell", suggestion="Repair it.", repairs=[repair.model_dump()], questions=[]
            )

    house.convert.before = refuse
    shown = await imported(client, ("sales.csv", SALES))
    assert (shown["state"], shown["repairs"]) == ("asks", [repair.model_dump()])
    assert "row 2 has 1 cell" in shown["problem"]["message"]
    assert "repairs" not in shown["problem"]["details"]
    await client.post(f"/imports/{shown['id']}/answers", json={"repairs": ["pad-rows"]})
    assert (await until(client, shown["id"], "ready"))["problem"] is None


async def test_a_file_that_cannot_be_used_fails_and_leaves_nothing(client: AsyncClient, house: House) -> None:
    def refuse(_: Any) -> None:
        raise InvalidInput("this is no table", suggestion="Use another file.")

    house.convert.before = refuse
    shown = await imported(client, ("sales.csv", SALES))
    assert (shown["state"], shown["dataset_id"]) == ("failed", None)
    assert "this is no table" in shown["problem"]["message"]
    assert await ids(client) == ["shop"] and await left_of_uploads(house) == []


async def test_an_unexpected_error_is_no_secret_and_no_traceback(client: AsyncClient, house: House) -> None:
    def broken(_: Any) -> None:
        raise RuntimeError("inside")

    house.convert.before = broken
    shown = await imported(client, ("sales.csv", SALES))
    assert (shown["state"], shown["problem"]["code"]) == ("failed", "RUNNER_INTERNAL_ERROR")
    assert "inside" not in json.dumps(shown)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ([("a.csv", SHOPS), ("A.csv", SHOPS)], "would both become the table"),
        ([("a.exe", SHOPS)], "extension that is not supported"),
    ],
)
async def test_names_that_cannot_be_tables(
    client: AsyncClient, house: House, files: list[tuple[str, bytes]], said: str
) -> None:
    answer = await upload(client, *files)
    assert (answer.status_code, said in answer.json()["error"]["message"]) == (422, True)
    assert await left_of_uploads(house) == [] and (await client.get("/imports")).json() == []


async def test_a_path_as_a_name_writes_nowhere_else(client: AsyncClient, house: House) -> None:
    shown = await imported(client, ("../../../evil.csv", SHOPS))
    assert (shown["files"][0]["name"], shown["dataset_id"]) == ("evil.csv", "evil")
    written = list(house.settings.home.parent.rglob("evil*"))
    assert written and all(house.settings.home / "data" in path.parents for path in written)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "ends too early"),
        (b"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\na,b\n1", "ends too early"),
        (b"--y\r\n\r\n", "malformed"),
        (b"--x\r\nContent-Disposition: form-data; name=\"other\"\r\n\r\na\r\n--x--\r\n", "is not known here"),
        (b"--x\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\na\r\n--x--\r\n", "no file was sent"),
        (b"--x\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\n" + b"a" * 1001 + b"\r\n--x--\r\n", "too long"),
    ],
)  # fmt: skip
async def test_forms_that_make_no_sense(client: AsyncClient, house: House, body: bytes, said: str) -> None:
    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    answer = await client.post("/upload", content=body, headers=headers)
    assert (answer.status_code, said in answer.json()["error"]["message"]) == (422, True), answer.text
    assert await left_of_uploads(house) == []


async def test_a_form_needs_its_content_type(client: AsyncClient, house: House) -> None:
    for kind in ("application/json", "text/plain", "multipart/mixed; boundary=x"):
        assert (await client.post("/upload", content=b"x", headers={"Content-Type": kind})).status_code == 415
    plain = await client.post("/upload", content=b"x", headers={"Content-Type": "multipart/form-data"})
    assert (plain.status_code, "boundary" in plain.text) == (422, True)


@pytest.mark.parametrize("headers", CROSS)
async def test_a_page_of_another_origin_imports_nothing(
    client: AsyncClient, house: House, headers: dict[str, str]
) -> None:
    """A form of another site can send `multipart/form-data` without asking first."""
    files = [("file", ("a.csv", SHOPS, "text/csv"))]
    assert (await client.post("/upload", files=files, headers=headers)).status_code == 403
    assert (await client.post("/imports", json={"text": "a"}, headers=headers)).status_code == 403
    assert (await client.delete("/datasets/shop", headers=headers)).status_code == 403
    assert await left_of_uploads(house) == [] and (await client.get("/imports")).json() == []


@pytest.fixture
async def small(tmp_path: Path) -> AsyncIterator[tuple[AsyncClient, House]]:
    settings = Settings(home=tmp_path, web=tmp_path / "not-built", max_upload_mb=1, data_quota_mb=2)
    async with open_house(tmp_path, settings) as house:
        transport = ASGITransport(create_app(house))  # pyright: ignore[reportArgumentType] - a double of Parts
        async with AsyncClient(transport=transport, base_url="http://localhost") as client:
            yield client, house


async def test_a_form_that_is_too_large_by_header_and_by_body(small: tuple[AsyncClient, House]) -> None:
    client, house = small
    assert (await upload(client, ("a.csv", bytes(3 << 20)))).status_code == 413

    async def unannounced() -> AsyncIterator[bytes]:
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
        for _ in range(48):
            yield bytes(1 << 16)

    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    answer = await client.post("/upload", content=unannounced(), headers=headers)
    assert (answer.status_code, answer.json()["error"]["details"]["limit_bytes"]) == (413, 1 << 20)
    assert await left_of_uploads(house) == []


async def test_kept_data_count_for_the_quota(small: tuple[AsyncClient, House]) -> None:
    client, house = small
    for name in ("a", "b"):
        content = b"n\n" + b"1\n" * 500_000
        await imported(client, (f"{name}.csv", content + name.encode()))
    house.uploads._measured_at = -100.0
    refused = await upload(client, ("c.csv", b"n\n" + b"1\n" * 100_000))
    assert (refused.status_code, refused.json()["error"]["code"]) == (507, "RUNNER_RESOURCE_EXCEEDED")
    assert (await client.delete("/datasets/a")).status_code == 204
    house.uploads._measured_at = -100.0
    assert (await imported(client, ("c.csv", b"n\n" + b"1\n" * 100_000)))["state"] == "ready"
