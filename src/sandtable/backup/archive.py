"""Where a backup is written to and read from: one tar file, or a folder.

Invariant: every byte of an archive is accounted for. The reader finds the manifest, and from then on compares each
header with the one that the writer makes for that entry; names, links and modes that an archive claims are never used.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tarfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

from sandtable.backup.manifest import MOST_BYTES, NAME, Entry, Manifest, not_one
from sandtable.errors import RunnerBroken

BLOCK = 512
PIECE = 1 << 20
_END = 2 * BLOCK
_MOST_MEMBERS = 5_000_000
_LARGEST_OCTAL = 8**11

Advance = Callable[[int], None]
"""Called with the number of bytes that were dealt with; may raise to stop."""


class Writer(Protocol):
    def add(self, path: str, source: BinaryIO, size: int, *, private: bool, advance: Advance) -> Entry: ...

    def finish(self, sealed: bytes) -> None: ...


class Reader(Protocol):
    def sealed(self) -> bytes:
        """The manifest as it was written."""
        ...

    def expect(self, manifest: Manifest) -> None:
        """Raises InvalidInput unless exactly these files are there."""
        ...

    def pieces(self, number: int, entry: Entry) -> Iterator[bytes]:
        """The content of the entry with this number; call in their order. Raises InvalidInput."""
        ...

    def close(self) -> None: ...


def checked(pieces: Iterable[bytes], entry: Entry) -> Iterator[bytes]:
    """The pieces; raises InvalidInput after the last one unless size and digest are those of the entry."""
    digest, size = hashlib.sha256(), 0
    for piece in pieces:
        digest.update(piece)
        size += len(piece)
        yield piece
    if size != entry.size or digest.hexdigest() != entry.sha256:
        raise not_one(f"{entry.path} is damaged")


def _copy(source: BinaryIO, target: BinaryIO, path: str, size: int, advance: Advance) -> str:
    digest, left = hashlib.sha256(), size
    while left:
        piece = source.read(min(left, PIECE))
        if not piece:
            raise RunnerBroken(
                f"{path} became shorter while it was read", suggestion="Make the backup again."
            )
        digest.update(piece)
        target.write(piece)
        left -= len(piece)
        advance(len(piece))
    return digest.hexdigest()


# One tar file


def header(number: int, path: str, size: int, *, private: bool) -> bytes:
    """The one header that this file writes for a member."""
    info = tarfile.TarInfo(path)
    info.mode = 0o600 if private else 0o644
    try:
        made = bytearray(info.tobuf(tarfile.USTAR_FORMAT, "utf-8", "strict"))
    except (ValueError, UnicodeError):
        # Too long for this format, which has no other kinds of members.
        info.name = f"long/{number}"
        made = bytearray(info.tobuf(tarfile.USTAR_FORMAT, "utf-8", "strict"))
    # A size of 8 GiB and more is binary, as GNU tar, bsdtar and star write and read it.
    made[124:136] = b"%011o\0" % size if size < _LARGEST_OCTAL else b"\x80" + size.to_bytes(11, "big")
    made[148:156] = b" " * 8
    made[148:156] = b"%06o\0 " % sum(made)
    return bytes(made)


def _padding(size: int) -> bytes:
    return bytes(-size % BLOCK)


class ArchiveWriter:
    def __init__(self, path: Path) -> None:
        self._file = path.open("xb")
        os.fchmod(self._file.fileno(), 0o600)
        self._count = 0

    def add(self, path: str, source: BinaryIO, size: int, *, private: bool, advance: Advance) -> Entry:
        self._file.write(header(self._count, path, size, private=private))
        sha256 = _copy(source, self._file, path, size, advance)
        self._file.write(_padding(size))
        self._count += 1
        return Entry(path=path, size=size, sha256=sha256, private=private)

    def finish(self, sealed: bytes) -> None:
        self._file.write(header(self._count, NAME, len(sealed), private=True))
        self._file.write(sealed + _padding(len(sealed)) + bytes(_END))
        self._file.flush()
        os.fsync(self._file.fileno())
        self.close()

    def close(self) -> None:
        self._file.close()


class ArchiveReader:
    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        self._size = os.fstat(self._file.fileno()).st_size

    def sealed(self) -> bytes:
        for _ in range(_MOST_MEMBERS):
            block = self._file.read(BLOCK)
            if len(block) < BLOCK:
                raise not_one("it ends too early")
            name, size = _name_and_size(block)
            here = self._file.tell()
            if name == NAME:
                return self._manifest(here, size)
            after = here + size + len(_padding(size))
            if after > self._size:
                raise not_one("it ends too early")
            self._file.seek(after)
        raise not_one("it has too many members")

    def _manifest(self, here: int, size: int) -> bytes:
        end = _padding(size) + bytes(_END)
        if size > MOST_BYTES or here + size + len(end) != self._size:
            raise not_one("it does not end with its manifest")
        found = self._file.read(size)
        if self._file.read() != end:
            raise not_one("it does not end with its manifest")
        return found

    def expect(self, manifest: Manifest) -> None:
        members = sum(BLOCK + entry.size + len(_padding(entry.size)) for entry in manifest.entries)
        self._file.seek(members)
        last, sealed = self._file.read(BLOCK), self._size - members - BLOCK - _END
        name, size = _name_and_size(last)
        made = header(len(manifest.entries), NAME, size, private=True)
        if name != NAME or last != made or size + len(_padding(size)) != sealed:
            raise not_one("it holds other files than its manifest says")
        self._file.seek(0)

    def pieces(self, number: int, entry: Entry) -> Iterator[bytes]:
        if self._file.read(BLOCK) != header(number, entry.path, entry.size, private=entry.private):
            raise not_one(f"the header of {entry.path} is damaged")
        left = entry.size
        while left:
            piece = self._file.read(min(left, PIECE))
            if not piece:
                raise not_one("it ends too early")
            left -= len(piece)
            yield piece
        if self._file.read(len(_padding(entry.size))) != _padding(entry.size):
            raise not_one(f"the bytes after {entry.path} are damaged")

    def close(self) -> None:
        self._file.close()


def _name_and_size(block: bytes) -> tuple[str, int]:
    """Of a regular file; any other member is refused."""
    try:
        info = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
    except (tarfile.TarError, UnicodeError, ValueError) as error:
        raise not_one("it is no archive that `sandtable backup` wrote") from error
    if info.type != tarfile.REGTYPE or info.size < 0:
        raise not_one("it holds something that is no plain file")
    return info.name, info.size


# A folder


class FolderWriter:
    def __init__(self, path: Path) -> None:
        self._root = path
        path.mkdir(mode=0o700)

    def add(self, path: str, source: BinaryIO, size: int, *, private: bool, advance: Advance) -> Entry:
        target = self._root / path
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with target.open("xb") as file:
            os.fchmod(file.fileno(), 0o600 if private else 0o644)
            sha256 = _copy(source, file, path, size, advance)
            file.flush()
            os.fsync(file.fileno())
        return Entry(path=path, size=size, sha256=sha256, private=private)

    def finish(self, sealed: bytes) -> None:
        with (self._root / NAME).open("xb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(sealed)
            file.flush()
            os.fsync(file.fileno())

    def close(self) -> None:
        return


class FolderReader:
    def __init__(self, path: Path) -> None:
        self._root = path

    def sealed(self) -> bytes:
        found = b"".join(self._read(self._root / NAME, MOST_BYTES + 1))
        if len(found) > MOST_BYTES:
            raise not_one("its manifest is too large")
        return found

    def expect(self, manifest: Manifest) -> None:
        wanted, found = {NAME, *(entry.path for entry in manifest.entries)}, set[str]()
        for folder, folders, files in os.walk(self._root):
            inside = Path(folder)
            if any((inside / name).is_symlink() for name in folders):
                raise not_one("it holds something that is no plain file")
            found |= {str((inside / name).relative_to(self._root)) for name in files}
        if missing := sorted(wanted - found):
            raise not_one(f"{missing[0]} is missing")
        if found - wanted:
            raise not_one("it holds other files than its manifest says")

    def pieces(self, number: int, entry: Entry) -> Iterator[bytes]:
        # One byte more than expected: a file that became longer is damaged, too.
        return self._read(self._root / entry.path, entry.size + 1)

    def close(self) -> None:
        return

    @staticmethod
    def _read(path: Path, most: int) -> Iterator[bytes]:
        try:
            # Not waiting for a writer: what is there may be a pipe.
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise not_one(f"{path.name} cannot be read: {error.strerror}") from error
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise not_one("it holds something that is no plain file")
            while most and (piece := file.read(min(most, PIECE))):
                most -= len(piece)
                yield piece
