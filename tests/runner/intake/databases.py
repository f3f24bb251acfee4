"""SQLite databases for tests, as bytes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

Row = Sequence[object]


def sqlite(script: str, rows: Mapping[str, Iterable[Row]] | None = None, *, before: bytes = b"") -> bytes:
    """`rows`: by table, quoted as in SQL. `before`: the database that the script changes."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "made.sqlite"
        path.write_bytes(before)
        database = sqlite3.connect(path)
        database.executescript(script)
        for table, given in (rows or {}).items():
            for row in given:
                database.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
        database.commit()
        database.close()
        return path.read_bytes()
