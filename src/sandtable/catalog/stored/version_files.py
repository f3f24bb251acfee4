"""The files in a version's folder: which are expected, their metadata, and their digests."""

from __future__ import annotations

import json
import os
import re
import stat
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from sandtable.catalog.stored.source import FileStamp, Progress, digest_open_file, read_file
from sandtable.errors import NotFound
from sandtable.quoting import quote

MANIFEST = "dataset.json"
DIGESTS = "digests.json"
FOLDER = "."
"""Name of the version's folder itself among its stamps: a sandbox may be bound to a folder that was replaced."""
_VERSION = re.compile(r"sha256:([0-9a-f]{64})")
_REPLACED_S = 0.05
_UNREADABLE = ""
"""In place of a digest, for a file that may not be read, or that has a broken sector."""

Stamps = Mapping[str, FileStamp]


def version_folder(root: Path, version: str) -> Path:
    """Raises NotFound for a text that is not a version."""
    match = _VERSION.fullmatch(version)
    if match is None:
        raise NotFound(
            f"{quote(version)} is not a dataset version", suggestion="It is `sha256:` and 64 hex digits."
        )
    return root / "versions" / match[1]


def not_in_store(version: str) -> NotFound:
    return NotFound(
        f"the data of version {version} is not in the store",
        suggestion="Ingest the same source files again: the same bytes give the same version.",
        version=version,
    )


def require_folder(folder: Path, version: str) -> None:
    """Raises NotFound. A folder that is being replaced is missing for a moment."""
    if not os.path.lexists(folder):
        time.sleep(_REPLACED_S)
        if not os.path.lexists(folder):
            raise not_in_store(version)


def recorded_digests(folder: Path) -> dict[str, str] | None:
    try:
        read: Any = json.loads(read_file(folder / DIGESTS))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(read, dict):
        return None
    named = {str(name): str(digest) for name, digest in cast(dict[str, Any], read).items()}
    return named if all(map(_is_file_name, named)) else None


def _is_file_name(name: str) -> bool:
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return False
    return name not in ("", FOLDER, "..") and "/" not in name and "\0" not in name


def stamps_of(folder: Path, names: Mapping[str, Any]) -> tuple[dict[str, FileStamp], str]:
    """Stamps of the folder and of the regular files in it; and what is wrong."""
    found: dict[str, FileStamp] = {}
    wrong: list[str] = []
    for name in (FOLDER, *(name for name in names if name != FOLDER)):
        try:
            # Without the trailing `/.`, which would follow a link.
            seen = (folder if name == FOLDER else folder / name).lstat()
        except OSError:
            wrong.append(f"{'its folder' if name == FOLDER else name} is missing")
            continue
        if (stat.S_ISDIR if name == FOLDER else stat.S_ISREG)(seen.st_mode):
            found[name] = FileStamp.of(seen)
        else:
            wrong.append(f"{'its folder' if name == FOLDER else name} was replaced by something else")
    return found, "; ".join(wrong)


def size_of(stamps: Stamps) -> int:
    return sum(stamp.size for name, stamp in stamps.items() if name != FOLDER)


def digests_of(
    folder: Path, stamps: Stamps, progress: Progress | None, *, from_disk: bool = False
) -> dict[str, str] | None:
    """Digests of the files with these stamps; None when a stamp has changed. `from_disk`: see `digest_open_file`."""
    total = size_of(stamps)
    digests: dict[str, str] = {}
    done = 0
    for name, stamp in stamps.items():
        if name == FOLDER:
            continue
        counted = None if progress is None else _counted(progress, done, total)
        try:
            digest = _digest(folder / name, stamp, counted, from_disk)
        except OSError:
            digest = _UNREADABLE
        if digest is None:
            return None
        digests[name] = digest
        done += stamp.size
    return digests


def _digest(path: Path, stamp: FileStamp, progress: Progress | None, from_disk: bool) -> str | None:
    # Do not follow a link or wait for a named pipe that replaced the file.
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if FileStamp.of(os.fstat(fd)) != stamp:
            return None
        return digest_open_file(fd, stamp.size, progress, from_disk=from_disk)
    finally:
        os.close(fd)


def _counted(progress: Progress, before: int, total: int) -> Progress:
    return lambda done, _: progress(before + done, max(total, before + done))


def changed_in_words(names: Sequence[str], digests: Mapping[str, str]) -> str:
    unread = [name for name in names if digests.get(name) == _UNREADABLE]
    changed = [name for name in names if name not in unread]
    said = [f"{', '.join(changed)} changed after it was published"] if changed else []
    return "; ".join([*said, *([f"{', '.join(unread)} cannot be read"] if unread else [])])
