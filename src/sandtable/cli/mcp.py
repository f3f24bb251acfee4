"""`sandtable mcp`: the tools of MCP over stdin and stdout, for clients that start it."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec

import click

from sandtable.assemble import Parts
from sandtable.cli import inputs
from sandtable.cli.session import open_dataset, with_parts
from sandtable.cli.turn import begin_loading
from sandtable.errors import InvalidInput


@click.command("mcp")
@inputs.data_options
@inputs.json_option
def command(about: inputs.About, as_json: bool) -> int:
    """Serve MCP on stdin and stdout, for clients that start it.

    Such as Claude Desktop, Claude Code, VS Code, Cursor and Goose: docs/mcp.md has their configurations. It offers
    the datasets of the home, and the files of --data as one more. stdout carries nothing but the protocol; errors are
    logged to stderr. It ends when stdin does. --json is for the error of a start that fails.

    Exit code: 0 stdin ended, 2 a file cannot be used or the extra is not installed, 4 no sandbox.
    """
    if find_spec("mcp") is None:
        raise InvalidInput(
            "the package `mcp` is not installed", suggestion="Install it with `pip install 'sandtable[mcp]'`."
        )
    loading = begin_loading()

    async def act(parts: Parts) -> None:
        # Loads the SDK, which is an extra.
        from sandtable.server.mcp.stdio import serve

        if about.data:
            await open_dataset(parts, about)
        await serve(parts, asyncio.wrap_future(loading))

    with_parts(act)
    return 0
