"""People: who has an account, with which rights.

Invariant: a name that was removed is never given to another person, unless it is restored on purpose. The last
administrator cannot be removed, disabled or made an ordinary user, also not by two requests at the same time.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sandtable.accounts.model import Person
from sandtable.accounts.names import person_name
from sandtable.errors import InvalidInput, NotFound
from sandtable.quoting import quote
from sandtable.store.tables import Tables

PERSON = (
    "p.name, p.is_admin, p.disabled, p.password IS NOT NULL AS has_password, p.issuer, p.subject, p.created_at,"
    " p.signed_in_at, p.must_change, m.team"
)
"""The columns that `people_of` reads, of the tables `p` and `m`."""
_FOUND = (
    f"SELECT {PERSON} FROM sandtable_people p LEFT JOIN sandtable_members m ON m.person = p.name"  # noqa: S608 - columns of ours
    " WHERE p.removed_at IS NULL"
)
_ANOTHER_ADMIN = (
    " AND (is_admin = 0 OR disabled = 1 OR EXISTS (SELECT 1 FROM sandtable_people o WHERE o.name <> ?"
    " AND o.is_admin = 1 AND o.disabled = 0 AND o.removed_at IS NULL))"
)


class People:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def find(self, name: str) -> Person | None:
        found = people_of(await self._tables.rows(f"{_FOUND} AND p.name = ?", name))
        return found[0] if found else None

    async def get(self, name: str) -> Person:
        """Raises NotFound."""
        person = await self.find(name.strip().lower())
        if person is None:
            raise NotFound(
                f"there is no user {quote(name)}", suggestion="List them with `sandtable user list`."
            )
        return person

    async def by_subject(self, issuer: str, subject: str) -> Person | None:
        found = people_of(
            await self._tables.rows(f"{_FOUND} AND p.issuer = ? AND p.subject = ?", issuer, subject)
        )
        return found[0] if found else None

    async def list(self) -> list[Person]:
        return people_of(await self._tables.rows(f"{_FOUND} ORDER BY p.name, m.team"))

    async def among(self, names: Collection[str]) -> dict[str, Person]:
        """Those of these names that have an account."""
        if not names:
            return {}
        found = people_of(
            await self._tables.rows(f"{_FOUND} AND p.name IN ({marks(names)}) ORDER BY p.name", *names)
        )
        return {person.name: person for person in found}

    async def is_empty(self) -> bool:
        return not await self._tables.rows(
            "SELECT 1 AS one FROM sandtable_people WHERE removed_at IS NULL LIMIT 1"
        )

    async def add(
        self,
        name: str,
        now: int,
        *,
        password: str | None = None,
        must_change: bool = False,
        is_admin: bool = False,
        issuer: str | None = None,
        subject: str | None = None,
        restore: bool = False,
    ) -> Person:
        """`password` is a hash. `restore` gives a removed person their name back. Raises InvalidInput."""
        name = person_name(name)
        known = await self._tables.rows("SELECT removed_at FROM sandtable_people WHERE name = ?", name)
        if known:
            _require_restorable(name, removed=known[0]["removed_at"] is not None, restore=restore)
            [changed] = await self._tables.change(
                (
                    "UPDATE sandtable_people SET password = ?, must_change = ?, is_admin = ?, issuer = ?, subject = ?,"
                    " disabled = 0, removed_at = NULL WHERE name = ? AND removed_at IS NOT NULL",
                    (password, int(must_change), int(is_admin), issuer, subject, name),
                )
            )
        else:
            [changed] = await self._tables.change(
                (
                    "INSERT INTO sandtable_people (name, password, must_change, is_admin, issuer, subject, created_at)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                    (name, password, int(must_change), int(is_admin), issuer, subject, now),
                )
            )
        if not changed:
            raise InvalidInput(
                f"the user {quote(name)} was just added", suggestion="List the users.", field="name"
            )
        return await self.get(name)

    async def password_of(self, name: str) -> str | None:
        """The stored hash."""
        found = await self._tables.rows(
            "SELECT password FROM sandtable_people WHERE name = ? AND removed_at IS NULL", name
        )
        return found[0]["password"] if found else None

    async def set_password(self, name: str, password: str, *, must_change: bool = False) -> None:
        """Stores a hash. With `must_change`, its user can do nothing but change it."""
        await self._tables.change(
            (
                "UPDATE sandtable_people SET password = ?, must_change = ? WHERE name = ? AND removed_at IS NULL",
                (password, int(must_change), name),
            )
        )

    async def rehash(self, name: str, password: str, instead_of: str) -> None:
        """Stores another hash of the same password, if `instead_of` is still the stored one."""
        await self._tables.change(
            (
                "UPDATE sandtable_people SET password = ? WHERE name = ? AND removed_at IS NULL AND password = ?",
                (password, name, instead_of),
            )
        )

    async def note_sign_in(self, name: str, now: int) -> None:
        await self._tables.change(
            ("UPDATE sandtable_people SET signed_in_at = ? WHERE name = ?", (now, name))
        )

    async def set_admin(self, name: str, is_admin: bool) -> None:
        """Raises InvalidInput for the last administrator."""
        sql = "UPDATE sandtable_people SET is_admin = ? WHERE name = ? AND removed_at IS NULL"
        if is_admin:
            await self._tables.change((sql, (1, name)))
        else:
            await self._unless_last_admin(name, sql, (0, name))

    async def disable(self, name: str) -> None:
        """Also ends all sessions. Raises InvalidInput for the last administrator."""
        await self._unless_last_admin(
            name, "UPDATE sandtable_people SET disabled = 1 WHERE name = ? AND removed_at IS NULL", (name,)
        )
        await self._tables.change(("DELETE FROM sandtable_sessions WHERE person = ?", (name,)))

    async def enable(self, name: str) -> None:
        await self._tables.change(("UPDATE sandtable_people SET disabled = 0 WHERE name = ?", (name,)))

    async def remove(self, name: str, now: int) -> None:
        """Password, keys, sessions and memberships are deleted; the name stays taken. Raises InvalidInput for the last
        administrator."""
        await self._unless_last_admin(
            name,
            "UPDATE sandtable_people SET removed_at = ?, password = NULL, issuer = NULL, subject = NULL"
            " WHERE name = ? AND removed_at IS NULL",
            (now, name),
        )
        await self._tables.change(
            *(
                (f"DELETE FROM {table} WHERE person = ?", (name,))  # noqa: S608 - tables of ours
                for table in ("sandtable_sessions", "sandtable_api_keys", "sandtable_members")
            )
        )

    async def _unless_last_admin(self, name: str, sql: str, values: tuple[Any, ...]) -> None:
        # The first statement locks the administrators: two of them could otherwise take each other's right away.
        _, changed = await self._tables.change(
            ("UPDATE sandtable_people SET is_admin = 1 WHERE is_admin = 1", ()),
            (sql + _ANOTHER_ADMIN, (*values, name)),
        )
        if not changed and await self.find(name) is not None:
            raise InvalidInput(
                f"{quote(name)} is the only administrator",
                suggestion="Make another user an administrator first.",
            )


def marks(values: Collection[str]) -> str:
    """The places of these values in a statement."""
    return ", ".join("?" * len(values))


def people_of(rows: list[dict[str, Any]]) -> list[Person]:
    """Rows of one person, one for each team, become one record."""
    teams: dict[str, set[str]] = {}
    first: dict[str, dict[str, Any]] = {}
    for row in rows:
        first.setdefault(row["name"], row)
        teams.setdefault(row["name"], set()).update([row["team"]] if row["team"] else [])
    return [
        Person(
            name=name,
            created_at=row["created_at"],
            is_admin=bool(row["is_admin"]),
            disabled=bool(row["disabled"]),
            has_password=bool(row["has_password"]),
            issuer=row["issuer"],
            subject=row["subject"],
            signed_in_at=row["signed_in_at"],
            teams=frozenset(teams[name]),
            must_change=bool(row["must_change"]),
        )
        for name, row in first.items()
    ]


def people_by_proof(rows: list[dict[str, Any]]) -> dict[str, Person]:
    """As `people_of`, of rows that also name the key or the session of the person."""
    people = {person.name: person for person in people_of(rows)}
    return {row["proof_id"]: people[row["name"]] for row in rows}


def _require_restorable(name: str, *, removed: bool, restore: bool) -> None:
    if not removed:
        raise InvalidInput(
            f"the user {quote(name)} exists already", suggestion="Choose another name.", field="name"
        )
    if not restore:
        raise InvalidInput(
            f"a user {quote(name)} was removed, and what that person made is kept under the name",
            suggestion="Choose another name, or restore the account, if it is the same person"
            " (`sandtable user add NAME --restore`).",
            field="name",
            removed=True,
        )
