"""Which instance owns a run, and whether that owner is alive.

An instance holds a lock on `<home>/instances/<id>.lock` while its process is alive; the kernel releases it when the
process ends for any reason, and a reused process id cannot fake it. The descriptor is closed on exec, so a sandbox
cannot keep a dead server's lock.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sandtable.errors import InvalidInput
from sandtable.private import private_folder


class Instance:
    def __init__(self, home: Path) -> None:
        self._folder = home / "instances"
        self._descriptor: int | None = None
        self.id = ""

    def acquire(self) -> None:
        """Raises InvalidInput where no lock can be created."""
        try:
            private_folder(self._folder.parent)
            private_folder(self._folder)
            while self._descriptor is None:
                self.id = secrets.token_hex(8)
                # Fails when another process took the new, not yet locked file for a dead owner's.
                self._descriptor = _lock(self._path(self.id), create=True)
        except OSError as error:
            raise InvalidInput(
                f"no lock can be made in {self._folder}: {error.strerror or error}",
                suggestion="Check that it is a folder that may be written, or set SANDTABLE_HOME to another.",
            ) from error

    def release(self) -> None:
        if self._descriptor is not None:
            self._path(self.id).unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None

    @contextmanager
    def inherit(self, owner: str) -> Iterator[bool]:
        """Yields True when `owner` is dead. Its lock is held meanwhile, and its file is removed afterwards."""
        path = self._path(owner)
        descriptor = None if owner == self.id else _lock(path)
        if descriptor is None:
            yield owner != self.id and not path.exists()
            return
        try:
            yield True
            # While the lock is still held: another process that opened this file must see that it is gone.
            path.unlink(missing_ok=True)
        finally:
            os.close(descriptor)

    def others(self) -> list[str]:
        """Owners with a lock file, alive or dead."""
        return [path.stem for path in self._folder.glob("*.lock") if path.stem != self.id]

    def _path(self, owner: str) -> Path:
        return self._folder / f"{owner}.lock"


def _lock(path: Path, *, create: bool = False) -> int | None:
    """A descriptor that holds the lock; None when another process holds it or the file is gone."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT if create else 0), 0o600)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_ino == path.stat().st_ino:
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(descriptor)
    return None
