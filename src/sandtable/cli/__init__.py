"""The command line: one file per command, loaded when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from sandtable.cli.group import main

__all__ = ["main", "start"]


def start() -> NoReturn:
    """The program `sandtable`. A process that waits for brief commands carries them out, if there is one."""
    from sandtable.cli.prefork import client

    code = client.carried_out()
    if code is not None:
        raise SystemExit(code)
    from sandtable.cli.group import main

    with client.leaving_one_to_wait():
        raise SystemExit(main())


def __getattr__(name: str) -> Any:
    """`main`, which loads click, is imported late: `start` may do without it."""
    if name != "main":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sandtable.cli.group import main

    return main
