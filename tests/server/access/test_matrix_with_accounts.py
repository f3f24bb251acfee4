"""The matrix where people have accounts: every route × sessions, API keys, narrow keys, and what proves nothing."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from sandtable.accounts.accounts import Accounts
from sandtable.server.permissions import NEEDS
from tests.accounts.conftest import LIFETIME
from tests.server.access.identities import (
    ADMIN_KEY,
    AFTER_SHARING,
    BEFORE_SHARING,
    COOKIES,
    NARROW,
    PLAIN_KEY,
    REFUSED_ONES,
    SHARED,
    TO_EDIT,
    WITHOUT_PROOF,
    Identity,
    needs_of,
)
from tests.server.access.judging import NO_CATALOG, leaks, sent, tried
from tests.server.access.matrix import ALLOWED, CASES, Case
from tests.server.access.world import World, key_of, session_of, sign_in, with_accounts
from tests.server.accounts.conftest import OWN

pytestmark = pytest.mark.asyncio(loop_scope="module")

Peopled = tuple[World, Accounts]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def peopled(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Peopled]:
    async with with_accounts(tmp_path_factory.mktemp("accounts")) as (world, accounts):
        for each in NARROW:
            world.people[each.name] = await key_of(accounts, "anna", *each.scopes.split())
        world.people[PLAIN_KEY.name] = await key_of(accounts, "olga", *PLAIN_KEY.scopes.split())
        world.people[ADMIN_KEY.name] = await key_of(accounts, "olga", "admin")
        alone, of_our_page = COOKIES
        world.people[alone.name] = await session_of(accounts, "anna") | {"X-Sandtable-CSRF": "1"}
        world.people[of_our_page.name] = await session_of(accounts, "anna") | {"Origin": "http://localhost"}
        world.people.update(await _without_proof(accounts))
        yield world, accounts


async def _without_proof(accounts: Accounts) -> dict[str, dict[str, str]]:
    """What would show everything that Anna or an administrator has, were it still good."""
    every = ("admin", "ask", "data", "read", "share")
    for name in ("eve", "mallory"):
        await accounts.people.add(name, accounts.now(), is_admin=True)
    given = (
        {},
        await key_of(accounts, "anna", *every, ended="expired"),
        await key_of(accounts, "anna", *every, ended="revoked"),
        {"Authorization": "Bearer st_unknown"},
        await key_of(accounts, "eve", *every),
        await key_of(accounts, "mallory", *every),
        await session_of(accounts, "anna", age_s=LIFETIME.whole_s) | OWN,
        await session_of(accounts, "eve") | OWN,
    )
    await accounts.people.disable("eve")
    await accounts.people.remove("mallory", accounts.now())
    return dict(zip(WITHOUT_PROOF, given, strict=True))


async def test_what_proves_nothing_is_refused_by_all_but_open_routes(peopled: Peopled) -> None:
    world, _ = peopled
    wrong: list[str] = []
    ids = {**world.things.ids, "catalog_version": NO_CATALOG}
    for who in REFUSED_ONES:
        for case in CASES:
            answer = await sent(world, case, who.name, ids)
            leaked = leaks(world, case, ids, answer)
            if (answer.status == 401) == (needs_of(case) == "open") or leaked:
                wrong.append(f"{who.name}: {case.method} {case.address(ids)}: {answer} {leaked}")
    assert not wrong, "\n".join(wrong)


async def test_pages_are_refused_too(peopled: Peopled) -> None:
    """A middleware answers them, so the application has no routes for them."""
    world, _ = peopled
    known = {re.sub(r"\{[^}]*\}", "*", case.route) for case in CASES}
    pages = [
        re.sub(r"\{[^}]*\}", "none", line).partition(" ")
        for need, lines in NEEDS.items()
        for line in lines
        if need != "open" and re.sub(r"\{[^}]*\}", "*", line) not in known
    ]
    assert len(pages) >= 8
    for who in REFUSED_ONES:
        async with world.client(who.name) as client:
            statuses = {path: (await client.request(method, path)).status_code for method, _, path in pages}
            assert set(statuses.values()) == {401}, (who.name, statuses)


async def test_what_each_gets(peopled: Peopled) -> None:
    world, _ = peopled
    wrong: list[str] = []
    for who in BEFORE_SHARING:
        wrong += [text for case in CASES for text in await _tried(peopled, case, who)]
    await world.share(recipient="team", name="sales")
    wrong += [text for case in CASES for text in await _tried(peopled, case, SHARED)]
    await world.let_edit("sales")
    for case in CASES:
        if "dataset" in case.rule:
            wrong += await _tried(peopled, case, TO_EDIT)
    for who in AFTER_SHARING:
        for case in CASES:
            wrong += await _tried(peopled, case, who)
            if case.consumes and who.expects(case) == ALLOWED:
                await world.make()
    assert not wrong, "\n".join(wrong)


async def _tried(peopled: Peopled, case: Case, who: Identity) -> list[str]:
    world, accounts = peopled
    found = await tried(world, case, who.name, who.expects(case), outsider=who.outsider)
    if case.route == "POST /logout":
        await sign_in(world, accounts)
    return found
