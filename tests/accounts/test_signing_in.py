"""Signing in with a password: what is refused, how often, and what is logged."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest

from sandtable.accounts.accounts import Accounts
from sandtable.accounts.attempts import FORGOTTEN_S, FREE_FOR_ADDRESS, FREE_FOR_NAME, Attempts
from sandtable.accounts.passwords import WAITING, Cost, Passwords
from sandtable.accounts.refusals import NotAllowed, NotProven, TooManyAttempts
from sandtable.errors import InvalidInput, QueueFull
from tests.accounts.conftest import CHEAP, Clock
from tests.own_logs import LogLines

GOOD, BETTER = "correct horse battery", "another good one"


async def register(accounts: Accounts, name: str = "ada", **given: Any) -> None:
    await accounts.people.add(name, accounts.now(), password=await accounts.passwords.hash(GOOD), **given)


async def test_a_person_signs_in_with_the_password(accounts: Accounts) -> None:
    await register(accounts, is_admin=True)
    signed_in = await accounts.sign_in(" ADA", GOOD)
    principal = await accounts.of_session(signed_in.token)
    assert principal == signed_in.principal
    assert principal is not None
    assert (principal.user, principal.proof, principal.is_admin, principal.sees_all) == (
        "ada",
        "session",
        True,
        True,
    )
    assert (await accounts.people.get("ada")).signed_in_at == accounts.now()


@pytest.mark.parametrize(
    ("name", "password"),
    [("ada", "wrong password"), ("ada", ""), ("eve", GOOD), ("", GOOD), ("@1.2.3.4", GOOD), ("ada\0", GOOD)],
)
async def test_all_else_is_refused_alike(accounts: Accounts, name: str, password: str) -> None:
    await register(accounts)
    with pytest.raises(NotProven) as refused:
        await accounts.sign_in(name, password)
    assert refused.value.message == "the name or the password is wrong"


async def test_who_is_disabled_or_removed_is_out_at_once(accounts: Accounts) -> None:
    await register(accounts)
    await register(accounts, "bob")
    _, key = await accounts.keys.add("ada", "k", ["read"], accounts.now())
    token = (await accounts.sign_in("ada", GOOD)).token
    await accounts.people.disable("ada")
    assert await accounts.of_session(token) is None and await accounts.of_key(key) is None
    with pytest.raises(NotProven):
        await accounts.sign_in("ada", GOOD)
    await accounts.people.enable("ada")
    assert await accounts.of_key(key) is not None
    assert await accounts.of_session(token) is None, "disabling ended the session"
    await accounts.people.remove("bob", accounts.now())
    with pytest.raises(NotProven):
        await accounts.sign_in("bob", GOOD)


async def test_the_same_work_for_names_that_do_not_exist(accounts: Accounts) -> None:
    """Counted, not timed: each attempt costs one hash."""
    await register(accounts)
    await accounts.people.add("sso", accounts.now(), issuer="https://a", subject="1")
    work: list[str] = []
    original = accounts.passwords._on_thread

    async def counting(act: Callable[..., Any], *given: str) -> Any:
        work.append(act.__name__)
        return await original(act, *given)

    with patch.object(accounts.passwords, "_on_thread", counting):
        for name in ("ada", "sso", "no-such-name", "@bad name"):
            work.clear()
            with pytest.raises(NotProven):
                await accounts.sign_in(name, "wrong password")
            assert len(work) == 1, (name, work)


async def test_a_hash_of_other_parameters_is_replaced(accounts: Accounts) -> None:
    await register(accounts)
    before = await accounts.people.password_of("ada")
    accounts.passwords = Passwords(Cost(passes=2, memory_kib=128, lanes=1))
    await accounts.sign_in("ada", GOOD)
    after = await accounts.people.password_of("ada")
    assert before and after and "m=64,t=1" in before and "m=128,t=2" in after
    await accounts.sign_in("ada", GOOD)
    assert await accounts.people.password_of("ada") == after


async def test_changing_the_password_ends_the_other_sessions(accounts: Accounts) -> None:
    await register(accounts)
    old, own = await accounts.sign_in("ada", GOOD), await accounts.sign_in("ada", GOOD)
    with pytest.raises(NotProven):
        await accounts.change_password(own.principal, "not this one", BETTER)
    with pytest.raises(InvalidInput, match="9 characters"):
        await accounts.change_password(own.principal, GOOD, "x" * 9)
    await accounts.change_password(own.principal, GOOD, BETTER)
    assert await accounts.of_session(own.token) is not None
    assert await accounts.of_session(old.token) is None
    await accounts.sign_in("ada", BETTER)
    with pytest.raises(NotProven):
        await accounts.sign_in("ada", GOOD)
    await accounts.people.add("sso", accounts.now(), issuer="https://a", subject="1")
    person = await accounts.people.get("sso")
    with pytest.raises(NotAllowed):
        await accounts.change_password((await accounts.begin_session(person)).principal, "", BETTER)


async def test_a_password_typed_in_another_form_is_the_same(accounts: Accounts) -> None:
    await accounts.people.add(
        "ada", accounts.now(), password=await accounts.passwords.hash("e\u0301t\u00e9 à Paris!")
    )
    await accounts.sign_in("ada", "\u00e9te\u0301 à Paris!")


async def test_at_most_some_hashes_wait() -> None:
    passwords = Passwords(CHEAP)
    outcomes = await asyncio.gather(
        *(passwords.verify(None, "x") for _ in range(WAITING + 3)), return_exceptions=True
    )
    assert sum(isinstance(each, QueueFull) for each in outcomes) == 3
    assert not (await passwords.verify(None, "x")).ok


async def test_the_log_says_who_and_holds_no_secret(accounts: Accounts, log_lines: LogLines) -> None:
    await register(accounts)
    signed_in = await accounts.sign_in("ada", GOOD, address="1.2.3.4")
    with pytest.raises(NotProven):
        await accounts.sign_in("ada", BETTER, address="5.6.7.8")
    lines = [line for line in log_lines() if line["event"] == "audit"]
    assert [(line["act"], line["by"], line["address"], line.get("reason")) for line in lines] == [
        ("sign_in", "ada", "1.2.3.4", None),
        ("sign_in", "ada", "5.6.7.8", "name or password"),
    ]
    for secret in (GOOD, BETTER, signed_in.token, "argon2"):
        assert secret not in json.dumps(lines)


def test_guesses_of_one_name_must_wait_longer_and_longer() -> None:
    clock = Clock()
    attempts = Attempts(clock)
    waits: list[int] = []
    for number in range(FREE_FOR_NAME + 4):
        clock.now += waits[-1] if waits else 0
        attempts.begin("ada", f"10.0.0.{number}")
        with_wait = pytest.raises(TooManyAttempts) if number + 1 >= FREE_FOR_NAME else None
        if with_wait is None:
            waits.append(0)
            continue
        with with_wait as refused:
            attempts.begin("ada", "10.9.9.9")
        waits.append(refused.value.wait_s)
    assert waits[FREE_FOR_NAME - 1 :] == sorted(waits[FREE_FOR_NAME - 1 :]) and waits[-1] > 8
    attempts.begin("bob", "10.0.0.1")
    clock.now += FORGOTTEN_S + 1
    for _ in range(FREE_FOR_NAME - 1):
        attempts.begin("ada", "10.8.8.8")


def test_guesses_of_one_address_must_wait_also_between_sign_ins() -> None:
    clock = Clock()
    attempts = Attempts(clock)
    with pytest.raises(TooManyAttempts):
        for number in range(FREE_FOR_ADDRESS * 3):
            attempts.begin(f"user{number}", "10.0.0.1")
            attempts.begin("own", "10.0.0.1")
            attempts.succeeded("own", "10.0.0.1")
    attempts.begin("ada", "10.0.0.2")


def test_a_person_who_signs_in_is_not_counted() -> None:
    attempts = Attempts(Clock())
    for _ in range(FREE_FOR_ADDRESS * 3):
        attempts.begin("ada", "10.0.0.1")
        attempts.succeeded("ada", "10.0.0.1")
