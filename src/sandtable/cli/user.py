"""`sandtable user`: the people who may sign in to a server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import click

from sandtable.accounts.accounts import Accounts
from sandtable.accounts.model import Person
from sandtable.cli import inputs
from sandtable.cli.accounts import as_time, confirm, person_as_json, read_password, with_accounts
from sandtable.cli.show import clean, console, grid, print_json

Change = Callable[[Accounts, str], Awaitable[None]]

_password_option = click.option(
    "--password-stdin", is_flag=True, help="Read the password from stdin instead of asking for it."
)


_keep_option = click.option(
    "--keep-password", is_flag=True, help="The user need not change the password at the next sign-in."
)


@click.group("user")
def command() -> None:
    """Add, list and change the people who may sign in to a server.

    They work on the accounts that a server with the same settings (SANDTABLE_HOME or SANDTABLE_DATABASE_URL) uses, also
    while it runs.
    """


@command.command("add")
@click.argument("name")
@click.option("--admin", is_flag=True, help="Make the user an administrator.")
@click.option("--no-password", is_flag=True, help="For API keys only, or a user whom a proxy names.")
@click.option("--restore", is_flag=True, help="Give a removed user the account back.")
@_password_option
@_keep_option
@inputs.json_option
def add(
    name: str,
    admin: bool,
    no_password: bool,
    restore: bool,
    password_stdin: bool,
    keep_password: bool,
    as_json: bool,
) -> int:
    """Add a user. Asks for the password without showing it.

    The user must change the password at the first sign-in, except the first user of all, whose own it is.

    Names have up to 64 letters, digits and . _ @ + - and are kept in lower case. Runs and conversations are kept under
    the name, so that of a removed user is not free for another person.

    Exit code: 0 added, 2 the name or the password cannot be used.
    """
    password = None if no_password else read_password(password_stdin)

    async def act(accounts: Accounts) -> Person:
        hashed = None if password is None else await accounts.passwords.hash(password)
        given = hashed is not None and not keep_password and not await accounts.people.is_empty()
        return await accounts.people.add(
            name, accounts.now(), password=hashed, must_change=given, is_admin=admin, restore=restore
        )

    person = with_accounts(act)
    role = "administrator" if admin else "user"
    confirm(f"Added the {role} {person.name}.", as_json=as_json, **person_as_json(person))
    return 0


@command.command("list")
@inputs.json_option
def list_(as_json: bool) -> int:
    """List the users."""

    async def act(accounts: Accounts) -> list[Person]:
        return await accounts.people.list()

    people = with_accounts(act)
    if as_json:
        print_json([person_as_json(person) for person in people])
        return 0
    if not people:
        click.echo("No users. `sandtable user add NAME --admin` adds the first one.")
        return 0
    table = grid("name", "role", "signs in with", "teams", "last sign-in (UTC)")
    for person in people:
        role = "administrator" if person.is_admin else "user"
        known = person_as_json(person)
        table.add_row(
            clean(person.name),
            f"{role}, disabled" if person.disabled else role,
            known["signs_in_with"] or "nothing",
            ", ".join(known["teams"]),
            as_time(person.signed_in_at),
        )
    console().print(table)
    return 0


@command.command("passwd")
@click.argument("name")
@_password_option
@_keep_option
@inputs.json_option
def passwd(name: str, password_stdin: bool, keep_password: bool, as_json: bool) -> int:
    """Set a user's password, and end the user's sessions. API keys stay.

    The user must change the password at the next sign-in.
    """
    password = read_password(password_stdin)

    async def act(accounts: Accounts) -> str:
        person = await accounts.people.get(name)
        hashed = await accounts.passwords.hash(password)
        await accounts.people.set_password(person.name, hashed, must_change=not keep_password)
        await accounts.sessions.end_all(person.name)
        return person.name

    user = with_accounts(act)
    after = "" if keep_password else ", and change it"
    confirm(f"{user} has a new password, and must sign in with it{after}.", as_json=as_json, name=user)
    return 0


@command.command("disable")
@click.argument("name")
@inputs.json_option
def disable(name: str, as_json: bool) -> int:
    """Keep a user out: sessions end at once, and API keys are refused."""
    return _changed(name, "can no longer sign in", lambda a, n: a.people.disable(n), as_json)


@command.command("enable")
@click.argument("name")
@inputs.json_option
def enable(name: str, as_json: bool) -> int:
    """Let a disabled user in again."""
    return _changed(name, "can sign in again", lambda a, n: a.people.enable(n), as_json)


@command.command("remove")
@click.argument("name")
@inputs.json_option
def remove(name: str, as_json: bool) -> int:
    """Delete a user's password, API keys, sessions and memberships.

    Runs and conversations stay, under the name.
    """
    return _changed(name, "was removed", lambda a, n: a.people.remove(n, a.now()), as_json)


@command.command("admin")
@click.argument("name")
@click.option("--off", is_flag=True, help="Make an ordinary user of an administrator.")
@inputs.json_option
def admin(name: str, off: bool, as_json: bool) -> int:
    """Make a user an administrator, who sees everything and manages users."""
    return _changed(
        name,
        "is an ordinary user" if off else "is an administrator",
        lambda a, n: a.people.set_admin(n, not off),
        as_json,
    )


def _changed(name: str, outcome: str, change: Change, as_json: bool) -> int:
    async def doing(accounts: Accounts) -> str:
        person = await accounts.people.get(name)
        await change(accounts, person.name)
        return person.name

    user = with_accounts(doing)
    confirm(f"{user} {outcome}.", as_json=as_json, name=user)
    return 0
