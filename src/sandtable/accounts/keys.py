"""API keys: what programs send in place of a password.

Invariant: a key is shown once, when it is made; its SHA-256 is kept. A key never allows more than its user may do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, cast

from sandtable.accounts.model import ApiKey, Person
from sandtable.accounts.names import key_name
from sandtable.accounts.people import PERSON, marks, people_by_proof, people_of
from sandtable.accounts.principal import SCOPES, Scope
from sandtable.accounts.random_tokens import KEY_PREFIX, digest_of, new_id, new_token
from sandtable.errors import InvalidInput, NotFound
from sandtable.quoting import quote
from sandtable.store.tables import Tables

MOST = 100
"""For one person."""
USED_EVERY_S = 60
"""The time of the last use is stored at most this often."""
_COLUMNS = "id, person, name, scopes, created_at, expires_at, used_at"


class ApiKeys:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def add(
        self, person: str, name: str, scopes: Iterable[str], now: int, expires_at: int | None = None
    ) -> tuple[ApiKey, str]:
        """The record, and the key itself, which cannot be shown again. Raises InvalidInput."""
        wanted = checked_scopes(scopes)
        if len(await self.list(person)) >= MOST:
            raise InvalidInput(
                f"{quote(person)} has {MOST} API keys", suggestion="Revoke those that are no longer used."
            )
        if expires_at is not None and expires_at <= now:
            raise InvalidInput("the key would have expired already", suggestion="Choose a later time.")
        token = new_token(KEY_PREFIX)
        key = ApiKey(new_id(), person, key_name(name), wanted, now, expires_at)
        values = (key.id, digest_of(token), person, key.name, " ".join(sorted(wanted)), now, expires_at)
        await self._tables.change(
            (
                "INSERT INTO sandtable_api_keys (id, digest, person, name, scopes, created_at, expires_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                values,
            )
        )
        return key, token

    async def list(self, person: str | None = None) -> list[ApiKey]:
        """Those of one person, or all."""
        where, values = ("", ()) if person is None else (" WHERE person = ?", (person,))
        rows = await self._tables.rows(
            f"SELECT {_COLUMNS} FROM sandtable_api_keys{where} ORDER BY created_at, id",  # noqa: S608 - columns of ours
            *values,
        )
        return [_key(row) for row in rows]

    async def revoke(self, key_id: str, person: str | None = None) -> ApiKey:
        """With `person`, only a key of theirs. Raises NotFound."""
        found = next((key for key in await self.list(person) if key.id == key_id), None)
        if found is None:
            raise NotFound(f"there is no API key {quote(key_id)}", suggestion="List the keys.")
        await self._tables.change(("DELETE FROM sandtable_api_keys WHERE id = ?", (key_id,)))
        return found

    async def find(self, token: str, now: int) -> tuple[ApiKey, Person] | None:
        """The key and its user; None for one that is unknown, revoked or expired. Notes the use."""
        rows = await self._tables.rows(
            "SELECT k.id, k.person, k.name AS key_name, k.scopes, k.created_at AS key_created, k.expires_at, k.used_at,"  # noqa: S608 - columns of ours
            f" {PERSON}"
            " FROM sandtable_api_keys k JOIN sandtable_people p ON p.name = k.person AND p.removed_at IS NULL"
            " LEFT JOIN sandtable_members m ON m.person = p.name WHERE k.digest = ?",
            digest_of(token),
        )
        if not rows:
            return None
        row = {**rows[0], "name": rows[0]["key_name"], "created_at": rows[0]["key_created"]}
        key = _key(row)
        if key.expires_at is not None and key.expires_at <= now:
            return None
        if key.used_at is None or now - key.used_at >= USED_EVERY_S:
            await self._tables.change(
                ("UPDATE sandtable_api_keys SET used_at = ? WHERE id = ?", (now, key.id))
            )
        return key, people_of(rows)[0]

    async def people(self, ids: Collection[str], now: int) -> dict[str, Person]:
        """The users of those of these keys that are known and have not expired. Notes no use."""
        if not ids:
            return {}
        rows = await self._tables.rows(
            f"SELECT k.id AS proof_id, {PERSON}"  # noqa: S608 - columns of ours
            " FROM sandtable_api_keys k JOIN sandtable_people p ON p.name = k.person AND p.removed_at IS NULL"
            " LEFT JOIN sandtable_members m ON m.person = p.name"
            f" WHERE (k.expires_at IS NULL OR k.expires_at > ?) AND k.id IN ({marks(ids)})",
            now,
            *ids,
        )
        return people_by_proof(rows)


def checked_scopes(given: Iterable[str]) -> frozenset[Scope]:
    """Raises InvalidInput."""
    scopes = frozenset(given)
    unknown = scopes - SCOPES
    if unknown or not scopes:
        what = f"unknown scope {quote(min(unknown))}" if unknown else "the key has no scope"
        raise InvalidInput(what, suggestion=f"Choose from {', '.join(sorted(SCOPES))}.", field="scopes")
    return cast("frozenset[Scope]", scopes)


def _key(row: dict[str, Any]) -> ApiKey:
    # A scope that a newer version stored and this one does not know allows nothing.
    scopes = frozenset(row["scopes"].split()) & SCOPES
    return ApiKey(
        id=row["id"],
        user=row["person"],
        name=row["name"],
        scopes=cast("frozenset[Scope]", scopes),
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        used_at=row["used_at"],
    )
