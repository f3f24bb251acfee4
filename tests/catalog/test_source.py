"""Copies of the files that people give."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandtable.catalog.source import copy_source
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
