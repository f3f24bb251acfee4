"""Copies of the files that people give."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandtable.catalog.stored.source import copy_source, require_written
from sandtable.errors import InvalidInput


def test_a_file_that_changes_while_it_is_copied_is_refused(tmp_path: Path) -> None:
    source, target = tmp_path / "log.csv", tmp_path / "copy"
    source.write_bytes(b"id\n" + b"1\n" * 1_000)

    def append(done: int, size: int) -> None:
        if source.stat().st_size < 10_000:
            with source.open("ab") as file:
                file.write(b"2\n" * 5_000)

    with pytest.raises(InvalidInput, match=r"log\.csv changed while it was read") as caught:
        copy_source(source, target, append)
    assert caught.value.suggestion.startswith("Give it again")
    assert [path.name for path in tmp_path.iterdir()] == ["log.csv"]


def test_a_file_at_rest_is_copied(tmp_path: Path) -> None:
    source, target = tmp_path / "log.csv", tmp_path / "copy"
    source.write_bytes(b"id\n1\n")
    copy_source(source, target)
    assert target.read_bytes() == b"id\n1\n"


def test_a_database_with_changes_beside_it_is_refused(tmp_path: Path) -> None:
    database = tmp_path / "shop.db"
    database.write_bytes(b"SQLite format 3\0")
    link = tmp_path / "link.db"
    link.symlink_to(database)
    require_written(database)
    wal, journal = tmp_path / "shop.db-wal", tmp_path / "shop.db-journal"
    wal.write_bytes(b"")
    journal.write_bytes(bytes(512))
    require_written(database)
    wal.write_bytes(b"\x37\x7f\x06\x82")
    for path in (database, link):
        with pytest.raises(InvalidInput, match=r"changes of it are in shop\.db-wal"):
            require_written(path)
    wal.unlink()
    journal.write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7 and more")
    with pytest.raises(InvalidInput, match=r"changes of it are in shop\.db-journal"):
        require_written(database)
