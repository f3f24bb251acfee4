"""What is left of a removed version: when it was removed and why, so that a capsule of it can say so."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from sandtable.catalog.stored.source import read_file, replace_file
from sandtable.catalog.stored.version_files import version_folder
from sandtable.errors import NotFound
from sandtable.quoting import quote

RemovalRule = Literal["age", "count", "size", "dataset"]
"""`dataset`: the whole dataset was removed."""

_REASONS: dict[RemovalRule, str] = {
    "age": "the rule for the age of versions",
    "count": "the rule for the number of versions",
    "size": "the rule for the size of versions",
    "dataset": "the removal of its dataset",
}


class Removal(BaseModel):
    model_config = ConfigDict(frozen=True, defer_build=True)

    dataset_id: str
    at: str
    """In ISO form."""
    rule: RemovalRule


class Removals:
    def __init__(self, root: Path) -> None:
        """`root` of the data store. Nothing is created before the first removal."""
        self._root = root
        self._folder = root / "removals"

    def write(self, version: str, removal: Removal) -> None:
        self._folder.mkdir(mode=0o755, exist_ok=True)
        replace_file(self._path(version), removal.model_dump_json().encode("utf-8"))

    def forget(self, version: str) -> None:
        """The version is there again."""
        self._path(version).unlink(missing_ok=True)

    def error(self, version: str) -> NotFound | None:
        """What to raise for a version that was removed; None for one that was never here."""
        try:
            found = Removal.model_validate_json(read_file(self._path(version)))
        except (OSError, ValidationError):
            return None
        return NotFound(
            f"version {version} of dataset {quote(found.dataset_id)} is no longer kept:"
            f" {_REASONS[found.rule]} removed it on {found.at[:10]}",
            suggestion="Add the same files again with the same answers: they become the same version.",
            version=version,
            removal=found.model_dump(mode="json"),
        )

    def _path(self, version: str) -> Path:
        return self._folder / f"{version_folder(self._root, version).name}.json"
