"""`sandtable`: loads a command, and handles the end of every command in the same way.

Invariant: `sandtable --help` imports no command. Nothing ends in a traceback, and with `--json` every
error is an object. Exit codes: 0 done, 1 failed, 2 the input cannot be used, 3 refused, 4 the sandbox is
not available, 130 interrupted, 143 ended by SIGTERM.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from typing import Any, NoReturn

import click

from sandtable import __version__
from sandtable.cli.arguments import may_run
from sandtable.cli.prefork.meeting import BRIEF
from sandtable.quoting import quote

AS_JSON = "sandtable.as_json"
INTERRUPTED, TERMINATED = 130, 143

COMMANDS = {
    "datasets": "List what may be asked about.",
    "schema": "Show the tables, columns, relationships and metrics of a dataset.",
    "run": "Run a plan, SQL or Python in the sandbox.",
    "ask": "Ask a question in plain language.",
    "chat": "Ask one question after the other.",
    "eval": "Test questions against their expected answers.",
    "check": "Ask the gate about a plan, SQL or Python, without running it.",
    "runs": "List runs, newest first.",
    "verify": "Derive a capsule again and name the link that is broken.",
    "export": "Write answers as a page that proves itself, Markdown, a notebook or CSV.",
    "data": "Add data files as datasets that stay, and look after the data on disk.",
    "key": "Print the public key that capsules are signed with.",
    "doctor": "Show what isolation this machine gives, and try to escape it.",
    "kernel": "Start a Jupyter kernel in the sandbox.",
    "user": "Add, list and change the people who may sign in to a server.",
    "team": "Put people into teams, which things can be shared with.",
    "token": "Make, list and revoke API keys for programs.",
    "serve": "Serve the web page and the REST interface.",
    "mcp": "Serve MCP on stdin and stdout, for clients that start it.",
    "execd": "Execute jobs for servers elsewhere.",
    "migrate": "Bring the database up to date, without serving.",
    "prune": "Remove old runs and conversations.",
    "backup": "Copy the home and its database to one archive or folder.",
    "restore": "Make a home from a backup, after every digest was checked.",
}


SANDBOXED = frozenset({"ask", "run"})
"""Commands whose sandboxes start while their modules are loaded."""
_FEW_COLLECTIONS = 50_000


class Commands(click.Group):
    _alone = False
    """Whether this process was started for one command."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        if self._alone and cmd_name in BRIEF:
            # What garbage they leave need not be collected.
            gc.set_threshold(_FEW_COLLECTIONS)
        if self._alone and cmd_name in SANDBOXED:
            _begin_early(cmd_name, sys.argv[sys.argv.index(cmd_name) + 1 :])
        return import_module(f"sandtable.cli.{cmd_name}").command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from sandtable.catalog.names import nearest  # loads the catalog, which no other path here needs

            alike = nearest(args[0], COMMANDS)
            hint = f" Did you mean {quote(alike)}?" if alike else ""
            ctx.fail(f"No command {quote(args[0])}.{hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except BrokenPipeError:
            raise  # click exits quietly when the pipe's reader is gone
        except Exception as error:  # noqa: BLE001 - `explain` tells of it, whatever it is
            from sandtable.cli.failure import explain  # loads pydantic, which `--help` does without

            return explain(error, as_json=bool(ctx.meta.get(AS_JSON)))

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> NoReturn:
        """Commands return their exit code."""
        _open_standard_streams()
        _show_what_can_be_shown()
        self._alone = args is None
        arguments = list(sys.argv[1:] if args is None else args)
        try:
            code = super().main(arguments, prog_name, complete_var, standalone_mode=False, **extra)
        except click.Abort:
            code = INTERRUPTED
        except click.ClickException as error:
            code = _misused(error, as_json="--json" in arguments)
        if self._alone:
            # The interpreter would otherwise go through every loaded object twice before it ends.
            gc.freeze()
        sys.exit(_flushed(code or 0))


def _begin_early(command: str, arguments: Sequence[str]) -> None:
    if may_run(command, arguments):
        from sandtable.cli.early import begin_early  # reads the settings, which `--help` does without

        begin_early(command, arguments)


def _open_standard_streams() -> None:
    """Opens closed ones on the null device: otherwise the next opened file, such as the database, becomes stdout."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # Stays open until the process exits.
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))


def _show_what_can_be_shown() -> None:
    """A character that the terminal cannot encode becomes a question mark instead of an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.encoding.lower().replace("-", "") != "utf8":
            stream.reconfigure(errors="replace")


def _flushed(code: int) -> int:
    """Flushes stdout; after a failure, discards the rest so that the interpreter's flush at exit does not fail too."""
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        return code or 1
    return code


def _misused(error: click.ClickException, *, as_json: bool) -> int:
    if not as_json:
        error.show()
        return error.exit_code
    from sandtable.cli.failure import misused  # loads pydantic, which `--help` does without

    return misused(error)


@click.command(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, package_name="sandtable", message="sandtable %(version)s")
def main() -> None:
    """Questions about tabular data: judged by a gate, run in a sealed sandbox, proven by a signed capsule."""
