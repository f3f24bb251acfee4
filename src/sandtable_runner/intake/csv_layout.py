"""The layout of a CSV file, from its first rows: the delimiter, and the line of the header."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TextIO

from sandtable_runner.intake.scanning import MAX_LINE

DELIMITERS = ",;\t|"
MARKS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
_LINES = 2_000
_CHARACTERS = 4 << 20
_TITLES = 30


@dataclass(frozen=True, slots=True)
class Row:
    line: int
    """The first line that it stands on; the first of the file is 1."""
    cells: list[str]

    @property
    def blank(self) -> bool:
        return not any(cell.strip() for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Layout:
    delimiter: str
    skip: int
    """Lines above the header that an Excel `sep=` line takes."""
    rows: list[Row]
    """The first rows of the file, below the skipped lines."""
    titles: int = 0
    """Lines that seem to be above the header and must be skipped to read the table; 0: the header is the first row."""

    @property
    def usual_width(self) -> int:
        widths = Counter(len(row.cells) for row in self.rows if not row.blank)
        return max(widths, key=lambda width: (widths[width], width)) if widths else 0


def open_text(path: Path) -> TextIO:
    return path.open(encoding="utf-8-sig", newline="")


def read_layout(path: Path, *, skip: int | None = None, delimiter: str | None = None) -> Layout:
    """What is given is taken; the rest is found."""
    lines = _first_lines(path)
    announced = _announced(lines[0]) if lines else None
    if skip is None:
        skip = 1 if announced else 0
    delimiter = delimiter or announced or _find_delimiter(lines[skip:])
    layout = Layout(delimiter, skip, list(_rows(lines, skip, delimiter)))
    return Layout(delimiter, skip, layout.rows, _count_titles(layout))


def _first_lines(path: Path) -> list[str]:
    lines: list[str] = []
    size = 0
    with open_text(path) as file:
        for line in islice(file, _LINES):
            size += len(line)
            if lines and size > _CHARACTERS:
                break
            lines.append(line)
    return lines


def _announced(line: str) -> str | None:
    """The delimiter in the line `sep=;` that Excel writes and reads."""
    text = line.strip().strip('"').lower()
    return text[4:] if text.startswith("sep=") and text[4:] in DELIMITERS and len(text) == 5 else None


def _rows(lines: list[str], skip: int, delimiter: str) -> Iterator[Row]:
    csv.field_size_limit(MAX_LINE)
    reader = csv.reader(lines[skip:], delimiter=delimiter)
    line = skip + 1
    for cells in reader:
        yield Row(line, cells)
        line = skip + reader.line_num + 1


def _find_delimiter(lines: list[str]) -> str:
    """The one that splits the most rows into the same number of cells, the first row among them."""

    def score(mark: str) -> tuple[bool, bool, float, int, int]:
        widths = [len(row.cells) for row in _rows(lines, 0, mark) if not row.blank]
        if not widths:
            return False, False, 0.0, 0, -DELIMITERS.index(mark)
        width, times = max(Counter(widths).items(), key=lambda item: (item[0] > 1, item[1], item[0]))
        agrees = widths[0] == width
        return width > 1, agrees, round(times / len(widths), 2), width, -DELIMITERS.index(mark)

    return max(DELIMITERS, key=score)


def _count_titles(layout: Layout) -> int:
    """Lines above the first row that looks like the header of the rows below it; 0 if that is the first row."""
    rows, width = layout.rows, layout.usual_width
    if not rows or not _is_title(rows[0], width):
        return 0
    for row in rows[1:_TITLES]:
        if not row.blank and len(row.cells) == width and all(_is_name(cell) for cell in row.cells):
            return row.line - layout.skip - 1
    return 0


def _is_title(row: Row, width: int) -> bool:
    """A blank row, or one with far fewer cells than the rows of the table."""
    filled = sum(1 for cell in row.cells if cell.strip())
    if row.blank or width < 2:
        return row.blank
    return (len(row.cells) != width and filled < width) or (width > 2 and filled * 2 <= width)


def _is_name(cell: str) -> bool:
    """Whether the text could be the name of a column: it is not a number."""
    text = cell.strip().strip("%$€£").replace(",", "").replace(".", "").replace("-", "")
    return bool(text) and not text.isdigit()
