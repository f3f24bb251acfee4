"""Folders and files that only their owner can read, whatever the umask is.

Invariant: a file never exists with looser permissions than it is meant to have, not even while it is created.
Looser permissions that are found are tightened on what this user owns; another owner's are left alone.
"""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

_OTHERS = 0o077
_BESIDE_DATABASE = ("-wal", "-shm", "-journal")


def private_folder(path: Path) -> None:
    """Create the folder and its parents if missing. Raises OSError.

    A folder that every user may write to (one with the sticky bit, such as /tmp) is not Sandtable's own and stays as
    it is, and so does the root of the file system.
    """
    try:
        path.mkdir(mode=0o700, parents=True)
        path.chmod(0o700)
    except FileExistsError:
        if not path.is_dir():
            raise
    if not path.stat().st_mode & stat.S_ISVTX and path.resolve() != Path(path.anchor):
        _tighten(path)


def private_file(path: Path) -> None:
    """Create the file, empty, if missing. Raises OSError."""
    if not path.exists():
        create_once(path, b"", 0o600)
    _tighten(path)


def private_database(path: Path) -> None:
    """A SQLite database with its log and index. SQLite creates those with the permissions of the database.

    The file is never opened here: closing it would release the locks that SQLite holds on it in this process.
    """
    private_folder(path.parent)
    private_file(path)
    for suffix in _BESIDE_DATABASE:
        _tighten(path.with_name(path.name + suffix))


def create_once(path: Path, content: bytes, mode: int) -> None:
    """Create the file atomically. Of several processes the first one wins; the others keep its file."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.link(temporary, path)
    except FileExistsError:
        return
    finally:
        Path(temporary).unlink()


def _tighten(path: Path) -> None:
    try:
        found = path.stat()
        if found.st_mode & _OTHERS and found.st_uid == os.geteuid():
            path.chmod(stat.S_IMODE(found.st_mode) & ~_OTHERS)
    except FileNotFoundError:
        # SQLite removes its log and index when the last connection closes.
        return
