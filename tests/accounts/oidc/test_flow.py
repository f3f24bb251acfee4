"""A provider of the test's own, with a real key: what its answers may and may not prove."""

from __future__ import annotations

import socket
import time
from typing import Any

import pytest
from joserfc import jwk, jwt

from sandtable.accounts.accounts import Accounts
from sandtable.accounts.oidc import provider as provider_module
from sandtable.accounts.oidc.attempt import LIFETIME_S
from sandtable.accounts.oidc.id_tokens import LEEWAY_S
from sandtable.accounts.oidc.provider import MOST_BYTES, Client, Provider
from sandtable.accounts.refusals import NotAllowed, ProviderRefused
from tests.accounts.conftest import Clock
from tests.accounts.oidc.conftest import CLIENT, PUBLIC, FakeProvider, browser, flow_of, key_of


async def test_a_person_gets_an_account_at_the_first_sign_in(fake: FakeProvider, accounts: Accounts) -> None:
    made = await browser(fake, accounts)
    sent = made.sent
    assert (sent["response_type"], sent["client_id"], sent["code_challenge_method"]) == (
        "code",
        CLIENT,
        "S256",
    )
    assert sent["redirect_uri"] == f"{PUBLIC}/login/oidc/callback" and sent["scope"] == "openid profile email"
    assert await made.finish() == ("ada", "/runs")
    [asked] = fake.asked
    assert asked["redirect_uri"] == sent["redirect_uri"] and len(asked["code_verifier"]) >= 43
    assert "client_secret" not in asked, "it goes into the Authorization header"
    person = await accounts.people.get("ada")
    assert (person.issuer, person.subject, person.has_password, person.is_admin) == (
        fake.url,
        "ada-1",
        False,
        False,
    )
    await made.begin()
    assert await made.finish() == ("ada", "/runs")
    assert len(await accounts.people.list()) == 1


async def test_a_name_or_address_never_leads_into_another_account(
    fake: FakeProvider, accounts: Accounts
) -> None:
    await accounts.people.add("ada", accounts.now(), password="hash", is_admin=True)
    fake.about |= {"email": "ada", "email_verified": True}
    made = await browser(fake, accounts)
    assert (await made.finish())[0] == "ada-2"
    assert not (await accounts.people.get("ada-2")).is_admin
    assert (await accounts.people.get("ada")).issuer is None


@pytest.mark.parametrize(
    ("claims", "name"),
    [
        ({"preferred_username": "Ada Lovelace"}, "ada-lovelace"),
        ({"preferred_username": "local", "email": "ada@example.org"}, "ada@example.org"),
        ({"preferred_username": "@1.2.3.4"}, "1.2.3.4"),
        ({"preferred_username": ["x"], "name": "../../etc"}, "etc"),
        ({"name": "愛"}, "user-"),
    ],
)
async def test_a_new_name_is_a_usable_one(
    fake: FakeProvider, accounts: Accounts, claims: dict[str, Any], name: str
) -> None:
    fake.about = {"sub": "ada-1", **claims}
    assert (await (await browser(fake, accounts)).finish())[0].startswith(name)


async def test_groups_become_teams_and_rights(fake: FakeProvider, accounts: Accounts) -> None:
    fake.about |= {"groups": ["Research", "ops", "not a name!", 7]}
    rules = {"allowed": frozenset({"Research"}), "admin": frozenset({"ops"})}
    made = await browser(fake, accounts, **rules)
    await made.finish()
    person = await accounts.people.get("ada")
    assert (person.teams, person.is_admin) == ({"research", "ops"}, True)
    await accounts.people.add("eve", accounts.now(), is_admin=True)
    fake.about |= {"groups": ["Research"]}
    await made.begin()
    await made.finish()
    person = await accounts.people.get("ada")
    assert (person.teams, person.is_admin) == ({"research"}, False)
    fake.about |= {"groups": ["others"]}
    await made.begin()
    with pytest.raises(NotAllowed):
        await made.finish()


