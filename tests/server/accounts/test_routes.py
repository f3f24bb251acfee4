"""One's own account, and what administrators do with those of others."""

from __future__ import annotations

import pytest

from sandtable.accounts.shares import Thing
from tests.own_logs import LogLines
from tests.server.accounts.conftest import PASSWORD, Guarded, sign_in

BETTER = "another good one"


async def test_own_keys_are_made_shown_once_and_revoked(guarded: Guarded) -> None:
    async with await guarded.browser("bob") as client:
        made = await client.post("/me/keys", json={"name": "nightly", "scopes": ["read"], "days": 1})
        assert made.status_code == 201, made.text
        token, key_id = made.json()["token"], made.json()["key"]["id"]
        listed = await client.get("/me/keys")
        assert [key["id"] for key in listed.json()["keys"]] == [key_id] and token not in listed.text
        async with guarded.client(Authorization=f"Bearer {token}") as program:
            assert (await program.get("/runs")).status_code == 200
            guarded.clock.now += 86_400
            assert (await program.get("/runs")).status_code == 401, "expired"
            guarded.clock.now -= 86_400
        async with await guarded.browser("ada") as other:
            assert (await other.delete(f"/me/keys/{key_id}")).status_code == 404
        assert (await client.delete(f"/me/keys/{key_id}")).status_code == 204
        async with guarded.client(Authorization=f"Bearer {token}") as program:
            assert (await program.get("/runs")).status_code == 401, "revoked"


@pytest.mark.parametrize(
    "body",
    [{"name": ""}, {"name": "x", "scopes": []}, {"name": "x", "scopes": ["root"]}, {"name": "x", "days": 0}],
)
async def test_a_key_that_cannot_be_made(guarded: Guarded, body: dict[str, object]) -> None:
    async with await guarded.browser("bob") as client:
        assert (await client.post("/me/keys", json=body)).status_code == 422
        assert (await client.get("/me/keys")).json() == {"keys": []}


async def test_changing_the_password_signs_out_elsewhere(guarded: Guarded) -> None:
    async with await guarded.browser("bob") as here, await guarded.browser("bob") as there:
        body = {"old": PASSWORD, "new": BETTER}
        for wrong, status in (("old", 401), ("new", 422)):
            refused = await here.put("/me/password", json={**body, wrong: "wrong"})
            assert refused.status_code == status
            assert refused.json()["error"]["details"]["field"] == wrong
        assert (await here.put("/me/password", json=body)).status_code == 204
        assert (await here.get("/me")).status_code == 200
        assert (await there.get("/me")).status_code == 401
        assert (await sign_in(there, "bob")).status_code == 401
        assert (await sign_in(there, "bob", BETTER)).status_code == 200


async def test_own_sessions_are_listed_and_ended(guarded: Guarded) -> None:
    async with (
        await guarded.browser("bob") as here,
        await guarded.browser("bob") as there,
        await guarded.browser("bob") as third,
    ):
        sessions = (await here.get("/me/sessions")).json()["sessions"]
        assert len(sessions) == 3 and sum(session["current"] for session in sessions) == 1
        own = next(s["id"] for s in (await there.get("/me/sessions")).json()["sessions"] if s["current"])
        assert (await here.delete(f"/me/sessions/{own}")).status_code == 204
        assert (await there.get("/me")).status_code == 401
        assert (await here.delete("/me/sessions")).status_code == 204
        assert (await third.get("/me")).status_code == 401 and (await here.get("/me")).status_code == 200


async def test_an_administrator_manages_users_and_teams(guarded: Guarded, log_lines: LogLines) -> None:
    async with await guarded.browser("ada") as ada:
        made = await ada.post("/users", json={"name": "Eve", "password": PASSWORD, "keep_password": True})
        assert (made.status_code, made.json()["name"]) == (201, "eve")
        async with await guarded.browser("eve") as eve:
            assert (await eve.get("/users")).status_code == 403
            assert (await ada.patch("/users/eve", json={"admin": True})).json()["admin"]
            assert (await eve.get("/users")).status_code == 200, "at once"
            assert (await ada.patch("/users/eve", json={"password": BETTER})).status_code == 200
            assert (await eve.get("/me")).status_code == 401
        assert (await ada.patch("/users/ada", json={"password": BETTER})).status_code == 422
        assert (await ada.patch("/users/eve", json={"admin": False, "disabled": True})).json()["disabled"]
        async with guarded.client() as client:
            assert (await sign_in(client, "eve", BETTER)).status_code == 401
        for refused in ({"admin": False}, {"disabled": True}):
            assert (await ada.patch("/users/ada", json=refused)).status_code == 422, "the last one"
        assert (await ada.delete("/users/ada")).status_code == 422
        assert (await ada.delete("/users/eve")).status_code == 204
        names = [user["name"] for user in (await ada.get("/users")).json()["users"]]
        assert names == ["ada", "bob"]
        assert (await ada.post("/users", json={"name": "eve"})).status_code == 422

        assert (await ada.post("/teams", json={"name": "research"})).status_code == 201
        assert (await ada.put("/teams/research/members/bob")).json()["members"] == ["bob"]
        async with await guarded.browser("bob") as bob:
            assert (await bob.get("/me")).json()["teams"] == ["research"]
        assert (await ada.put("/teams/none/members/bob")).status_code == 404
        assert (await ada.put("/teams/research/members/none")).status_code == 404
        assert (await ada.delete("/teams/research/members/bob")).json()["members"] == []
        shared = Thing("thread", "t1", "ada")
        await guarded.house.shares.put(shared, "team", "research", "see", "ada")
        assert (await ada.delete("/teams/research")).status_code == 204
        assert await guarded.house.shares.of(shared) == []
        assert (await ada.get("/teams")).json() == {"teams": []}
    acts = [line["act"] for line in log_lines() if line["event"] == "audit" and line["by"] == "ada"]
    assert acts == ["sign_in", "user_added", "user_changed", "user_changed", "user_changed", "user_removed",
                    "team_added", "team_joined", "team_left", "team_removed"]  # fmt: skip
    assert BETTER not in str(log_lines())


