"""What is shared (a thread, a run, an added dataset, a kept question, a board) with a person, a team or everyone here.

Invariant: a share holds only while the thing belongs to the owner that it names. A later thing of the same name that
belongs to somebody else is not shared by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from sandtable.accounts.principal import Principal
from sandtable.store.opened import OpenedAtFirstUse
from sandtable.store.tables import Statement

Kind = Literal["thread", "run", "dataset", "question", "board"]
Recipient = Literal["person", "team", "everyone"]
Right = Literal["see", "edit"]
"""`edit` is for datasets (newer files, corrections and the catalog) and boards. It includes `see`."""

FILE = "shares.db"
VERSIONS = "sandtable_shares_schema"
"""The table in which a Postgres database records the steps taken."""
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE sandtable_shares (
            kind TEXT NOT NULL,
            id TEXT NOT NULL,
            owner TEXT NOT NULL,
            recipient TEXT NOT NULL,
            name TEXT NOT NULL,
            rights TEXT NOT NULL,
            shared_by TEXT NOT NULL,
            at TEXT NOT NULL,
            PRIMARY KEY (kind, id, owner, recipient, name)
        )
        """,
        "CREATE INDEX sandtable_shares_with ON sandtable_shares (recipient, name, kind, at)",
    ),
)
MOST_LISTED = 2000
"""Things of one kind that lists show because they are shared: the ones that were shared last."""

_GRANTED = """
    SELECT id, owner, max(rights) AS most, min(rights) AS least, max(at) AS latest FROM sandtable_shares
    WHERE kind = ?
"""
_RIGHT = "SELECT rights FROM sandtable_shares WHERE kind = ? AND id = ? AND owner = ?"
_RIGHTS: Mapping[str, Right] = {"see": "see", "edit": "edit"}


@dataclass(frozen=True, slots=True)
class Thing:
    kind: Kind
    id: str
    owner: str
    """Empty for what belongs to everyone here."""


@dataclass(frozen=True, slots=True)
class Share:
    recipient: Recipient
    name: str
    """Of the person or the team; empty for everyone."""
    right: Right
    shared_by: str
    at: str


class Shares(OpenedAtFirstUse):
    """A server without people never opens them."""

    async def put(self, thing: Thing, recipient: Recipient, name: str, right: Right, shared_by: str) -> None:
        at = datetime.now(UTC).isoformat(timespec="microseconds")
        values = (thing.kind, thing.id, thing.owner, recipient, name, right, shared_by, at)
        await self._change(
            "INSERT INTO sandtable_shares (kind, id, owner, recipient, name, rights, shared_by, at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (kind, id, owner, recipient, name)"
            " DO UPDATE SET rights = excluded.rights, shared_by = excluded.shared_by, at = excluded.at",
            values,
        )

    async def remove(self, thing: Thing, recipient: Recipient, name: str) -> bool:
        """False where it was not shared so."""
        return await self._change(
            "DELETE FROM sandtable_shares"
            " WHERE kind = ? AND id = ? AND owner = ? AND recipient = ? AND name = ?",
            (thing.kind, thing.id, thing.owner, recipient, name),
        )

    async def forget(self, kind: Kind, ids: Iterable[str]) -> None:
        """Of things that were removed."""
        sql = "DELETE FROM sandtable_shares WHERE kind = ? AND id = ?"
        statements: list[Statement] = [(sql, (kind, thing_id)) for thing_id in ids]
        if statements:
            await self._change_all(*statements)

    async def forget_team(self, name: str) -> None:
        """Before a team is removed, so that a later team of its name gets nothing."""
        sql = "DELETE FROM sandtable_shares WHERE recipient = 'team' AND name = ?"
        await self._change(sql, (name,))

    async def of(self, thing: Thing) -> list[Share]:
        """With whom it is shared, in the order in which that was said."""
        rows = await self._rows(
            "SELECT recipient, name, rights, shared_by, at FROM sandtable_shares"
            " WHERE kind = ? AND id = ? AND owner = ? ORDER BY at, recipient, name",
            thing.kind,
            thing.id,
            thing.owner,
        )
        return [Share(r["recipient"], r["name"], _RIGHTS[r["rights"]], r["shared_by"], r["at"]) for r in rows]

    async def right(self, thing: Thing, principal: Principal) -> Right | None:
        """What the principal may do with it because it is shared; None for nothing."""
        where, values = _with(principal)
        rows = await self._rows(f"{_RIGHT} AND {where}", thing.kind, thing.id, thing.owner, *values)
        return strongest(_RIGHTS[row["rights"]] for row in rows)

    async def granted(self, kind: Kind, principal: Principal) -> dict[Thing, Right]:
        """All things of a kind that are shared with the principal, the last ones first, at most MOST_LISTED."""
        where, values = _with(principal)
        group = f"GROUP BY id, owner ORDER BY latest DESC LIMIT {MOST_LISTED}"
        rows = await self._rows(f"{_GRANTED} AND {where} {group}", kind, *values)
        return {
            Thing(kind, row["id"], row["owner"]): strongest((_RIGHTS[row["most"]], _RIGHTS[row["least"]]))
            or "see"
            for row in rows
        }


def strongest(rights: Iterable[Right]) -> Right | None:
    found = set(rights)
    return "edit" if "edit" in found else "see" if found else None


def _with(principal: Principal) -> tuple[str, tuple[str, ...]]:
    teams = tuple(sorted(principal.teams))
    in_teams = f" OR (recipient = 'team' AND name IN ({', '.join('?' * len(teams))}))" if teams else ""
    where = f"(recipient = 'everyone' OR (recipient = 'person' AND name = ?){in_teams})"
    return where, (principal.user, *teams)