async def test_an_answer_is_for_one_browser_once_and_soon(fake: FakeProvider, accounts: Accounts) -> None:
    made = await browser(fake, accounts)
    for wrong in (
        {"state": "guessed"},
        {"state": ""},
        {"iss": "https://evil.example"},
        {"error": "access_denied"},
    ):
        if "error" in wrong or "iss" in wrong:
            await made.begin()
        with pytest.raises(ProviderRefused):
            answer = {"code": "c0de", "state": made.sent["state"], **wrong}
            if "error" in wrong:
                del answer["code"]
            await made.flow.finish(accounts, answer, made.cookie)
    other = await browser(fake, accounts)
    await made.begin()
    for cookie in (
        None,
        "",
        other.cookie,
        made.cookie[:-1],
        made.cookie.replace(".", "x."),
        "a.b",
        "\xff.\xff",
    ):
        with pytest.raises(ProviderRefused, match="no attempt of this browser"):
            await made.flow.finish(accounts, {"code": "c0de", "state": made.sent["state"]}, cookie)
    assert fake.asked == []
    await made.finish()
    fake.codes.add("c0de")
    with pytest.raises(ProviderRefused, match="twice"):
        await made.finish()
    await made.begin()
    accounts._clock.now += LIFETIME_S + 1  # pyright: ignore[reportFunctionMemberAccess] - the test's clock
    with pytest.raises(ProviderRefused, match="too late"):
        await made.finish()


async def test_a_used_code_is_refused_by_the_provider(fake: FakeProvider, accounts: Accounts) -> None:
    made = await browser(fake, accounts)
    fake.codes.clear()
    with pytest.raises(ProviderRefused, match=r"400 \(invalid_grant\)"):
        await made.finish()


CLAIMS: dict[str, dict[str, Any]] = {
    "another nonce": {"nonce": "replayed"},
    "no nonce": {"nonce": None},
    "another audience": {"aud": "another client"},
    "no audience": {"aud": None},
    "several audiences, issued to another": {"aud": [CLIENT, "other"], "azp": "other"},
    "several audiences, issued to nobody": {"aud": [CLIENT, "other"]},
    "another issuer": {"iss": "https://evil.example"},
    "no issuer": {"iss": None},
    "expired": {"exp": 1_700_000_000 - LEEWAY_S},
    "no end": {"exp": None},
    "issued in the future": {"iat": 1_700_000_000 + LEEWAY_S + 1},
    "no time": {"iat": None},
    "not yet": {"nbf": 1_700_000_000 + LEEWAY_S + 1},
    "no subject": {"sub": None},
    "an empty subject": {"sub": ""},
    "a subject that is no text": {"sub": 7},
    "another person than described": {"sub": "eve-2"},
}


@pytest.mark.parametrize("changed", CLAIMS.values(), ids=CLAIMS)
async def test_a_token_for_anything_else_proves_nothing(
    fake: FakeProvider, accounts: Accounts, changed: dict[str, Any]
) -> None:
    made = await browser(fake, accounts)
    fake.claims = {name: value for name, value in {**fake.claims, **changed}.items() if value is not None}
    with pytest.raises(ProviderRefused):
        await made.finish()
    assert await accounts.people.is_empty()


async def test_clocks_may_differ_a_little(fake: FakeProvider, accounts: Accounts) -> None:
    made = await browser(fake, accounts)
    fake.claims |= {"exp": accounts.now() - LEEWAY_S + 1, "iat": accounts.now() + LEEWAY_S - 1}
    assert (await made.finish())[0] == "ada"


FORGED = (
    "alg none",
    "alg none, unsigned",
    "another key",
    "symmetric",
    "changed",
    "no token",
    "not a token",
    "endless",
)


