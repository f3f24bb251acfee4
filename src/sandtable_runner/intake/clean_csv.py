"""CSV in UTF-8 that the engine reads as it is: the form in which the text of every file reaches stage two."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sandtable_runner import engine
from sandtable_runner.intake.bad_file import BadFile
from sandtable_runner.intake.scanning import MAX_LINE
from sandtable_runner.intake.workbench import Workbench

WRITTEN_LINES = ", new_line = '\\n'"
"""For files of our own, whose cells with line ends are quoted."""


def relation(
    path: str, width: int, *, delimiter: str = ",", skip: int = 0, header: bool = True, more: str = ""
) -> str:
    """A SQL table expression with the columns `c1` to `cn`; nothing is sniffed. `more`: further arguments.

    Without `new_line` the engine looks for the line end, and takes a carriage return in one of the first cells for it.
    """
    columns = ", ".join(f"'c{number}': 'VARCHAR'" for number in range(1, width + 1))
    arguments = {
        "auto_detect": "false",
        "columns": f"{{{columns}}}",
        "header": str(header).lower(),
        "delim": engine.literal(delimiter),
        "quote": "'\"'",
        "escape": "'\"'",
        "strict_mode": "true",
        "null_padding": "false",
        "skip": str(skip),
        "comment": "''",
        "compression": "'none'",
        "max_line_size": str(MAX_LINE),
        # By default it allocates several buffers of sixteen times the longest line.
        "buffer_size": str(2 * MAX_LINE),
    }
    listed = ", ".join(f"{key} = {value}" for key, value in arguments.items())
    return f"read_csv({engine.literal(path)}, {listed}{more})"


class RowWriter:
    """Writes rows of text. The header is no part of the file."""

    def __init__(self, bench: Workbench, path: Path, width: int) -> None:
        self.path = path
        self.width = width
        self.rows = 0
        self._source = bench.source
        self._most = bench.file_mb << 20
        self._file = path.open("w", encoding="utf-8", newline="")
        self._write = csv.writer(self._file, lineterminator="\n").writerow
        # Before Python 3.13 a carriage return alone is no reason for quotes.
        self._write_quoted = csv.writer(self._file, lineterminator="\n", quoting=csv.QUOTE_ALL).writerow

    def add(self, row: list[str]) -> None:
        self.rows += 1
        size = sum(map(len, row))
        if size > MAX_LINE // 4 or self.rows % 4096 == 0:
            self._check(size)
        try:
            (self._write_quoted if "\r" in "".join(row) else self._write)(row)
        except UnicodeEncodeError as error:
            raise BadFile(
                f"row {self.rows} of {self._source} has half of a character pair",
                "Replace the broken character, and export the file again",
            ) from error

    def _check(self, size: int) -> None:
        if size > MAX_LINE // 4:
            raise BadFile(
                f"row {self.rows} of {self._source} has {size:,} characters; the limit is {MAX_LINE // 4:,}",
                "Check that each row is one record",
            )
        if self._file.tell() > self._most:
            raise BadFile(
                f"the text of {self._source} has more than {self._most >> 20:,} MB",
                "Split the file into smaller ones",
            )

    def relation(self) -> str:
        return relation(str(self.path), self.width, header=False, more=WRITTEN_LINES)

    def close(self) -> None:
        self._file.close()


@contextmanager
def writing(bench: Workbench, width: int) -> Iterator[RowWriter]:
    writer = RowWriter(bench, bench.new_path("csv"), width)
    try:
        yield writer
    finally:
        writer.close()


def write_rows(bench: Workbench, width: int, rows: Iterable[list[str]]) -> RowWriter:
    with writing(bench, width) as writer:
        for row in rows:
            writer.add(row)
    return writer
