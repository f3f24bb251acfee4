"""Sandtable as a library: the same functions as blocking calls (here) and as coroutines (`aio`)."""

from __future__ import annotations

from sandtable.library import aio, work
from sandtable.library.bridge import BRIDGE, blocking
from sandtable.library.faces import Session
from sandtable.library.result import Answer, RunResult, Table

run = blocking(work.run)
ask = blocking(work.ask)


def close() -> None:
    """Stop the warm sandboxes and everything that runs in them. The next call starts new ones.

    Not needed at the end of a program, where it happens by itself; useful in one that goes on without Sandtable.
    """
    BRIDGE.close()


__all__ = ["Answer", "RunResult", "Session", "Table", "aio", "ask", "close", "run"]
