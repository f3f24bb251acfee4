"""What earlier versions left on disk, brought back from `tests/earlier_home`."""

from __future__ import annotations

import gzip
import sqlite3
from pathlib import Path

import psycopg

_FOLDER = Path(__file__).parent / "earlier_home"
TALKED = "00000000-0000-4000-8000-000000000001"
"""Four turns, and a branch at the second message."""
WAITING = "00000000-0000-4000-8000-000000000002"
"""Waits for an approval."""


def earlier_home(home: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    for name in ("sandtable", "conversations", "threads"):
        connection = sqlite3.connect(home / f"{name}.db")
        connection.executescript(_dump(name))
        connection.close()


def earlier_database(url: str) -> None:
    """Threads and checkpoints, in the schema that the address names."""
    statements = _dump("postgres").replace("public.", "").splitlines()
    wanted = "\n".join(line for line in statements if "set_config('search_path'" not in line)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(wanted.encode())


def _dump(name: str) -> str:
    return gzip.decompress((_FOLDER / f"{name}.sql.gz").read_bytes()).decode()
