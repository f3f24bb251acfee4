"""Teams: named sets of people. Something can be shared with a team.

Memberships that an identity provider states (`by_provider`) are replaced at each sign-in; those made here stay.
"""

from __future__ import annotations

from collections.abc import Iterable

from sandtable.accounts.model import Team
from sandtable.accounts.names import team_name
from sandtable.errors import InvalidInput, NotFound
from sandtable.quoting import quote
from sandtable.store.tables import Statement, Tables

_ADD = "INSERT INTO sandtable_teams (name, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING"
_JOIN = "INSERT INTO sandtable_members (team, person, by_provider) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"


class Teams:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def list(self) -> list[Team]:
        rows = await self._tables.rows(
            "SELECT t.name, t.created_at, m.person FROM sandtable_teams t"
            " LEFT JOIN sandtable_members m ON m.team = t.name ORDER BY t.name, m.person"
        )
        members: dict[tuple[str, int], list[str]] = {}
        for row in rows:
            members.setdefault((row["name"], row["created_at"]), []).extend(
                [row["person"]] if row["person"] else []
            )
        return [Team(name, created, tuple(people)) for (name, created), people in members.items()]

    async def get(self, name: str) -> Team:
        """Raises NotFound."""
        wanted = name.strip().lower()
        found = next((team for team in await self.list() if team.name == wanted), None)
        if found is None:
            raise NotFound(
                f"there is no team {quote(name)}", suggestion="List them with `sandtable team list`."
            )
        return found

    async def add(self, name: str, now: int) -> Team:
        """Raises InvalidInput."""
        name = team_name(name)
        if not (await self._tables.change((_ADD, (name, now))))[0]:
            raise InvalidInput(
                f"the team {quote(name)} exists already", suggestion="Choose another name.", field="name"
            )
        return Team(name, now)

    async def remove(self, name: str) -> None:
        await self._tables.change(("DELETE FROM sandtable_teams WHERE name = ?", (name,)))

    async def join(self, team: str, person: str) -> bool:
        """Whether it changed anything. Team and person exist."""
        return bool((await self._tables.change((_JOIN, (team, person, 0))))[0])

    async def leave(self, team: str, person: str) -> bool:
        return bool(
            (
                await self._tables.change(
                    ("DELETE FROM sandtable_members WHERE team = ? AND person = ?", (team, person))
                )
            )[0]
        )

    async def state(self, person: str, teams: Iterable[str], now: int) -> None:
        """The memberships that the identity provider states, in place of those that it stated before."""
        wanted = sorted(set(teams))
        statements: list[Statement] = [
            ("DELETE FROM sandtable_members WHERE person = ? AND by_provider = 1", (person,))
        ]
        for team in wanted:
            statements += [(_ADD, (team, now)), (_JOIN, (team, person, 1))]
        await self._tables.change(*statements)
