"""Makes a backup of a home and its database while servers work on them.

Invariant: what has the name of the backup is whole. It is written beside that name, to a folder that begins with a
dot, and gets its name in one step, which overwrites nothing.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from sandtable import __version__
from sandtable.backup.archive import Advance, ArchiveWriter, FolderWriter, Writer
from sandtable.backup.contents import TRUSTED, Contents, Group, contents_of, is_private
from sandtable.backup.manifest import HOME, ROWS, Entry, LeftOut, Manifest, seal
from sandtable.backup.snapshot import copy_databases
from sandtable.capsule.keys import SigningKey, public_pem
from sandtable.catalog.stored.source import Progress
from sandtable.errors import InvalidInput, SandtableError

ARCHIVE = ".tar"


class NoSpaceLeft(SandtableError):
    """The backup, or what is restored from it, does not fit."""


@dataclass(frozen=True, slots=True)
class Rows:
    """A Postgres database as files: by table the file, and the versions of its tables."""

    files: Mapping[str, Path]
    versions: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Taken:
    manifest: Manifest
    keyid: str
    size: int


@contextmanager
def workspace(target: Path, what: str) -> Iterator[Path]:
    """A private folder beside `target`, removed at the end. Raises InvalidInput, NoSpaceLeft."""
    if os.path.lexists(target):
        raise InvalidInput(
            f"{target} is there already", suggestion=f"Choose another name: {what} overwrites nothing."
        )
    if not target.parent.is_dir():
        raise InvalidInput(
            f"there is no folder {target.parent}", suggestion="Create it, or choose another place."
        )
    with space_trouble(target.parent):
        folder = target.parent / f".{target.name}.{secrets.token_hex(4)}.partial"
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def space_trouble(folder: Path) -> Iterator[None]:
    """Raises NoSpaceLeft, and InvalidInput for a folder that may not be used."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise NoSpaceLeft(
                f"no space is left in {folder}", suggestion="Free space there, or choose another disk."
            ) from error
        where = error.filename or folder
        raise InvalidInput(
            f"{where} cannot be used: {error.strerror or error}",
            suggestion="Check its permissions and the disk.",
        ) from error


def take(
    home: Path,
    target: Path,
    folder: Path,
    key: SigningKey,
    *,
    with_keys: bool,
    rows: Rows | None = None,
    progress: Progress = lambda done, total: None,
) -> Taken:
    """Writes the backup `target` by way of `folder`, a workspace beside it. Blocks: use a thread.

    Raises InvalidInput, NoSpaceLeft, StoreUnavailable, StoreCorrupt, RunnerBroken, and what `progress` raises.
    """
    with space_trouble(target.parent):
        found = contents_of(home, with_keys=with_keys)
        staged = {home / path: folder / f"database-{number}" for number, path in enumerate(found.databases)}
        sizes = [path.stat().st_size for path in (*staged, *(rows.files.values() if rows else ()))]
        # Databases are read once for the snapshot, and once more into the backup.
        advance = _counting(progress, found.size + 2 * sum(sizes))
        versions = copy_databases(staged, advance)
        archive = target.suffix == ARCHIVE
        writing = folder / "backup"
        with ExitStack() as stack:
            writer = ArchiveWriter(writing) if archive else FolderWriter(writing)
            stack.callback(writer.close)
            entries = list(_write(writer, home, found, staged, rows, advance))
            trusted = f"{HOME}/{TRUSTED}/backup-{key.keyid[:16]}.pem"
            if all(entry.path != trusted for entry in entries):
                entries.append(_add(writer, trusted, _public_key(folder, key), advance))
            manifest = Manifest(
                sandtable=__version__,
                made_at=datetime.now(UTC).isoformat(timespec="seconds"),
                database="postgres" if rows else "sqlite",
                schemas={path.name: version for path, version in versions.items()}
                | dict(rows.versions if rows else {}),
                keys=with_keys,
                entries=tuple(entries),
                left_out=tuple(found.left_out),
            )
            writer.finish(seal(manifest, key))
        _publish(writing, target)
        return Taken(manifest, key.keyid, manifest.size)


def _counting(progress: Progress, total: int) -> Advance:
    done = 0

    def advance(more: int) -> None:
        nonlocal done
        done += more
        progress(min(done, total), total)

    return advance


def _write(
    writer: Writer,
    home: Path,
    found: Contents,
    staged: Mapping[Path, Path],
    rows: Rows | None,
    advance: Advance,
) -> Iterator[Entry]:
    for path in found.databases:
        copy = staged[home / path]
        yield _add(writer, f"{HOME}/{path}", copy, advance)
        copy.unlink()
    for table, file in (rows.files if rows else {}).items():
        yield _add(writer, f"{ROWS}/{table}.copy", file, advance)
        file.unlink()
    for group in found.groups:
        yield from _write_group(writer, home, group, found.left_out, advance)


def _write_group(
    writer: Writer, home: Path, group: Group, left_out: list[LeftOut], advance: Advance
) -> Iterator[Entry]:
    with ExitStack() as stack:
        files: dict[str, BinaryIO] = {}
        for path in group.paths:
            try:
                files[path] = stack.enter_context((home / path).open("rb"))
            except FileNotFoundError:
                left_out.append(LeftOut(path=path, why="removed while the backup was made"))
                return
        for path, file in files.items():
            size = os.fstat(file.fileno()).st_size
            yield writer.add(f"{HOME}/{path}", file, size, private=is_private(path), advance=advance)


def _add(writer: Writer, name: str, path: Path, advance: Advance) -> Entry:
    with path.open("rb") as file:
        return writer.add(name, file, os.fstat(file.fileno()).st_size, private=True, advance=advance)


def _public_key(folder: Path, key: SigningKey) -> Path:
    """A home that is restored without its private key trusts the capsules that it signed."""
    path = folder / "public.pem"
    path.write_bytes(public_pem(key.private.public_key()))
    return path


def _publish(made: Path, target: Path) -> None:
    """Raises InvalidInput if something got the name meanwhile."""
    try:
        if made.is_dir():
            # Replaces an empty folder at most.
            made.rename(target)
        else:
            os.link(made, target)
    except OSError as error:
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
            raise InvalidInput(f"{target} is there already", suggestion="Choose another name.") from error
        if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK) or os.path.lexists(target):
            raise
        # A file system without hard links.
        made.rename(target)
    sync_folder(target.parent)


def sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
