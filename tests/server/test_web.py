"""The web interface: who gets its page, which files are served, and how they are sent."""

from __future__ import annotations

import gzip
import os
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import unquote

import pytest
import pytest_asyncio
from httpx import ASGITransport, AsyncClient, Response
from starlette.types import Receive, Scope, Send

from sandtable.server import web
from sandtable.server.app import create_app
from sandtable.server.built import FOLDER, takes_gzip
from sandtable.server.langgraph import stock
from sandtable.settings import Settings
from tests.server.house import House, open_house

PAGE = "<!doctype html><title>app</title><script type=module src=/assets/index-a1.js></script>"
SCRIPT = "console.log('a chart');\n" * 400
CHROME = (
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,"
    "application/signed-exchange;v=b3;q=0.7"
)
FIREFOX = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
NEGOTIATION = [
    pytest.param(CHROME, True, id="chrome"),
    pytest.param(FIREFOX, True, id="firefox"),
    pytest.param("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", True, id="safari"),
    pytest.param("text/html, application/xhtml+xml, image/jxr, */*", True, id="old-edge"),
    pytest.param("TEXT/HTML;Q=1", True, id="capitals"),
    pytest.param("text/html", True, id="html"),
    pytest.param("text/html, application/json", True, id="html-then-json"),
    pytest.param("application/json;q=0.5, text/html", True, id="json-weighs-less"),
    pytest.param("text/html;q=0.5, application/json;q=0.4", True, id="html-weighs-more"),
    pytest.param(None, False, id="none"),
    pytest.param("", False, id="empty"),
    pytest.param("*/*", False, id="curl-and-fetch"),
    pytest.param("application/json", False, id="the-app-itself"),
    pytest.param("application/json, text/plain, */*", False, id="axios"),
    pytest.param("application/json, text/javascript, */*; q=0.01", False, id="jquery"),
    pytest.param("application/json, text/html", False, id="json-then-html"),
    pytest.param("text/html;q=0.5, application/json", False, id="html-weighs-less"),
    pytest.param("text/html;q=0.5, */*", False, id="anything-weighs-more"),
    pytest.param("text/html;q=0.5, application/*", False, id="any-application-weighs-more"),
    pytest.param("text/html;q=0, */*", False, id="html-refused"),
    pytest.param("text/html;q=nan", False, id="no-number"),
    pytest.param("text/html;q=15", False, id="no-weight"),
    pytest.param("text/*", False, id="any-text"),
    pytest.param("text/event-stream", False, id="events"),
    pytest.param("image/avif,image/webp,*/*;q=0.8", False, id="image"),
]


@pytest.fixture
def build(tmp_path: Path) -> Path:
    folder = tmp_path / "dist"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text(PAGE)
    (folder / "favicon.svg").write_text("<svg/>")
    (folder / "openapi.json").write_text("not the API's")
    (folder / ".made-from").write_text("abc")
    (folder / "assets" / "index-a1.js").write_text(SCRIPT)
    (folder / "assets" / "inter-b2.woff2").write_bytes(b"\0" * 4096)
    (tmp_path / "secret.js").write_text("secret")
    return folder


@pytest_asyncio.fixture
async def shown(tmp_path: Path, build: Path) -> AsyncIterator[AsyncClient]:
    """A client of a server that has the build; it sends no Accept header of its own."""
    async with (
        open_house(tmp_path, Settings(home=tmp_path, web=build)) as house,
        AsyncClient(transport=_transport(house), base_url="http://localhost") as client,
    ):
        del client.headers["accept"], client.headers["accept-encoding"]
        yield client


def _transport(house: House) -> ASGITransport:
    return ASGITransport(create_app(house))  # pyright: ignore[reportArgumentType] - a double of Parts


def _is_page(answer: Response) -> bool:
    assert answer.status_code in (200, 404)
    return answer.status_code == 200 and answer.text == PAGE


@pytest.mark.parametrize(("accept", "page"), NEGOTIATION)
async def test_who_gets_the_page_of_the_runs(shown: AsyncClient, accept: str | None, page: bool) -> None:
    for path in ("/runs", "/runs?status=failed", "/runs/run_1"):
        answer = await shown.get(path, headers={} if accept is None else {"Accept": accept})
        assert _is_page(answer) == page, path
        assert "Accept" in [name.strip() for name in answer.headers["vary"].split(",")], path
        if not page:
            assert answer.headers["content-type"] == "application/json"


