"""`sandtable execd`: the execution service, until a signal ends it."""

from __future__ import annotations

import asyncio
from typing import Any

import click

from sandtable.cli import inputs
from sandtable.cli.show import print_json
from sandtable.process import load_settings


@click.command("execd")
@click.option("--host", metavar="ADDRESS", help="Address to listen on; else SANDTABLE_EXECD_HOST.")
@click.option(
    "--port", type=click.IntRange(0, 65535), metavar="PORT", help="Port; else SANDTABLE_EXECD_PORT."
)
@inputs.json_option
def command(host: str | None, port: int | None, as_json: bool) -> int:
    """Execute jobs for servers elsewhere.

    Servers with SANDTABLE_BACKEND=remote and SANDTABLE_EXECD_URL send their queries and code here. Both sides prove
    to each other that they hold SANDTABLE_EXECD_TOKEN. The data are read from the folder `data` in SANDTABLE_HOME.

    Listens once the sandbox has withstood its self-test. Logs are on stderr, as JSON lines unless that is a
    terminal. Ctrl-C or SIGTERM ends it after the last request was answered.

    Exit code: 0 ended by a signal, 2 the address or the token cannot be used, 4 untrusted queries cannot be run
    here.
    """
    from sandtable.server.execd.listen import listen_execd  # loads FastAPI, which other commands do without

    given = {"execd_host": host, "execd_port": port}
    settings = load_settings().model_copy(update={name: v for name, v in given.items() if v is not None})

    def announce(urls: tuple[str, ...], offer: Any) -> None:
        if as_json:
            print_json({"url": urls[0], "urls": urls, **offer.model_dump(mode="json")}, indent=None)
            return
        versions = len(offer.data)
        click.echo(f"Sandtable executes jobs at {' and '.join(urls)} (Ctrl-C ends it)")
        click.echo(f"  engine   {offer.engine}")
        click.echo(f"  modes    {', '.join(offer.modes)}")
        click.echo(f"  data     {versions} version{'s' * (versions != 1)} of datasets")
        click.echo(f"  within   {', '.join(offer.layers)}")

    asyncio.run(listen_execd(settings, announce))
    return 0
