"""A password that an administrator made: until its user changes it, nothing else is possible."""

from __future__ import annotations

from typing import Any

import pytest
from httpx import AsyncClient

from tests.own_logs import LogLines
from tests.server.accounts.conftest import OWN, PASSWORD, Guarded, sign_in

GIVEN = "given by an administrator"
BETTER = "another good one"
PAGE = {"Accept": "text/html"}


async def added(guarded: Guarded, **body: Any) -> dict[str, Any]:
    async with await guarded.browser("ada") as ada:
        answer = await ada.post("/users", json={"name": "eve", **body})
    assert answer.status_code == 201, answer.text
    return answer.json()


async def state(client: AsyncClient) -> tuple[bool, int]:
    me = await client.get("/me")
    return me.json()["must_change_password"], (await client.get("/datasets")).status_code


async def test_only_changing_it_is_possible_until_it_is_changed(
    guarded: Guarded, log_lines: LogLines
) -> None:
    made = await added(guarded, make_password=True)
    assert made["must_change_password"] is True
    async with guarded.client(**OWN) as eve:
        signed = await sign_in(eve, "eve", made["password"])
        assert signed.status_code == 200 and signed.json()["must_change_password"] is True
        assert await state(eve) == (True, 403)
        refused = (await eve.post("/runs", json={"dataset_id": "shop", "sql": "SELECT 1"})).json()["error"]
        assert refused["code"] == "UNAUTHORIZED" and refused["details"] == {"must_change_password": True}
        assert "PUT /me/password" in refused["suggestion"]
        for method, path in (
            ("POST", "/me/keys"),
            ("GET", "/me/sessions"),
            ("GET", "/users"),
            ("GET", "/nowhere"),
        ):
            assert (await eve.request(method, path)).status_code == 403, path
        again = await eve.put("/me/password", json={"old": made["password"], "new": made["password"]})
        assert (again.status_code, again.json()["error"]["details"]["field"]) == (422, "new")
        assert await state(eve) == (True, 403)
        changed = await eve.put("/me/password", json={"old": made["password"], "new": BETTER})
        assert changed.status_code == 204
        assert await state(eve) == (False, 200)
        assert (await sign_in(eve, "eve", BETTER)).json()["must_change_password"] is False
    assert BETTER not in str(log_lines()) and made["password"] not in str(log_lines())


async def test_a_browser_is_led_to_the_page_and_back(guarded: Guarded) -> None:
    await added(guarded, password=GIVEN)
    async with guarded.client(**OWN) as eve:
        await sign_in(eve, "eve", GIVEN)
        for path in ("/", "/account", "/chat/", "/t/some-thread?x=1"):
            led = await eve.get(path, headers=PAGE)
            assert led.status_code == 303 and led.headers["location"].startswith("/login/password?next="), (
                path
            )
        page = await eve.get(led.headers["location"], headers=PAGE)
        assert page.status_code == 200 and 'data-after="/t/some-thread?x=1"' in page.text
        assert "An administrator made your password" in page.text
        # From a link on another site, too.
        outside = {
            **PAGE,
            "Sec-Fetch-Site": "cross-site",
            "Sec-Fetch-Mode": "navigate",
            "Sec-Fetch-Dest": "document",
        }
        assert (await eve.get("/login/password", headers=outside)).status_code == 200
        assert (await eve.get("/login/password.js")).status_code == 200
        assert (await eve.post("/logout")).status_code == 204
        assert (await eve.get("/login/password", headers=PAGE)).headers["location"].startswith("/login?")


@pytest.mark.parametrize("wanted", ["https://evil.example/", "//evil.example", '/"><script>x</script>'])
async def test_the_page_leads_nowhere_else(guarded: Guarded, wanted: str) -> None:
    async with await guarded.browser("bob") as bob:
        page = await bob.get("/login/password", params={"next": wanted}, headers=PAGE)
    after = page.text.split('data-after="')[1].split('"')[0]
    assert after == "/" or after.startswith("/&quot;&gt;&lt;script&gt;")
    assert "An administrator made" not in page.text


async def test_a_reset_asks_for_it_too_and_ends_what_was_open(guarded: Guarded) -> None:
    async with await guarded.browser("bob") as bob, await guarded.browser("ada") as ada:
        assert await state(bob) == (False, 200)
        reset = await ada.patch("/users/bob", json={"password": GIVEN})
        assert reset.json()["must_change_password"] is True
        assert (await bob.get("/me")).status_code == 401
        await sign_in(bob, "bob", GIVEN)
        assert await state(bob) == (True, 403)
        # What is not about the password leaves it as it is.
        assert (await ada.patch("/users/bob", json={"admin": True})).json()["must_change_password"] is True
        listed = (await ada.get("/users")).json()["users"]
        assert {user["name"]: user["must_change_password"] for user in listed} == {"ada": False, "bob": True}


async def test_an_administrator_can_leave_it_out(guarded: Guarded) -> None:
    assert (await added(guarded, password=GIVEN, keep_password=True))["must_change_password"] is False
    async with await guarded.browser("ada") as ada:
        kept = await ada.patch("/users/bob", json={"password": GIVEN, "keep_password": True})
        assert kept.json()["must_change_password"] is False
        without = await ada.post("/users", json={"name": "carl"})
        assert without.json()["must_change_password"] is False
    for name in ("eve", "bob"):
        async with guarded.client(**OWN) as client:
            await sign_in(client, name, GIVEN)
            assert await state(client) == (False, 200)


async def test_keys_and_the_provider_are_not_affected(guarded: Guarded) -> None:
    await added(guarded, password=GIVEN)
    async with await guarded.key("eve", "read") as program:
        assert await state(program) == (False, 200)
    eve = await guarded.accounts.people.get("eve")
    signed = await guarded.accounts.begin_session(eve, by_provider=True)
    async with guarded.client(**OWN, Cookie=f"sandtable_session={signed.token}") as by_provider:
        assert await state(by_provider) == (False, 200)


async def test_a_better_hash_is_not_a_change(guarded: Guarded) -> None:
    await guarded.accounts.people.set_password(
        "bob", await guarded.accounts.passwords.hash(PASSWORD), must_change=True
    )
    stored = await guarded.accounts.people.password_of("bob")
    assert stored is not None
    await guarded.accounts.people.rehash("bob", "another hash", stored)
    await guarded.accounts.people.rehash("bob", "a late one", stored)
    assert await guarded.accounts.people.password_of("bob") == "another hash"
    assert (await guarded.accounts.people.get("bob")).must_change