async def test_a_password_that_the_server_makes_is_shown_once(guarded: Guarded, log_lines: LogLines) -> None:
    async with await guarded.browser("ada") as ada:
        made = await ada.post("/users", json={"name": "eve", "make_password": True})
        assert made.status_code == 201, made.text
        first = made.json()["password"]
        async with guarded.client() as eve:
            assert (await sign_in(eve, "eve", first)).status_code == 200
            changed = await ada.patch("/users/eve", json={"make_password": True})
            second = changed.json()["password"]
            assert second != first and len(second) == 23
            assert (await eve.get("/me")).status_code == 401, "the session ended"
            assert (await sign_in(eve, "eve", first)).status_code == 401
            assert (await sign_in(eve, "eve", second)).status_code == 200
        assert (await ada.patch("/users/eve", json={"admin": True})).json()["password"] is None
        assert (await ada.post("/users", json={"name": "kim", "password": PASSWORD})).json()[
            "password"
        ] is None
        both = {"password": PASSWORD, "make_password": True}
        assert (await ada.patch("/users/eve", json=both)).status_code == 422
        assert (await ada.patch("/users/ada", json={"make_password": True})).status_code == 422
        listed = (await ada.get("/users")).text
    [logged, *_] = [
        line for line in log_lines() if line["event"] == "audit" and line["act"] == "user_changed"
    ]
    assert logged["changed"] == ["make_password"]
    for password in (first, second):
        assert password not in listed and password not in str(log_lines())


async def test_what_is_refused_changes_nothing(guarded: Guarded) -> None:
    async with await guarded.browser("ada") as ada, await guarded.browser("bob") as bob:
        assert (await ada.patch("/users/bob", json={"admin": True})).status_code == 200
        assert (await bob.patch("/users/ada", json={"disabled": True})).status_code == 200
        assert (await bob.patch("/users/bob", json={"admin": False})).status_code == 422, "the last one"
        key = await guarded.key("bob", "admin")
        refused = await key.patch("/users/bob", json={"disabled": True, "make_password": True})
        assert refused.status_code == 422
        assert (await bob.get("/me")).status_code == 200, "the session goes on"
        await key.aclose()
    async with guarded.client() as client:
        assert (await sign_in(client, "bob")).status_code == 200, "the password is the old one"


async def test_an_administrator_revokes_keys_and_ends_sessions(guarded: Guarded, log_lines: LogLines) -> None:
    async with (
        await guarded.browser("ada") as ada,
        await guarded.browser("ada") as elsewhere,
        await guarded.browser("bob") as bob,
        await guarded.key("bob", "read") as program,
    ):
        [key] = (await ada.get("/users/bob/keys")).json()["keys"]
        counts = {user["name"]: user["keys"] for user in (await ada.get("/users")).json()["users"]}
        assert counts == {"ada": 0, "bob": 1}
        assert (await ada.delete(f"/users/ada/keys/{key['id']}")).status_code == 404, "not that user's"
        assert (await program.get("/runs")).status_code == 200
        assert (await ada.delete(f"/users/bob/keys/{key['id']}")).status_code == 204
        assert (await program.get("/runs")).status_code == 401

        [session] = (await ada.get("/users/bob/sessions")).json()["sessions"]
        assert session["address"] and not session["current"]
        assert (await ada.delete("/users/bob/sessions")).status_code == 204
        assert (await bob.get("/me")).status_code == 401
        assert (await ada.delete("/users/ada/sessions")).status_code == 204
        assert (await elsewhere.get("/me")).status_code == 401
        assert (await ada.get("/me")).status_code == 200, "the one that asks goes on"
        for path in ("keys", "sessions"):
            assert (await ada.get(f"/users/none/{path}")).status_code == 404
    acts = [(line["act"], line.get("user")) for line in log_lines() if line["event"] == "audit"]
    assert acts[-3:] == [("key_revoked", "bob"), ("sessions_ended", "bob"), ("sessions_ended", "ada")]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "bob"}, "name"),
        ({"name": "a b"}, "name"),
        ({"name": "everyone"}, "name"),
        ({"name": "kim", "password": "short"}, "password"),
    ],
)
async def test_what_cannot_be_added_says_which_field_is_wrong(
    guarded: Guarded, body: dict[str, str], field: str
) -> None:
    async with await guarded.browser("ada") as ada:
        refused = await ada.post("/users", json=body)
        assert refused.status_code == 422
        assert refused.json()["error"]["details"]["field"] == field


async def test_the_answer_says_that_the_user_was_removed(guarded: Guarded) -> None:
    async with await guarded.browser("ada") as ada:
        assert (await ada.delete("/users/bob")).status_code == 204
        refused = (await ada.post("/users", json={"name": "bob"})).json()["error"]
        assert refused["details"] == {"field": "name", "removed": True}
        assert (await ada.post("/users", json={"name": "bob", "restore": True})).status_code == 201
