"""A provider of the tests' own with a real key, and the browser that a person signs in with."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import pytest_asyncio
from joserfc import jwk, jwt

from sandtable.accounts.accounts import Accounts
from sandtable.accounts.oidc.attempt import AttemptCookies
from sandtable.accounts.oidc.flow import OidcFlow
from sandtable.accounts.oidc.linking import GroupRules
from sandtable.accounts.oidc.provider import Client, Provider
from sandtable.accounts.passwords import Passwords
from sandtable.accounts.schema import FILE, MIGRATIONS
from sandtable.store.sqlite.file import SqliteFile
from tests.accounts.conftest import CHEAP, LIFETIME, Clock

CLIENT = "sandtable"
PUBLIC = "https://data.example.org"


@cache
def key_of(kid: str) -> jwk.RSAKey:
    """Making one takes a while."""
    return jwk.RSAKey.generate_key(2048, {"kid": kid, "use": "sig"})


@dataclass
class FakeProvider:
    """What it answers can be changed before it is asked."""

    url: str = ""
    key: jwk.RSAKey = field(default_factory=lambda: key_of("one"))
    claims: dict[str, Any] = field(default_factory=dict[str, Any])
    header: dict[str, Any] = field(default_factory=lambda: {"alg": "RS256", "kid": "one"})
    signer: Any = None
    token: str | None = None
    about: dict[str, Any] = field(default_factory=lambda: {"sub": "ada-1", "preferred_username": "Ada"})
    description: dict[str, Any] = field(default_factory=dict[str, Any])
    codes: set[str] = field(default_factory=set[str])
    asked: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    raw: bytes | None = None
    keys_asked: int = 0

    def answer(self, path: str, body: str) -> tuple[int, bytes]:
        if self.raw is not None:
            return 200, self.raw
        if path == "/.well-known/openid-configuration":
            names = {"authorization_endpoint": "auth", "token_endpoint": "token", "jwks_uri": "jwks",
                     "userinfo_endpoint": "me"}  # fmt: skip
            known = {name: f"{self.url}/{end}" for name, end in names.items()}
            return 200, json.dumps({"issuer": self.url, **known, **self.description}).encode()
        if path == "/jwks":
            self.keys_asked += 1
            return 200, json.dumps({"keys": [self.key.as_dict(private=False)]}).encode()
        if path == "/me":
            return 200, json.dumps(self.about).encode()
        given = {name: values[0] for name, values in parse_qs(body).items()}
        self.asked.append(given)
        if given["code"] not in self.codes:
            return 400, b'{"error": "invalid_grant"}'
        self.codes.remove(given["code"])
        return 200, json.dumps(
            {"id_token": self._token(), "access_token": "at", "token_type": "Bearer"}
        ).encode()

    def _token(self) -> str:
        if self.token is not None:
            return self.token
        return jwt.encode(
            self.header, self.claims, self.signer or self.key, algorithms=["RS256", "HS256", "none"]
        )


@pytest.fixture
def fake() -> Iterator[FakeProvider]:
    provider = FakeProvider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            status, body = provider.answer(urlsplit(self.path).path, self.rfile.read(size).decode())
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, format: str, *args: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield provider
    server.shutdown()
    thread.join()
    server.server_close()


@pytest_asyncio.fixture
async def accounts(tmp_path: Path) -> AsyncIterator[Accounts]:
    tables = SqliteFile(tmp_path / FILE, MIGRATIONS, synchronous="FULL")
    opened = Accounts(tables, LIFETIME, Passwords(CHEAP), Clock())
    await opened.open()
    yield opened
    await opened.aclose()


def flow_of(fake: FakeProvider, *, secret: str | None = "s3cret", **rules: Any) -> OidcFlow:
    client = Client(fake.url, CLIENT, secret)
    return OidcFlow(Provider(client), AttemptCookies(b"k" * 32), GroupRules(**rules), PUBLIC)


@dataclass
class Browser:
    flow: OidcFlow
    fake: FakeProvider
    accounts: Accounts
    cookie: str = ""
    sent: dict[str, str] = field(default_factory=dict[str, str])

    async def begin(self) -> None:
        """To the provider, where the person signs in at once."""
        address, self.cookie = await self.flow.begin("/runs", self.accounts.now())
        self.sent = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        self.fake.codes.add("c0de")
        now = self.accounts.now()
        self.fake.claims = {
            "iss": self.fake.url, "sub": "ada-1", "aud": CLIENT, "exp": now + 60, "iat": now,
            "nonce": self.sent["nonce"],
        }  # fmt: skip

    async def finish(self, **changed: str) -> tuple[str, str]:
        answer = {"code": "c0de", "state": self.sent["state"], **changed}
        person, after = await self.flow.finish(self.accounts, answer, self.cookie)
        return person.name, after


async def browser(fake: FakeProvider, accounts: Accounts, **rules: Any) -> Browser:
    made = Browser(flow_of(fake, **rules), fake, accounts)
    await made.begin()
    return made
