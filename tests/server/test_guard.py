"""The doors of the whole application: hosts, origins and bodies, as a browser or a program meets them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from httpx import ASGITransport, AsyncClient
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from sandtable.server.app import create_app
from sandtable.settings import Settings
from tests.server.house import House, open_house
from tests.server.talking import WIRE, Served, served
from tests.server.v2.listening import ask

RUN = {"dataset_id": "shop", "sql": "SELECT 1", "question": "a secret"}
CROSS = {"Sec-Fetch-Site": "cross-site"}
LINK = {**CROSS, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document", "Accept": "text/html,*/*;q=0.8"}


async def _run(client: AsyncClient) -> str:
    return (await client.post("/runs?wait=10", json=RUN)).json()["run_id"]


READABLE = ["/", "/runs", "/runs/{run}", "/runs/{run}/capsule", "/docs", "/openapi.json", "/keys", "/readyz"]
READABLE += [
    "/metrics",
    "/healthz",
    "/datasets",
    "/datasets/shop/schema",
    "/langgraph/info",
    "/nothing",
    "/chat/",
]


async def test_another_name_reads_nothing(client: AsyncClient) -> None:
    """A page whose name was made to point here reads what it likes, where only the connection counts."""
    run = await _run(client)
    for path in READABLE:
        answer = await client.get(path.format(run=run), headers={"Host": "evil.test"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (421, "UNAUTHORIZED"), path
        assert "secret" not in answer.text
        assert "access-control-allow-origin" not in answer.headers


async def test_another_name_does_nothing(client: AsyncClient, house: House) -> None:
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "HEAD"):
        answer = await client.request(method, "/runs", json=RUN, headers={"Host": "evil.test"})
        assert answer.status_code == 421, method
    assert await house.runs.list() == []


async def test_a_name_of_the_settings_is_ours(tmp_path: Path) -> None:
    settings = Settings(
        home=tmp_path, web=tmp_path / "not-built", allowed_hosts=("data.example", ".below.example")
    )
    async with open_house(tmp_path, settings) as house:
        transport = ASGITransport(create_app(house))  # pyright: ignore[reportArgumentType] - a double of Parts
        async with AsyncClient(transport=transport, base_url="http://localhost") as client:
            for host, status in (("data.example", 200), ("a.below.example:8443", 200), ("evil.test", 421)):
                assert (await client.get("/runs", headers={"Host": host})).status_code == status


@pytest.mark.parametrize(
    "headers",
    [{**CROSS, "Sec-Fetch-Mode": "no-cors"}, {"Origin": "http://evil.test"}, {"Origin": "null"}],
    ids=["as the browser says", "by origin", "without an origin"],
)
async def test_a_page_of_another_origin_reads_nothing(client: AsyncClient, headers: dict[str, str]) -> None:
    run = await _run(client)
    for path in READABLE:
        answer = await client.get(path.format(run=run), headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "UNAUTHORIZED"), path
        assert "secret" not in answer.text


@pytest.mark.parametrize("headers", [CROSS, {"Origin": "http://evil.test"}, {"Referer": "http://evil.test/"}])
async def test_a_page_of_another_origin_does_nothing_without_a_body(
    client: AsyncClient, headers: dict[str, str]
) -> None:
    run = await _run(client)
    for path in (f"/runs/{run}/cancel", f"/runs/{run}/verify", "/langgraph/threads", "/chat", "/check"):
        assert (await client.post(path, headers=headers)).status_code == 403, path


LINKED = {
    "/": 200,
    "/runs": 200,
    "/runs/{run}": 200,
    "/runs/{run}/capsule": 200,
    "/runs/{run}/result.csv": 200,
}
LINKED |= {"/docs": 200, "/openapi.json": 200, "/chat": 307}
LINKED |= {"/datasets": 403, "/datasets/shop/schema": 403, "/langgraph/info": 403, "/metrics": 403}


async def test_a_link_of_another_site_opens_pages_and_files(client: AsyncClient) -> None:
    run = await _run(client)
    for path, status in LINKED.items():
        assert (await client.get(path.format(run=run), headers=LINK)).status_code == status, path


async def test_a_link_of_an_old_mail_program_opens_a_page(client: AsyncClient) -> None:
    headers = {"Referer": "https://mail.example/inbox", "Accept": LINK["Accept"]}
    assert (await client.get("/runs", headers=headers)).status_code == 200
    assert (await client.get("/runs", headers={**headers, "Accept": "image/*"})).status_code == 403


async def test_a_compressed_body_is_not_read(client: AsyncClient) -> None:
    for encoding in ("gzip", "deflate", "br", "Identity, gzip"):
        headers = {"Content-Type": "application/json", "Content-Encoding": encoding}
        answer = await client.post("/runs", content=b"\x1f\x8b\x08", headers=headers)
        assert answer.status_code == 415, encoding
        assert "Content-Encoding" in answer.json()["error"]["suggestion"]


async def test_an_address_holds_no_nul(client: AsyncClient) -> None:
    """Postgres takes none, and a file's name ends there."""
    for path in ("/runs/%00", "/runs?text=%00", "/assets/a%00.js", "/chat/%00", "/?%00=1"):
        assert (await client.get(path)).status_code == 400, path


@pytest.mark.parametrize(
    ("name", "headers", "status"),
    [
        pytest.param("evil.test", {}, 421, id="another name"),
        pytest.param("evil.test", {"Origin": "http://evil.test"}, 421, id="another name, its own origin"),
        pytest.param("localhost", {"X-Sandtable-User": "root"}, 403, id="the name of a user"),
    ],
)
async def test_a_websocket_passes_the_same_doors(
    tmp_path: Path, name: str, headers: dict[str, str], status: int
) -> None:
    async with served(tmp_path) as server:
        asked = await ask(server.client, "one")
        host, _, port = server.url.removeprefix("http://").partition(":")
        url = asked["websocket_url"].replace(f"{host}:{port}", name)
        with pytest.raises(InvalidStatus) as refused:
            async with connect(url, additional_headers=headers, host=host, port=int(port)):
                pass
        assert refused.value.response.status_code == status


async def test_the_head_of_a_stream_does_not_wait_for_its_end(tmp_path: Path) -> None:
    async with served(tmp_path) as server:
        thread, run = await _slow(server)
        async with asyncio.timeout(20):
            answer = await server.client.head(f"{WIRE}/threads/{thread}/runs/{run}/stream")
        assert (answer.status_code, answer.content) == (200, b"")
        assert answer.headers["content-type"].startswith("text/event-stream")
        server.script.go.set()


async def _slow(server: Served) -> tuple[str, str]:
    thread = await server.new_thread()
    body = {"assistant_id": "shop", "input": {"messages": [{"type": "human", "content": "slow one"}]}}
    run = await server.post(f"/threads/{thread}/runs", **body)
    await server.script.waiting.wait()
    return thread, run["run_id"]
