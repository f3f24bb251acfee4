"""Which shared libraries a binary asks for, read from its dynamic section; nothing is executed."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PT_LOAD, _PT_DYNAMIC, _PT_INTERP = 1, 2, 3
_DT_NEEDED, _DT_STRTAB, _DT_RPATH, _DT_RUNPATH = 1, 5, 15, 29


@dataclass(frozen=True, slots=True)
class Wants:
    libraries: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    """Where it looks first; `$ORIGIN` is its own folder."""
    loader: str | None = None


def wants(path: Path) -> Wants | None:
    """None when it is no 64-bit little-endian ELF file."""
    with path.open("rb") as file:
        if file.read(6) != b"\x7fELF\x02\x01":
            return None
    content = path.read_bytes()
    segments = list(_segments(content))
    dynamic = next(((o, n) for kind, o, _, n in segments if kind == _PT_DYNAMIC), None)
    loader = next(
        (content[o : o + n].rstrip(b"\0").decode() for k, o, _, n in segments if k == _PT_INTERP), None
    )
    if dynamic is None:
        return Wants(loader=loader)
    entries = list(_entries(content, *dynamic))
    table = _file_offset(segments, next(value for tag, value in entries if tag == _DT_STRTAB))

    def text(at: int) -> str:
        begin = table + at
        return content[begin : content.index(b"\0", begin)].decode()

    libraries = tuple(text(value) for tag, value in entries if tag == _DT_NEEDED)
    paths = [text(value) for tag, value in entries if tag in (_DT_RPATH, _DT_RUNPATH)]
    return Wants(libraries, tuple(place for path in paths for place in path.split(":") if place), loader)


def _segments(content: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Kind, place in the file, address, size in the file."""
    (start,) = struct.unpack_from("<Q", content, 32)
    size, count = struct.unpack_from("<HH", content, 54)
    for number in range(count):
        kind, _, offset, address, _, in_file = struct.unpack_from("<IIQQQQ", content, start + number * size)
        yield kind, offset, address, in_file


def _entries(content: bytes, offset: int, size: int) -> Iterator[tuple[int, int]]:
    for at in range(offset, offset + size, 16):
        tag, value = struct.unpack_from("<qQ", content, at)
        if tag == 0:
            return
        yield tag, value


def _file_offset(segments: list[tuple[int, int, int, int]], address: int) -> int:
    for kind, offset, start, size in segments:
        if kind == _PT_LOAD and start <= address < start + size:
            return offset + address - start
    raise ValueError("the string table is in no loaded segment")
