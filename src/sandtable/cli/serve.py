"""`sandtable serve`: the server, until a signal ends it."""

from __future__ import annotations

import asyncio
from pkgutil import resolve_name

import click

from sandtable.cli import inputs
from sandtable.cli.show import print_json
from sandtable.process import load_settings

# By name, as any program loads a server: the two surfaces do not import each other.
_LISTEN = "sandtable.server.listen:listen"


@click.command("serve")
@click.option("--host", metavar="ADDRESS", help="Address to listen on; else SANDTABLE_HOST.")
@click.option("--port", type=click.IntRange(0, 65535), metavar="PORT", help="Port; else SANDTABLE_PORT.")
@inputs.json_option
def command(host: str | None, port: int | None, as_json: bool) -> int:
    """Serve the web page and the REST interface.

    Listens once the sandbox has withstood its self-test. Logs are JSON lines on stderr. Ctrl-C or SIGTERM
    ends it after the last request was answered.

    Exit code: 0 ended by a signal, 2 the address cannot be used, 4 untrusted queries cannot be run here.
    """
    given = {"host": host, "port": port}
    settings = load_settings().model_copy(update={name: v for name, v in given.items() if v is not None})

    def announce(url: str) -> None:
        if as_json:
            print_json({"url": url}, indent=None)
        else:
            click.echo(f"Sandtable is at {url} (Ctrl-C ends it)")

    asyncio.run(resolve_name(_LISTEN)(settings, announce))
    return 0
