"""One attempt to sign in with a provider, kept in the browser that makes it, in a signed cookie.

Invariant: an answer of the provider is used only in the browser that asked for it, once, and soon.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from dataclasses import asdict, dataclass

LIFETIME_S = 600
_LONGEST = 3000


@dataclass(frozen=True, slots=True)
class Attempt:
    state: str
    nonce: str
    verifier: str
    after: str
    """The path to open then."""
    begun_at: int

    @property
    def challenge(self) -> str:
        return _encoded(hashlib.sha256(self.verifier.encode("ascii")).digest())


class AttemptCookies:
    def __init__(self, key: bytes) -> None:
        self._key = key
        self._used: dict[str, int] = {}

    def begin(self, after: str, now: int) -> Attempt:
        return Attempt(
            secrets.token_urlsafe(24), secrets.token_urlsafe(24), secrets.token_urlsafe(48), after[:1000], now
        )

    def written(self, attempt: Attempt) -> str:
        body = _encoded(json.dumps(asdict(attempt)).encode("utf-8"))
        return f"{body}.{self._signature(body)}"

    def read(self, cookie: str | None, state: str, now: int) -> Attempt | None:
        """The attempt of this browser, if `state` is of it, and it is neither old nor used."""
        body, _, signature = (cookie or "")[:_LONGEST].partition(".")
        if not hmac.compare_digest(signature.encode(), self._signature(body).encode()):
            return None
        attempt = Attempt(**json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))))
        self._used = {known: at for known, at in self._used.items() if now - at <= LIFETIME_S}
        fits = hmac.compare_digest(state.encode(), attempt.state.encode())
        if not fits or not 0 <= now - attempt.begun_at <= LIFETIME_S or attempt.state in self._used:
            return None
        self._used[attempt.state] = now
        return attempt

    def _signature(self, body: str) -> str:
        return _encoded(hmac.new(self._key, body.encode("utf-8"), hashlib.sha256).digest())


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")
