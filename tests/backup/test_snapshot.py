"""Databases that are written to are copied as they were at one moment."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from sandtable.backup.snapshot import copy_databases
from sandtable.errors import SandtableError


def make(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE t (n INTEGER, filler BLOB)")
        connection.executemany("INSERT INTO t VALUES (0, zeroblob(4000))", [()] * 500)
        connection.commit()


def newest(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT max(n) FROM t").fetchone()[0]


def test_copies_of_two_databases_are_of_one_moment(tmp_path: Path) -> None:
    first, second = tmp_path / "a.db", tmp_path / "b.db"
    make(first)
    make(second)
    stop, written = threading.Event(), threading.Event()

    def write() -> None:
        with (
            closing(sqlite3.connect(first, timeout=20)) as one,
            closing(sqlite3.connect(second, timeout=20)) as two,
        ):
            number = 0
            while not stop.is_set():
                number += 1
                for connection in (one, two):
                    connection.execute("INSERT INTO t VALUES (?, zeroblob(100))", (number,))
                    connection.commit()
                written.set()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert written.wait(20)
        for attempt in range(15):
            copies = {first: tmp_path / f"a{attempt}", second: tmp_path / f"b{attempt}"}
            copy_databases(copies, lambda more: None)
            # The writer writes to the first, then to the second.
            assert newest(copies[first]) - newest(copies[second]) in (0, 1)
    finally:
        stop.set()
        writer.join()
    assert newest(first) > newest(tmp_path / "a0")


def test_a_damaged_database_is_not_backed_up(tmp_path: Path) -> None:
    make(tmp_path / "a.db")
    with (tmp_path / "a.db").open("r+b") as file:
        file.seek(4096 * 3)
        file.write(b"\xff" * 4096)
    with pytest.raises(SandtableError, match="is damaged"):
        copy_databases({tmp_path / "a.db": tmp_path / "copy"}, lambda more: None)
