"""Random tokens of API keys and sessions.

Invariant: only the SHA-256 of a token is stored. A token has 256 random bits, so a plain hash cannot be reversed by
trying, and a lookup by hash takes no time that depends on a stored token.
"""

from __future__ import annotations

import hashlib
import secrets

KEY_PREFIX = "st_"
_LONGEST = 128


def new_token(prefix: str = "") -> str:
    return prefix + secrets.token_urlsafe(32)


def new_id() -> str:
    return secrets.token_hex(8)


def digest_of(token: str) -> str:
    # A longer text is no token of ours; it is not worth hashing.
    return hashlib.sha256(token[:_LONGEST].encode("utf-8", "surrogatepass")).hexdigest()
