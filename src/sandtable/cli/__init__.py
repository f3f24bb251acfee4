"""The command line: one file per command, loaded when it is called."""

from __future__ import annotations

from sandtable.cli.group import main

__all__ = ["main"]
