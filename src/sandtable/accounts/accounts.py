"""All that a server needs of accounts: signing in, and the principal of a session or an API key.

Invariant: a disabled or removed person has no principal, whatever they hold. What was refused is never said more
precisely than "name or password": an answer must not tell which names exist.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from sandtable.accounts import audit
from sandtable.accounts.attempts import Attempts
from sandtable.accounts.changes import ReportingTables
from sandtable.accounts.keys import ApiKeys
from sandtable.accounts.model import Person, Session
from sandtable.accounts.names import is_name
from sandtable.accounts.passwords import LONGEST, Passwords
from sandtable.accounts.people import People
from sandtable.accounts.principal import SCOPES, Principal
from sandtable.accounts.refusals import NotAllowed, NotProven
from sandtable.accounts.sessions import Lifetime, Sessions
from sandtable.accounts.teams import Teams
from sandtable.errors import InvalidInput
from sandtable.store.tables import Tables

_NAME_LOGGED = 64


@dataclass(frozen=True, slots=True)
class SignedIn:
    principal: Principal
    token: str
    """For the cookie; kept nowhere else."""


class Accounts:
    def __init__(
        self,
        tables: Tables,
        lifetime: Lifetime | None = None,
        passwords: Passwords | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.tables = reporting = ReportingTables(tables)
        self.people, self.teams = People(reporting), Teams(reporting)
        self.keys, self.sessions = ApiKeys(reporting), Sessions(reporting, lifetime or Lifetime())
        self.passwords = passwords or Passwords()
        self.attempts = Attempts()
        self._clock = clock

    def now(self) -> int:
        return int(self._clock())

    async def open(self) -> None:
        """Raises StoreUnavailable."""
        await self.tables.open()

    async def aclose(self) -> None:
        await self.tables.aclose()

    async def sign_in(
        self, name: str, password: str, *, address: str = "", client: str = "", instead_of: str | None = None
    ) -> SignedIn:
        """Raises NotProven, TooManyAttempts, QueueFull."""
        name = name.strip().lower()
        person = await self._proven(name, password, address)
        return await self.begin_session(person, address=address, client=client, instead_of=instead_of)

    async def begin_session(
        self,
        person: Person,
        *,
        address: str = "",
        client: str = "",
        instead_of: str | None = None,
        by_provider: bool = False,
    ) -> SignedIn:
        """For a person whose identity was proven just now. Raises NotProven for one who is disabled."""
        if person.disabled:
            audit.refused("sign_in", by=person.name, address=address, reason="disabled")
            raise _wrong()
        session, token = await self.sessions.begin(
            person.name,
            self.now(),
            address=address,
            client=client,
            instead_of=instead_of,
            by_provider=by_provider,
        )
        await self.people.note_sign_in(person.name, self.now())
        audit.note("sign_in", by=person.name, address=address, session=session.id)
        return SignedIn(principal_of(person, session), token)

    async def of_session(self, token: str) -> Principal | None:
        found = await self.sessions.find(token, self.now())
        if found is None or found[1].disabled:
            return None
        return principal_of(found[1], found[0])

    async def of_key(self, token: str) -> Principal | None:
        found = await self.keys.find(token, self.now())
        if found is None or found[1].disabled:
            return None
        key, person = found
        is_admin = person.is_admin and "admin" in key.scopes
        return Principal(
            person.name,
            proof="key",
            proof_id=key.id,
            is_admin=is_admin,
            sees_all=is_admin,
            teams=person.teams,
            scopes=key.scopes,
        )

    async def change_password(self, principal: Principal, old: str, new: str, address: str = "") -> None:
        """Ends all other sessions. Raises NotProven, NotAllowed, TooManyAttempts, InvalidInput."""
        person = await self.people.get(principal.user)
        if not person.has_password:
            raise NotAllowed(
                "this account has no password", suggestion="Sign in with the identity provider instead."
            )
        try:
            await self._proven(principal.user, old, address)
        except NotProven:
            raise NotProven(
                "the old password is wrong",
                suggestion="Try again, or ask an administrator for a new password.",
                field="old",
            ) from None
        if new == old:
            raise InvalidInput(
                "the new password is the old one", suggestion="Choose another one.", field="new"
            )
        await self.people.set_password(principal.user, await self.passwords.hash(new, field="new"))
        ended = await self.sessions.end_all(principal.user, but=principal.proof_id)
        audit.note("password_changed", by=principal.user, address=address, sessions_ended=ended)

    async def _proven(self, name: str, password: str, address: str) -> Person:
        self.attempts.begin(name[:LONGEST], address)
        person = await self.people.find(name) if is_name(name) else None
        stored = await self.people.password_of(name) if person is not None else None
        found = await self.passwords.verify(stored, password)
        if person is None or not found.ok or person.disabled:
            reason = "disabled" if found.ok else "name or password"
            audit.refused("sign_in", by=name[:_NAME_LOGGED], address=address, reason=reason)
            raise _wrong()
        self.attempts.succeeded(name, address)
        if found.better_hash is not None and stored is not None:
            await self.people.rehash(name, found.better_hash, stored)
        return person


def principal_of(person: Person, session: Session) -> Principal:
    """Of a person who signed in."""
    return Principal(
        person.name,
        proof="session",
        proof_id=session.id,
        is_admin=person.is_admin,
        sees_all=person.is_admin,
        teams=person.teams,
        scopes=SCOPES,
        must_change=person.must_change and not session.by_provider,
    )


def _wrong() -> NotProven:
    return NotProven(
        "the name or the password is wrong",
        suggestion="Try again, or ask an administrator for a new password.",
    )
