"""Files on their way to the server, kept below the data store's root until an import has taken them.

    uploads/<32 hex>/part           the bytes that have arrived
    uploads/<32 hex>/upload.json    the name, the size and the user

Invariant: an upload's offset is the size of its part, which only grows by writes at that offset. A name is text to show
and never a path. What does not fit the limits or the disk is refused before it is written.
All calls block: run them in threads.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import shutil
import time
import unicodedata
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sandtable.catalog.reading.filenames import FetchedFrom, NamedFile, name_files
from sandtable.catalog.stored.source import in_mib, read_file, replace_file, write_file
from sandtable.catalog.stored.store import disk_trouble
from sandtable.errors import ErrorCode, InvalidInput, NotFound, SandtableError
from sandtable.private import private_folder
from sandtable.quoting import INVISIBLE, quote

UPLOAD_ID = "[0-9a-f]{32}"
BLOCK = 1 << 20
"""How much is written at once."""
LONGEST_NAME = 200
MOST_UNFINISHED = 200
"""Uploads that one user may have at the same time."""
_PART, _RECORD = "part", "upload.json"
_HEADROOM = 64 << 20
"""Disk space that uploads leave free, so that the rest of the server can still write."""
_MEASURED_S = 5.0
"""How long the size of the data that people have added is remembered."""
_FULL = (errno.ENOSPC, errno.EDQUOT)


class TooLarge(InvalidInput):
    """The file has more bytes than one file may have, or than were announced."""


class OtherOffset(InvalidInput):
    """The bytes do not continue what has arrived."""


class NoSpace(SandtableError):
    """The disk, or the quota of all data that people add, is full."""

    code = ErrorCode.RUNNER_RESOURCE_EXCEEDED


@dataclass(frozen=True, slots=True)
class UploadLimits:
    file_bytes: int
    all_bytes: int
    """For uploads and the data that they became, together."""
    unfinished_s: float
    """Uploads are removed so long after their last byte arrived."""


class Upload(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    id: str = Field(pattern=f"^{UPLOAD_ID}$")
    name: str
    bytes: int | None
    """None while the size is not known."""
    user: str
    created_at: str
    fetched: FetchedFrom | None = None
    offset: int = Field(default=0, exclude=True)
    touched_at: float = Field(default=0.0, exclude=True)

    @property
    def complete(self) -> bool:
        return self.offset == self.bytes


class Uploads:
    def __init__(self, root: Path, limits: UploadLimits, kept_bytes: Callable[[], int] = lambda: 0) -> None:
        """`root` is the data store's; `kept_bytes` are those of all data that people have added."""
        self.limits = limits
        self._folder = root / "uploads"
        self._kept_bytes = kept_bytes
        self._kept = 0
        self._measured_at = -_MEASURED_S
        with disk_trouble(root):
            private_folder(self._folder)

    def begin(self, name: str, size: int | None, user: str, fetched: FetchedFrom | None = None) -> Upload:
        """Raises TooLarge, NoSpace, and InvalidInput for a user with too many uploads."""
        if size is not None and size > self.limits.file_bytes:
            raise self.too_large(file_name(name))
        if sum(upload.user == user for upload in self.all()) >= MOST_UNFINISHED:
            raise InvalidInput(
                f"you have {MOST_UNFINISHED} uploads that no import has taken, as many as one user may have",
                suggestion="Import them or delete some of them.",
            )
        self.require_space(size or 0)
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        upload = Upload(
            id=secrets.token_hex(16),
            name=file_name(name),
            bytes=size,
            user=user,
            created_at=now,
            fetched=fetched,
        )
        folder = self._folder / upload.id
        with self._disk():
            try:
                folder.mkdir(mode=0o700)
                write_file(folder / _PART, b"", 0o600)
                write_file(folder / _RECORD, upload.model_dump_json().encode(), 0o600)
            except OSError:
                shutil.rmtree(folder, ignore_errors=True)
                raise
        return self.find(upload.id)

    def find(self, upload_id: str) -> Upload:
        """Raises NotFound."""
        if re.fullmatch(UPLOAD_ID, upload_id):
            try:
                record = Upload.model_validate_json(read_file(self._folder / upload_id / _RECORD))
                part = self.path(upload_id).lstat()
            except (OSError, ValidationError):
                pass
            else:
                return record.model_copy(update={"offset": part.st_size, "touched_at": part.st_mtime})
        raise self.unknown(upload_id)

    @staticmethod
    def unknown(upload_id: str) -> NotFound:
        return NotFound(
            f"no upload {quote(upload_id)}",
            suggestion="Begin it again: an upload is removed when its time is over, and when its data were imported.",
        )

    def named(self, upload: Upload) -> NamedFile:
        """Raises InvalidInput for a name that is none of a data file."""
        (file,) = name_files([Path(upload.name)])
        return NamedFile(file.table, self.path(upload.id), upload.name, upload.fetched)

    def path(self, upload_id: str) -> Path:
        return self._folder / upload_id / _PART

    def require_fit(self, upload_id: str, offset: int, count: int) -> Upload:
        """Raises what `append` of so many bytes would."""
        upload = self.find(upload_id)
        if offset != upload.offset:
            raise OtherOffset(
                f"{upload.offset:,} bytes of {quote(upload.name)} have arrived, and these begin at {offset:,}",
                suggestion=f"Continue at {upload.offset}.",
                offset=upload.offset,
            )
        if offset + count > self.limits.file_bytes:
            raise self.too_large(upload.name)
        if upload.bytes is not None and offset + count > upload.bytes:
            raise TooLarge(
                f"more bytes than the {upload.bytes:,} of {quote(upload.name)} that were announced",
                suggestion="Begin the upload again with the size of the file.",
            )
        self.require_space(count)
        return upload

    def append(self, upload_id: str, offset: int, content: bytes) -> int:
        """Writes at most a few blocks; returns the new offset. Raises OtherOffset, TooLarge, NoSpace, NotFound.

        After NoSpace the upload can go on from its offset.
        """
        with self._disk(), self._opened(upload_id) as part:
            self.require_fit(upload_id, offset, len(content))
            rest = memoryview(content)
            while rest:
                rest = rest[os.write(part, rest) :]
        return offset + len(content)

    def sync(self, upload_id: str) -> None:
        """All bytes are on disk when it returns."""
        with self._disk(), self._opened(upload_id) as part:
            os.fsync(part)

    def complete(self, upload_id: str) -> Upload:
        """Ends an upload whose size was not known: it is what has arrived."""
        upload = self.find(upload_id)
        record = self._folder / upload_id / _RECORD
        done = upload.model_copy(update={"bytes": upload.offset})
        with self._disk():
            self.sync(upload_id)
            replace_file(record, done.model_dump_json().encode(), 0o600)
        return done

    def remove(self, upload_id: str) -> None:
        """Nothing happens where there is none."""
        if re.fullmatch(UPLOAD_ID, upload_id):
            shutil.rmtree(self._folder / upload_id, ignore_errors=True)

    def all(self) -> Iterator[Upload]:
        for folder in sorted(self._folder.iterdir()):
            try:
                yield self.find(folder.name)
            except NotFound:
                continue

    def expires_at(self, upload: Upload) -> float:
        return upload.touched_at + self.limits.unfinished_s

    def clean(self, kept: Collection[str] = (), now: float | None = None) -> int:
        """Removes what has expired, except the `kept` ids; returns how many were removed."""
        before = (time.time() if now is None else now) - self.limits.unfinished_s
        expired = [
            folder
            for folder in self._folder.iterdir()
            if folder.name not in kept and _touched_at(folder) < before
        ]
        for folder in expired:
            shutil.rmtree(folder, ignore_errors=True)
        return len(expired)

    def clean_of(self, user: str) -> None:
        """Removes what has expired of one user's: what a command that was killed has left."""
        for upload in list(self.all()):
            if upload.user == user and self.expires_at(upload) < time.time():
                self.remove(upload.id)

    def require_space(self, more: int) -> None:
        """Raises NoSpace where so many bytes do not fit the quota or the disk."""
        taken = self._kept_data() + sum(_size(folder / _PART) for folder in self._folder.iterdir())
        if taken + more > self.limits.all_bytes:
            raise NoSpace(
                f"the data that people have added take {in_mib(taken)}, and may take {in_mib(self.limits.all_bytes)}",
                suggestion="Delete files or datasets that are no longer needed, or ask the operator to raise"
                " SANDTABLE_DATA_QUOTA_MB.",
                taken=taken,
                quota=self.limits.all_bytes,
            )
        free = shutil.disk_usage(self._folder).free
        if free < more + _HEADROOM:
            raise _disk_full(free)

    def _kept_data(self) -> int:
        if time.monotonic() - self._measured_at >= _MEASURED_S:
            self._kept, self._measured_at = self._kept_bytes(), time.monotonic()
        return self._kept

    def too_large(self, name: str) -> TooLarge:
        return TooLarge(
            f"{quote(name)} is larger than {in_mib(self.limits.file_bytes)}, which is the most for one file",
            suggestion="Send a smaller file, or compress it; the operator can raise SANDTABLE_MAX_UPLOAD_MB.",
            limit_bytes=self.limits.file_bytes,
        )

    @contextmanager
    def _disk(self) -> Generator[None, None, None]:
        try:
            yield
        except OSError as e:
            if e.errno in _FULL:
                raise _disk_full(shutil.disk_usage(self._folder).free) from e
            with disk_trouble(self._folder.parent):
                raise

    @contextmanager
    def _opened(self, upload_id: str) -> Generator[int, None, None]:
        """The part, locked against writers in other threads and processes."""
        try:
            fd = os.open(self.path(upload_id), os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError as e:
            raise NotFound(f"no upload {quote(upload_id)}", suggestion="Begin it again.") from e
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield fd
        finally:
            os.close(fd)


def file_name(given: str) -> str:
    """The last part of the name that a client sent, on one line without invisible characters. Never used as a path."""
    last = re.split(r"[/\\]", given)[-1]
    name = " ".join(INVISIBLE.sub(" ", unicodedata.normalize("NFC", last)).split())
    if len(name) > LONGEST_NAME:
        stem, dot, ending = name[-20:].rpartition(".")
        name = name[: LONGEST_NAME - 21] + (stem + dot + ending if dot else "")
    return name if name.strip(".") else "data"


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        # It was removed meanwhile.
        return 0


def _touched_at(folder: Path) -> float:
    try:
        return (folder / _PART).lstat().st_mtime
    except OSError:
        return folder.lstat().st_mtime if folder.exists() else 0.0


def _disk_full(free: int) -> NoSpace:
    return NoSpace(
        f"the server's disk is full: {in_mib(free)} are free",
        suggestion="Ask the operator to free some space, then continue the upload.",
        free_bytes=free,
    )
