"""The bytes of a text file, checked in one pass: UTF-8, no NUL, no endless line.

Only offsets are kept. Counting the lines up to one takes longer than the check, and only a bad file needs it.
"""

from __future__ import annotations

import codecs
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sandtable_runner import engine
from sandtable_runner.intake.bad_file import BadFile

MAX_LINE = 16 << 20
_CHUNK = 1 << 20
_HEAD = 2 * MAX_LINE + 2 * _CHUNK
"""Checked before anything else is done: the layout of a CSV file is read from it, and its lines must be bounded."""


@dataclass(slots=True)
class Scan:
    """What was found so far. Offsets are -1 where there is no such byte."""

    long_lines: bool = False
    """Whether lines have no limit, as in JSON."""
    size: int = 0
    nul_at: int = -1
    bad_at: int = -1
    """The first byte that is not UTF-8."""
    long_at: int = -1
    """Where a line begins that is too long."""
    cut: bool = False
    """Whether the file ends inside a UTF-8 character and is UTF-8 up to there."""
    ended: bool = False
    _length: int = 0
    _decoder: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8")()
    )

    @property
    def sound(self) -> bool:
        return self.nul_at < 0 and self.bad_at < 0 and self.long_at < 0 and not self.cut

    def add(self, chunk: bytes) -> None:
        if self.nul_at < 0 and (at := chunk.find(0)) >= 0:
            self.nul_at = self.size + at
        pending = len(self._decoder.getstate()[0])
        if self.bad_at < 0 and (pending or not chunk.isascii()):
            try:
                self._decoder.decode(chunk)
            except UnicodeDecodeError as error:
                self.bad_at = self.size - pending + error.start
        last = chunk.rfind(b"\n")
        if last < 0:
            last = chunk.rfind(b"\r")
        self._length = len(chunk) - last - 1 if last >= 0 else self._length + len(chunk)
        self.size += len(chunk)
        if self._length > MAX_LINE and not self.long_lines:
            self.long_at = self.size - self._length

    def end(self) -> None:
        self.ended = True
        if self.bad_at < 0:
            try:
                self._decoder.decode(b"", final=True)
            except UnicodeDecodeError:
                self.cut = True


def chunks(path: Path, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
    with path.open("rb") as file:
        file.seek(start)
        left = stop - start if stop is not None else None
        while chunk := file.read(_CHUNK if left is None else min(_CHUNK, left)):
            yield chunk
            left = left - len(chunk) if left is not None else None


def line_at(path: Path, offset: int) -> int:
    """The number of the line that a byte is in: line feeds before it, or carriage returns where there are none."""
    feeds = returns = 0
    for chunk in chunks(path, 0, offset):
        feeds += chunk.count(b"\n")
        returns += chunk.count(b"\r")
    return (feeds or returns) + 1


def scan_all(source: str, path: Path, *, long_lines: bool) -> Scan:
    """Raises BadFile for a NUL byte, an endless line, or an end inside a character."""
    scan = Scan(long_lines)
    for chunk in chunks(path):
        scan.add(chunk)
        refuse_endless(source, path, scan)
    scan.end()
    if scan.nul_at >= 0:
        raise nul(source, line_at(path, scan.nul_at))
    if scan.cut:
        raise BadFile(f"{source} ends inside a UTF-8 character", "Export it again; the file seems cut short")
    return scan


def refuse_endless(source: str, path: Path, scan: Scan) -> None:
    if scan.long_at >= 0:
        raise BadFile(
            f"line {line_at(path, scan.long_at)} of {source} is longer than {MAX_LINE >> 20} MB",
            "Check the file's line ends and quotes: this is not a table",
        )


def nul(source: str, line: int) -> BadFile:
    return BadFile(
        f"{source} has a NUL byte in line {line}", "Remove NUL bytes; the file may be binary or cut short"
    )


class Unproven:
    """Files that are used before they were read to their end.

    The rest of their bytes is checked on threads, beside the engine; that the engine can read all rows is shown by the
    query that writes the table. Their user calls `holds` at the end; where it is false, or where anything failed, the
    files are opened again with proof, which finds what to say about them.
    """

    def __init__(self) -> None:
        self._relations: list[str] = []
        self._scans: list[tuple[Scan, threading.Thread]] = []
        self._stopped = False

    def __bool__(self) -> bool:
        return bool(self._relations or self._scans)

    def begin(self, path: Path) -> bool:
        """Whether the beginning of the file is sound; the rest is then checked from now on."""
        scan = Scan()
        for chunk in chunks(path, 0, _HEAD):
            scan.add(chunk)
        if path.stat().st_size <= _HEAD:
            scan.end()
        elif scan.sound:
            thread = threading.Thread(target=self._scan, args=(scan, path), daemon=True)
            self._scans.append((scan, thread))
            thread.start()
        return scan.sound

    def _scan(self, scan: Scan, path: Path) -> None:
        for chunk in chunks(path, scan.size):
            scan.add(chunk)
            if self._stopped or not scan.sound:
                return
        scan.end()

    def add(self, relation: str) -> None:
        """A table of the engine that was not read to its end."""
        self._relations.append(relation)

    def read(self, connection: engine.Connection) -> None:
        """Have the engine read every row, where no query has done so."""
        for relation in self._relations:
            connection.execute(f"SELECT count(*) FROM {relation}").fetchall()

    def holds(self) -> bool:
        for _, thread in self._scans:
            thread.join()
        return all(scan.ended and scan.sound for scan, _ in self._scans)

    def stop(self) -> None:
        self._stopped = True
        for _, thread in self._scans:
            thread.join()
