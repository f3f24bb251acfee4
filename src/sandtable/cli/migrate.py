"""`sandtable migrate`: migrates the tables of runs, capsules and conversations to this version."""

from __future__ import annotations

import asyncio

import click

from sandtable.cli import inputs
from sandtable.cli.show import print_json
from sandtable.process import load_settings, quiet_logs


@click.command("migrate")
@inputs.json_option
def command(as_json: bool) -> int:
    """Bring the database up to date, without serving.

    A server does the same when it starts. With several servers it is done once, before the first of a new version
    begins. Nothing happens when all is up to date.

    Exit code: 0 up to date, 1 the database cannot be used, 2 its address cannot be used.
    """
    from sandtable.assemble.memory import migrate  # loads LangGraph, which other commands do without

    quiet_logs()
    kept_in = asyncio.run(migrate(load_settings()))
    if as_json:
        print_json({"kept_in": kept_in})
    else:
        click.echo(f"The database ({kept_in}) is up to date.")
    return 0