async def test_several_accept_headers_are_one(shown: AsyncClient) -> None:
    for page, accepted in [(True, ("text/html", "*/*;q=0.8")), (False, ("application/json", "text/html"))]:
        answer = await shown.get("/runs", headers=[("Accept", part) for part in accepted])
        assert _is_page(answer) == page


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/t/0199-abc",
        "/t/x/",
        "/data",
        "/data/",
        "/data/nothing",
        "/compare?a=1&b=2",
        "/data/a b",
        "/account",
        "/people/",
    ],
)
@pytest.mark.parametrize("accept", [CHROME, "*/*"], ids=["browser", "curl"])
async def test_pages_without_another_form(shown: AsyncClient, path: str, accept: str) -> None:
    assert _is_page(await shown.get(path, headers={"Accept": accept}))


@pytest.mark.parametrize(
    "path",
    ["/datasets", "/runs/run_1/capsule", "/keys", "/openapi.json", "/docs", "/t", "/data/a/b", "/t/a/b"],
)
async def test_other_addresses_are_as_they_were(shown: AsyncClient, path: str) -> None:
    answer = await shown.get(path, headers={"Accept": CHROME})
    assert answer.text not in (PAGE, "not the API's")
    assert "Accept" not in answer.headers.get("vary", "")


@pytest.mark.parametrize("path", ["/", "/runs", "/runs/run_1", "/data", "/t/x", "/assets/index-a1.js"])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
async def test_other_methods_never_get_a_page(shown: AsyncClient, path: str, method: str) -> None:
    answer = await shown.request(method, path, headers={"Accept": CHROME})
    assert answer.status_code in (404, 405, 422)
    assert answer.json()["error"]["code"]


async def test_head_is_get_without_its_body(shown: AsyncClient) -> None:
    for path in ("/", "/runs", "/assets/index-a1.js"):
        get = await shown.get(path, headers={"Accept": CHROME})
        head = await shown.head(path, headers={"Accept": CHROME})
        assert head.content == b""
        assert {**head.headers, "x-request-id": ""} == {**get.headers, "x-request-id": ""}


@pytest.mark.parametrize(
    "path",
    [
        "/assets/../../secret.js",
        "/assets/%2e%2e/%2e%2e/secret.js",
        "/assets/..%2f..%2fsecret.js",
        "/assets//etc/passwd",
        "/assets/%2Fetc%2Fpasswd",
        "/assets/..\\..\\secret.js",
        "/assets/",
        "/assets",
        "/assets/index-A1.js",
        "/assets/../index.html",
        "/..%2fsecret.js",
        "/.made-from",
        "/./.made-from",
        "/secret.js",
    ],
)
async def test_only_names_of_the_build_are_served(tmp_path: Path, build: Path, path: str) -> None:
    """The path goes in as it stands: a client would tidy it up first."""
    async with open_house(tmp_path, Settings(home=tmp_path, web=build)) as house:
        over = _transport(house).app

        async def untidied(scope: Scope, receive: Receive, send: Send) -> None:
            await over({**scope, "path": unquote(path)}, receive, send)

        async with AsyncClient(transport=ASGITransport(untidied), base_url="http://localhost") as client:  # pyright: ignore[reportArgumentType] - httpx's own, looser types
            answer = await client.get("/")
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "NOT_FOUND"


async def test_a_folder_linked_into_the_build_is_no_part_of_it(shown: AsyncClient, build: Path) -> None:
    (build / "assets" / "outside").symlink_to(build.parent)
    (build / "index.html").write_text(PAGE)
    assert (await shown.get("/assets/outside/secret.js")).status_code == 404


@pytest.mark.parametrize("path", ["/", "/runs", "/t/x", "/assets/index-a1.js", "/favicon.svg"])
async def test_the_policy_goes_with_every_file(shown: AsyncClient, path: str) -> None:
    headers = (await shown.get(path, headers={"Accept": CHROME})).headers
    assert headers["content-security-policy"] == web.POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"


def test_the_policy_lets_no_foreign_or_inline_script_through() -> None:
    parts = [part.strip().partition(" ") for part in web.POLICY.split(";")]
    policy = {name: sources for name, _, sources in parts}
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == "'self'"
    assert policy["connect-src"] == "'self'"
    assert policy["base-uri"] == policy["form-action"] == policy["frame-ancestors"] == "'none'"
    assert "http" not in web.POLICY and "*" not in web.POLICY


@pytest.mark.parametrize(
    ("path", "cache", "kind"),
    [
        ("/", "no-cache", "text/html; charset=utf-8"),
        ("/runs", "no-cache", "text/html; charset=utf-8"),
        ("/favicon.svg", "no-cache", "image/svg+xml"),
        ("/assets/index-a1.js", "public, max-age=31536000, immutable", "text/javascript; charset=utf-8"),
        ("/assets/inter-b2.woff2", "public, max-age=31536000, immutable", "font/woff2"),
    ],
)
async def test_how_long_a_file_is_kept(shown: AsyncClient, path: str, cache: str, kind: str) -> None:
    headers = (await shown.get(path, headers={"Accept": CHROME})).headers
    assert (headers["cache-control"], headers["content-type"]) == (cache, kind)


