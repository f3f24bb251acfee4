"""Archives: the files inside of gz, zst and zip, unpacked into the job's folder within bounds.

Zstandard is unpacked by the engine, because Python has no decoder before 3.14: it reads the bytes as lines of Latin-1,
which is one character for each byte. All line ends become a line feed.
"""

from __future__ import annotations

import codecs
import gzip
import io
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from sandtable_runner import engine
from sandtable_runner.intake.bad_file import BadFile
from sandtable_runner.intake.recognising import recognise
from sandtable_runner.intake.scanning import MAX_LINE
from sandtable_runner.intake.workbench import CHUNK, Workbench

# Looked up while modules can still be loaded: a sealed sandbox finds no codec.
for _codec in ("latin-1", "cp437"):
    codecs.lookup(_codec)

ARCHIVES = ("gz", "zst", "zip")
_FREE_MB = 100
_MOST_RATIO = 250
_ENCRYPTED = 0x1
_LINES = 20_000


@dataclass(frozen=True, slots=True)
class Unpacked:
    member: str
    """The path inside a zip; empty for the one file of a gz or zst."""
    name: str
    """Of the file inside, for messages and for its ending."""
    path: Path


class _Meter:
    """Counts what is unpacked, and refuses an archive that unpacks to far more than its size."""

    def __init__(self, bench: Workbench, packed: int) -> None:
        self._bench = bench
        self._packed = packed
        self._size = 0

    def add(self, size: int) -> None:
        self._size += size
        mb = self._size >> 20
        if mb >= self._bench.file_mb:
            raise BadFile(
                f"{self._bench.source} unpacks to more than {self._bench.file_mb:,} MB",
                "Split it into smaller files",
            )
        if mb >= _FREE_MB and self._size > _MOST_RATIO * self._packed:
            raise BadFile(
                f"{self._bench.source} unpacks to more than {_MOST_RATIO} times its size",
                "Unpack it, check what it holds, and give the file inside",
            )

    def copy(self, file: IO[bytes] | gzip.GzipFile, target: Path) -> None:
        with target.open("wb") as out:
            while chunk := file.read(CHUNK):
                self.add(len(chunk))
                out.write(chunk)


def unpack(
    bench: Workbench, path: Path, kind: str, wanted: Collection[str] | None
) -> tuple[list[Unpacked], list[str]]:
    """The files inside, and notes on those that are left out. `wanted`: only these members."""
    meter = _Meter(bench, path.stat().st_size)
    if kind == "zip":
        return _unpack_zip(bench, path, meter, wanted)
    name = bench.source.removesuffix(f".{kind}")
    target = bench.new_path("unpacked")
    if kind == "gz":
        _unpack_gz(bench, path, target, meter)
    else:
        _unpack_zst(bench, path, target, meter)
    _refuse_nested(bench.source, name, target)
    return [Unpacked("", name, target)], []


def _refuse_nested(source: str, name: str, path: Path) -> None:
    if recognise(path) in ARCHIVES or name.lower().endswith((".zip", ".gz", ".zst", ".tar")):
        raise BadFile(
            f"{source} holds an archive in an archive: {name}", "Unpack it, and give the files inside"
        )


def _damaged(source: str, what: str, reason: object) -> BadFile:
    return BadFile(
        f"{source} cannot be unpacked as {what}: {reason}", "Compress it again; the file seems damaged"
    )


def _unpack_gz(bench: Workbench, path: Path, target: Path, meter: _Meter) -> None:
    try:
        with gzip.open(path) as file:
            meter.copy(file, target)
    except (OSError, EOFError, zlib.error) as error:
        raise _damaged(bench.source, "gzip", error) from error


def _unpack_zst(bench: Workbench, path: Path, target: Path, meter: _Meter) -> None:
    query = (
        f"SELECT line FROM read_csv({engine.literal(str(path))}, compression = 'zstd', auto_detect = false, "
        "header = false, columns = {'line': 'VARCHAR'}, encoding = 'latin-1', delim = '\x1c\x1d\x1c\x1d', "
        "quote = '', escape = '', comment = '', skip = 0, strict_mode = true, "
        f"max_line_size = {MAX_LINE}, buffer_size = {2 * MAX_LINE})"
    )
    _check_frames(bench.source, path)
    try:
        cursor = bench.connection.execute(query)
        with target.open("wb") as out:
            while lines := cursor.fetchmany(_LINES):
                content = "".join([f"{line or ''}\n" for (line,) in lines]).encode("latin-1")
                meter.add(len(content))
                out.write(content)
    except engine.ENGINE_ERRORS as error:
        if engine.is_exhaustion(error):
            raise
        text = str(error)
        if "Maximum line size" in text:
            raise BadFile(
                f"{bench.source} has a line longer than {MAX_LINE >> 20} MB",
                "Unpack it, or compress it with gzip",
            ) from error
        if "state machine" in text:
            raise BadFile(
                f"{bench.source} has line ends of several kinds, which are not read from a .zst file",
                "Unpack it, or compress it with gzip",
            ) from error
        raise _damaged(bench.source, "Zstandard", text.splitlines()[0]) from error


