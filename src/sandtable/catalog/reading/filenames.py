"""File names become table names and dataset ids."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from sandtable.catalog.convert import SourceFormat
from sandtable.catalog.recipe import DatabaseKind
from sandtable.errors import InvalidInput
from sandtable.quoting import quote

_TEXTS: dict[str, SourceFormat] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".json": "json",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
}
_COMPRESSED = (".gz", ".zst")
DATABASES = (".sqlite", ".sqlite3", ".db", ".db3")
_PICTURES = ("thumbs.db", "ehthumbs.db")
"""What Windows keeps beside pictures."""
ENDINGS: dict[str, SourceFormat] = {
    **_TEXTS,
    ".parquet": "parquet",
    ".xlsx": "xlsx",
    ".ods": "ods",
    ".zip": "",
    **dict.fromkeys(DATABASES, "sqlite"),
    **{f"{text}{packed}": kind for text, kind in _TEXTS.items() for packed in _COMPRESSED},
    **{f"{ending}.gz": "sqlite" for ending in DATABASES},
}
"""The endings of data files, and the kind of file that each names."""
LINES = (".csv", ".tsv", ".txt")
"""Endings of texts with a row in each line."""
_LONGEST = 60
"""In characters: with four bytes each and `.parquet` it still fits a file name."""


class FetchedFrom(BaseModel):
    """The address that a file was fetched from, and what its server said about the state of the file."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    address: str
    etag: str = ""
    modified: str = ""
    """The header `Last-Modified`, as it was sent."""


class ColumnReference(BaseModel):
    """A foreign key of one column, as a database declares it."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    column: str
    to_table: str
    to_column: str


class CopiedFrom(BaseModel):
    """The table of a connected database that a file was copied from; names as they are in the dataset, unless they say
    otherwise."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    kind: DatabaseKind = "postgresql"
    source: str
    db_schema: str
    db_table: str
    columns: tuple[tuple[str, str], ...] = Field(min_length=1)
    """Name and SQL type of each."""
    rows: int = Field(ge=0)
    key: tuple[str, ...] = ()
    refers: tuple[ColumnReference, ...] = ()
    notes: tuple[str, ...] = ()
    """What a person should know of how its values were kept."""


@dataclass(frozen=True, slots=True)
class NamedFile:
    table: str
    path: Path
    name: str = ""
    """Where the file at `path` is a copy: the name that it was given with."""
    fetched: FetchedFrom | None = None
    copied: CopiedFrom | None = None

    @property
    def file(self) -> str:
        """The name to show: bytes that are not UTF-8 become question marks."""
        return self.name or os.fsencode(self.path.name).decode("utf-8", "replace")

    @property
    def named(self) -> Path:
        """The name alone, whose ending says what the file is."""
        return Path(self.file)


def ending_of(path: Path) -> str:
    """In lower case, with the one before `.gz` and `.zst`; empty where it is none of a data file."""
    *_, before, last = ("", "", *(suffix.lower() for suffix in path.suffixes))
    return next((ending for ending in (before + last, last) if ending in ENDINGS), "")


def source_format(path: Path) -> SourceFormat:
    ending = ending_of(path)
    if not ending:
        listed = ", ".join(ending for ending in ENDINGS if not ending.endswith(_COMPRESSED))
        raise InvalidInput(
            f"{path.name} has an extension that is not supported",
            suggestion=f"Use a file that ends in {listed}; texts may be compressed ({' or '.join(_COMPRESSED)}).",
            file=str(path),
        )
    return ENDINGS[ending]


def stem_of(path: Path) -> str:
    """The name without its ending; of `sales.csv.zip`, `sales`."""
    ending = ending_of(path)
    stem = path.name[: -len(ending)] if ending else path.stem
    return stem_of(Path(stem)) if ending == ".zip" and ending_of(Path(stem)) else stem


def data_files(folder: Path) -> tuple[list[Path], list[str]]:
    """The data files directly in a folder, by name; and what else is there, with the reason why it is none. Hidden
    entries are passed over. Raises InvalidInput where there is no data file."""
    try:
        every = sorted(p for p in folder.iterdir() if not p.name.startswith("."))
        found = [p for p in every if ending_of(p) and p.is_file() and p.name.lower() not in _PICTURES]
        left = [(p, p.is_dir()) for p in every if p not in found]
    except OSError as e:
        raise InvalidInput(
            f"cannot read {folder}: {e.strerror or e}",
            suggestion="Check the path, and that you may read the folder.",
            file=str(folder),
        ) from e
    if not found:
        folders = [f"{path.name}/" for path, is_folder in left if is_folder]
        inside = f" Folders inside are not read: name {', '.join(folders[:5])} to use it." if folders else ""
        raise InvalidInput(
            f"{folder} has no data file",
            suggestion=f"Name a folder that holds data files, or a data file.{inside}",
        )
    why = {True: "a folder inside is not read: name it to add its files", False: "not a data file"}
    return found, [f"{path.name}{'/' * is_folder} ({why[is_folder]})" for path, is_folder in left]


def name_files(files: Sequence[Path | NamedFile]) -> list[NamedFile]:
    """Each file with the table it becomes; two files may not become the same table."""
    if not files:
        raise InvalidInput("no data file given", suggestion="Name at least one data file.")
    named: dict[str, NamedFile] = {}
    for file in files:
        one = file if isinstance(file, NamedFile) else _named(file)
        other = named.get(one.table.lower())
        if other is not None:
            places = [other.name or str(other.path), one.name or str(one.path)]
            raise InvalidInput(
                f"{' and '.join(places)} would both become the table {quote(one.table)}",
                suggestion="Rename one of the files.",
                files=places,
            )
        named[one.table.lower()] = one
    return list(named.values())


def _named(path: Path) -> NamedFile:
    # A folder is not an unknown extension: reading it will raise the right error.
    if not _is_folder(path):
        source_format(path)
    return NamedFile(table_name(stem_of(path)), path)


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
