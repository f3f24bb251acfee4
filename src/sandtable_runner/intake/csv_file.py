"""A CSV file as a table of text. A clean file is read where it is; one that the engine cannot read is written again.

Invariant: the engine has read the table to its end before it is returned, so stage two meets no broken line; or the
table is among those that its user proves.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from sandtable_runner import engine
from sandtable_runner.intake import clean_csv, headers
from sandtable_runner.intake.bad_file import BadFile
from sandtable_runner.intake.csv_layout import MARKS, Layout, Row, open_text, read_layout
from sandtable_runner.intake.encodings import as_utf8
from sandtable_runner.intake.recognising import refuse_other_kind
from sandtable_runner.intake.text_table import TextTable
from sandtable_runner.intake.workbench import Workbench, counted, reading, repair

_SKIP = "skip-rows:"
_PAD, _DROP = "pad-rows", "drop-rows"
_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class _Shape:
    """The file in UTF-8, and where its table is in it."""

    source: str
    path: Path
    delimiter: str
    skip: int
    header: bool
    width: int

    def relation(self) -> str:
        return clean_csv.relation(
            str(self.path), self.width, delimiter=self.delimiter, skip=self.skip, header=self.header
        )


@dataclass(slots=True)
class _Ragged:
    """Rows with another number of cells than the header."""

    short: int = 0
    long: int = 0
    first: tuple[int, int] = (0, 0)
    lines: tuple[int, ...] = ()
    """Line and width of the first one, and the first lines."""

    @property
    def count(self) -> int:
        return self.short + self.long

    def add(self, row: Row, width: int) -> None:
        if not self.count:
            self.first = (row.line, len(row.cells))
        self.lines = (*self.lines, row.line)[:_EXAMPLES]
        if len(row.cells) < width:
            self.short += 1
        else:
            self.long += 1


def open_csv(bench: Workbench, path: Path, given: Mapping[str, Any] | None) -> TextTable:
    refuse_other_kind(bench.source, path, "a table of text")
    repairs = {*bench.repairs, *(given["repairs"] if given else ())}
    utf8, encoding, notes = as_utf8(bench, path, given["encoding"] if given else None)
    skip = _asked_to_skip(bench.repairs)
    if skip is None and given:
        skip = given["skipped_rows"]
    layout = read_layout(utf8, skip=skip, delimiter=given["delimiter"] if given else None)
    header = given["header"] if given else True
    shape, names = _header(bench.source, utf8, layout, header=header, chosen=skip is not None)
    ragged = _ragged_rule(bench.repairs) or (given["ragged"] if given else "refuse")
    if bench.unproven is None:
        relation, more = _prove(bench, shape, ragged)
    else:
        relation, more = shape.relation(), []
        bench.unproven.add(relation)
    numbered = not names[0].strip() and _counts_rows(bench.connection, relation)
    named, renamed = headers.name_columns(
        bench.source, names, rename=headers.RENAME in repairs, numbered=numbered
    )
    text = reading(
        "csv",
        encoding=encoding,
        delimiter=layout.delimiter,
        skipped_rows=layout.skip,
        header=header,
        ragged=ragged,
        repairs=sorted(repairs & {headers.RENAME, _PAD, _DROP, f"{_SKIP}{layout.skip}"}),
    )
    before = (layout.rows[0].line if layout.rows else 1) - 1
    if header:
        before = layout.rows[1].line - 1 if len(layout.rows) > 1 else before + 1
    return TextTable("", relation, named, text, before, (*notes, *more, *renamed))


def _asked_to_skip(repairs: Collection[str]) -> int | None:
    rows = [name.removeprefix(_SKIP) for name in repairs if name.startswith(_SKIP)]
    return next((int(number) for number in rows if number.isdecimal()), None)


def _ragged_rule(repairs: Collection[str]) -> str:
    return "pad" if _PAD in repairs else "drop" if _DROP in repairs else ""


def _header(
    source: str, path: Path, layout: Layout, *, header: bool, chosen: bool
) -> tuple[_Shape, list[str]]:
    """The names in the header; `column_1` and so on where there is none."""
    if layout.titles and not chosen:
        raise _titles(source, layout)
    first = layout.rows[0].cells if layout.rows else []
    if not header:
        width = layout.usual_width
        names = [f"column_{number}" for number in range(1, width + 1)]
    else:
        names = _strict_header(source, path, layout) or first
        width = len(names)
    if not any(name.strip() for name in names):
        raise BadFile(
            f"{source} has no header: its first line is blank", "Put the column names in the first line"
        )
    headers.check_width(source, width)
    return _Shape(source, path, layout.delimiter, layout.skip, header, width), names


def _strict_header(source: str, path: Path, layout: Layout) -> list[str]:
    with open_text(path) as file:
        lines = islice(file, layout.skip, None)
        try:
            return next(csv.reader(lines, delimiter=layout.delimiter, strict=True), [])
        except csv.Error as error:
            raise _bad_quote(source, layout.skip + 1) from error


def _titles(source: str, layout: Layout) -> BadFile:
    lines = layout.skip + layout.titles
    header = next(row for row in layout.rows if row.line == lines + 1)
    first = layout.rows[0]
    shown = ", ".join(cell.strip() for cell in header.cells[:8]) + (", …" if len(header.cells) > 8 else "")
    if first.blank:
        what = f"{source} has no header: its first line is blank"
    else:
        what = (
            f"{source} has a title above its header: line {first.line} has "
            f"{counted(sum(1 for cell in first.cells if cell.strip()), 'fields')}, "
            f"line {header.line} and those below have {len(header.cells)}"
        )
    return BadFile(
        what,
        "Put the column names in the first line",
        [repair(f"{_SKIP}{lines}", f"Skip {counted(lines, 'lines')}; the header is: {shown}")],
    )


def _prove(bench: Workbench, shape: _Shape, ragged: str) -> tuple[str, list[str]]:
    """A relation that the engine has read to its end, and notes."""
    try:
        return _read(bench.connection, shape.relation()), []
    except engine.ENGINE_ERRORS as error:
        if engine.is_exhaustion(error):
            raise
        found = _find_ragged(shape)
        if found.count and (ragged == "refuse" or (ragged == "pad" and found.long)):
            raise _refuse_ragged(shape, found) from error
        writer = clean_csv.write_rows(bench, shape.width, _mended(shape, drop=ragged == "drop"))
        notes = _notes(found, ragged) if found.count else []
        try:
            return _read(bench.connection, writer.relation()), notes
        except engine.ENGINE_ERRORS as again:
            raise _unreadable(shape.source, again) from error


def _read(connection: engine.Connection, relation: str) -> str:
    connection.execute(f"SELECT count(*) FROM {relation}").fetchall()
    return relation


def _counts_rows(connection: engine.Connection, relation: str) -> bool:
    """Whether the first column holds 0 to n - 1, as pandas writes the index of a data frame, or 1 to n, as R does."""
    number = "TRY_CAST(c1 AS BIGINT)"
    rows, *found = connection.execute(
        "SELECT count(*), count(n), min(n), max(n), sum(n) "
        f"FROM (SELECT CASE WHEN CAST({number} AS VARCHAR) = c1 THEN {number} END AS n FROM {relation})"
    ).fetchone() or (0,)
    if not rows or (first := found[1]) not in (0, 1):
        return False
    return found == [rows, first, first + rows - 1, first * rows + rows * (rows - 1) // 2]


def _all_rows(shape: _Shape) -> Iterator[Row]:
    """The rows below the header, as Python reads them; blank lines are rows only where there is one column."""
    line = shape.skip + 1
    with open_text(shape.path) as file:
        reader = csv.reader(islice(file, shape.skip, None), delimiter=shape.delimiter, strict=True)
        first = shape.header
        try:
            for cells in reader:
                if not first and (cells or shape.width == 1):
                    yield Row(line, cells or [""])
                first = False
                line = shape.skip + reader.line_num + 1
        except csv.Error as error:
            raise _bad_quote(shape.source, line) from error


def _find_ragged(shape: _Shape) -> _Ragged:
    found = _Ragged()
    for row in _all_rows(shape):
        if len(row.cells) != shape.width:
            found.add(row, shape.width)
    return found


def _mended(shape: _Shape, *, drop: bool) -> Iterator[list[str]]:
    for row in _all_rows(shape):
        missing = shape.width - len(row.cells)
        if not missing:
            yield row.cells
        elif not drop:
            yield row.cells + [""] * missing


def _refuse_ragged(shape: _Shape, found: _Ragged) -> BadFile:
    line, width = found.first
    more = f"; {found.count:,} lines in all do not fit" if found.count > 1 else ""
    offered = (
        [] if found.long else [repair(_PAD, f"Fill {counted(found.short, 'short rows')} with empty cells")]
    )
    offered.append(
        repair(_DROP, f"Leave out {counted(found.count, 'rows')} with more or fewer than {shape.width} cells")
    )
    return BadFile(
        f"{shape.source}: line {line} has {counted(width, 'fields')}, the header has {shape.width}{more}",
        f"Mend that line: a missing field, or a {MARKS.get(shape.delimiter, 'delimiter')} that needs quotes",
        offered,
    )


def _notes(found: _Ragged, ragged: str) -> list[str]:
    lines = ", ".join(str(line) for line in found.lines) + (" …" if found.count > len(found.lines) else "")
    what = "Filled with empty cells" if ragged == "pad" else "Left out"
    return [
        f"{what}: {counted(found.count, 'rows')} with another number of cells than the header (line {lines})."
    ]


def _bad_quote(source: str, line: int) -> BadFile:
    return BadFile(
        f"{source}: the quotes of line {line} do not match, or text follows a closing quote",
        'Close the quote, or write it twice ("") inside a value',
    )


def _unreadable(source: str, error: Exception) -> BadFile:
    text = str(error).splitlines()
    reason = next((part.strip() for part in text if part.startswith("Error when")), text[0])
    return BadFile(f"{source} cannot be read as CSV: {reason}", "Export it again as CSV in UTF-8")
