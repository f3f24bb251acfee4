"""Who is let in: every proof, every route, and requests that other pages make a browser send."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from sandtable.server.permissions import NEEDS, Need
from sandtable.settings import Settings
from tests.own_logs import LogLines
from tests.server.accounts.conftest import (
    LAN,
    OWN,
    PASSWORD,
    Guarded,
    guarded_by,
    opened_accounts,
    sign_in,
)
from tests.server.talking import served

RUN = {"dataset_id": "shop", "sql": "SELECT 1"}
PAGE = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8", "Sec-Fetch-Mode": "navigate"}


def _requests(*needs: Need) -> list[tuple[str, str]]:
    """Method and an address of each line of the table; `*` needs nothing that exists."""
    return [
        (line.partition(" ")[0], re.sub(r"\{[^}]*\}", "none", line.partition(" ")[2]))
        for need in needs
        for line in NEEDS[need]
        if not line.startswith("WS ")
    ]


CLOSED = _requests("any", "person", "metrics", "read", "ask", "data", "share", "admin")


async def test_without_proof_nothing_but_the_open_paths_is_answered(guarded: Guarded) -> None:
    async with guarded.client() as client:
        for method, path in [*CLOSED, ("GET", "/nothing"), ("POST", "/nothing"), ("GET", "/runs/")]:
            answer = await client.request(method, path)
            assert answer.status_code == 401, (method, path, answer.text)
            assert answer.headers["www-authenticate"].startswith("Bearer")
            if path.startswith("/a2a"):
                assert "/login" in answer.json()["error"]["message"]
            elif method != "HEAD":
                error = answer.json()["error"]
                assert error["code"] == "UNAUTHORIZED" and "/login" in error["suggestion"]
        assert await guarded.house.runs.list() == []
        for path in ("/healthz", "/readyz", "/login", "/login/page.js"):
            assert (await client.get(path)).status_code == 200, path
    async with guarded.client("127.0.0.1") as client:
        assert (await client.get("/runs")).status_code == 401, "this machine is no exception"


async def test_a_page_leads_to_the_one_to_sign_in_on(guarded: Guarded) -> None:
    async with guarded.client(**PAGE) as client:
        answer = await client.get("/runs?status=failed&text=a%26b")
        assert answer.status_code == 303
        assert answer.headers["location"] == "/login?next=%2Fruns%3Fstatus%3Dfailed%26text%3Da%2526b"
        page = await client.get(answer.headers["location"])
        assert 'data-after="/runs?status=failed&amp;text=a%26b"' in page.text
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert "unsafe" not in page.headers["content-security-policy"]
    async with guarded.client(Accept="application/json") as client:
        assert (await client.get("/runs")).status_code == 401


@pytest.mark.parametrize(
    "wanted",
    ["//evil.example", "https://evil.example", "/\\evil.example", "\\/evil", "", "javascript:alert(1)",
     "/a\nb", '/"><script>', "/login?next=/login"],
)  # fmt: skip
async def test_only_own_pages_are_opened_after_signing_in(guarded: Guarded, wanted: str) -> None:
    async with guarded.client() as client:
        page = (await client.get("/login", params={"next": wanted})).text
    [after] = re.findall(r'data-after="([^"]*)"', page)
    assert after == ("/&quot;&gt;&lt;script&gt;" if "script>" in wanted else "/")


async def test_a_browser_signs_in_and_out(guarded: Guarded, log_lines: LogLines) -> None:
    async with guarded.client(**OWN) as client:
        wrong = await sign_in(client, "bob", "wrong password")
        assert (wrong.status_code, wrong.json()["error"]["code"]) == (401, "UNAUTHORIZED")
        assert "set-cookie" not in wrong.headers
        answer = await sign_in(client, "Bob")
        cookie = answer.headers["set-cookie"]
        for part in ("sandtable_session=", "HttpOnly", "SameSite=lax", "Path=/"):
            assert part in cookie
        assert "Domain" not in cookie and "Secure" not in cookie
        me = (await client.get("/me")).json()
        assert me == {
            "name": "bob", "proof": "session", "admin": False, "teams": [], "signs_in": True,
            "scopes": ["admin", "ask", "data", "read", "share"], "has_password": True,
            "must_change_password": False,
        }  # fmt: skip
        answer = await client.post("/runs?wait=10", json=RUN)
        assert answer.status_code == 200, answer.text
        assert (await guarded.house.runs.get(answer.json()["run_id"])).request.user == "bob"
        stolen = dict(client.cookies)
        assert (await client.post("/logout")).status_code == 204
        assert (await client.get("/me")).status_code == 401
        client.cookies.update(stolen)
        assert (await client.get("/me")).status_code == 401, "it ended on the server"
    lines = [line for line in log_lines() if line["event"] == "audit"]
    assert [line["act"] for line in lines] == ["sign_in", "sign_in", "sign_out"]
    assert PASSWORD not in json.dumps(log_lines()) and stolen["sandtable_session"] not in json.dumps(
        log_lines()
    )


async def test_signing_in_again_gives_another_session(guarded: Guarded) -> None:
    async with await guarded.browser("bob") as client:
        first = client.cookies["sandtable_session"]
        await sign_in(client, "bob")
        assert client.cookies["sandtable_session"] != first
        async with guarded.client(Cookie=f"sandtable_session={first}") as other:
            assert (await other.get("/me")).status_code == 401
        async with guarded.client(**OWN, Cookie="sandtable_session=chosen-by-another") as other:
            answer = await sign_in(other, "bob")
            assert "chosen-by-another" not in answer.headers["set-cookie"]


async def test_over_tls_the_cookie_is_secure_and_of_this_host_alone(tmp_path: Path) -> None:
    async with guarded_by(tmp_path, trusted_proxies="10.0.0.7") as server:
        tls = {"X-Forwarded-Proto": "https"}
        async with server.client("10.0.0.7", **OWN, **tls) as client:
            answer = await sign_in(client, "bob")
            cookie = answer.headers["set-cookie"]
            assert cookie.startswith("__Host-sandtable_session=") and "Secure" in cookie
            token = cookie.partition("=")[2].partition(";")[0]
        for name, status in (("__Host-sandtable_session", 200), ("sandtable_session", 401)):
            async with server.client("10.0.0.7", **tls, Cookie=f"{name}={token}") as client:
                assert (await client.get("/me")).status_code == status, name


FORGED: dict[str, tuple[dict[str, str], int]] = {
    "the web interface": (OWN, 202),
    "the web interface, old browser": ({"Origin": "http://localhost", "X-Sandtable-CSRF": "1"}, 202),
    "no origin": ({"X-Sandtable-CSRF": "1"}, 403),
    "typed into the address bar": ({"Sec-Fetch-Site": "none", "X-Sandtable-CSRF": "1"}, 403),
    "no header": ({"Sec-Fetch-Site": "same-origin"}, 403),
    "another site": ({"Sec-Fetch-Site": "cross-site", "X-Sandtable-CSRF": "1"}, 403),
    "another host of the domain": ({"Sec-Fetch-Site": "same-site", "X-Sandtable-CSRF": "1"}, 403),
    "another origin": ({"Origin": "http://evil.example", "X-Sandtable-CSRF": "1"}, 403),
    "a page without an origin": ({"Origin": "null", "X-Sandtable-CSRF": "1"}, 403),
    "another port": ({"Origin": "http://localhost:81", "X-Sandtable-CSRF": "1"}, 403),
    "two origins": ({"Origin": "http://localhost, http://localhost", "X-Sandtable-CSRF": "1"}, 403),
}


@pytest.mark.parametrize(("headers", "status"), FORGED.values(), ids=FORGED)
async def test_a_cookie_alone_changes_nothing(guarded: Guarded, headers: dict[str, str], status: int) -> None:
    async with await guarded.browser("bob") as client:
        cookie = f"sandtable_session={client.cookies['sandtable_session']}"
    async with guarded.client(**headers, Cookie=cookie) as client:
        assert (await client.post("/runs", json=RUN)).status_code == status
    async with guarded.client(Cookie=cookie) as client:
        assert (await client.get("/runs")).status_code == 200


async def test_the_stock_chat_needs_its_origin_only(guarded: Guarded) -> None:
    """Its build cannot be changed to send a header."""
    async with await guarded.browser("bob") as client:
        cookie = f"sandtable_session={client.cookies['sandtable_session']}"
    for headers, status in (({"Origin": "http://localhost"}, 200), ({}, 403)):
        async with guarded.client(**headers, Cookie=cookie) as client:
            assert (await client.post("/langgraph/assistants/search", json={})).status_code == status


async def test_a_key_needs_neither_origin_nor_header(guarded: Guarded, log_lines: LogLines) -> None:
    async with await guarded.key("bob", "ask", "read") as client:
        answer = await client.post("/runs?wait=10", json=RUN)
        assert answer.status_code == 200
        assert (await guarded.house.runs.get(answer.json()["run_id"])).request.user == "bob"
        me = (await client.get("/me")).json()
        assert (me["name"], me["proof"], me["scopes"]) == ("bob", "key", ["ask", "read"])
        assert (await client.get("/metrics")).status_code == 200
    [key] = await guarded.accounts.keys.list("bob")
    assert key.used_at == guarded.accounts.now()


BEARERS = {
    "unknown": "Bearer st_unknown",
    "empty": "Bearer ",
    "other scheme": "Basic Ym9iOmJvYg==",
    "no scheme": "st_x",
    "long": "Bearer st_" + "x" * 4000,
    "not ascii": "Bearer \xff\xfe",
}


@pytest.mark.parametrize("given", BEARERS.values(), ids=BEARERS)
async def test_what_is_no_key_is_refused_also_with_a_good_cookie(guarded: Guarded, given: str) -> None:
    async with await guarded.browser("bob") as client:
        answer = await client.get("/me", headers={b"Authorization": given.encode("latin-1")})
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "UNAUTHORIZED")


async def test_keys_do_what_their_scopes_say_on_every_route(guarded: Guarded) -> None:
    """The whole table: a key with one scope is refused by every line of the others, before the application."""
    scoped: tuple[Need, ...] = ("read", "ask", "data", "admin")
    for own in scoped:
        others: list[Need] = [need for need in scoped if need != own or need == "admin"]
        async with await guarded.key("bob", own) as client:
            for method, path in _requests(*others, "person"):
                answer = await client.request(method, path)
                assert answer.status_code == 403, (own, method, path, answer.text)
    async with await guarded.key("ada", "read") as client:
        assert (await client.get("/users")).status_code == 403
    async with await guarded.key("ada", "admin") as client:
        assert (await client.get("/users")).status_code == 200
        assert (await client.get("/runs")).status_code == 403
        for method, path in _requests("person"):
            assert (await client.request(method, path)).status_code == 403, (method, path)


async def test_what_is_not_in_the_table_does_not_exist(guarded: Guarded) -> None:
    async def hidden() -> dict[str, str]:
        return {"secret": "yes"}

    guarded.app.add_api_route("/hidden", hidden, methods=["GET", "POST"])
    async with await guarded.browser("ada") as client:
        for method in ("GET", "POST"):
            answer = await client.request(method, "/hidden")
            assert (answer.status_code, answer.json()["error"]["code"]) == (404, "NOT_FOUND")


async def test_a_disabled_user_is_out_at_once(guarded: Guarded) -> None:
    async with await guarded.browser("bob") as browser, await guarded.key("bob", "read") as key:
        assert (await key.get("/runs")).status_code == 200
        await guarded.accounts.people.disable("bob")
        for client in (browser, key):
            assert (await client.get("/runs")).status_code == 401


async def test_attempts_are_limited_per_address(guarded: Guarded) -> None:
    async with guarded.client(**OWN) as client:
        statuses = [(await sign_in(client, f"user{n}", "wrong password")).status_code for n in range(21)]
        assert statuses == [401] * 20 + [429]
        answer = await sign_in(client, "bob")
        assert answer.status_code == 429 and int(answer.headers["retry-after"]) >= 1
        assert answer.json()["error"]["code"] == "UNAUTHORIZED"
    async with guarded.client("192.168.1.10", **OWN) as client:
        assert (await sign_in(client, "bob")).status_code == 200


async def test_a_trusted_proxy_names_users_only_where_that_was_chosen(tmp_path: Path) -> None:
    named = {"X-Sandtable-User": "bob"}
    async with guarded_by(tmp_path / "a", trusted_proxies="10.0.0.7") as server:
        async with server.client("10.0.0.7", **named) as client:
            answer = await client.get("/me")
            assert answer.status_code == 403 and "PROXY_NAMES_USERS" in answer.json()["error"]["suggestion"]
        async with server.client("10.0.0.7", **OWN) as client:
            assert (await client.get("/me")).status_code == 401
            assert (await sign_in(client, "bob")).status_code == 200
    chosen: dict[str, Any] = {"trusted_proxies": "10.0.0.7", "proxy_names_users": True, "admins": "eve"}
    async with guarded_by(tmp_path / "b", **chosen) as server:
        async with server.client("10.0.0.7") as client:
            for name, admin in (("bob", False), ("Ada", True), ("eve", True), ("carl", False)):
                me = (await client.get("/me", headers={"X-Sandtable-User": name})).json()
                assert (me["name"], me["proof"], me["admin"]) == (name.lower(), "proxy", admin)
            await server.accounts.people.disable("bob")
            assert (await client.get("/me", headers=named)).status_code == 403
        async with server.client(LAN, **named) as client:
            assert (await client.get("/me")).status_code == 403


async def test_without_accounts_everybody_is_served_alike(tmp_path: Path) -> None:
    from tests.server.test_callers import opened

    async with opened(tmp_path, "127.0.0.1") as (_, client):
        me = (await client.get("/me")).json()
        assert (me["name"], me["proof"], me["admin"], me["signs_in"]) == ("@127.0.0.1", "none", True, False)
        # So the web interface offers everything to change, and nothing to share.
        assert not (await client.get("/shares")).json()["people"]
        assert (await client.post("/login", json={"name": "a", "password": "b"})).status_code == 404
        for path in ("/users", "/me/keys", "/login"):
            answer = await client.get(path)
            assert (answer.status_code, answer.json()["error"]["code"]) == (404, "NOT_FOUND")
    async with opened(tmp_path, LAN, insecure=True) as (_, client):
        assert not (await client.get("/me")).json()["admin"]
        assert (await client.get("/users")).status_code == 403


async def test_a_websocket_needs_a_proof_and_its_own_page(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, accounts="on")
    async with opened_accounts(tmp_path) as accounts, served(tmp_path, settings, accounts=accounts) as server:
        _, key = await accounts.keys.add("bob", "k", ["ask"], accounts.now())
        _, reader = await accounts.keys.add("bob", "k", ["read"], accounts.now())
        _, session = await accounts.sessions.begin("bob", accounts.now())
        bearer = {"Authorization": f"Bearer {key}"}
        asked = await server.client.post(
            "/v2/query", json={"query": "hello", "dataset_name": "shop"}, headers=bearer
        )
        assert asked.status_code in (200, 202), asked.text
        url, cookie = asked.json()["websocket_url"], {"Cookie": f"sandtable_session={session}"}
        for headers in (bearer, {**cookie, "Origin": server.url}):
            async with connect(url, additional_headers=headers) as socket:
                assert json.loads(await socket.recv())["seq"]
        refused = (
            ({}, 401),
            ({"Authorization": "Bearer st_no"}, 401),
            ({"Authorization": f"Bearer {reader}"}, 403),
            (cookie, 403),
            ({**cookie, "Origin": "http://evil.example"}, 403),
        )
        for headers, status in refused:
            with pytest.raises(InvalidStatus) as answer:
                async with connect(url, additional_headers=headers):
                    pass
            assert answer.value.response.status_code == status, headers