_ZSTD, _SKIPPABLE = 0xFD2FB528, 0x184D2A50
_CONTENT_SIZE = (0, 2, 4, 8)
_DICTIONARY_ID = (0, 1, 2, 4)
_RLE = 1


def _check_frames(source: str, path: Path) -> None:
    """Follow the headers of all blocks to the end of the file: the engine reads a file that is cut short in silence."""
    size = path.stat().st_size
    with path.open("rb") as file:
        while head := file.read(4):
            magic = int.from_bytes(head, "little")
            if magic & 0xFFFFFFF0 == _SKIPPABLE:
                file.seek(int.from_bytes(file.read(4), "little"), io.SEEK_CUR)
            elif magic == _ZSTD:
                _pass_frame(file)
            else:
                raise _damaged(source, "Zstandard", "it has bytes that are no frame")
            if file.tell() > size:
                raise _damaged(source, "Zstandard", "it is cut short")


def _pass_frame(file: IO[bytes]) -> None:
    flags = int.from_bytes(file.read(1), "little")
    single = flags >> 5 & 1
    content = _CONTENT_SIZE[flags >> 6] or single
    file.seek((1 - single) + _DICTIONARY_ID[flags & 3] + content, io.SEEK_CUR)
    last = 0
    while not last:
        header = file.read(3)
        if len(header) < 3:
            # Beyond the end, as if the block were there.
            file.seek(4, io.SEEK_END)
            return
        value = int.from_bytes(header, "little")
        last, kind, length = value & 1, value >> 1 & 3, value >> 3
        file.seek(1 if kind == _RLE else length, io.SEEK_CUR)
    if flags >> 2 & 1:
        file.seek(4, io.SEEK_CUR)


def _unpack_zip(
    bench: Workbench, path: Path, meter: _Meter, wanted: Collection[str] | None
) -> tuple[list[Unpacked], list[str]]:
    try:
        with zipfile.ZipFile(path) as archive:
            members, notes = _choose(bench.source, archive.infolist(), wanted)
            return list(_extract(bench, archive, members, meter)), notes
    except (zipfile.BadZipFile, zlib.error, EOFError, io.UnsupportedOperation) as error:
        raise _damaged(bench.source, "zip", error) from error


_FILES = (".csv", ".tsv", ".tab", ".txt", ".json", ".ndjson", ".jsonl", ".parquet", ".xlsx", ".xlsm", ".ods")
_TABLES = (*_FILES, ".sqlite", ".sqlite3", ".db", ".db3")
_REFUSED = (".zip", ".gz", ".zst", ".tar", ".tgz", ".7z", ".rar", ".bz2", ".xz")


def _choose(
    source: str, listed: Iterable[zipfile.ZipInfo], wanted: Collection[str] | None
) -> tuple[list[zipfile.ZipInfo], list[str]]:
    members: list[zipfile.ZipInfo] = []
    notes: list[str] = []
    for entry in listed:
        place = PurePosixPath(entry.filename)
        if entry.is_dir() or "__MACOSX" in place.parts or place.name.startswith("."):
            continue
        if place.is_absolute() or ".." in place.parts or "\\" in entry.filename:
            raise BadFile(
                f"{source} has a member with the path {entry.filename!r}, which leads out of the archive",
                "Pack the files again, without folders",
            )
        if wanted is not None and entry.filename not in wanted:
            continue
        if place.suffix.lower() in _REFUSED:
            raise BadFile(
                f"{source} holds an archive in an archive: {entry.filename}",
                "Unpack it, and give the files inside",
            )
        if place.suffix.lower() in _TABLES:
            members.append(entry)
        else:
            notes.append(f"{entry.filename} is left out: its ending is not that of a table.")
    for name in sorted(set(wanted or ()) - {entry.filename for entry in members}):
        raise BadFile(f"{source} has no member {name!r}", "Name a file of the archive, or read it again")
    if not members:
        raise BadFile(
            f"{source} holds no table", f"Pack files with one of these endings: {', '.join(_TABLES)}"
        )
    return members, notes


def _extract(
    bench: Workbench, archive: zipfile.ZipFile, members: Iterable[zipfile.ZipInfo], meter: _Meter
) -> Iterator[Unpacked]:
    for entry in members:
        if entry.flag_bits & _ENCRYPTED:
            raise BadFile(
                f"{entry.filename} in {bench.source} is protected by a password",
                "Pack it again without a password",
            )
        target = bench.new_path("unpacked")
        try:
            with archive.open(entry) as file:
                meter.copy(file, target)
        except NotImplementedError as error:
            raise BadFile(
                f"{entry.filename} in {bench.source} is compressed in a way that is not read: {error}",
                "Pack it again as an ordinary zip file",
            ) from error
        name = PurePosixPath(entry.filename).name
        yield Unpacked(entry.filename, name, target)
