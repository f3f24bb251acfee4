"""`sandtable kernel`: a Jupyter kernel in a sandbox, until it is shut down."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import click

from sandtable.assemble import Parts
from sandtable.assemble.kernel import open_kernel
from sandtable.cli import inputs
from sandtable.cli.session import open_dataset, with_parts
from sandtable.cli.show import print_json
from sandtable.errors import RunnerBroken


@click.command("kernel")
@inputs.dataset_options
@click.option(
    "--connection-file",
    "file",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where to write what a client needs to connect; must not exist. Else beside the kernel's sockets.",
)
@inputs.json_option
def command(about: inputs.About, file: Path | None, as_json: bool) -> int:
    """Start a Jupyter kernel in the sandbox.

    It has the dataset's tables in it. Prints the path of its connection file, for `jupyter console --existing FILE`
    and every other client of this user. Code is not checked and leaves no capsule: the sandbox alone holds it.
    Ctrl-\\ (SIGQUIT) interrupts what runs in it, which `jupyter console --existing` cannot do. Ends with Ctrl-C, or
    when a client shuts the kernel down; the connection file goes with it. Needs pip install 'sandtable[jupyter]'.

    Exit code: 0 shut down by a client, 1 the kernel died, 2 the input cannot be used, 4 no sandbox, 130 Ctrl-C.
    """
    inputs.require_dataset(about)
    return with_parts(lambda parts: _serve(parts, about, file, as_json))


async def _serve(parts: Parts, about: inputs.About, wanted: Path | None, as_json: bool) -> int:
    dataset = await open_dataset(parts, about)
    async with open_kernel(parts, dataset) as kernel:
        file = (wanted or kernel.folder / "kernel.json").absolute()
        kernel.write_connection(file)
        try:
            with _on_quit(kernel.interrupt):
                _announce(file, as_json)
                ended = await kernel.wait()
            if ended.status == 0:
                return 0
            raise RunnerBroken(f"the kernel died: {kernel.explain()}", suggestion="Start another")
        finally:
            file.unlink(missing_ok=True)


@contextmanager
def _on_quit(interrupt: Callable[[], None]) -> Generator[None, None, None]:
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGQUIT, interrupt)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGQUIT)


def _announce(file: Path, as_json: bool) -> None:
    if as_json:
        print_json({"connection_file": str(file)}, indent=None)
    else:
        click.echo(str(file))
        click.echo(f"connect with: jupyter console --existing {file}", err=True)
        click.echo("Ctrl-\\ here interrupts its code, Ctrl-C ends it", err=True)
