"""Uploads as bytes on disk: offsets, limits, a full disk, names, expiry."""

from __future__ import annotations

import errno
import os
import shutil
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sandtable.catalog.own.uploads import (
    LONGEST_NAME,
    MOST_UNFINISHED,
    NoSpace,
    OtherOffset,
    TooLarge,
    UploadLimits,
    Uploads,
    file_name,
)
from sandtable.errors import InvalidInput, NotFound

MB = 1 << 20
LIMITS = UploadLimits(file_bytes=MB, all_bytes=2 * MB, unfinished_s=3600)


@pytest.fixture
def uploads(tmp_path: Path) -> Uploads:
    return Uploads(tmp_path / "data", LIMITS)


def _written(uploads: Uploads, content: bytes, name: str = "a.csv") -> str:
    upload = uploads.begin(name, len(content), "@me")
    uploads.append(upload.id, 0, content)
    return upload.id


def test_bytes_arrive_in_pieces_and_survive_a_restart(tmp_path: Path, uploads: Uploads) -> None:
    upload = uploads.begin("orders.csv", 6, "@me")
    assert uploads.append(upload.id, 0, b"a,b") == 3
    later = Uploads(tmp_path / "data", LIMITS)
    assert (later.find(upload.id).offset, later.find(upload.id).complete) == (3, False)
    later.append(upload.id, 3, b"\n1,")
    assert later.find(upload.id).complete
    assert later.path(upload.id).read_bytes() == b"a,b\n1,"


@pytest.mark.parametrize("offset", [0, 2, 4])
def test_another_offset_changes_nothing(uploads: Uploads, offset: int) -> None:
    upload = uploads.begin("a.csv", 10, "@me")
    uploads.append(upload.id, 0, b"abc")
    with pytest.raises(OtherOffset) as refused:
        uploads.append(upload.id, offset, b"x")
    assert refused.value.details["offset"] == 3
    assert uploads.path(upload.id).read_bytes() == b"abc"


def test_a_file_that_is_too_large_is_refused_when_announced_and_when_written(uploads: Uploads) -> None:
    with pytest.raises(TooLarge, match="1 MiB"):
        uploads.begin("a.csv", MB + 1, "@me")
    unknown = uploads.begin("a.csv", None, "@me")
    uploads.append(unknown.id, 0, bytes(MB))
    with pytest.raises(TooLarge, match="1 MiB"):
        uploads.append(unknown.id, MB, b"x")
    known = uploads.begin("a.csv", 2, "@me")
    with pytest.raises(TooLarge, match="announced"):
        uploads.append(known.id, 0, b"abc")
    assert uploads.find(known.id).offset == 0


def test_the_quota_counts_what_is_on_disk_and_what_was_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandtable.catalog.own.uploads._MEASURED_S", 0.0)
    kept = [0]
    uploads = Uploads(tmp_path / "data", LIMITS, lambda: kept[0])
    _written(uploads, bytes(MB))
    half = uploads.begin("b.csv", MB, "@me")
    kept[0] = MB // 2
    with pytest.raises(NoSpace, match="take 2 MiB"):
        uploads.append(half.id, 0, bytes(MB))
    with pytest.raises(NoSpace):
        uploads.begin("c.csv", MB, "@me")
    assert uploads.find(half.id).offset == 0


def test_an_announced_size_takes_no_quota(uploads: Uploads) -> None:
    for _ in range(5):
        uploads.begin("a.csv", MB, "@me")


def test_a_full_disk_is_said_before_it_is_full(uploads: Uploads, monkeypatch: pytest.MonkeyPatch) -> None:
    upload = uploads.begin("a.csv", 10, "@me")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1 << 20))
    with pytest.raises(NoSpace, match="disk is full: 1 MiB"):
        uploads.append(upload.id, 0, b"abc")
    with pytest.raises(NoSpace):
        uploads.begin("b.csv", 10, "@me")
    assert [found.id for found in uploads.all()] == [upload.id]


