"""Files as bytes: hashed, copied and compared by their metadata, never parsed here.

Invariant: a copy appears whole or not at all, with mode 0644 whatever the umask.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from sandtable.errors import InvalidInput

Progress = Callable[[int, int], None]
"""Called with the bytes done and the bytes in total."""

LONGEST_LINE = 16 << 20
"""A conversion refuses longer ones too; here they are detected before gigabytes are read and copied."""
_CHUNK = 1 << 20
_HEADROOM = 16 << 20
"""Disk space that a copy leaves free, so that the rest of the server can still write."""
_SMALL = 64 << 20
_HOT_JOURNAL = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
"""The first bytes of a journal of SQLite while a transaction is not finished."""
_LOCK = "lock"
_FULL = (errno.ENOSPC, errno.EDQUOT)
_SETTLED_NS = 2_000_000_000
"""The coarsest time resolution of a file system in use: two changes within it may have the same time."""


class FileStamp(NamedTuple):
    """Metadata that changes with every write to a file, and with its replacement: detects a change without reading.

    A program can set `modified_ns` (`utime`); `changed_ns` is set by the kernel only.
    """

    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int

    @classmethod
    def of(cls, found: os.stat_result) -> FileStamp:
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)

    @property
    def settled(self) -> bool:
        """False shortly after a change: the next one might leave the same stamp."""
        return abs(time.time_ns() - self.changed_ns) > _SETTLED_NS


def digest_open_file(fd: int, size: int, progress: Progress | None = None, *, from_disk: bool = False) -> str:
    """The sha256 of a file that is open at its beginning. `from_disk` bypasses the page cache; piece by piece, so that
    concurrent readers rarely miss the cache."""

    def forget_next(done: int, total: int) -> None:
        os.posix_fadvise(fd, done, _CHUNK, os.POSIX_FADV_DONTNEED)
        if progress is not None:
            progress(done, total)

    if from_disk:
        forget_next(0, size)
    return _pump(fd, None, size, forget_next if from_disk else progress)


def digest_source(source: Path, progress: Progress | None = None, *, lines: bool = False) -> str:
    """The sha256 of the file; with `lines`, stops as soon as an overlong line is found."""
    with _opened(source) as (fd, size):
        return _pump(fd, None, size, progress, _line_watch(source) if lines else None)


def copy_source(source: Path, target: Path, progress: Progress | None = None, *, follow: bool = True) -> str:
    """Copy and hash in one pass; returns the sha256 of what was copied."""
    with _opened(source, follow) as (fd, size):
        free = shutil.disk_usage(target.parent).free
        if free < size + _HEADROOM:
            raise _no_space(source, size, free)
        temporary = target.with_name(f".{secrets.token_hex(8)}")
        out = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            try:
                before = os.fstat(fd)
                digest = _pump(fd, out, size, progress)
                _check_unchanged(source, before, os.fstat(fd))
                os.fchmod(out, 0o644)
                os.fsync(out)
            finally:
                os.close(out)
            temporary.rename(target)
        except BaseException as e:
            temporary.unlink(missing_ok=True)
            if isinstance(e, OSError) and e.errno in _FULL:
                raise _no_space(source, size, shutil.disk_usage(target.parent).free) from e
            raise
    return digest


def write_file(path: Path, content: bytes, mode: int = 0o644) -> None:
    """A new file, synced to disk when this returns."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(content)
        file.flush()
        os.fchmod(fd, mode)
        os.fsync(fd)


