"""Who a request is counted under, and who may say so."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from httpx import ASGITransport, AsyncClient, Response

from sandtable.server.app import create_app
from sandtable.server.callers import Caller, Callers
from sandtable.server.hosts import Refusal
from sandtable.settings import Settings
from tests.server.house import House, open_house
from tests.server.talking import listening

PROXY, OTHER_PROXY, LAN = "10.0.0.7", "10.1.2.3", "192.168.1.9"
RUN = {"dataset_id": "shop", "sql": "SELECT 1"}


def settings(**given: Any) -> Settings:
    return Settings(**{"trusted_proxies": f"{PROXY},10.1.0.0/16,fd00::/8", **given})


def caller(
    peer: str | None, *headers: tuple[str, str], path: str = "/runs", **given: Any
) -> Caller | Refusal:
    raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
    client = (peer, 1234) if peer is not None else None
    return Callers(settings(**given)).of({"type": "http", "path": path, "headers": raw, "client": client})


def said(found: Caller | Refusal) -> str | int:
    return found.status if isinstance(found, Refusal) else found.user


USER = "X-Sandtable-User"
FOR = "X-Forwarded-For"
CALLERS: dict[str, tuple[Caller | Refusal, str | int]] = {
    "this machine": (caller("127.0.0.1"), "@127.0.0.1"),
    "this machine by IPv6": (caller("::1"), "@::1"),
    "this machine, with a name": (caller("127.0.0.1", (USER, "ada")), 403),
    "this machine, with an empty name": (caller("127.0.0.1", (USER, "")), 403),
    "this machine, for another": (caller("127.0.0.1", (FOR, "1.2.3.4")), "@127.0.0.1"),
    "a proxy with a name": (caller(PROXY, (USER, "ada@example")), "ada@example"),
    "a proxy of a network": (caller(OTHER_PROXY, (USER, "ada")), "ada"),
    "a proxy by IPv4 in IPv6": (caller(f"::ffff:{PROXY}", (USER, "ada")), "ada"),
    "a proxy by IPv6": (caller("fd12::1%eth0", (USER, "ada")), "ada"),
    "a proxy, with two names": (caller(PROXY, (USER, "root"), (USER, "ada")), 422),
    "a proxy, with an address as name": (caller(PROXY, (USER, "@1.2.3.4")), 422),
    "a proxy, with an empty name": (caller(PROXY, (USER, "")), 422),
    "a proxy without a name": (caller(PROXY), f"@{PROXY}"),
    "a proxy for an address": (caller(PROXY, (FOR, LAN)), f"@{LAN}"),
    "a proxy for what a client made up": (caller(PROXY, (FOR, f"6.6.6.6, {LAN}")), f"@{LAN}"),
    "the same in several headers": (caller(PROXY, (FOR, "6.6.6.6"), (FOR, LAN)), f"@{LAN}"),
    "a proxy for a proxy": (caller(PROXY, (FOR, f"6.6.6.6, {LAN}, {OTHER_PROXY}")), f"@{LAN}"),
    "proxies alone": (caller(PROXY, (FOR, f"10.1.0.1, {OTHER_PROXY}")), "@10.1.0.1"),
    "a proxy for an address with a port": (caller(PROXY, (FOR, f"{LAN}:4711")), f"@{LAN}"),
    "a proxy for IPv6": (caller(PROXY, (FOR, "2001:db8::7")), "@2001:db8::7"),
    "a proxy for IPv6 with a port": (caller(PROXY, (FOR, "[2001:db8::7]:4711")), "@2001:db8::7"),
    "a proxy for an unknown client": (caller(PROXY, (FOR, "unknown")), f"@{PROXY}"),
    "a proxy for nonsense behind a proxy": (caller(PROXY, (FOR, f"<b>, {OTHER_PROXY}")), f"@{OTHER_PROXY}"),
    "a proxy for an empty list": (caller(PROXY, (FOR, "")), f"@{PROXY}"),
    "a proxy with two hosts": (caller(PROXY, ("X-Forwarded-Host", "a, b")), 422),
    "past the proxy": (caller(LAN), 403),
    "past the proxy, with a name": (caller(LAN, (USER, "ada")), 403),
    "past the proxy, for a name": (caller(LAN, (FOR, PROXY)), 403),
    "no address": (caller(None), 403),
    "everybody may": (caller(LAN, insecure=True), f"@{LAN}"),
    "everybody may, but say no names": (caller(LAN, (USER, "ada"), insecure=True), 403),
    "a probe": (caller(LAN, path="/readyz"), f"@{LAN}"),
    "a probe with a name": (caller(LAN, (USER, "ada"), path="/readyz"), 403),
}


@pytest.mark.parametrize(("found", "expected"), CALLERS.values(), ids=CALLERS)
def test_callers(found: Caller | Refusal, expected: str | int) -> None:
    assert said(found) == expected


@pytest.mark.parametrize(
    ("peer", "scheme", "expected"),
    [
        (PROXY, "https", "https"),
        (PROXY, "https, http", "https"),
        (PROXY, "gopher", None),
        ("127.0.0.1", "https", None),
    ],
)
def test_only_a_trusted_proxy_says_by_which_scheme_it_was_asked(
    peer: str, scheme: str, expected: str | None
) -> None:
    found = caller(peer, ("X-Forwarded-Proto", scheme))
    assert isinstance(found, Caller) and found.scheme == expected


Opened = tuple[House, AsyncClient]


@asynccontextmanager
async def opened(home: Path, peer: str, **given: Any) -> AsyncIterator[Opened]:
    chosen = Settings(home=home, web=home / "not-built", **given)
    async with open_house(home, chosen) as house:
        transport = ASGITransport(create_app(house), client=(peer, 1234))  # pyright: ignore[reportArgumentType] - a double of Parts
        async with AsyncClient(transport=transport, base_url="http://localhost") as client:
            yield house, client


@pytest_asyncio.fixture
async def proxy(tmp_path: Path) -> AsyncIterator[Opened]:
    async with opened(tmp_path, PROXY, trusted_proxies=PROXY) as found:
        yield found


async def _user_of(house: House, answer: Response) -> str:
    assert answer.status_code == 202, answer.text
    return (await house.runs.get(answer.json()["run_id"])).request.user


async def test_the_queue_knows_who_asks(proxy: Opened) -> None:
    house, client = proxy
    named = await client.post("/runs", json=RUN, headers={USER: "ada@example"})
    assert await _user_of(house, named) == "ada@example"
    assert await _user_of(house, await client.post("/runs", json=RUN)) == f"@{PROXY}"
    forwarded = await client.post("/runs", json=RUN, headers={FOR: "1.2.3.4"})
    assert await _user_of(house, forwarded) == "@1.2.3.4"


async def test_runs_are_found_by_their_user(proxy: Opened) -> None:
    _, client = proxy
    await client.post("/runs?wait=10", json=RUN, headers={USER: "ada"})
    await client.post("/runs?wait=10", json={**RUN, "sql": "SELECT 2"}, headers={USER: "bob"})
    found = (await client.get("/runs", headers={USER: "ada"})).json()["runs"]
    assert [run["sql"] for run in found] == ["SELECT 1"]
    found = (await client.get("/runs", params={"user": "ada"}, headers={USER: "bob"})).json()["runs"]
    assert found == []


@pytest.mark.parametrize("name", ["", "@127.0.0.1", "a b", "x" * 65, "ü"], ids=repr)
async def test_a_user_name_is_bounded_and_plain(proxy: Opened, name: str) -> None:
    _, client = proxy
    answer = await client.post("/runs", json=RUN, headers={b"X-Sandtable-User": name.encode("latin-1")})
    assert answer.status_code == 422
    assert USER in answer.json()["error"]["message"]


def _post(client: AsyncClient, **headers: str) -> Any:
    return client.post("/runs", json=RUN, headers=headers)


REFUSED: dict[str, tuple[str, dict[str, Any], Callable[[AsyncClient], Any], str]] = {
    "a name from this machine": (
        "127.0.0.1",
        {},
        lambda client: _post(client, **{USER: "ada"}),
        "SANDTABLE_TRUSTED_PROXIES=127.0.0.1",
    ),
    "another machine": (LAN, {}, _post, "SANDTABLE_INSECURE=true"),
    "another machine, past the proxy": (LAN, {"trusted_proxies": PROXY}, _post, "the address of the proxy"),
}


@pytest.mark.parametrize(("peer", "given", "ask", "advice"), REFUSED.values(), ids=REFUSED)
async def test_who_is_refused_is_told_what_to_do(
    tmp_path: Path, peer: str, given: dict[str, Any], ask: Callable[[AsyncClient], Any], advice: str
) -> None:
    async with opened(tmp_path, peer, **given) as (house, client):
        answer = await ask(client)
        error = answer.json()["error"]
        assert (answer.status_code, error["code"]) == (403, "UNAUTHORIZED")
        assert advice in error["suggestion"]
        assert await house.runs.list() == []
        assert (await client.get("/healthz")).status_code == 200


async def test_everybody_is_served_where_that_was_chosen(tmp_path: Path) -> None:
    async with opened(tmp_path, LAN, insecure=True) as (house, client):
        assert await _user_of(house, await _post(client)) == f"@{LAN}"


async def test_over_a_socket_nothing_is_taken_from_this_machine(tmp_path: Path) -> None:
    """uvicorn by itself takes X-Forwarded-For from every process that connects by loopback."""
    async with AsyncExitStack() as stack:
        house = await stack.enter_async_context(open_house(tmp_path))
        url = await stack.enter_async_context(listening(create_app(house)))  # pyright: ignore[reportArgumentType] - a double of Parts
        client = await stack.enter_async_context(AsyncClient(base_url=url, timeout=20))
        answer = await client.post("/runs", json=RUN, headers={FOR: "1.2.3.4", "X-Forwarded-Proto": "https"})
        assert await _user_of(house, answer) == "@127.0.0.1"
