"""The merged cells of an OpenDocument workbook, which the reader of cells does not list."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass, field
from xml.parsers import expat

from sandtable_runner.intake.bad_file import BadFile

Ranges = list[tuple[tuple[int, int], tuple[int, int]]]
"""First and last cell of each range: row and column, counted from 0."""

MARK = b"-spanned="
"""In every file with a merged cell."""
_TABLE = "urn:oasis:names:tc:opendocument:xmlns:table:1.0 "
_MOST = 100_000


def merged_ranges(source: str, archive: zipfile.ZipFile) -> dict[str, Ranges]:
    """By sheet. Raises BadFile for what is no XML."""
    reading = _Reading()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = reading.start
    parser.EndElementHandler = reading.end
    try:
        with archive.open("content.xml") as file:
            parser.ParseFile(file)
    except expat.ExpatError as error:
        raise BadFile(
            f"{source} cannot be read as a workbook: {error}", "Save it again; the file seems damaged"
        ) from error
    return reading.found


@dataclass(slots=True)
class _Reading:
    found: dict[str, Ranges] = field(default_factory=dict[str, Ranges])
    _depth: int = 0
    """A cell may hold a table of its own: only the outer one is a sheet."""
    _ranges: Ranges = field(default_factory=list[tuple[tuple[int, int], tuple[int, int]]])
    _row: int = 0
    _rows: int = 1
    """How often the present row is repeated."""
    _column: int = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == f"{_TABLE}table":
            self._depth += 1
            if self._depth == 1:
                self._row, self._ranges = 0, []
                self.found[attributes.get(f"{_TABLE}name", "")] = self._ranges
        elif self._depth != 1:
            return
        elif name == f"{_TABLE}table-row":
            self._column, self._rows = 0, _number(attributes, "number-rows-repeated")
        elif name in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            self._cell(attributes)

    def _cell(self, attributes: dict[str, str]) -> None:
        wide = _number(attributes, "number-columns-spanned")
        high = _number(attributes, "number-rows-spanned")
        if (wide > 1 or high > 1) and len(self._ranges) < _MOST:
            first = (self._row, self._column)
            self._ranges.append((first, (self._row + high - 1, self._column + wide - 1)))
        self._column += _number(attributes, "number-columns-repeated")

    def end(self, name: str) -> None:
        if name == f"{_TABLE}table":
            self._depth -= 1
        elif name == f"{_TABLE}table-row" and self._depth == 1:
            self._row += self._rows


def _number(attributes: dict[str, str], name: str) -> int:
    text = attributes.get(f"{_TABLE}{name}", "1")
    return max(1, int(text)) if text.isdecimal() and len(text) < 10 else 1
