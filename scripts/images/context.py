"""What a build is given: the sources it is made from, and nothing else of the tree. The same sources, the same tar."""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

_LEFT_BEHIND = frozenset({"__pycache__", "node_modules", ".made-from"})


def sources(root: Path, names: Iterable[str]) -> dict[str, Path]:
    """Name in the context → file."""
    return {path.relative_to(root).as_posix(): path for name in sorted(names) for path in _below(root / name)}


def digest(files: Mapping[str, Path], *further: str) -> str:
    whole = hashlib.sha256("\n".join(further).encode())
    for name in sorted(files):
        mode = files[name].stat().st_mode & 0o111
        content = hashlib.sha256(files[name].read_bytes()).hexdigest()
        whole.update(f"\n{name} {bool(mode)} {content}".encode())
    return whole.hexdigest()


def write(files: Mapping[str, Path], target: Path) -> None:
    with tarfile.open(target, "w") as tar:
        for name in sorted(files):
            tar.add(files[name], name, recursive=False, filter=_plain)


def _below(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    elif path.is_dir():
        for found in sorted(path.iterdir()):
            if found.name not in _LEFT_BEHIND and found.suffix != ".pyc":
                yield from _below(found)
    else:
        raise FileNotFoundError(f"{path} is missing")


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    entry.mode = 0o755 if entry.mode & 0o111 else 0o644
    return entry
