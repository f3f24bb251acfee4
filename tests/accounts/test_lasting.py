"""Which proofs still hold, asked for many of them at once, in both databases."""

from __future__ import annotations

import pytest

from sandtable.accounts.accounts import Accounts
from sandtable.accounts.lasting import lost
from sandtable.accounts.principal import Principal
from tests.accounts.conftest import LIFETIME, Clock

DAY_S = 86_400


async def opened(accounts: Accounts) -> dict[str, Principal]:
    """Ada has a session and two keys, Bob a session; a proxy names Bob and a person without an account."""
    now = accounts.now()
    for team in ("sales", "research"):
        await accounts.teams.add(team, now)
    for name in ("ada", "bob"):
        await accounts.people.add(name, now, is_admin=True)
        await accounts.teams.join("sales", name)
    await accounts.teams.join("research", "ada")
    found: dict[str, Principal | None] = {}
    for name in ("ada", "bob"):
        signed = await accounts.begin_session(await accounts.people.get(name))
        found[f"{name}'s session"] = signed.principal
    for key, days in (("key", None), ("short key", 1)):
        until = None if days is None else now + days * DAY_S
        _, token = await accounts.keys.add("ada", key, ["ask", "admin"], now, until)
        found[f"ada's {key}"] = await accounts.of_key(token)
    for name in ("bob", "carl"):
        found[f"{name} by proxy"] = Principal(name, "proxy")
    return {name: principal for name, principal in found.items() if principal is not None}


@pytest.fixture
def listened(accounts: Accounts) -> list[str]:
    heard: list[str] = []
    accounts.tables.listeners.append(lambda: heard.append("changed"))
    return heard


async def gone(accounts: Accounts, were: dict[str, Principal]) -> set[str]:
    ended = await lost(accounts, were.values())
    return {name for name, principal in were.items() if principal in ended}


async def test_nothing_is_lost_while_nothing_changes(accounts: Accounts) -> None:
    were = await opened(accounts)
    assert len(were) == 6 and await gone(accounts, were) == set()
    assert await lost(accounts, []) == set()
    assert await lost(accounts, [Principal("@127.0.0.1")]) == set()


async def test_what_is_taken_away_is_lost(accounts: Accounts, listened: list[str]) -> None:
    were = await opened(accounts)
    before = len(listened)
    await accounts.keys.revoke(were["ada's key"].proof_id)
    assert len(listened) > before
    assert await gone(accounts, were) == {"ada's key"}
    await accounts.sessions.end_all("ada")
    assert await gone(accounts, were) == {"ada's key", "ada's session"}
    await accounts.people.disable("bob")
    assert await gone(accounts, were) == {"ada's key", "ada's session", "bob's session", "bob by proxy"}
    await accounts.people.enable("bob")
    await accounts.people.remove("bob", accounts.now())
    assert "bob's session" in await gone(accounts, were)


async def test_time_takes_away(accounts: Accounts, clock: Clock) -> None:
    were = await opened(accounts)
    clock.now += LIFETIME.idle_s + 1
    assert await gone(accounts, were) == {"ada's session", "bob's session"}
    clock.now += DAY_S
    assert await gone(accounts, were) == {"ada's session", "bob's session", "ada's short key"}


async def test_fewer_rights_are_a_loss_and_more_are_not(accounts: Accounts) -> None:
    were = await opened(accounts)
    await accounts.teams.join("research", "bob")
    assert await gone(accounts, were) == set()
    await accounts.teams.leave("research", "ada")
    assert await gone(accounts, were) == {"ada's session", "ada's key", "ada's short key"}
    await accounts.people.set_admin("bob", False)
    assert "bob's session" in await gone(accounts, were)