def read_file(path: Path) -> bytes:
    """Reads a small regular file. Does not follow a link or wait for a named pipe. Raises OSError."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        content = file.read(_SMALL + 1)
    if len(content) > _SMALL:
        raise OSError(errno.EFBIG, "larger than it can be", str(path))
    return content


def replace_file(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Atomic: readers see the old file or the new one, never a part."""
    temporary = path.with_name(f".{secrets.token_hex(8)}")
    try:
        write_file(temporary, content, mode)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def require_written(database: Path) -> None:
    """Raises InvalidInput where a log beside a SQLite database has changes that the file itself may lack."""
    path = database.resolve()
    for beside in (path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-journal")):
        try:
            with beside.open("rb") as file:
                begins = file.read(len(_HOT_JOURNAL))
        except OSError:
            continue
        # A journal that is kept for the next transaction begins with zeros.
        if begins and (begins == _HOT_JOURNAL or beside.name.endswith("-wal")):
            raise InvalidInput(
                f"{database.name} is not complete: changes of it are in {beside.name}, which lies beside it",
                suggestion="Close the programs that use the database, or add a copy made with VACUUM INTO.",
                file=str(database),
            )


@contextmanager
def _opened(source: Path, follow: bool = True) -> Generator[tuple[int, int], None, None]:
    try:
        # Non-blocking, because opening a named pipe would wait for a writer.
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW)
        fd = os.open(source, flags)
    except FileNotFoundError as e:
        raise InvalidInput(
            f"no such file: {source}",
            suggestion="Check the path; it is taken from the current folder.",
            file=str(source),
        ) from e
    except (OSError, ValueError) as e:
        reason = getattr(e, "strerror", None) or e
        raise InvalidInput(
            f"cannot read {source}: {reason}",
            suggestion="Check the path, and that you may read the file.",
            file=str(source),
        ) from e
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            what = "a folder" if stat.S_ISDIR(found.st_mode) else "not a regular file"
            raise InvalidInput(
                f"{source} is {what}",
                suggestion="Name the data file itself; repeat the option for several.",
                file=str(source),
            )
        yield fd, found.st_size
    finally:
        os.close(fd)


def _line_watch(source: Path) -> Callable[[bytes], None]:
    number = 1
    length = 0

    def watch(chunk: bytes) -> None:
        nonlocal number, length
        last = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
        length = length + len(chunk) if last < 0 else len(chunk) - last - 1
        number += chunk.count(b"\n")
        if length > LONGEST_LINE:
            raise InvalidInput(
                f"line {number} of {source.name} is longer than {LONGEST_LINE >> 20} MB",
                suggestion="Check the file's line ends and quotes: this is not a table.",
                file=str(source),
            )

    return watch


def _pump(
    fd: int,
    out: int | None,
    size: int,
    progress: Progress | None,
    watch: Callable[[bytes], None] | None = None,
) -> str:
    digest = hashlib.sha256()
    done = 0
    while chunk := os.read(fd, _CHUNK):
        if watch is not None:
            watch(chunk)
        digest.update(chunk)
        if out is not None:
            rest = memoryview(chunk)
            while rest:
                rest = rest[os.write(out, rest) :]
        done += len(chunk)
        if progress is not None:
            progress(done, max(size, done))
    return digest.hexdigest()


def _check_unchanged(source: Path, before: os.stat_result, after: os.stat_result) -> None:
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise InvalidInput(
            f"{source.name} changed while it was read",
            suggestion="Give it again when no other program writes to it.",
            file=str(source),
        )


@contextmanager
def locked_folder(folder: Path) -> Generator[None, None, None]:
    """Makes the folder, and holds its lock file: one process at a time writes there. What was renamed in it meanwhile
    is on disk afterwards."""
    folder.mkdir(mode=0o755, exist_ok=True)
    folder.chmod(0o755)
    fd = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
        _sync(folder)
    finally:
        os.close(fd)


def _sync(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _no_space(source: Path, size: int, free: int) -> InvalidInput:
    return InvalidInput(
        f"the disk is too full to take in {source.name}: "
        f"it needs {in_mib(size + _HEADROOM)}, {in_mib(free)} are free",
        suggestion="Free some space, or set SANDTABLE_HOME to a folder on a larger disk.",
        file=str(source),
        needed_bytes=size + _HEADROOM,
        free_bytes=free,
    )


def in_mib(size: int) -> str:
    """Rounded up: a file of one byte takes 1 MiB."""
    return f"{-(-size // (1 << 20)):,} MiB"