@pytest.mark.parametrize("kind", FORGED)
async def test_a_token_that_the_provider_did_not_sign(
    fake: FakeProvider, accounts: Accounts, kind: str
) -> None:
    made = await browser(fake, accounts)
    other = key_of("another")
    good = jwt.encode(fake.header, fake.claims, fake.key)
    head, body, signature = good.split(".")
    none = jwt.encode({"alg": "HS256"}, {"alg": "none"}, jwk.OctKey.generate_key(256)).split(".")[1]
    symmetric = jwk.OctKey.generate_key(256)
    fake.token = {
        "alg none": f"{none}.{body}.",
        "alg none, unsigned": f"{none}.{body}.{signature}",
        "another key": jwt.encode(fake.header, fake.claims, other),
        "symmetric": jwt.encode({"alg": "HS256", "kid": "one"}, fake.claims, symmetric),
        "changed": f"{head}.{body[:-2]}AA.{signature}",
        "no token": "",
        "not a token": "a.b.c",
        "endless": f"{head}.{'A' * 100_000}.{signature}",
    }[kind]
    with pytest.raises(ProviderRefused):
        await made.finish()
    assert await accounts.people.is_empty()


async def test_new_keys_are_fetched_but_not_for_every_bad_token(
    fake: FakeProvider, accounts: Accounts
) -> None:
    moments = Clock(0.0)
    made = await browser(fake, accounts)
    made.flow.provider._clock = moments
    moments.now += 100
    await made.finish()
    assert fake.keys_asked == 1
    fake.key = key_of("two")
    fake.header = {"alg": "RS256", "kid": "two"}
    await made.begin()
    with pytest.raises(ProviderRefused):
        await made.finish()
    assert fake.keys_asked == 1, "a minute has not passed"
    moments.now += 61
    await made.begin()
    await made.finish()
    assert fake.keys_asked == 2


BROKEN: dict[str, bytes] = {
    "no JSON": b"<html>",
    "no object": b"[]",
    "nested": b"[" * 100_000,
    "endless": b" " * (MOST_BYTES + 1),
    "another issuer": b'{"issuer": "https://evil.example"}',
}


@pytest.mark.parametrize("raw", BROKEN.values(), ids=BROKEN)
async def test_a_broken_provider(fake: FakeProvider, raw: bytes) -> None:
    fake.raw = raw
    with pytest.raises(ProviderRefused):
        await flow_of(fake).begin("/", 0)


@pytest.mark.parametrize("address", ["http://login.example.org", "file:///etc/passwd", "ftp://x", ""])
async def test_only_tls_but_for_this_machine(fake: FakeProvider, address: str) -> None:
    fake.description = {"token_endpoint": address, "authorization_endpoint": f"{fake.url}/auth"}
    flow = flow_of(fake)
    await flow.begin("/", 0)
    with pytest.raises(ProviderRefused):
        await flow.provider.tokens("c", "v", "r")
    with pytest.raises(ProviderRefused):
        await Provider(Client(address, CLIENT)).endpoint("jwks_uri")


async def test_a_provider_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider_module, "TIMEOUT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        with pytest.raises(ProviderRefused, match="did not answer"):
            await Provider(Client(f"http://127.0.0.1:{silent.getsockname()[1]}", CLIENT)).endpoint("jwks_uri")
        assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("secret", "methods", "expected"),
    [
        ("s3cret", ["client_secret_post"], {"client_id": CLIENT, "client_secret": "s3cret"}),
        (None, ["none"], {"client_id": CLIENT}),
    ],
)
async def test_the_client_names_itself_as_the_provider_wants(
    fake: FakeProvider, secret: str | None, methods: list[str], expected: dict[str, str]
) -> None:
    fake.description = {"token_endpoint_auth_methods_supported": methods}
    fake.codes.add("c")
    await flow_of(fake, secret=secret).provider.tokens("c", "v", "r")
    assert expected.items() <= fake.asked[0].items()
