"""The way through a provider and back: where the browser is sent, and who it brings.

Invariant: an identity is proven by an ID token alone, got over our own connection for a code of this attempt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from sandtable.accounts.accounts import Accounts
from sandtable.accounts.model import Person
from sandtable.accounts.oidc.attempt import Attempt, AttemptCookies
from sandtable.accounts.oidc.linking import GroupRules, account_of
from sandtable.accounts.oidc.provider import Provider
from sandtable.accounts.refusals import ProviderRefused

CALLBACK = "/login/oidc/callback"


@dataclass(frozen=True, slots=True)
class OidcFlow:
    provider: Provider
    cookies: AttemptCookies
    rules: GroupRules
    public_url: str
    scopes: tuple[str, ...] = ("openid", "profile", "email")

    @property
    def redirect_uri(self) -> str:
        return self.public_url.rstrip("/") + CALLBACK

    async def begin(self, after: str, now: int) -> tuple[str, str]:
        """The address to send the browser to, and the cookie of the attempt. Raises ProviderRefused."""
        attempt = self.cookies.begin(after, now)
        address = await self.provider.endpoint("authorization_endpoint")
        query = urlencode(
            {
                "response_type": "code",
                "client_id": self.provider.client.id,
                "redirect_uri": self.redirect_uri,
                "scope": " ".join(dict.fromkeys(("openid", *self.scopes))),
                "state": attempt.state,
                "nonce": attempt.nonce,
                "code_challenge": attempt.challenge,
                "code_challenge_method": "S256",
            }
        )
        return f"{address}{'&' if '?' in address else '?'}{query}", self.cookies.written(attempt)

    async def finish(
        self, accounts: Accounts, answer: Mapping[str, str], cookie: str | None
    ) -> tuple[Person, str]:
        """The person, and the path to open. Raises ProviderRefused, NotAllowed."""
        attempt = self.cookies.read(cookie, answer.get("state", ""), accounts.now())
        if attempt is None:
            raise ProviderRefused(
                "the answer belongs to no attempt of this browser, or comes too late or twice"
            )
        issuer = self.provider.client.issuer
        if answer.get("iss", issuer) != issuer:
            raise ProviderRefused("the answer comes from another provider")
        if "code" not in answer:
            raise ProviderRefused(f"the provider answered {answer.get('error', 'without a code')[:80]!r}")
        claims = await self._claims(attempt, answer["code"], accounts.now())
        return await account_of(accounts, self.rules, issuer, claims), attempt.after

    async def _claims(self, attempt: Attempt, code: str, now: int) -> dict[str, Any]:
        tokens = await self.provider.tokens(code, attempt.verifier, self.redirect_uri)
        claims = await self._proven(str(tokens.get("id_token", "")), attempt.nonce, now)
        access_token = tokens.get("access_token")
        if isinstance(access_token, str) and await self.provider.offers("userinfo_endpoint"):
            about = await self.provider.about(access_token)
            if about.get("sub") != claims["sub"]:
                raise ProviderRefused("the provider's description is of another person")
            claims = {**about, **claims}
        return claims

    async def _proven(self, token: str, nonce: str, now: int) -> dict[str, Any]:
        from sandtable.accounts.oidc.id_tokens import claims_of  # loads joserfc, an optional package

        client = self.provider.client
        for again in (False, True):
            keys = await self.provider.keys(again=again)
            try:
                return claims_of(token, keys, issuer=client.issuer, client_id=client.id, nonce=nonce, now=now)
            except ProviderRefused:
                # The provider may have changed its keys; they are fetched again at most once a minute.
                if again or keys is await self.provider.keys(again=True):
                    raise
        raise AssertionError
