"""Both ends prove that they hold the shared token; neither sends it.

Invariant: a request's proof covers its method, target, time, nonce and the digest of its body, and is checked before
the body is read; an answer's covers the nonce of its request, the status and the body. One is never valid as the other,
and nothing here reveals the token.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, replace

from sandtable.errors import InvalidInput

HEADER = "x-sandtable-proof"
SHORTEST = 32
SKEW_S = 60.0
"""How far the clocks of both machines may be apart."""

_REQUEST = re.compile(r"v1 (\d{1,16}) ([0-9a-f]{32}) ([0-9a-f]{64}) ([0-9a-f]{64})")
_PURPOSE = b"sandtable execd 1"


@dataclass(frozen=True, slots=True)
class Claim:
    """What a request claims; not trusted until its proof was checked."""

    milliseconds: int
    nonce: str
    digest: str
    """Of the body."""
    mac: str

    @classmethod
    def read(cls, header: str) -> Claim | None:
        found = _REQUEST.fullmatch(header)
        return cls(int(found[1]), *found.groups()[1:]) if found else None

    def header(self) -> str:
        return f"v1 {self.milliseconds} {self.nonce} {self.digest} {self.mac}"

    def covers(self, body: bytes) -> bool:
        return hmac.compare_digest(self.digest, _digest(body))


class Token:
    def __init__(self, secret: str) -> None:
        """Raises InvalidInput for a secret that could be guessed."""
        if len(secret.strip()) < SHORTEST:
            raise InvalidInput(
                f"the token is too short: {len(secret.strip())} characters, where {SHORTEST} are needed",
                suggestion="Make one with `openssl rand -hex 32`, and set SANDTABLE_EXECD_TOKEN to it on both sides.",
            )
        self._key = hmac.digest(secret.strip().encode(), _PURPOSE, "sha256")

    def __repr__(self) -> str:
        return "Token(…)"

    def claim(self, method: str, target: str, body: bytes, now: float) -> Claim:
        """`target`: path and query as they go over the wire; `now`: seconds since 1970."""
        claim = Claim(int(now * 1000), secrets.token_hex(16), _digest(body), "")
        return replace(claim, mac=self._of_request(claim, method, target))

    def made(self, claim: Claim, method: str, target: str) -> bool:
        """Whether a holder of this token made the claim, for this request and a body that it covers."""
        return hmac.compare_digest(claim.mac, self._of_request(claim, method, target))

    def answer(self, nonce: str, status: int, body: bytes) -> str:
        return self._mac("answer", nonce, str(status), _digest(body))

    def answered(self, proof: str, nonce: str, status: int, body: bytes) -> bool:
        right = self.answer(nonce, status, body)
        return hmac.compare_digest(proof.encode("utf-8", "replace"), right.encode())

    def _of_request(self, claim: Claim, method: str, target: str) -> str:
        return self._mac("request", method, target, str(claim.milliseconds), claim.nonce, claim.digest)

    def _mac(self, *parts: str) -> str:
        return hmac.new(self._key, "\n".join(parts).encode(), hashlib.sha256).hexdigest()


def _digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()
