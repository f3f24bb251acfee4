"""People, teams, keys and sessions: the same in both databases."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from sandtable.accounts.accounts import Accounts
from sandtable.accounts.keys import MOST
from sandtable.accounts.random_tokens import digest_of
from sandtable.accounts.schema import FILE, MIGRATIONS
from sandtable.errors import InvalidInput, NotFound
from sandtable.store.sqlite.file import SqliteFile
from tests.accounts.conftest import LIFETIME, Clock, MakeTables


async def add(accounts: Accounts, name: str, **given: Any) -> None:
    await accounts.people.add(name, accounts.now(), **given)


async def test_people_are_added_listed_and_found(accounts: Accounts) -> None:
    assert await accounts.people.is_empty()
    await add(accounts, "Bob")
    await add(accounts, "ada", is_admin=True, password="a hash")
    await accounts.teams.add("Research", accounts.now())
    await accounts.teams.add("sales", accounts.now())
    await accounts.teams.join("research", "ada")
    await accounts.teams.join("sales", "ada")
    ada, bob = await accounts.people.list()
    assert (ada.name, ada.is_admin, ada.has_password, ada.teams) == ("ada", True, True, {"research", "sales"})
    assert (bob.name, bob.is_admin, bob.has_password, bob.teams) == ("bob", False, False, frozenset())
    assert await accounts.people.get(" ADA ") == ada
    assert await accounts.people.find("eve") is None
    assert not await accounts.people.is_empty()
    with pytest.raises(NotFound, match="eve"):
        await accounts.people.get("eve")


@pytest.mark.parametrize(
    "name", ["", "@1.2.3.4", "a b", "x" * 65, "ü", "local", "Everyone", "a/b", "a:b", "'"]
)
async def test_names_are_bounded_and_plain(accounts: Accounts, name: str) -> None:
    with pytest.raises(InvalidInput):
        await add(accounts, name)
    assert await accounts.people.is_empty()


async def test_a_name_belongs_to_one_person_for_good(accounts: Accounts) -> None:
    await add(accounts, "ada", password="hash")
    with pytest.raises(InvalidInput, match="exists already"):
        await add(accounts, "Ada")
    _, key = await accounts.keys.add("ada", "script", ["read"], accounts.now())
    _, token = await accounts.sessions.begin("ada", accounts.now())
    await accounts.people.remove("ada", accounts.now())
    assert await accounts.of_key(key) is None and await accounts.of_session(token) is None
    assert await accounts.people.find("ada") is None and await accounts.people.is_empty()
    with pytest.raises(InvalidInput, match="was removed"):
        await add(accounts, "ada")
    await add(accounts, "ada", restore=True)
    back = await accounts.people.get("ada")
    assert not back.has_password and not back.is_admin
    assert await accounts.of_key(key) is None and await accounts.of_session(token) is None


async def test_an_identity_of_a_provider_has_one_account(accounts: Accounts) -> None:
    await add(accounts, "ada", issuer="https://a", subject="1")
    await add(accounts, "bob", issuer="https://b", subject="1")
    found = await accounts.people.by_subject("https://b", "1")
    assert found is not None and found.name == "bob"
    assert await accounts.people.by_subject("https://b", "2") is None
    with pytest.raises(InvalidInput):
        await add(accounts, "eve", issuer="https://a", subject="1")


@pytest.mark.parametrize("act", ["admin", "disable", "remove"])
async def test_the_last_administrator_stays(accounts: Accounts, act: str) -> None:
    async def take(name: str) -> None:
        if act == "admin":
            await accounts.people.set_admin(name, False)
        elif act == "disable":
            await accounts.people.disable(name)
        else:
            await accounts.people.remove(name, accounts.now())

    await add(accounts, "ada", is_admin=True)
    await add(accounts, "bob")
    await take("bob")
    with pytest.raises(InvalidInput, match="only administrator"):
        await take("ada")
    await add(accounts, "eve", is_admin=True)
    await take("ada")
    with pytest.raises(InvalidInput, match="only administrator"):
        await take("eve")


async def test_two_administrators_cannot_remove_each_other_at_once(
    accounts: Accounts, make_tables: MakeTables
) -> None:
    other = Accounts(make_tables())
    await other.open()
    try:
        for _ in range(5):
            await add(accounts, "ada", is_admin=True, restore=not await accounts.people.is_empty())
            await add(accounts, "bob", is_admin=True)
            outcomes = await asyncio.gather(
                accounts.people.set_admin("ada", False),
                other.people.set_admin("bob", False),
                return_exceptions=True,
            )
            assert sum(isinstance(each, InvalidInput) for each in outcomes) == 1, outcomes
            assert sum(person.is_admin for person in await accounts.people.list()) == 1
            await accounts.tables.change(("DELETE FROM sandtable_people", ()))
    finally:
        await other.aclose()


async def test_members_that_a_provider_states_are_replaced(accounts: Accounts) -> None:
    await add(accounts, "ada")
    await accounts.teams.add("here", accounts.now())
    assert await accounts.teams.join("here", "ada")
    assert not await accounts.teams.join("here", "ada")
    await accounts.teams.state("ada", ["x", "y", "here"], accounts.now())
    assert (await accounts.people.get("ada")).teams == {"here", "x", "y"}
    await accounts.teams.state("ada", ["y"], accounts.now())
    assert (await accounts.people.get("ada")).teams == {"here", "y"}
    assert await accounts.teams.leave("here", "ada")
    assert not await accounts.teams.leave("here", "ada")
    await accounts.teams.remove("y")
    assert (await accounts.people.get("ada")).teams == frozenset()
    assert [(team.name, team.members) for team in await accounts.teams.list()] == [("here", ()), ("x", ())]


async def test_a_key_works_until_it_is_revoked_or_expires(accounts: Accounts, clock: Clock) -> None:
    await add(accounts, "ada")
    key, token = await accounts.keys.add(
        "ada", " nightly ", ["read", "ask"], accounts.now(), accounts.now() + 100
    )
    assert token.startswith("st_") and len(token) > 40
    principal = await accounts.of_key(token)
    assert principal is not None
    assert (principal.user, principal.proof, principal.scopes) == ("ada", "key", {"read", "ask"})
    assert not principal.may("data")
    assert await accounts.of_key(token[:-1]) is None and await accounts.of_key("") is None
    [listed] = await accounts.keys.list("ada")
    assert (listed.name, listed.used_at) == ("nightly", accounts.now())
    clock.now += 99
    assert await accounts.of_key(token) is not None
    clock.now += 1
    assert await accounts.of_key(token) is None
    assert [each.id for each in await accounts.keys.list()] == [key.id]
    _, lasting = await accounts.keys.add("ada", "other", ["read"], accounts.now())
    found = (await accounts.keys.list("ada"))[-1]
    with pytest.raises(NotFound):
        await accounts.keys.revoke(found.id, "bob")
    await accounts.keys.revoke(found.id, "ada")
    assert await accounts.of_key(lasting) is None


async def test_neither_keys_nor_tokens_are_stored(accounts: Accounts) -> None:
    await add(accounts, "ada")
    _, key = await accounts.keys.add("ada", "k", ["read"], accounts.now())
    _, token = await accounts.sessions.begin("ada", accounts.now())
    stored = str(
        [await accounts.tables.rows(f"SELECT * FROM {table}") for table in
         ("sandtable_api_keys", "sandtable_sessions", "sandtable_people")]
    )  # fmt: skip
    assert key not in stored and key.removeprefix("st_") not in stored and token not in stored
    assert digest_of(key) in stored and digest_of(token) in stored


@pytest.mark.parametrize("scopes", [[], ["everything"], ["read", "root"]], ids=str)
async def test_scopes_are_known_ones(accounts: Accounts, scopes: list[str]) -> None:
    await add(accounts, "ada")
    with pytest.raises(InvalidInput):
        await accounts.keys.add("ada", "k", scopes, accounts.now())


async def test_keys_of_a_person_are_bounded(accounts: Accounts) -> None:
    await add(accounts, "ada")
    for number in range(MOST):
        await accounts.keys.add("ada", f"k{number}", ["read"], accounts.now())
    with pytest.raises(InvalidInput, match="API keys"):
        await accounts.keys.add("ada", "one more", ["read"], accounts.now())


async def test_sessions_end_by_idleness_and_by_age(accounts: Accounts, clock: Clock) -> None:
    await add(accounts, "ada")
    _, token = await accounts.sessions.begin("ada", accounts.now(), address="1.2.3.4", client="Firefox")
    clock.now += LIFETIME.idle_s
    assert await accounts.of_session(token) is None, "idle"
    _, token = await accounts.sessions.begin("ada", accounts.now())
    for _ in range(5):
        clock.now += LIFETIME.idle_s - 1
        assert await accounts.of_session(token) is not None, "used meanwhile"
    clock.now += 5
    assert await accounts.of_session(token) is None, "old"
    assert await accounts.sessions.list("ada", accounts.now()) == []


async def test_sessions_are_listed_and_ended(accounts: Accounts, clock: Clock) -> None:
    await add(accounts, "ada")
    await add(accounts, "bob")
    tokens: list[str] = []
    for _ in range(3):
        clock.now += 1
        tokens.append((await accounts.sessions.begin("ada", accounts.now()))[1])
    bobs, bobs_token = await accounts.sessions.begin("bob", accounts.now())
    newest, *others = await accounts.sessions.list("ada", accounts.now())
    with pytest.raises(NotFound):
        await accounts.sessions.end(bobs.id, "ada")
    await accounts.sessions.end(others[0].id, "ada")
    assert await accounts.sessions.end_all("ada", but=newest.id) == 1
    assert [await accounts.of_session(token) is not None for token in tokens] == [False, False, True]
    assert await accounts.of_session(bobs_token) is not None
    _, instead = await accounts.sessions.begin("ada", accounts.now(), instead_of=tokens[2])
    assert await accounts.of_session(tokens[2]) is None and await accounts.of_session(instead) is not None


async def test_people_and_sessions_of_an_earlier_version_stay_as_they_were(tmp_path: Path) -> None:
    earlier = SqliteFile(tmp_path / FILE, MIGRATIONS[:1], synchronous="FULL")
    await earlier.open()
    await earlier.change(
        ("INSERT INTO sandtable_people (name, password, created_at) VALUES ('ada', 'a hash', 1)", ()),
        (
            "INSERT INTO sandtable_sessions (id, digest, person, created_at, seen_at, address, client)"
            " VALUES ('s', ?, 'ada', 1, 1, '', '')",
            (digest_of("token"),),
        ),
    )
    await earlier.aclose()
    accounts = Accounts(
        SqliteFile(tmp_path / FILE, MIGRATIONS, synchronous="FULL"), LIFETIME, clock=lambda: 2
    )
    await accounts.open()
    try:
        assert not (await accounts.people.get("ada")).must_change
        principal = await accounts.of_session("token")
        assert principal is not None and not principal.must_change
    finally:
        await accounts.aclose()
