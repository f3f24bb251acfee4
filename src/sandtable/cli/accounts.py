"""What the commands about accounts share: the open accounts, one password, and how a change is confirmed."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

import click

from sandtable.accounts.accounts import Accounts
from sandtable.accounts.model import Person
from sandtable.cli.show import print_json
from sandtable.errors import InvalidInput
from sandtable.process import load_settings, quiet_logs

T = TypeVar("T")

_LONGEST_LINE = 4096


def with_accounts(act: Callable[[Accounts], Awaitable[T]]) -> T:
    from sandtable.assemble.accounts import accounts_of  # loads the stores, which `--help` does without

    async def doing() -> T:
        accounts = accounts_of(load_settings())
        await accounts.open()
        try:
            return await act(accounts)
        finally:
            await accounts.aclose()

    quiet_logs()
    return asyncio.run(doing())


def read_password(from_stdin: bool) -> str:
    """From the terminal without echo, twice, or one line of stdin. Raises InvalidInput."""
    if from_stdin:
        line = sys.stdin.readline(_LONGEST_LINE).removesuffix("\n").removesuffix("\r")
        if not line:
            raise InvalidInput("stdin holds no password", suggestion="Write it as one line to stdin.")
        return line
    if not sys.stdin.isatty():
        raise InvalidInput(
            "there is no terminal to ask for the password on", suggestion="Add --password-stdin."
        )
    return click.prompt("Password", hide_input=True, confirmation_prompt="The same again", err=True)


def confirm(message: str, *, as_json: bool, **about: Any) -> None:
    if as_json:
        print_json(about)
    else:
        click.echo(message)


def as_time(seconds: int | None) -> str:
    """For a person; in UTC."""
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")


def person_as_json(person: Person) -> dict[str, Any]:
    return {
        "name": person.name,
        "admin": person.is_admin,
        "disabled": person.disabled,
        "signs_in_with": "provider" if person.issuer else "password" if person.has_password else None,
        "teams": sorted(person.teams),
        "created_at": person.created_at,
        "signed_in_at": person.signed_in_at,
        "must_change_password": person.must_change,
    }
