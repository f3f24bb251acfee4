"""Resumable uploads over HTTP, as the tus protocol has them."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from httpx import ASGITransport, AsyncClient, Response

from sandtable.catalog.own.uploads import Uploads
from sandtable.server import bodies
from sandtable.server.app import create_app
from sandtable.settings import Settings
from tests.server.house import House, open_house
from tests.server.talking import Served, served

TUS = {"Tus-Resumable": "1.0.0"}
BYTES = TUS | {"Content-Type": "application/offset+octet-stream"}


def metadata(name: str) -> dict[str, str]:
    return {"Upload-Metadata": f"filename {base64.b64encode(name.encode()).decode()},filetype dGV4dC9jc3Y="}


async def begin(client: AsyncClient, size: int, name: str = "orders.csv", **more: str) -> Response:
    headers = TUS | metadata(name) | {"Upload-Length": str(size)} | more
    return await client.post("/uploads", headers=headers)


async def send(client: AsyncClient, place: str, offset: int, content: Any, **more: str) -> Response:
    headers = BYTES | {"Upload-Offset": str(offset)} | more
    return await client.patch(place, content=content, headers=headers)


async def offset_at(client: AsyncClient, place: str) -> int:
    answer = await client.head(place, headers=TUS)
    assert answer.status_code == 200 and not answer.content
    return int(answer.headers["upload-offset"])


def id_in(place: str) -> str:
    return place.rpartition("/")[2]


@pytest.fixture
def uploads(house: House) -> Uploads:
    return house.uploads


async def test_a_file_arrives_in_two_requests(client: AsyncClient, uploads: Uploads) -> None:
    begun = await begin(client, 11)
    assert (begun.status_code, begun.headers["tus-resumable"]) == (201, "1.0.0")
    assert begun.headers["upload-expires"].endswith("GMT")
    place = begun.headers["location"]
    first = await send(client, place, 0, b"id,n\n")
    assert (first.status_code, first.headers["upload-offset"]) == (204, "5")
    assert await offset_at(client, place) == 5
    assert (await send(client, place, 5, b"1,one\n")).headers["upload-offset"] == "11"
    shown = (await client.get(place)).json()
    assert shown == {"id": id_in(place), "name": "orders.csv", "bytes": 11, "offset": 11}
    assert uploads.path(id_in(place)).read_bytes() == b"id,n\n1,one\n"


async def test_the_server_says_what_it_speaks(client: AsyncClient) -> None:
    answer = await client.options("/uploads")
    assert answer.status_code == 204
    assert answer.headers["tus-version"] == "1.0.0"
    assert answer.headers["tus-max-size"] == str(5 << 30)
    assert set(answer.headers["tus-extension"].split(",")) == {"creation", "expiration", "termination"}


async def test_another_version_is_refused(client: AsyncClient) -> None:
    for headers in ({}, {"Tus-Resumable": "0.2.2"}):
        answer = await client.post("/uploads", headers={**metadata("a.csv"), "Upload-Length": "1", **headers})
        assert (answer.status_code, answer.headers["tus-version"]) == (412, "1.0.0")


async def test_another_offset_is_a_conflict_that_says_the_right_one(client: AsyncClient) -> None:
    place = (await begin(client, 10)).headers["location"]
    await send(client, place, 0, b"abc")
    for offset in (0, 2, 4):
        answer = await send(client, place, offset, b"x")
        assert answer.status_code == 409
        assert answer.json()["error"]["details"] == {"offset": 3}
        assert answer.headers["tus-resumable"] == "1.0.0"
    assert await offset_at(client, place) == 3


@pytest.mark.parametrize(
    "headers",
    [
        {"Upload-Length": "-1", **metadata("a")},
        {"Upload-Length": "many", **metadata("a")},
        {"Upload-Length": "9" * 30, **metadata("a")},
        {"Upload-Length": "1"},
        {"Upload-Length": "1", "Upload-Metadata": "filename"},
        {"Upload-Length": "1", "Upload-Metadata": "filename %%%"},
        {"Upload-Length": "1", "Upload-Metadata": "filename /w=="},
        metadata("a"),
    ],
)
async def test_a_beginning_that_makes_no_sense(
    client: AsyncClient, uploads: Uploads, headers: dict[str, str]
) -> None:
    answer = await client.post("/uploads", headers=TUS | headers)
    assert answer.status_code == 422
    assert list(uploads.all()) == []


async def test_an_upload_that_is_not_there(client: AsyncClient) -> None:
    for upload_id in ("0" * 32, "..%2f..%2fversions", "%2e%2e", "a" * 200):
        place = f"/uploads/{upload_id}"
        assert (await client.head(place, headers=TUS)).status_code in (404, 422)
        assert (await send(client, place, 0, b"x")).status_code in (404, 415, 422)
        assert (await client.delete(place, headers=TUS)).status_code in (404, 422)


async def test_a_path_as_a_name_is_only_a_name(client: AsyncClient, uploads: Uploads, house: House) -> None:
    place = (await begin(client, 1, "../../../evil.csv")).headers["location"]
    await send(client, place, 0, b"x")
    assert (await client.get(place)).json()["name"] == "evil.csv"
    assert [path.name for path in house.settings.home.rglob("*evil*")] == []


async def test_an_upload_given_up_is_gone(client: AsyncClient, uploads: Uploads) -> None:
    place = (await begin(client, 3)).headers["location"]
    await send(client, place, 0, b"ab")
    assert (await client.delete(place, headers=TUS)).status_code == 204
    assert (await client.head(place, headers=TUS)).status_code == 404
    assert list(uploads.all()) == []


@pytest.fixture
async def small(tmp_path: Path) -> AsyncIterator[AsyncClient]:
    settings = Settings(home=tmp_path, web=tmp_path / "not-built", max_upload_mb=1, data_quota_mb=2)
    async with open_house(tmp_path, settings) as house:
        transport = ASGITransport(create_app(house))  # pyright: ignore[reportArgumentType] - a double of Parts
        async with AsyncClient(transport=transport, base_url="http://localhost") as client:
            yield client


async def test_too_large_by_announcement_by_header_and_by_body(small: AsyncClient) -> None:
    refused = await begin(small, (1 << 20) + 1)
    assert refused.status_code == 413
    assert refused.json()["error"]["details"]["limit_bytes"] == 1 << 20
    place = (await begin(small, 10)).headers["location"]
    assert (await send(small, place, 0, b"x" * 11)).status_code == 413

    async def unannounced() -> AsyncIterator[bytes]:
        for _ in range(11):
            yield b"x"

    assert (await send(small, place, 0, unannounced())).status_code == 413
    assert await offset_at(small, place) == 0


async def test_the_quota_is_for_all_together(small: AsyncClient) -> None:
    for _ in range(2):
        place = (await begin(small, 1 << 20)).headers["location"]
        assert (await send(small, place, 0, bytes(1 << 20))).status_code == 204
    refused = await begin(small, 1)
    assert (refused.status_code, refused.json()["error"]["code"]) == (507, "RUNNER_RESOURCE_EXCEEDED")
    assert "SANDTABLE_DATA_QUOTA_MB" in refused.json()["error"]["suggestion"]


CROSS = [
    {"Sec-Fetch-Site": "cross-site", "Origin": "http://evil.test"},
    {"Sec-Fetch-Site": "same-site", "Origin": "http://localhost:3000"},
    {"Origin": "http://evil.test"},
    {"Origin": "null"},
    {"Referer": "http://evil.test/page"},
]


@pytest.mark.parametrize("headers", CROSS)
async def test_a_page_of_another_origin_uploads_nothing(
    client: AsyncClient, uploads: Uploads, headers: dict[str, str]
) -> None:
    place = (await begin(client, 3)).headers["location"]
    refusals = [
        await begin(client, 3, **headers),
        await send(client, place, 0, b"abc", **headers),
        await client.delete(place, headers=TUS | headers),
        await client.options("/uploads", headers=headers),
    ]
    assert [answer.status_code for answer in refusals] == [403] * 4
    assert all("access-control-allow-origin" not in answer.headers for answer in refusals)
    assert [(upload.id, upload.offset) for upload in uploads.all()] == [(id_in(place), 0)]


async def test_bytes_need_their_content_type(client: AsyncClient) -> None:
    place = (await begin(client, 3)).headers["location"]
    for kind in ("text/plain", "application/json", "multipart/form-data; boundary=x", ""):
        assert (await send(client, place, 0, b"abc", **{"Content-Type": kind})).status_code == 415
    compressed = await send(client, place, 0, b"abc", **{"Content-Encoding": "gzip"})
    assert compressed.status_code == 415
    assert await offset_at(client, place) == 0


async def test_a_client_that_sends_nothing_more_is_not_waited_for(
    client: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies.blocks, "__defaults__", (0.1,))
    place = (await begin(client, 10)).headers["location"]

    async def stalls() -> AsyncIterator[bytes]:
        yield b"abc"
        await asyncio.sleep(5)
        yield b"def"

    answer = await send(client, place, 0, stalls())
    assert answer.status_code == 408
    assert await offset_at(client, place) == 3


# Over real connections


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as server:
        yield server


async def _half(server: Served, place: str, size: int, content: bytes) -> asyncio.StreamWriter:
    """A connection on which a part of the announced body was sent."""
    host, port = server.url.removeprefix("http://").split(":")
    _, writer = await asyncio.open_connection(host, int(port))
    head = f"PATCH {place} HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: {size}\r\nUpload-Offset: 0\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in BYTES.items())
    writer.write(head.encode() + b"\r\n" + content)
    await writer.drain()
    return writer


async def _until_offset(client: AsyncClient, place: str, offset: int) -> None:
    for _ in range(200):
        if await offset_at(client, place) == offset:
            return
        await asyncio.sleep(0.02)
    raise AssertionError(await offset_at(client, place))


async def test_after_a_lost_connection_the_upload_goes_on(server: Served) -> None:
    content = bytes(range(256)) * (3 << 12)
    place = (await begin(server.client, len(content))).headers["location"]
    writer = await _half(server, place, len(content), content[: 2 << 20])
    writer.transport.abort()
    for _ in range(100):
        offset = await offset_at(server.client, place)
        if offset:
            break
        await asyncio.sleep(0.02)
    await asyncio.sleep(0.2)
    offset = await offset_at(server.client, place)
    assert 0 < offset <= 2 << 20
    done = await send(server.client, place, offset, content[offset:])
    assert done.headers["upload-offset"] == str(len(content))
    assert server.house.uploads.path(id_in(place)).read_bytes() == content


async def test_a_new_connection_does_not_wait_for_the_lost_one(server: Served) -> None:
    """The earlier connection is still open, as one is whose network is gone."""
    place = (await begin(server.client, (1 << 20) + 3)).headers["location"]
    writer = await _half(server, place, (1 << 20) + 3, bytes(1 << 20))
    await _until_offset(server.client, place, 1 << 20)
    done = await send(server.client, place, 1 << 20, b"end")
    assert (done.status_code, done.headers["upload-offset"]) == (204, str((1 << 20) + 3))
    writer.close()


async def test_a_restarted_server_goes_on(tmp_path: Path) -> None:
    async with served(tmp_path) as first:
        place = (await begin(first.client, 6)).headers["location"]
        await send(first.client, place, 0, b"abc")
    async with served(tmp_path) as second:
        assert await offset_at(second.client, place) == 3
        assert (await send(second.client, place, 3, b"def")).status_code == 204
