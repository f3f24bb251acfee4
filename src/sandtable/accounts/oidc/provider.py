"""An OpenID Connect provider over HTTP: its description, its keys, a code for tokens, what it says about a person.

Invariant: every answer is bounded in size and time, redirects are not followed, and only the provider's own https
addresses are asked (http for a loopback address, to try it out). The issuer must describe itself by its own name.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

import httpx2

from sandtable.accounts.refusals import ProviderRefused

TIMEOUT_S = 10.0
MOST_BYTES = 1 << 20
DESCRIPTION_S = 3600.0
KEYS_S = 3600.0
KEYS_AGAIN_S = 60.0
"""Keys are fetched at most this often when a token names an unknown one."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Client:
    issuer: str
    id: str
    secret: str | None = None


@dataclass(slots=True)
class _Fetched:
    document: dict[str, Any]
    at: float


class Provider:
    def __init__(self, client: Client, clock: Callable[[], float] = time.monotonic) -> None:
        self.client = client
        self._clock = clock
        self._description: _Fetched | None = None
        self._keys: _Fetched | None = None

    async def endpoint(self, name: str) -> str:
        """Raises ProviderRefused if the provider does not offer it."""
        found = (await self._described()).get(name)
        if not isinstance(found, str):
            raise ProviderRefused(f"the provider's description has no {name}")
        return _checked(found)

    async def offers(self, name: str) -> bool:
        return isinstance((await self._described()).get(name), str)

    async def keys(self, *, again: bool = False) -> dict[str, Any]:
        """`again`: a token names a key that these do not hold."""
        oldest = self._clock() - (KEYS_AGAIN_S if again else KEYS_S)
        if self._keys is None or self._keys.at <= oldest:
            address = await self.endpoint("jwks_uri")
            self._keys = _Fetched(await self._ask("GET", address), self._clock())
        return self._keys.document

    async def tokens(self, code: str, verifier: str, redirect_uri: str) -> dict[str, Any]:
        """What the provider gives for a code, once. Raises ProviderRefused."""
        fields = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": verifier,
        }
        auth = None
        if self.client.secret is None:
            fields["client_id"] = self.client.id
        elif await self._takes_basic():
            auth = httpx2.BasicAuth(quote(self.client.id, safe=""), quote(self.client.secret, safe=""))
        else:
            fields |= {"client_id": self.client.id, "client_secret": self.client.secret}
        return await self._ask("POST", await self.endpoint("token_endpoint"), data=fields, auth=auth)

    async def about(self, access_token: str) -> dict[str, Any]:
        """What the provider says about the person. Raises ProviderRefused."""
        headers = {"Authorization": f"Bearer {access_token}"}
        return await self._ask("GET", await self.endpoint("userinfo_endpoint"), headers=headers)

    async def _takes_basic(self) -> bool:
        methods = (await self._described()).get("token_endpoint_auth_methods_supported")
        return not isinstance(methods, list) or "client_secret_basic" in methods

    async def _described(self) -> dict[str, Any]:
        known = self._description
        if known is None or known.at <= self._clock() - DESCRIPTION_S:
            address = _checked(self.client.issuer.rstrip("/") + "/.well-known/openid-configuration")
            document = await self._ask("GET", address)
            if document.get("issuer") != self.client.issuer:
                raise ProviderRefused(
                    f"the provider calls itself {document.get('issuer')!r}, and SANDTABLE_OIDC_ISSUER is"
                    f" {self.client.issuer!r}"
                )
            known = self._description = _Fetched(document, self._clock())
        return known.document

    async def _ask(
        self,
        method: str,
        address: str,
        *,
        data: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        auth: httpx2.BasicAuth | None = None,
    ) -> dict[str, Any]:
        wanted = {"Accept": "application/json", "Accept-Encoding": "identity", **(headers or {})}
        try:
            async with (
                asyncio.timeout(TIMEOUT_S),
                httpx2.AsyncClient(timeout=TIMEOUT_S, follow_redirects=False) as client,
                client.stream(
                    method, address, data=dict(data) if data else None, headers=wanted, auth=auth
                ) as answer,
            ):
                body = await _bounded(answer)
        except (httpx2.HTTPError, TimeoutError) as error:
            raise ProviderRefused(f"the provider did not answer: {type(error).__name__}") from error
        found = _json(body)
        if answer.status_code != 200:
            said = found.get("error") if found else None
            reason = f" ({said})" if isinstance(said, str) and len(said) < 80 else ""
            raise ProviderRefused(f"the provider answered {answer.status_code}{reason}")
        if found is None:
            raise ProviderRefused("the provider's answer is no JSON object")
        return found


async def _bounded(answer: httpx2.Response) -> bytes:
    body = bytearray()
    async for piece in answer.aiter_raw():
        body += piece
        if len(body) > MOST_BYTES:
            raise ProviderRefused("the provider's answer is too large")
    return bytes(body)


def _json(body: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _checked(address: str) -> str:
    parts = urlsplit(address)
    if parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        return address
    raise ProviderRefused(f"the provider's address {address!r} is not https")
