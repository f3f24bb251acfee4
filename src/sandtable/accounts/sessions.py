"""Sessions of browsers: a random token in a cookie, its SHA-256 here.

Invariant: each sign-in makes a session of its own, with a new token. A session ends when it was not used for a while,
when it is old, when it is revoked, and with its person's account.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sandtable.accounts.model import Person, Session
from sandtable.accounts.people import PERSON, marks, people_by_proof, people_of
from sandtable.accounts.random_tokens import digest_of, new_id, new_token
from sandtable.errors import NotFound
from sandtable.quoting import quote
from sandtable.store.tables import Statement, Tables

SEEN_EVERY_S = 60
"""The time of the last request is stored at most this often."""
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Lifetime:
    idle_s: int = 24 * 3600
    whole_s: int = 7 * 24 * 3600


class Sessions:
    def __init__(self, tables: Tables, lifetime: Lifetime) -> None:
        self._tables = tables
        self.lifetime = lifetime

    async def begin(
        self,
        person: str,
        now: int,
        *,
        address: str = "",
        client: str = "",
        instead_of: str | None = None,
        by_provider: bool = False,
    ) -> tuple[Session, str]:
        """The session, and its token. The session whose token is `instead_of` ends, and so do expired ones."""
        token = new_token()
        session = Session(new_id(), person, now, now, address, client[:_SHOWN], by_provider)
        statements: list[Statement] = [
            self._expired(now),
            (
                "INSERT INTO sandtable_sessions (id, digest, person, created_at, seen_at, address, client, by_provider)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (session.id, digest_of(token), person, now, now, address, session.client, int(by_provider)),
            ),
        ]
        if instead_of is not None:
            statements.append(("DELETE FROM sandtable_sessions WHERE digest = ?", (digest_of(instead_of),)))
        await self._tables.change(*statements)
        return session, token

    async def find(self, token: str, now: int) -> tuple[Session, Person] | None:
        """None for a session that is unknown or has ended. Notes the use."""
        rows = await self._tables.rows(
            "SELECT s.id, s.person, s.created_at AS begun_at, s.seen_at, s.address, s.client, s.by_provider,"  # noqa: S608 - columns of ours
            f" {PERSON}"
            " FROM sandtable_sessions s JOIN sandtable_people p ON p.name = s.person AND p.removed_at IS NULL"
            " LEFT JOIN sandtable_members m ON m.person = p.name"
            " WHERE s.digest = ? AND s.seen_at > ? AND s.created_at > ?",
            digest_of(token),
            now - self.lifetime.idle_s,
            now - self.lifetime.whole_s,
        )
        if not rows:
            return None
        session = _session(rows[0])
        if now - session.seen_at >= SEEN_EVERY_S:
            await self._tables.change(
                ("UPDATE sandtable_sessions SET seen_at = ? WHERE id = ?", (now, session.id))
            )
        return session, people_of(rows)[0]

    async def people(self, ids: Collection[str], now: int) -> dict[str, Person]:
        """The users of those of these sessions that have not ended. Notes no use."""
        if not ids:
            return {}
        rows = await self._tables.rows(
            f"SELECT s.id AS proof_id, {PERSON}"  # noqa: S608 - columns of ours
            " FROM sandtable_sessions s JOIN sandtable_people p ON p.name = s.person AND p.removed_at IS NULL"
            " LEFT JOIN sandtable_members m ON m.person = p.name"
            f" WHERE s.seen_at > ? AND s.created_at > ? AND s.id IN ({marks(ids)})",
            now - self.lifetime.idle_s,
            now - self.lifetime.whole_s,
            *ids,
        )
        return people_by_proof(rows)

    async def list(self, person: str, now: int) -> list[Session]:
        rows = await self._tables.rows(
            "SELECT id, person, created_at AS begun_at, seen_at, address, client, by_provider FROM sandtable_sessions"
            " WHERE person = ? AND seen_at > ? AND created_at > ? ORDER BY seen_at DESC, id",
            person,
            now - self.lifetime.idle_s,
            now - self.lifetime.whole_s,
        )
        return [_session(row) for row in rows]

    async def end(self, session_id: str, person: str) -> None:
        """Raises NotFound."""
        [ended] = await self._tables.change(
            ("DELETE FROM sandtable_sessions WHERE id = ? AND person = ?", (session_id, person))
        )
        if not ended:
            raise NotFound(f"there is no session {quote(session_id)}", suggestion="List the sessions.")

    async def end_all(self, person: str, but: str | None = None) -> int:
        """Ends the sessions of a person, except the one with the id `but`. Returns how many."""
        [ended] = await self._tables.change(
            ("DELETE FROM sandtable_sessions WHERE person = ? AND id <> ?", (person, but or ""))
        )
        return ended

    def _expired(self, now: int) -> Statement:
        return (
            "DELETE FROM sandtable_sessions WHERE seen_at <= ? OR created_at <= ?",
            (now - self.lifetime.idle_s, now - self.lifetime.whole_s),
        )


def _session(row: dict[str, Any]) -> Session:
    return Session(
        row["id"],
        row["person"],
        row["begun_at"],
        row["seen_at"],
        row["address"],
        row["client"],
        bool(row["by_provider"]),
    )
