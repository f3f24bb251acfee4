"""Makes a home from a backup.

Invariant: a home appears only after every digest was checked; until then all lies in a folder whose name begins with a
dot. Nothing is written outside that folder.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from sandtable.backup.archive import ArchiveReader, FolderReader, Reader, checked
from sandtable.backup.manifest import HOME, ROWS, Manifest, not_one, unseal
from sandtable.backup.taking import space_trouble, sync_folder
from sandtable.capsule.keys import keyid_of, read_public
from sandtable.catalog.stored.source import Progress
from sandtable.errors import InvalidInput, NotFound

_FOUND_IN_EMPTY = {"lost+found"}
_DATA = f"{HOME}/data"


@dataclass(frozen=True, slots=True)
class Opened:
    reader: Reader
    manifest: Manifest
    key: Ed25519PublicKey
    """That signed it."""


@contextmanager
def opened(path: Path, trusted: Path | None = None) -> Iterator[Opened]:
    """`trusted` is a PEM file with the only key that may have signed it. Raises InvalidInput, NotFound."""
    if not path.exists():
        raise NotFound(
            f"there is no {path}", suggestion="Name a file or folder that `sandtable backup` wrote."
        )
    if not path.is_dir() and not path.is_file():
        raise not_one("it is neither a file nor a folder")
    with space_trouble(path.parent):
        reader = FolderReader(path) if path.is_dir() else ArchiveReader(path)
    try:
        manifest, key = unseal(reader.sealed())
        if trusted is not None and keyid_of(read_public(trusted)) != keyid_of(key):
            raise not_one(f"the key {keyid_of(key)[:16]} signed it, and not the one in {trusted}")
        reader.expect(manifest)
        yield Opened(reader, manifest, key)
    finally:
        reader.close()


def check(backup: Opened, progress: Progress = lambda done, total: None) -> None:
    """Reads everything. Raises InvalidInput."""
    done, total = 0, backup.manifest.size
    for number, entry in enumerate(backup.manifest.entries):
        for piece in checked(backup.reader.pieces(number, entry), entry):
            done += len(piece)
            progress(done, total)


@contextmanager
def staging(home: Path) -> Iterator[Path]:
    """An empty folder beside the home, removed at the end. Raises InvalidInput, NoSpaceLeft."""
    _require_empty(home)
    with space_trouble(home.parent):
        home.parent.mkdir(parents=True, exist_ok=True)
        # A folder that a volume is mounted on can only be filled.
        beside = home if home.is_mount() else home.parent
        folder = beside / f".{home.name}.{secrets.token_hex(4)}.partial"
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def extract(backup: Opened, folder: Path, progress: Progress = lambda done, total: None) -> None:
    """Writes everything to the folder, checked. Raises InvalidInput, NoSpaceLeft, and what `progress` raises."""
    done, total = 0, backup.manifest.size
    with space_trouble(folder.parent):
        for number, entry in enumerate(backup.manifest.entries):
            _make_folders(folder, entry.path)
            with (folder / entry.path).open("xb") as file:
                os.fchmod(file.fileno(), 0o600 if entry.private else 0o644)
                for piece in checked(backup.reader.pieces(number, entry), entry):
                    file.write(piece)
                    done += len(piece)
                    progress(done, total)
                file.flush()
                os.fsync(file.fileno())
        (folder / HOME).mkdir(mode=0o700, exist_ok=True)


def publish(folder: Path, home: Path) -> None:
    """Makes what was extracted the home. Raises InvalidInput."""
    with space_trouble(home.parent):
        if not home.is_mount():
            (folder / HOME).rename(home)
            sync_folder(home.parent)
            return
        for path in sorted((folder / HOME).iterdir()):
            path.rename(home / path.name)
        sync_folder(home)


def rows_in(folder: Path) -> dict[str, Path]:
    """By table, the file with its rows."""
    return {path.stem: path for path in sorted((folder / ROWS).glob("*.copy"))}


def _make_folders(folder: Path, path: str) -> None:
    parts = path.split("/")[:-1]
    for count in range(1, len(parts) + 1):
        inside = "/".join(parts[:count])
        # Sandboxes of another user read what lies in the data folder.
        mode = 0o755 if inside == _DATA or inside.startswith(f"{_DATA}/") else 0o700
        (folder / inside).mkdir(mode=mode, exist_ok=True)
        (folder / inside).chmod(mode)


def _require_empty(home: Path) -> None:
    if not os.path.lexists(home):
        return
    if home.is_symlink() or not home.is_dir():
        raise InvalidInput(
            f"{home} is no folder", suggestion="Choose a folder that is empty or does not exist."
        )
    if any(path.name not in _FOUND_IN_EMPTY for path in home.iterdir()):
        raise InvalidInput(
            f"{home} is not empty",
            suggestion="Choose a folder that is empty or does not exist: nothing is overwritten.",
        )
