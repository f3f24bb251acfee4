"""`sandtable serve`: the server, until a signal ends it."""

from __future__ import annotations

import asyncio

import click

from sandtable.cli import inputs
from sandtable.cli.show import print_json
from sandtable.process import load_settings


@click.command("serve")
@click.option("--host", metavar="ADDRESS", help="Address to listen on; else SANDTABLE_HOST.")
@click.option("--port", type=click.IntRange(0, 65535), metavar="PORT", help="Port; else SANDTABLE_PORT.")
@click.option(
    "--insecure", is_flag=True, help="Let everybody who can reach ADDRESS use it; else SANDTABLE_INSECURE."
)
@inputs.data_options
@inputs.json_option
def command(host: str | None, port: int | None, insecure: bool, about: inputs.About, as_json: bool) -> int:
    """Serve the web page and the REST interface.

    Listens once the sandbox has withstood its self-test. Logs are on stderr, as JSON lines unless that is a
    terminal. Ctrl-C or SIGTERM ends it after the last request was answered.

    The files of --data are a dataset of this server, listed first, until it ends; `sandtable data add` adds datasets
    that stay.

    On an address that other machines can reach, people sign in: `sandtable user add NAME --admin` makes the first
    account. Without accounts, SANDTABLE_TRUSTED_PROXIES names a proxy that signs people in, or --insecure lets
    everybody in.

    Exit code: 0 ended by a signal, 2 the address cannot be used, 4 untrusted queries cannot be run here.
    """
    from sandtable.server.listen import listen  # loads FastAPI, which other commands do without

    given = {"host": host, "port": port, "insecure": insecure or None}
    settings = load_settings().model_copy(update={name: v for name, v in given.items() if v is not None})

    def announce(urls: tuple[str, ...], warning: str) -> None:
        if as_json:
            print_json({"url": urls[0], "urls": urls, "warning": warning or None}, indent=None)
            return
        click.echo(f"Sandtable is at {' and '.join(urls)} (Ctrl-C ends it)")
        if warning:
            click.secho(f"WARNING: {warning}", bold=True)

    asyncio.run(listen(settings, announce, about.data, about.decided))
    return 0
