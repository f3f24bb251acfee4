"""`sandtable token`: API keys, which programs send as `Authorization: Bearer st_…`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import click

from sandtable.accounts.accounts import Accounts
from sandtable.accounts.model import ApiKey
from sandtable.accounts.principal import SCOPES
from sandtable.cli import inputs
from sandtable.cli.accounts import as_time, confirm, with_accounts
from sandtable.cli.show import clean, console, grid, print_json

_DEFAULT_SCOPES = ("ask", "read")


@click.group("token")
def command() -> None:
    """Make, list and revoke API keys for programs."""


@command.command("add")
@click.argument("user")
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(sorted(SCOPES)),
    help="What the key may do; repeatable. Without it: ask and read.",
)
@click.option("--days", type=click.IntRange(1, 3650), default=90, show_default=True, help="When it expires.")
@click.option("--never-expires", is_flag=True, help="In place of --days.")
@inputs.json_option
def add(user: str, name: str, scopes: Sequence[str], days: int, never_expires: bool, as_json: bool) -> int:
    """Make an API key for a user, and print it: it cannot be shown again. NAME says what it is for.

    `read`: see what its user may see. `ask`: run, ask and cancel. `data`: add, change and remove data. `share`: say who
    else may see something. `admin`: manage users, if its user is an administrator.
    """

    async def act(accounts: Accounts) -> tuple[ApiKey, str]:
        person = await accounts.people.get(user)
        now = accounts.now()
        until = None if never_expires else now + int(timedelta(days=days).total_seconds())
        key, token = await accounts.keys.add(person.name, name, scopes or _DEFAULT_SCOPES, now, until)
        return key, token

    key, token = with_accounts(act)
    if as_json:
        print_json({**key_as_json(key), "token": token})
        return 0
    click.echo("This is the key. It cannot be shown again:", err=True)
    click.echo(token)
    return 0


@command.command("list")
@click.option("--user", metavar="NAME", help="Only the keys of this user.")
@inputs.json_option
def list_(user: str | None, as_json: bool) -> int:
    """List API keys, without the keys themselves."""

    async def act(accounts: Accounts) -> list[ApiKey]:
        return await accounts.keys.list(None if user is None else (await accounts.people.get(user)).name)

    keys = with_accounts(act)
    if as_json:
        print_json([key_as_json(key) for key in keys])
        return 0
    if not keys:
        click.echo("No API keys. `sandtable token add USER NAME` makes one.")
        return 0
    table = grid("id", "user", "name", "scopes", "expires (UTC)", "last used (UTC)")
    # To be copied, also from a narrow terminal.
    table.columns[0].min_width = 16
    for key in keys:
        expires = as_time(key.expires_at) or "never"
        scopes = ", ".join(sorted(key.scopes))
        table.add_row(key.id, clean(key.user), clean(key.name), scopes, expires, as_time(key.used_at))
    console().print(table)
    return 0


@command.command("revoke")
@click.argument("key_id", metavar="ID")
@inputs.json_option
def revoke(key_id: str, as_json: bool) -> int:
    """Revoke an API key: it is refused at once."""

    async def act(accounts: Accounts) -> ApiKey:
        key = await accounts.keys.revoke(key_id)
        return key

    key = with_accounts(act)
    confirm(f"Revoked the key {key.id} of {key.user}.", as_json=as_json, id=key.id, user=key.user)
    return 0


def key_as_json(key: ApiKey) -> dict[str, object]:
    return {
        "id": key.id,
        "user": key.user,
        "name": key.name,
        "scopes": sorted(key.scopes),
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "used_at": key.used_at,
    }
