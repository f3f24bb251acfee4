"""ID tokens: what a provider signed about a person.

Invariant: claims are returned only of a token that a key of the provider signed with an asymmetric algorithm, that is
for this client, for this attempt (nonce), and in its time. Importing this module loads joserfc, an optional package.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from sandtable.accounts.refusals import ProviderRefused

ALGORITHMS = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "Ed25519",
    "EdDSA",
)
LEEWAY_S = 60
"""How far the clocks may differ."""
LONGEST = 64 << 10


def claims_of(
    token: str, keys: Mapping[str, Any], *, issuer: str, client_id: str, nonce: str, now: int
) -> dict[str, Any]:
    """Raises ProviderRefused."""
    if len(token) > LONGEST:
        raise ProviderRefused("the ID token is too long")
    try:
        found = jwt.decode(token, signing_keys(keys), algorithms=list(ALGORITHMS))
        jwt.JWTClaimsRegistry(
            now=now,
            leeway=LEEWAY_S,
            iss={"essential": True, "value": issuer},
            sub={"essential": True},
            aud={"essential": True, "value": client_id},
            exp={"essential": True},
            iat={"essential": True},
            nonce={"essential": True, "value": nonce},
        ).validate(found.claims)
    except (JoseError, ValueError) as error:
        raise ProviderRefused(f"the ID token cannot be used: {error}") from error
    claims = found.claims
    audience = claims["aud"]
    if isinstance(audience, list) and len(audience) > 1 and claims.get("azp") != client_id:
        raise ProviderRefused("the ID token is for several clients, and was issued to another one")
    if not claims["sub"]:
        raise ProviderRefused("the ID token names no subject")
    return dict(claims)


def signing_keys(document: Mapping[str, Any]) -> KeySet:
    """Raises ProviderRefused. Symmetric keys and keys for encryption are left out."""
    listed = document.get("keys")
    usable = [
        key
        for key in (listed if isinstance(listed, list) else [])
        if isinstance(key, dict) and key.get("use", "sig") == "sig" and key.get("kty") in ("RSA", "EC", "OKP")
    ]
    try:
        return KeySet.import_key_set({"keys": usable})
    except (JoseError, ValueError, KeyError) as error:
        raise ProviderRefused(f"the provider's keys cannot be used: {error}") from error
