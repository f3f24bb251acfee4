"""`sandtable team`: teams of people, which things can be shared with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import click

from sandtable.accounts.accounts import Accounts
from sandtable.accounts.model import Team
from sandtable.cli import inputs
from sandtable.cli.accounts import confirm, with_accounts
from sandtable.cli.show import clean, console, grid, print_json
from sandtable.process import load_settings

Change = Callable[[Accounts, str, str], Awaitable[bool]]


@click.group("team")
def command() -> None:
    """Put people into teams, which things can be shared with."""


@command.command("add")
@click.argument("name")
@inputs.json_option
def add(name: str, as_json: bool) -> int:
    """Add a team."""

    async def act(accounts: Accounts) -> Team:
        team = await accounts.teams.add(name, accounts.now())
        return team

    team = with_accounts(act)
    confirm(f"Added the team {team.name}.", as_json=as_json, name=team.name)
    return 0


@command.command("list")
@inputs.json_option
def list_(as_json: bool) -> int:
    """List the teams and their members."""

    async def act(accounts: Accounts) -> list[Team]:
        return await accounts.teams.list()

    teams = with_accounts(act)
    if as_json:
        print_json([{"name": team.name, "members": team.members} for team in teams])
    elif not teams:
        click.echo("No teams. `sandtable team add NAME` adds one.")
    else:
        table = grid("team", "members")
        for team in teams:
            table.add_row(clean(team.name), clean(", ".join(team.members)))
        console().print(table)
    return 0


@command.command("remove")
@click.argument("name")
@inputs.json_option
def remove(name: str, as_json: bool) -> int:
    """Remove a team, and what is shared with it. Its members stay."""

    async def act(accounts: Accounts) -> str:
        # These load the stores, which `--help` does without.
        from sandtable.assemble.shares import shares_of
        from sandtable.state import state_of

        settings = load_settings()
        team = await accounts.teams.get(name)
        async with shares_of(settings, state_of(settings).database) as shares:
            await shares.forget_team(team.name)
        await accounts.teams.remove(team.name)
        return team.name

    removed = with_accounts(act)
    confirm(f"Removed the team {removed}.", as_json=as_json, name=removed)
    return 0


@command.command("join")
@click.argument("team")
@click.argument("user")
@inputs.json_option
def join(team: str, user: str, as_json: bool) -> int:
    """Put a user into a team."""
    return _changed(team, user, "is in", lambda a, t, u: a.teams.join(t, u), as_json)


@command.command("leave")
@click.argument("team")
@click.argument("user")
@inputs.json_option
def leave(team: str, user: str, as_json: bool) -> int:
    """Take a user out of a team."""
    return _changed(team, user, "is not in", lambda a, t, u: a.teams.leave(t, u), as_json)


def _changed(team: str, user: str, outcome: str, change: Change, as_json: bool) -> int:
    async def doing(accounts: Accounts) -> tuple[str, str]:
        known, person = await accounts.teams.get(team), await accounts.people.get(user)
        await change(accounts, known.name, person.name)
        return known.name, person.name

    known, person = with_accounts(doing)
    confirm(f"{person} {outcome} the team {known}.", as_json=as_json, team=known, user=person)
    return 0
