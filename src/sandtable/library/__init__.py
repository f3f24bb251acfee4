"""Sandtable as a library: the same functions for callers that wait (here) and for those that await (`aio`)."""

from __future__ import annotations

from sandtable.library import aio, work
from sandtable.library.bridge import BRIDGE, blocking
from sandtable.library.faces import Session
from sandtable.library.result import Answer, RunResult, Table

run = blocking(work.run)
ask = blocking(work.ask)


def close() -> None:
    """End the sandboxes that are kept ready, and whatever runs in them. The next call starts others.

    Not needed at the end of a program, which does it by itself; good for one that lives on without Sandtable.
    """
    BRIDGE.close()


__all__ = ["Answer", "RunResult", "Session", "Table", "aio", "ask", "close", "run"]
