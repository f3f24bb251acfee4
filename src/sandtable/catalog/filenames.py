"""File names become table names and dataset ids."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sandtable.catalog.convert import SourceFormat
from sandtable.errors import InvalidInput
from sandtable.quoting import quote

_FORMATS: dict[str, SourceFormat] = {".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet"}
_LONGEST = 60
"""In characters: with four bytes each and `.parquet` it still fits a file name."""


@dataclass(frozen=True, slots=True)
class NamedFile:
    table: str
    path: Path

    @property
    def file(self) -> str:
        """The name to show: bytes that are not UTF-8 become question marks."""
        return os.fsencode(self.path.name).decode("utf-8", "replace")


def source_format(path: Path) -> SourceFormat:
    found = _FORMATS.get(path.suffix.lower())
    if found is None:
        raise InvalidInput(
            f"{path.name} has an extension that is not supported",
            suggestion=f"Supported are {', '.join(_FORMATS)}.",
            file=str(path),
        )
    return found


def name_files(paths: Sequence[Path]) -> list[NamedFile]:
    """Each file with the table it becomes; two files may not become the same table."""
    if not paths:
        raise InvalidInput("no data file given", suggestion="Name at least one CSV or Parquet file.")
    named: dict[str, NamedFile] = {}
    for path in paths:
        # A folder is not an unknown extension: reading it will raise the right error.
        if not _is_folder(path):
            source_format(path)
        table = table_name(path.stem)
        other = named.get(table.lower())
        if other is not None:
            raise InvalidInput(
                f"{other.path} and {path} would both become the table {quote(table)}",
                suggestion="Rename one of the files.",
                files=[str(other.path), str(path)],
            )
        named[table.lower()] = NamedFile(table, path)
    return list(named.values())


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def table_name(stem: str) -> str:
    """`Sales 2024-Q1` is `Sales_2024_Q1`; a name that starts with a digit gets `t_` in front."""
    name = re.sub(r"\W+", "_", stem).strip("_")[:_LONGEST].rstrip("_") or "data"
    return f"t_{name}"[:_LONGEST] if name[0].isdigit() else name


def dataset_id(file: NamedFile) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", file.table).strip("_") or "data"
