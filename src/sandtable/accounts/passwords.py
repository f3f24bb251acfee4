"""Passwords, hashed by argon2id on threads, a few at a time.

Invariant: verifying takes the same work whether the person exists, has a password or not. A hash made with other
parameters is valid, and is replaced when its person signs in.
"""

from __future__ import annotations

import asyncio
import secrets
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from sandtable.errors import InvalidInput, QueueFull

T = TypeVar("T")

SHORTEST, LONGEST = 10, 256
AT_ONCE = 2
WAITING = 32
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
"""Without characters that look alike."""
_GROUPS, _GROUP = 4, 5


@dataclass(frozen=True, slots=True)
class Cost:
    """RFC 9106's second recommended option: 3 passes over 64 MiB in 4 lanes."""

    passes: int = 3
    memory_kib: int = 64 << 10
    lanes: int = 4


@dataclass(frozen=True, slots=True)
class Verified:
    ok: bool
    better_hash: str | None = None
    """To be stored in place of the old hash, which was made with other parameters."""


class Passwords:
    def __init__(self, cost: Cost | None = None) -> None:
        cost = cost or Cost()
        self._hasher = PasswordHasher(
            time_cost=cost.passes, memory_cost=cost.memory_kib, parallelism=cost.lanes
        )
        self._places = asyncio.Semaphore(AT_ONCE)
        self._waiting = 0

    async def hash(self, password: str, *, field: str = "password") -> str:
        """`field` is where the password was given. Raises InvalidInput for one that is too short or too long,
        QueueFull."""
        return await self._on_thread(self._hasher.hash, checked(password, field=field))

    async def verify(self, stored: str | None, password: str) -> Verified:
        """Raises QueueFull."""
        given = _normalised(password)[:LONGEST]
        if stored is None:
            # The work of a comparison that fails.
            await self._on_thread(self._hasher.hash, given)
            return Verified(ok=False)
        if not await self._on_thread(self._matches, stored, given):
            return Verified(ok=False)
        if not self._hasher.check_needs_rehash(stored):
            return Verified(ok=True)
        return Verified(ok=True, better_hash=await self._on_thread(self._hasher.hash, given))

    def _matches(self, stored: str, given: str) -> bool:
        try:
            return self._hasher.verify(stored, given)
        except (VerificationError, InvalidHashError):
            return False

    async def _on_thread(self, act: Callable[..., T], *given: str) -> T:
        if self._waiting >= WAITING:
            raise QueueFull("too many people are signing in at this moment", suggestion="Try again soon.")
        self._waiting += 1
        try:
            async with self._places:
                return await asyncio.to_thread(act, *given)
        finally:
            self._waiting -= 1


def new_password() -> str:
    """A random one of 99 bits, in groups that can be read out."""
    return "-".join("".join(secrets.choice(_ALPHABET) for _ in range(_GROUP)) for _ in range(_GROUPS))


def checked(password: str, *, field: str = "password") -> str:
    """The password as it is hashed. Raises InvalidInput."""
    given = _normalised(password)
    if not SHORTEST <= len(given) <= LONGEST:
        raise InvalidInput(
            f"the password has {len(given)} characters",
            suggestion=f"Choose one with {SHORTEST} to {LONGEST} characters; several words are easy to remember.",
            field=field,
        )
    return given


def _normalised(password: str) -> str:
    """One form for characters that keyboards write in several ways."""
    return unicodedata.normalize("NFKC", password)
