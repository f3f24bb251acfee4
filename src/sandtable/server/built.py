"""Serves the files of a built web interface to browsers.

Invariant: only names found by listing the build are served, so no path leads outside it. A file is read, hashed and
compressed once per change; the plain and the compressed form share one weak ETag.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import Response

FOLDER = Path(__file__).parent / "_built"
"""Ignored by git, included in the wheel: `make web` and `make chat-ui` put their builds here."""
INDEX = "index.html"

_FOREVER = "public, max-age=31536000, immutable"
_ASK_AGAIN = "no-cache"
_SMALLEST_COMPRESSED = 1024
# Not the system's MIME table: with `nosniff`, a wrong entry there would prevent a script from running.
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".webmanifest": "application/manifest+json",
    ".txt": "text/plain; charset=utf-8",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
    ".ico": "image/x-icon",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".webp": "image/webp",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
    ".ttf": "font/ttf",
}
_ALREADY_SMALL = frozenset({".png", ".jpg", ".webp", ".woff", ".woff2"})

_Change = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _File:
    plain: bytes
    gzipped: bytes | None
    tag: str
    kind: str


class Build:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: frozenset[str] = frozenset()
        self._files: dict[str, tuple[_Change, _File]] = {}

    @property
    def exists(self) -> bool:
        return (self._folder / INDEX).is_file()

    def has(self, name: str) -> bool:
        """Lists the build again for an unknown name: a new build may have replaced the listed one."""
        if name not in self._names:
            self._names = _listing(self._folder)
            self._files = {known: file for known, file in self._files.items() if known in self._names}
        return name in self._names

    async def answer(
        self, name: str, asked: Headers, headers: Mapping[str, str] | None = None
    ) -> Response | None:
        """The file for this request, or None where the build has none of that name."""
        file = await self._file(name) if self.has(name) else None
        if file is None:
            return None
        cache = _FOREVER if name.startswith("assets/") else _ASK_AGAIN
        # A 304 has them too: the browser replaces its cached headers with them.
        sent = {"Cache-Control": cache, "ETag": file.tag, "Vary": "Accept-Encoding", **(headers or {})}
        if _is_current(asked.get("if-none-match", ""), file.tag):
            return Response(status_code=304, headers=sent)
        if file.gzipped is not None and takes_gzip(asked.get("accept-encoding", "")):
            return Response(file.gzipped, headers={**sent, "Content-Encoding": "gzip"}, media_type=file.kind)
        return Response(file.plain, headers=sent, media_type=file.kind)

    async def _file(self, name: str) -> _File | None:
        path = self._folder / name
        change = _change(path)
        if change is None:
            return None
        remembered = self._files.get(name)
        if remembered is None or remembered[0] != change:
            try:
                remembered = (change, await asyncio.to_thread(_read, path))
            except OSError:  # a new build is replacing it
                return None
            self._files[name] = remembered
        return remembered[1]


def takes_gzip(accepted: str) -> bool:
    """Whether an Accept-Encoding header allows gzip; a named coding takes precedence over `*`."""
    said: dict[str, bool] = {}
    for part in accepted.lower().split(","):
        coding, _, weight = part.partition(";")
        said[coding.strip()] = not re.fullmatch(r"q=0(\.0*)?", weight.replace(" ", ""))
    return said.get("gzip", said.get("*", False))


def _is_current(tags: str, tag: str) -> bool:
    """`If-None-Match`, by weak comparison."""
    known = {part.strip().removeprefix("W/") for part in tags.split(",")}
    return "*" in known or tag.removeprefix("W/") in known


def _change(path: Path) -> _Change | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _listing(folder: Path) -> frozenset[str]:
    """File names, with `/` between folders; names that begin with a dot are not served."""
    names: set[str] = set()
    for at, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        below = Path(at).relative_to(folder)
        names.update((below / name).as_posix() for name in files if not name.startswith("."))
    return frozenset(names)


def _read(path: Path) -> _File:
    plain = path.read_bytes()
    small = len(plain) < _SMALLEST_COMPRESSED or path.suffix in _ALREADY_SMALL
    gzipped = None if small else gzip.compress(plain, mtime=0)
    return _File(
        plain=plain,
        gzipped=gzipped if gzipped and len(gzipped) < len(plain) else None,
        tag=f'W/"{hashlib.sha256(plain).hexdigest()[:32]}"',
        kind=_TYPES.get(path.suffix, "application/octet-stream"),
    )
