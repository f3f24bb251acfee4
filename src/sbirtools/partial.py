"""A partial download, stored beside its target until it is complete.

Invariant: the target appears complete or not at all. A partial file is resumed only with the note that records
its URL and the version of the remote file.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from sbirtools.errors import DownloadError

_HEADROOM = 16 << 20
_FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the bytes of a partial file come from."""

    address: str
    """Digest of the URL, which may hold a secret key."""
    validator: str = ""
    """A strong ETag or the Last-Modified time; empty when the server sends neither."""
    total: int | None = None


def address_of(url: str) -> str:
    return hashlib.sha256(url.encode()).hexdigest()


class Partial:
    def __init__(self, target: Path) -> None:
        self.target = target
        self.file = target.with_name(f"{target.name}.part")
        self._note = target.with_name(f"{target.name}.part.json")

    def size(self) -> int:
        try:
            return self.file.stat().st_size
        except FileNotFoundError:
            return 0

    def origin(self) -> Origin | None:
        try:
            noted = json.loads(self._note.read_text(encoding="utf-8"))
            return Origin(str(noted["address"]), str(noted["validator"]), noted["total"])
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None

    def begin(self, origin: Origin) -> None:
        """Starts from zero. The note is on disk before the bytes that it describes."""
        self.discard()
        self._note.write_text(json.dumps(asdict(origin)), encoding="utf-8")
        self.file.touch()

    def discard(self) -> None:
        self.file.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)

    def head(self, most: int) -> bytes:
        with self.file.open("rb") as file:
            return file.read(most)

    def publish(self) -> None:
        with self.file.open("rb+") as file:
            os.fsync(file.fileno())
        self.file.replace(self.target)
        self._note.unlink(missing_ok=True)

    def require_space(self, more: int | None) -> None:
        free = shutil.disk_usage(self.target.parent).free
        if more is not None and free < more + _HEADROOM:
            raise _no_space(self.target.parent, f"{more >> 20:,} MiB are still to come, {free >> 20:,} free")


@contextmanager
def alone(target: Path) -> Generator[None, None, None]:
    """A lock: one process at a time downloads into this folder; the others wait and then find the file."""
    with disk_trouble(target.parent):
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(
            target.with_name(f"{target.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
        )
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def disk_trouble(folder: Path) -> Generator[None, None, None]:
    """Turns errors of the disk into DownloadError."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise _no_space(folder, "what has come so far is kept") from error
        raise DownloadError(
            f"cannot write in {folder}: {error.strerror or error}",
            suggestion="Check the folder, or set SBIRTOOLS_CACHE_DIR to another.",
        ) from error


def _no_space(folder: Path, detail: str) -> DownloadError:
    return DownloadError(
        f"no space left in {folder}: {detail}",
        suggestion="Free some space and start again: the download goes on where it stopped.",
    )
