"""Turning on SQLite's write-ahead log where several processes may start together."""

from __future__ import annotations

import sqlite3
import time


def use_wal(connection: sqlite3.Connection, patience_s: float) -> None:
    """Changing the journal mode ignores the busy timeout, so this waits by itself."""
    give_up = time.monotonic() + patience_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                raise
        time.sleep(0.01)