def test_after_a_full_disk_the_upload_goes_on(uploads: Uploads, monkeypatch: pytest.MonkeyPatch) -> None:
    upload = uploads.begin("a.csv", 6, "@me")
    write, calls = os.write, iter([3, OSError(errno.ENOSPC, "No space left on device")])

    def filling(fd: int, content: Any) -> int:
        outcome = next(calls, None)
        if isinstance(outcome, OSError):
            raise outcome
        return write(fd, content if outcome is None else content[:outcome])

    monkeypatch.setattr(os, "write", filling)
    with pytest.raises(NoSpace, match="disk is full"):
        uploads.append(upload.id, 0, b"abcdef")
    assert uploads.find(upload.id).offset == 3
    uploads.append(upload.id, 3, b"def")
    assert uploads.path(upload.id).read_bytes() == b"abcdef"


def test_a_disk_that_fills_up_at_the_start_leaves_nothing(
    tmp_path: Path, uploads: Uploads, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(NoSpace):
        uploads.begin("a.csv", 6, "@me")
    assert list((tmp_path / "data/uploads").iterdir()) == []


def test_two_uploads_of_one_name_are_two(uploads: Uploads) -> None:
    first, second = _written(uploads, b"one"), _written(uploads, b"two")
    assert first != second
    assert [uploads.path(each).read_bytes() for each in (first, second)] == [b"one", b"two"]
    assert [uploads.find(each).name for each in (first, second)] == ["a.csv", "a.csv"]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\sales 2024.xlsx", "sales 2024.xlsx"),
        ("..", "data"),
        ("", "data"),
        ("a/", "data"),
        ("a\0b\r\n\u202ecsv.exe", "a b csv.exe"),
        ("Umsa\u0308tze.csv", "Umsätze.csv"),
        ("\udcff.csv", ".csv"),
    ],
)
def test_a_name_is_text_and_no_path(tmp_path: Path, uploads: Uploads, given: str, name: str) -> None:
    upload = uploads.begin(given, 1, "@me")
    assert upload.name == name
    assert uploads.path(upload.id).parent.parent == tmp_path / "data/uploads"


def test_a_long_name_keeps_its_ending() -> None:
    name = file_name("x" * 5000 + ".csv.gz")
    assert len(name) <= LONGEST_NAME and name.endswith(".csv.gz")


@pytest.mark.parametrize("upload_id", ["..", "../versions", "0" * 31, "0" * 32, "G" * 32, ""])
def test_no_other_id_finds_or_removes_anything(tmp_path: Path, uploads: Uploads, upload_id: str) -> None:
    (tmp_path / "data/versions").mkdir()
    with pytest.raises(NotFound):
        uploads.find(upload_id)
    uploads.remove(upload_id)
    assert (tmp_path / "data/versions").is_dir()


def test_what_lies_too_long_is_removed_unless_an_import_has_it(uploads: Uploads) -> None:
    old, used, new = (_written(uploads, b"x") for _ in range(3))
    for each in (old, used):
        os.utime(uploads.path(each), (0, time.time() - 3700))
    assert uploads.clean({used}) == 1
    assert {upload.id for upload in uploads.all()} == {used, new}


def test_an_upload_of_unknown_size_is_complete_when_it_is_said(uploads: Uploads) -> None:
    upload = uploads.begin("a.csv", None, "@me")
    uploads.append(upload.id, 0, b"abc")
    assert not uploads.find(upload.id).complete
    uploads.complete(upload.id)
    assert uploads.find(upload.id).complete and uploads.find(upload.id).bytes == 3


def test_one_user_has_a_bounded_number(uploads: Uploads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandtable.catalog.own.uploads.MOST_UNFINISHED", 2)
    uploads.begin("a.csv", 1, "@me")
    uploads.begin("a.csv", 1, "@me")
    with pytest.raises(InvalidInput, match="as many as one user may have"):
        uploads.begin("a.csv", 1, "@me")
    uploads.begin("a.csv", 1, "@you")
    assert MOST_UNFINISHED > 2
