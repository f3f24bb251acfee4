"""`sandtable data connect`, `sources`, `snapshot`, `live`, `disconnect`: databases whose tables become datasets."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import click
from rich.text import Text

from sandtable.assemble import Parts
from sandtable.assemble.sources import sources_of
from sandtable.catalog.reading.file_tables import NOTHING_DECIDED
from sandtable.cli import inputs
from sandtable.cli.file_questions import can_ask
from sandtable.cli.own_data import Change, changed, copied_tables
from sandtable.cli.session import showing, with_parts
from sandtable.cli.show import clean, console, grid, on_terminal, print_json
from sandtable.process import load_settings, quiet_logs
from sandtable.sources.address import read_address
from sandtable.sources.answers import KINDS
from sandtable.sources.live import PUSHED
from sandtable.sources.records import Source, SourceRecords, password_from, source_of
from sandtable.sources.sources import Connected

_table_option = click.option(
    "--table",
    "tables",
    metavar="TABLE",
    multiple=True,
    help="A table or view to copy, as NAME or SCHEMA.NAME. Repeatable.",
)


@click.command("connect")
@click.argument("address", metavar="URL")
@click.option("--name", metavar="NAME", required=True, help="The source's name, and the id of its dataset.")
@click.option("--schema", "only_schema", default="", metavar="SCHEMA", help="Look at this schema only.")
@_table_option
@click.option("--allow-writer", default="", metavar="ROLE", help="Use this role although it can write.")
@click.option(
    "--password-env", default="", metavar="VAR", help="Take the password from this environment variable."
)
@inputs.json_option
def connect(
    address: str,
    name: str,
    only_schema: str,
    tables: tuple[str, ...],
    allow_writer: str,
    password_env: str,
    as_json: bool,
) -> int:
    """Connect a PostgreSQL, MariaDB or MySQL database as a source of datasets.

    URL is postgresql://ROLE@HOST:PORT/DATABASE or mysql://USER@HOST:PORT/DATABASE; mariadb:// is the same. The driver
    runs in a sealed process of its own, which can reach this one address only. What the role can do is tried first,
    without a change: a role that can write is refused, unless --allow-writer names it. With --table, these tables are
    copied at once, as `sandtable data snapshot` does.

    The password is asked for on a terminal, or taken from the variable that --password-env names. One in the URL works,
    too, but stays in your shell's history. It is kept in a file that only you can read, or not at all with
    --password-env. A connection to another machine must be encrypted and verified, unless the URL says otherwise
    (?sslmode=require, ?sslmode=disable; ?sslrootcert=FILE).

    Exit code: 0 connected, 2 the address, the role or a table cannot be used, 4 no sandbox.
    """
    given = read_address(address)
    source = source_of(
        given, name, only_schema=only_schema, password_env=password_env, allowed_writer=allow_writer
    )
    password = password_from(password_env) if password_env else given.password
    if password is None and can_ask():
        password = click.prompt("Password", default="", show_default=False, hide_input=True, err=True) or None

    async def act(parts: Parts) -> Connected:
        sources = sources_of(parts)
        async with showing(f"Connecting to {clean(source.place)}"):
            return await sources.connect(source, password, tables)

    connected = with_parts(act)
    if tables:
        if not as_json:
            _show_connected(connected, with_tables=False)
        return _snapshot(name, tables, "", as_json)
    if as_json:
        print_json(_connected_json(connected))
    else:
        _show_connected(connected)
        click.echo(f"Copy tables: sandtable data snapshot {clean(name)} --table …", err=True)
        if connected.source.kind in PUSHED:
            click.echo(f"Or ask the database itself: sandtable data live {clean(name)} --table …", err=True)
    return 0


@click.command("sources")
@click.argument("name", metavar="[NAME]", required=False)
@inputs.json_option
def sources(name: str | None, as_json: bool) -> int:
    """List the connected databases; with NAME, what its role can do and the tables it can read now.

    Exit code: 0 listed, 2 there is no such source or it cannot be reached, 4 no sandbox.
    """
    quiet_logs()
    records = SourceRecords(load_settings().home)
    if name is None:
        _show_list(records.list(), as_json)
        return 0

    async def act(parts: Parts) -> Connected:
        source = records.get(name)
        async with showing(f"Connecting to {clean(source.place)}"):
            return await sources_of(parts).look(source, records.password(source))

    found = with_parts(act)
    if as_json:
        print_json(_connected_json(found))
    else:
        _show_connected(found)
    return 0


@click.command("snapshot")
@click.argument("name", metavar="NAME")
@_table_option
@click.option("--title", default="", metavar="TEXT", help="The dataset's title; else the name of the source.")
@inputs.json_option
def snapshot(name: str, tables: tuple[str, ...], title: str, as_json: bool) -> int:
    """Copy tables of a connected database into a dataset.

    All tables are read at one moment of the database, and become a version of the dataset NAME. Without --table, those
    of the version before are copied again, as `sandtable data refresh NAME` does. Rows that are the same in the same
    order change nothing.

    Exit code: 0 copied or the same as before, 1 it took too long or too much, 2 a table or the database cannot be used,
    4 no sandbox.
    """
    return _snapshot(name, tables, title, as_json)


def _snapshot(name: str, tables: tuple[str, ...], title: str, as_json: bool) -> int:
    @asynccontextmanager
    async def copying(parts: Parts) -> AsyncGenerator[Change, None]:
        async with AsyncExitStack() as stack:
            yield await copied_tables(parts, stack, name, tables, title)

    return changed(NOTHING_DECIDED, as_json, copying)


@click.command("live")
@click.argument("name", metavar="NAME")
@click.option(
    "--table",
    "tables",
    metavar="TABLE",
    multiple=True,
    help="A table or view to ask about, as NAME or SCHEMA.NAME. Repeatable.",
)
@click.option("--title", default="", metavar="TEXT", help="The dataset's title; else the name of the source.")
@inputs.json_option
def live(name: str, tables: tuple[str, ...], title: str, as_json: bool) -> int:
    """Ask a connected PostgreSQL where its rows are, without a copy.

    The tables become a version of the dataset NAME that holds their columns only. Every question is a query in the
    database, compiled from a plan; SQL and Python are for copied tables. Its rows can change, so that an answer is
    signed but not pinned: `sandtable verify` says so. Without --table, the tables of the version before are taken.

    Exit code: 0 the dataset can be asked about, 2 a table or the database cannot be used, 4 no sandbox.
    """

    @asynccontextmanager
    async def asking(parts: Parts) -> AsyncGenerator[Change, None]:
        yield lambda _: sources_of(parts).make_live(name, tables, title=title)

    return changed(NOTHING_DECIDED, as_json, asking)


@click.command("disconnect")
@click.argument("name", metavar="NAME")
@inputs.json_option
def disconnect(name: str, as_json: bool) -> int:
    """Forget a connected database and its password. Its dataset stays as it is.

    Exit code: 0 forgotten, 2 there is no such source.
    """
    quiet_logs()
    gone = SourceRecords(load_settings().home).remove(name)
    if as_json:
        print_json({"disconnected": gone.name})
    else:
        click.echo(f"Disconnected {clean(gone.name)}.")
    return 0


def _source_json(source: Source) -> dict[str, Any]:
    return source.model_dump(mode="json", exclude={"format"})


def _connected_json(found: Connected) -> dict[str, Any]:
    return {
        **_source_json(found.source),
        "role": found.identity.role,
        "encrypted": found.identity.encrypted,
        "overruled": list(found.overruled),
        "remarks": found.remarks,
        "tables": [
            {"name": t.shown, "kind": KINDS[t.kind], "rows": t.rows, "columns": [c.name for c in t.columns]}
            for t in found.tables
        ],
    }


def _show_connected(found: Connected, *, with_tables: bool = True) -> None:
    source, identity = found.source, found.identity
    how = "encrypted" if identity.encrypted else "not encrypted"
    click.echo(f"{clean(source.name)}: {clean(source.place)}, as {clean(identity.role)}, {how}")
    for reason in found.overruled:
        click.secho(f"  Allowed although {clean(reason)}.", fg="red")
    if not found.overruled:
        click.echo(f"  The {source.known.account} can only read.")
    for remark in found.remarks:
        click.echo(f"  {clean(remark)}")
    if not with_tables:
        return
    if not on_terminal():
        for t in found.tables:
            rows = "" if t.rows is None else str(t.rows)
            click.echo("\t".join((clean(t.shown), KINDS[t.kind], rows, str(len(t.columns)))))
        return
    table = grid("table", "is a", "rows, estimated", "columns")
    for t in found.tables:
        rows = "" if t.rows is None else f"{t.rows:,}"
        table.add_row(Text(clean(t.shown)), KINDS[t.kind], rows, str(len(t.columns)))
    console().print(table)


def _show_list(every: tuple[Source, ...], as_json: bool) -> None:
    if as_json:
        print_json([_source_json(source) for source in every])
        return
    if not on_terminal():
        for source in every:
            click.echo("\t".join(map(clean, (source.name, source.place, source.role, source.connected_at))))
        return
    table = grid("source", "database", "role", "connected")
    for source in every:
        table.add_row(
            Text(clean(source.name), style="bold"),
            Text(clean(source.place)),
            Text(clean(source.role)),
            source.connected_at,
        )
    console().print(table)


COMMANDS = (connect, sources, snapshot, live, disconnect)
