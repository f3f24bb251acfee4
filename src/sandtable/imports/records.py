"""Imports on disk: one JSON file for each, so that another server goes on with them. All calls block.

Invariant: an import that is being read has one owner, whose lock is held while its server is alive. Another server
adopts it only when that lock is free.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from collections.abc import Generator
from pathlib import Path

import structlog
from pydantic import ValidationError

from sandtable.catalog.stored.source import read_file, replace_file
from sandtable.catalog.stored.store import disk_trouble
from sandtable.errors import NotFound
from sandtable.imports.model import IMPORT_ID, ImportRecord
from sandtable.private import private_folder
from sandtable.quoting import quote
from sandtable.runs.instance import Instance

log = structlog.get_logger(__name__)


class ImportRecords:
    def __init__(self, root: Path) -> None:
        """`root` is the data store's."""
        self._folder = root / "imports"
        with disk_trouble(root):
            private_folder(self._folder)
        self._owner = Instance(self._folder)

    @property
    def owner(self) -> str:
        """This server's id, between `sign_on` and `sign_off`."""
        return self._owner.id

    def sign_on(self) -> None:
        """Raises InvalidInput where no lock can be created."""
        self._owner.acquire()

    def sign_off(self) -> None:
        self._owner.release()

    def adopt(self) -> list[ImportRecord]:
        """The imports that a dead server was reading, oldest first: from now on this server's."""
        adopted: list[ImportRecord] = []
        with self._alone() as alone:
            if not alone:
                return []
            # Read while no other server adopts: it may have done so just before.
            orphaned = [r for r in self.all() if r.shown.state == "reading" and r.owner != self.owner]
            for owner in {record.owner for record in orphaned}:
                # Before there were owners, the server that had the imports held the lock of `_alone`.
                with self._owner.inherit(owner) if owner else contextlib.nullcontext(True) as dead:
                    for record in orphaned if dead else ():
                        if record.owner == owner:
                            adopted.append(record.model_copy(update={"owner": self.owner}))
                            self.write(adopted[-1])
        return sorted(adopted, key=_age)

    @contextlib.contextmanager
    def _alone(self) -> Generator[bool, None, None]:
        """Yields True to one server at a time."""
        fd = os.open(self._folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
        finally:
            os.close(fd)

    def reading_since(self) -> float | None:
        """When the oldest import that is being read was begun."""
        return min((r.changed_at for r in self.all() if r.shown.state == "reading"), default=None)

    def write(self, record: ImportRecord) -> None:
        with disk_trouble(self._folder.parent):
            replace_file(self._path(record.shown.id), record.model_dump_json().encode("utf-8"), 0o600)

    def read(self, import_id: str) -> ImportRecord:
        """Raises NotFound."""
        if re.fullmatch(IMPORT_ID, import_id):
            try:
                return ImportRecord.model_validate_json(read_file(self._path(import_id)))
            except FileNotFoundError:
                pass
            except (OSError, ValidationError) as error:
                log.error("import_not_read", import_id=import_id, reason=str(error)[:500])
        raise no_import(import_id)

    def all(self) -> list[ImportRecord]:
        """Newest first."""
        found: list[ImportRecord] = []
        for path in self._folder.glob("imp_*.json"):
            with contextlib.suppress(NotFound):
                found.append(self.read(path.stem))
        return sorted(found, key=_age, reverse=True)

    def remove(self, import_id: str) -> None:
        self._path(import_id).unlink(missing_ok=True)

    def _path(self, import_id: str) -> Path:
        return self._folder / f"{import_id}.json"


def _age(record: ImportRecord) -> tuple[str, str]:
    return record.shown.created_at, record.shown.id


def no_import(import_id: str) -> NotFound:
    return NotFound(f"no import {quote(import_id)}", suggestion="GET /imports lists the imports.")
