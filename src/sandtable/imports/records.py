"""Imports on disk: one JSON file for each, so that a restarted server goes on with them. All calls block."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from pathlib import Path

import structlog
from pydantic import ValidationError

from sandtable.catalog.source import read_file, replace_file
from sandtable.catalog.store import disk_trouble
from sandtable.errors import NotFound
from sandtable.imports.model import IMPORT_ID, ImportRecord
from sandtable.private import private_folder
from sandtable.quoting import quote

log = structlog.get_logger(__name__)


class ImportRecords:
    def __init__(self, root: Path) -> None:
        """`root` is the data store's."""
        self._folder = root / "imports"
        self._lock: int | None = None
        with disk_trouble(root):
            private_folder(self._folder)

    def lock(self) -> bool:
        """Whether this process is the one that goes on with the imports of an earlier one; until `unlock`."""
        fd = os.open(self._folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return False
        self._lock = fd
        return True

    def unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

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
        raise NotFound(f"no import {quote(import_id)}", suggestion="GET /imports lists the imports.")

    def all(self) -> list[ImportRecord]:
        """Newest first."""
        found: list[ImportRecord] = []
        for path in self._folder.glob("imp_*.json"):
            with contextlib.suppress(NotFound):
                found.append(self.read(path.stem))
        return sorted(found, key=lambda record: (record.shown.created_at, record.shown.id), reverse=True)

    def remove(self, import_id: str) -> None:
        self._path(import_id).unlink(missing_ok=True)

    def _path(self, import_id: str) -> Path:
        return self._folder / f"{import_id}.json"