async def test_what_a_client_has_is_not_sent_again(shown: AsyncClient, build: Path) -> None:
    first = await shown.get("/")
    tag = first.headers["etag"]
    for given in (tag, tag.removeprefix("W/"), f'"other", {tag}', "*"):
        again = await shown.get("/t/x", headers={"If-None-Match": given})
        assert (again.status_code, again.content) == (304, b"")
        for name in ("etag", "cache-control", "content-security-policy", "vary"):
            assert again.headers[name] == first.headers[name]
    assert (await shown.get("/", headers={"If-None-Match": '"other"'})).status_code == 200
    (build / "index.html").write_text(PAGE + " ")
    assert (await shown.get("/", headers={"If-None-Match": tag})).text == PAGE + " "


async def test_large_text_is_compressed_for_those_who_take_it(shown: AsyncClient) -> None:
    path = "/assets/index-a1.js"
    plain = await shown.get(path)
    async with shown.stream("GET", path, headers={"Accept-Encoding": "gzip, deflate, br, zstd"}) as packed:
        raw = b"".join([chunk async for chunk in packed.aiter_raw()])
    assert "content-encoding" not in plain.headers and plain.text == SCRIPT
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(raw).decode() == SCRIPT
    assert int(packed.headers["content-length"]) == len(raw) < len(SCRIPT) / 10
    assert packed.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"
    assert packed.headers["etag"] == plain.headers["etag"]


@pytest.mark.parametrize("path", ["/", "/assets/inter-b2.woff2"])
async def test_what_would_not_shrink_is_sent_as_it_is(shown: AsyncClient, path: str) -> None:
    assert "content-encoding" not in (await shown.get(path, headers={"Accept-Encoding": "gzip"})).headers


@pytest.mark.parametrize(
    ("accepted", "taken"),
    [
        ("gzip", True),
        ("br;q=1.0, GZIP;q=0.5", True),
        ("*", True),
        ("gzip, *;q=0", True),
        ("", False),
        ("br, deflate", False),
        ("identity", False),
        ("gzip;q=0", False),
        ("gzip; q=0.000, *", False),
        ("*;q=0", False),
    ],
)
def test_who_takes_gzip(accepted: str, taken: bool) -> None:
    assert takes_gzip(accepted) == taken


async def test_a_new_build_is_served_without_a_restart(shown: AsyncClient, build: Path) -> None:
    assert (await shown.get("/assets/index-a1.js")).status_code == 200
    (build / "assets" / "index-a1.js").rename(build / "assets" / "index-c3.js")
    index = build / "index.html"
    index.write_text(PAGE.replace("a1", "c3"))
    os.utime(index, (1, 1))  # written within one tick of the clock, perhaps
    assert "c3" in (await shown.get("/")).text
    assert (await shown.get("/assets/index-c3.js")).text == SCRIPT
    assert (await shown.get("/assets/index-a1.js")).status_code == 404


async def test_where_nothing_is_built_nothing_is_changed(client: AsyncClient) -> None:
    landing = await client.get("/", headers={"Accept": CHROME})
    assert landing.status_code == 200
    assert "make web" in landing.text and "shop" in landing.text
    assert "unsafe" not in landing.headers["content-security-policy"]
    for path in ("/runs", "/runs/run_1"):
        answer = await client.get(path, headers={"Accept": CHROME})
        assert answer.headers["content-type"] == "application/json"
    for path in ("/t/x", "/data", "/compare", "/assets/index-a1.js", "/favicon.svg"):
        answer = await client.get(path, headers={"Accept": CHROME})
        assert answer.status_code == 404
        assert answer.json()["error"]["message"] == f"nothing is at {path}"


async def test_a_build_that_comes_later_is_found(client: AsyncClient, tmp_path: Path, build: Path) -> None:
    assert "make web" in (await client.get("/")).text
    build.rename(tmp_path / "not-built")
    assert (await client.get("/")).text == PAGE


def test_the_setting_goes_before_the_packages_own(monkeypatch: pytest.MonkeyPatch, build: Path) -> None:
    assert web.web_build(Settings())._folder == FOLDER / "web"
    monkeypatch.setenv("SANDTABLE_WEB", str(build))
    assert web.web_build(Settings())._folder == build


@pytest.mark.needs("chat_ui")
async def test_the_stock_chat_interface_is_served_the_same_way(client: AsyncClient) -> None:
    assert stock.BUILD.has("index.html")
    answer = await client.get("/chat/logo.svg")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")
    assert answer.headers["content-security-policy"] == stock.POLICY
    for path in ("/chat/.made-from", "/chat/..%2fweb%2findex.html"):
        assert (await client.get(path)).status_code == 404
