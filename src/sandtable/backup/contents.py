"""Which files of a home belong in a backup, and in which order they are copied.

Invariant: what names another thing is copied before the thing that it names: databases, then records of datasets, then
versions and sources of data. So a name in a backup leads to a file, unless that was removed meanwhile, which the
records of removals, copied last, say.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from sandtable.backup.manifest import LeftOut
from sandtable.sources.records import is_password

DATABASE = ".db"
"""The ending of a SQLite database, which is copied by SQLite and never as a file."""
KEYS = "keys"
TRUSTED = f"{KEYS}/trusted"
_DATA = "data"
_TRANSIENT = {
    "instances",
    f"{_DATA}/incoming",
    f"{_DATA}/staging",
    f"{_DATA}/uploads",
    f"{_DATA}/imports",
}
"""Locks of processes, and files that are on their way in."""
_FIRST, _LAST = (f"{_DATA}/datasets", f"{_DATA}/catalogs"), f"{_DATA}/removals"
_VERSIONS = f"{_DATA}/versions"
_COMPLETE = "dataset.json"
_PUBLIC = b"-----BEGIN PUBLIC KEY-----"


@dataclass(frozen=True, slots=True)
class Group:
    """Files that are copied all or not at all: a version of data, else a single file."""

    paths: tuple[str, ...]
    """Relative to the home."""


@dataclass(slots=True)
class Contents:
    databases: list[str]
    groups: list[Group]
    left_out: list[LeftOut]
    size: int
    """Bytes of the files, without the databases."""


def contents_of(home: Path, *, with_keys: bool) -> Contents:
    """Raises OSError."""
    found = Contents([], [], [], 0)
    versions: dict[str, list[str]] = {}
    single: list[str] = []
    for path in _files(home, found.left_out):
        if path.endswith(DATABASE) and not path.startswith(f"{_DATA}/"):
            found.databases.append(path)
        elif _is_within(path, KEYS) and not with_keys and not _is_within(path, TRUSTED):
            # The public half goes with the private one: the home that is restored makes another pair.
            if not _is_public(home / path):
                found.left_out.append(LeftOut(path=path, why="a private key; --with-keys takes it"))
        elif is_password(path) and not with_keys:
            found.left_out.append(LeftOut(path=path, why="a database's password; --with-keys takes it"))
        elif path.startswith(f"{_VERSIONS}/"):
            versions.setdefault("/".join(path.split("/")[:3]), []).append(path)
        else:
            single.append(path)
    whole = [Group(tuple(paths)) for folder, paths in versions.items() if f"{folder}/{_COMPLETE}" in paths]
    first = [Group((path,)) for path in single if _is_within(path, *_FIRST)]
    last = [Group((path,)) for path in single if _is_within(path, _LAST)]
    rest = [Group((path,)) for path in single if not _is_within(path, *_FIRST, _LAST)]
    found.groups = [*first, *rest, *whole, *last]
    found.size = sum(_size(home / path) for group in found.groups for path in group.paths)
    return found


def is_private(path: str) -> bool:
    """Files below `data` are read by sandboxes, which may have another user."""
    return not path.startswith(f"{_DATA}/")


def _files(home: Path, left_out: list[LeftOut]) -> Iterator[str]:
    """Relative paths, sorted, without what is transient. A link to the data folder is followed, no other one is."""
    folders = [""]
    while folders:
        inside = folders.pop()
        for entry in sorted(os.scandir(home / inside), key=lambda entry: entry.name):
            path = f"{inside}/{entry.name}".lstrip("/")
            if _is_transient(path):
                continue
            if entry.is_dir(follow_symlinks=path == _DATA):
                folders.append(path)
            elif entry.is_file(follow_symlinks=False) and path.isprintable():
                yield path
            else:
                left_out.append(LeftOut(path=ascii(path), why="no plain file"))


def _is_transient(path: str) -> bool:
    name = PurePosixPath(path).name
    return (
        path in _TRANSIENT
        or name.startswith(".")
        or name == "lock"
        or name == "lost+found"
        or name.endswith((".lock", f"{DATABASE}-wal", f"{DATABASE}-shm", f"{DATABASE}-journal"))
    )


def _is_within(path: str, *folders: str) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)


def _is_public(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_PUBLIC)) == _PUBLIC


def _size(path: Path) -> int:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0
