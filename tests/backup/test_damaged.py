"""A changed, cut off or foreign backup is refused, and nothing appears."""

from __future__ import annotations

import io
import os
import random
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from sandtable.backup.archive import header
from sandtable.backup.manifest import Entry, seal, unseal
from sandtable.backup.restoring import check, opened
from sandtable.capsule.keys import open_signing_key
from sandtable.errors import InvalidInput
from tests.backup.conftest import invoke, take_from


@pytest.fixture
def small(home: Path, tmp_path: Path) -> Path:
    """An archive without databases: few bytes, so that each can be changed."""
    for path in home.glob("*.db"):
        path.unlink()
    take_from(home, tmp_path / "small.tar")
    return tmp_path / "small.tar"


def is_whole(path: Path) -> bool:
    try:
        with opened(path) as backup:
            check(backup)
    except InvalidInput:
        return False
    return True


def test_any_changed_byte_of_an_archive_is_found(small: Path) -> None:
    good = small.read_bytes()
    assert is_whole(small)
    places = {
        *range(600),
        *range(len(good) - 1100, len(good)),
        *random.Random(7).sample(range(len(good)), 600),
    }
    for place in sorted(places):
        small.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        assert not is_whole(small), place


def test_any_cut_or_longer_archive_is_found(small: Path) -> None:
    good = small.read_bytes()
    for size in [0, 1, 511, 512, *range(600, len(good), 997), len(good) - 512, len(good) - 1]:
        small.write_bytes(good[:size])
        assert not is_whole(small), size
    for more in (b"\0", bytes(512), b"x" * 512, good):
        small.write_bytes(good + more)
        assert not is_whole(small)


def longer(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0")


def changed(path: Path) -> None:
    found = bytearray(path.read_bytes())
    found[-1] ^= 1
    path.write_bytes(found)


def linked(path: Path) -> None:
    path.rename(path.parent / "elsewhere")
    path.symlink_to(path.parent / "elsewhere")


def piped(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def beside(path: Path) -> None:
    (path.parent / "another").write_bytes(b"")


@pytest.mark.parametrize("harm", [longer, changed, linked, piped, beside, Path.unlink])
@pytest.mark.parametrize("name", ["home/data/sources/cc", "home/sandtable.db"])
def test_a_changed_folder_is_found(
    home: Path, tmp_path: Path, harm: Callable[[Path], None], name: str
) -> None:
    take_from(home, tmp_path / "copy")
    assert is_whole(tmp_path / "copy")
    harm(tmp_path / "copy" / name)
    assert not is_whole(tmp_path / "copy")


def test_a_folder_that_is_a_link_is_found(home: Path, tmp_path: Path) -> None:
    take_from(home, tmp_path / "copy")
    sources = tmp_path / "copy" / "home" / "data/sources"
    shutil.move(sources, tmp_path / "elsewhere")
    sources.symlink_to(tmp_path / "elsewhere")
    assert not is_whole(tmp_path / "copy")


def forged(home: Path, path: Path, members: list[tuple[tarfile.TarInfo, bytes]], named: str) -> None:
    """An archive that is signed by another key, and names a file that a sound writer would not."""
    take_from(home, path.with_suffix(".good.tar"))
    with opened(path.with_suffix(".good.tar")) as backup:
        content = b"evil"
        digest = "9e4bdc4a8f0f4fdee6ea3d5ffff02d6f3fd8a5c1ba1d5c9be4e4b1a2f6e0a3d1"
        entry = Entry.model_construct(path=named, size=len(content), sha256=digest, private=True)
        sealed = seal(backup.manifest.model_copy(update={"entries": (entry,)}), open_signing_key(home))
    with path.open("wb") as file:
        for info, data in members:
            file.write(info.tobuf(tarfile.USTAR_FORMAT) + data + bytes(-len(data) % 512))
        file.write(header(1, "manifest.json", len(sealed), private=True) + sealed)
        file.write(bytes(-len(sealed) % 512 + 1024))


def member(
    name: str, kind: bytes = tarfile.REGTYPE, target: str = "", data: bytes = b""
) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, target, len(data)
    return info, data


@pytest.mark.parametrize(
    ("named", "members"),
    [
        ("home/../../evil", [member("home/../../evil", data=b"evil")]),
        ("/tmp/evil", [member("/tmp/evil", data=b"evil")]),
        ("home/a", [member("home/a", tarfile.SYMTYPE, "/etc")]),
        ("home/a", [member("home/a", tarfile.LNKTYPE, "/etc/passwd")]),
        ("home/a", [member("home/a", tarfile.CHRTYPE)]),
        ("home/a", [member("home/a", tarfile.FIFOTYPE)]),
        ("home/a", [member("home/a", tarfile.DIRTYPE)]),
        ("home/a", [member("home/b", data=b"evil")]),
        ("home/a", [member("home/a", tarfile.XHDTYPE, data=b"20 path=/tmp/evil\n")]),
    ],
    ids=["climbs", "absolute", "link", "hard link", "device", "pipe", "folder", "other name", "pax"],
)
def test_what_an_archive_claims_is_not_trusted(
    home: Path, tmp_path: Path, named: str, members: list[tuple[tarfile.TarInfo, bytes]]
) -> None:
    forged(home, tmp_path / "forged.tar", members, named)
    before = sorted(path for path in tmp_path.iterdir())
    done = invoke("restore", str(tmp_path / "forged.tar"), "--home", str(tmp_path / "new"))
    assert done.exit_code == 2 and "this is no whole backup" in done.stderr
    assert sorted(path for path in tmp_path.iterdir()) == before


def test_other_archives_and_files_are_refused(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        info = tarfile.TarInfo("home/x")
        info.size = 1
        archive.addfile(info, io.BytesIO(b"x"))
    for content in (buffer.getvalue(), b"", b"hello", bytes(10_000), random.Random(1).randbytes(5000)):
        (tmp_path / "foreign.tar").write_bytes(content)
        assert not is_whole(tmp_path / "foreign.tar")
    (tmp_path / "folder").mkdir()
    assert not is_whole(tmp_path / "folder")


def test_the_signature_of_another_installation_is_refused_on_request(home: Path, tmp_path: Path) -> None:
    take_from(home, tmp_path / "copy")
    (tmp_path / "other").mkdir()
    open_signing_key(tmp_path / "other")
    with opened(tmp_path / "copy", home / "keys/signing.pub.pem") as backup:
        assert backup.manifest.entries
    with (
        pytest.raises(InvalidInput, match="signed it, and not the one in"),
        opened(tmp_path / "copy", tmp_path / "other/keys/signing.pub.pem"),
    ):
        pass


def test_a_manifest_of_another_format_says_so(home: Path, tmp_path: Path) -> None:
    manifest = take_from(home, tmp_path / "copy").manifest
    newer = manifest.model_copy(update={"format": "sandtable-backup/2"})
    with pytest.raises(InvalidInput, match="a format that this Sandtable does not know"):
        unseal(seal(newer, open_signing_key(home)))


def test_a_damaged_file_leaves_no_home(home: Path, tmp_path: Path) -> None:
    take_from(home, tmp_path / "copy")
    changed(tmp_path / "copy" / "home" / "data/removals/bb.json")
    done = invoke("restore", str(tmp_path / "copy"), "--home", str(tmp_path / "new"))
    assert done.exit_code == 2 and "removals/bb.json is damaged" in done.stderr
    assert not (tmp_path / "new").exists() and not list(tmp_path.glob(".new*"))
