"""Excel and OpenDocument workbooks: every visible sheet becomes a table of text.

Cells are written as a spreadsheet means them: numbers with the 15 digits that Excel keeps, dates in ISO.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from python_calamine import (
    CalamineError,
    CalamineSheet,
    CalamineWorkbook,
    PasswordError,
    SheetTypeEnum,
    SheetVisibleEnum,
)

from sandtable_runner.intake import clean_csv, headers
from sandtable_runner.intake.bad_file import BadFile
from sandtable_runner.intake.ods_merges import Ranges
from sandtable_runner.intake.recognising import head_of, recognise, refuse_foreign, refuse_xlsb
from sandtable_runner.intake.sheet_scan import Findings, scan_workbook
from sandtable_runner.intake.text_table import TextTable
from sandtable_runner.intake.workbench import Workbench, counted, reading

_LOOKED_AT = 60
_BELOW = 20
_EXACT = 2**53
_ERROR = re.compile(r"#(DIV/0!|N/A|NAME\?|NULL!|NUM!|REF!|VALUE!|SPILL!|CALC!)|Err:\d{3}")
_OLD = b"\xd0\xcf\x11\xe0"


def open_workbook(
    bench: Workbench, path: Path, kind: str, given: list[Mapping[str, Any]] | None
) -> list[TextTable]:
    """One table for each visible sheet that has cells; those of `given` only, where there are some."""
    found = _recognised(bench.source, path, kind)
    findings = scan_workbook(bench, path, found)
    try:
        with CalamineWorkbook.from_path(str(path)) as workbook:
            return _open_sheets(bench, workbook, found, findings, given)
    except PasswordError as error:
        raise _protected(bench.source) from error
    except CalamineError as error:
        raise BadFile(
            f"{bench.source} cannot be read as a workbook: {error}", "Save it again; the file seems damaged"
        ) from error


def _recognised(source: str, path: Path, kind: str) -> str:
    if kind in ("xls", "xlsb"):
        raise refuse_xlsb(source) if kind == "xlsb" else _old(source)
    if head_of(path).startswith(_OLD):
        raise _protected(source)
    refuse_foreign(source, path, "a workbook")
    found = recognise(path)
    if found == "xlsb":
        raise refuse_xlsb(source)
    if found not in ("xlsx", "ods"):
        raise BadFile(
            f"{source} is not a workbook", "Save it as an Excel workbook (.xlsx), or give a CSV file"
        )
    return found


def _old(source: str) -> BadFile:
    return BadFile(
        f"{source} is an old Excel workbook (.xls), which is not read",
        "Save it as an Excel workbook (.xlsx)",
    )


def _protected(source: str) -> BadFile:
    return BadFile(
        f"{source} is protected by a password, or is an old workbook (.xls)",
        "Remove the password, and save it as an Excel workbook (.xlsx)",
    )


def _open_sheets(
    bench: Workbench,
    workbook: CalamineWorkbook,
    kind: str,
    findings: list[Findings],
    given: list[Mapping[str, Any]] | None,
) -> list[TextTable]:
    metadata = workbook.sheets_metadata
    if kind == "xlsx":
        scanned = dict(zip((sheet.name for sheet in metadata), findings, strict=False))
    else:
        scanned = {name: Findings(merged={name: ranges}) for name, ranges in findings[0].merged.items()}
    common = [_not_computed(findings[0].not_computed)] if kind == "ods" and findings[0].not_computed else []
    if given is not None:
        return [
            _open_sheet(bench, _named(bench.source, workbook, one["sheet"]), kind, scanned, one)
            for one in given
        ]
    tables: list[TextTable] = []
    left_out: list[str] = []
    for sheet in metadata:
        if sheet.typ != SheetTypeEnum.WorkSheet:
            left_out.append(f"The sheet {sheet.name} is left out: it holds no cells.")
        elif sheet.visible != SheetVisibleEnum.Visible:
            left_out.append(f"The sheet {sheet.name} is left out: it is hidden.")
        else:
            loaded = workbook.get_sheet_by_name(sheet.name)
            if loaded.start is None:
                left_out.append(f"The sheet {sheet.name} is left out: it is empty.")
            else:
                tables.append(_open_sheet(bench, loaded, kind, scanned, None))
    if not tables:
        raise BadFile(f"{bench.source} has no visible sheet with cells", "Put the table on a visible sheet")
    tables[0] = _noted(tables[0], [*left_out, *common])
    return tables


def _named(source: str, workbook: CalamineWorkbook, name: str) -> CalamineSheet:
    if name not in workbook.sheet_names:
        listed = ", ".join(workbook.sheet_names[:20])
        raise BadFile(f"{source} has no sheet {name!r}", f"Name one of its sheets: {listed}")
    return workbook.get_sheet_by_name(name)


def _noted(table: TextTable, notes: list[str]) -> TextTable:
    return TextTable(
        table.name, table.relation, table.headers, table.reading, table.rows_before, (*table.notes, *notes)
    )


def _not_computed(number: int) -> str:
    return (
        f"Read as empty: {counted(number, 'formulas')} without a value in the file. "
        "Open it in a spreadsheet program and save it to have them computed."
    )


@dataclass(slots=True)
class _Texts:
    """The rows of a sheet as text, with merged cells filled."""

    sheet: CalamineSheet
    header: int
    """The row of the header, the first of the sheet is 0."""
    merged: Ranges
    errors: int = 0
    filled: int = 0
    blank: int = 0
    _down: dict[int, Ranges] = field(default_factory=dict[int, Ranges])
    _left: int = 0

    def __post_init__(self) -> None:
        self._left = self.sheet.start[1] if self.sheet.start else 0
        for (top, left), (bottom, right) in self.merged:
            if top > self.header and bottom > top:
                self._down.setdefault(top, []).append(((top, left), (bottom, right)))

    def names(self) -> tuple[list[str], bool]:
        """The header, and whether cells of it are merged over several columns."""
        row = next(islice(self.sheet.iter_rows(), self.header, None), [])
        names = [_text(value).strip() for value in row]
        merged = False
        for (top, left), (bottom, right) in self.merged:
            if top <= self.header <= bottom:
                first = left - self._left
                if top < self.header and 0 <= first < len(names):
                    above = next(islice(self.sheet.iter_rows(), top, None), [])
                    names[first] = names[first] or _text(above[first]).strip()
                for position in range(first + 1, min(right - self._left + 1, len(names))):
                    names[position], merged = names[first], True
        return names, merged

    def rows(self) -> Iterator[list[str]]:
        active: list[tuple[int, int, str]] = []
        for number, values in enumerate(self.sheet.iter_rows()):
            if number <= self.header:
                continue
            cells = [self._cell(value) for value in values]
            active = [merge for merge in active if merge[0] >= number]
            for _, column, text in active:
                if text and not cells[column]:
                    cells[column] = text
                    self.filled += 1
            for (_, left), (bottom, _) in self._down.get(number, ()):
                if 0 <= left - self._left < len(cells):
                    active.append((bottom, left - self._left, cells[left - self._left]))
            if any(cells):
                yield cells
            else:
                self.blank += 1

    def _cell(self, value: Any) -> str:
        text = _text(value)
        if text[:1] in ("#", "E") and _ERROR.fullmatch(text):
            self.errors += 1
            return ""
        return text


def _text(value: Any) -> str:
    """A cell as text, so that nothing of it is lost."""
    kind = type(value)
    return value if kind is str else _WRITTEN.get(kind, str)(value)


def _number(value: float) -> str:
    if value.is_integer() and abs(value) < _EXACT:
        return str(int(value))
    # A spreadsheet keeps 15 digits: 0.1 + 0.2 is 0.3 in it.
    return repr(float(f"{value:.15g}"))


def _moment(value: dt.datetime) -> str:
    return value.isoformat(sep=" ")


def _duration(value: dt.timedelta) -> str:
    minutes, seconds = divmod(value.total_seconds(), 60)
    hours, minutes = divmod(int(minutes), 60)
    return f"{hours:02}:{minutes:02}:{_number(seconds).zfill(2)}"


_WRITTEN: dict[type, Callable[[Any], str]] = {
    float: _number,
    bool: lambda value: "true" if value else "false",
    dt.datetime: _moment,
    dt.date: dt.date.isoformat,
    dt.time: dt.time.isoformat,
    dt.timedelta: _duration,
}


def _open_sheet(
    bench: Workbench,
    sheet: CalamineSheet,
    kind: str,
    scanned: Mapping[str, Findings],
    given: Mapping[str, Any] | None,
) -> TextTable:
    header = given["skipped_rows"] if given else _find_header(sheet)
    has_header = given["header"] if given else True
    found = scanned.get(sheet.name, Findings())
    ranges = sheet.merged_cell_ranges or found.merged.get(sheet.name, [])
    texts = _Texts(sheet, header if has_header else header - 1, ranges)
    names, merged = texts.names() if has_header else ([""] * sheet.width, False)
    place = f"sheet {sheet.name} of {bench.source}"
    headers.check_width(place, len(names))
    writer = clean_csv.write_rows(bench, len(names), texts.rows())
    kept = _kept_columns(bench, writer.relation(), names)
    renaming = headers.RENAME in {*bench.repairs, *(given["repairs"] if given else ())}
    named, renamed = headers.name_columns(
        place, [names[position] for position in kept], rename=renaming or merged, numbered=False
    )
    text = reading(
        kind,
        sheet=sheet.name,
        skipped_rows=header,
        header=has_header,
        repairs=[headers.RENAME] if renaming else [],
    )
    notes = _notes(texts, header, found, merged=merged)
    relation = _selected(writer.relation(), kept, len(names))
    return TextTable(sheet.name, relation, named, text, header + has_header, (*notes, *renamed))


def _kept_columns(bench: Workbench, relation: str, names: list[str]) -> list[int]:
    """Positions of the columns that have a name or a value."""
    unnamed = [position for position, name in enumerate(names) if not name]
    if not unnamed:
        return list(range(len(names)))
    counts = ", ".join(f"count(c{position + 1})" for position in unnamed)
    found = bench.connection.execute(f"SELECT {counts} FROM {relation}").fetchone() or ()
    empty = {position for position, count in zip(unnamed, found, strict=True) if not count}
    return [position for position in range(len(names)) if position not in empty]


def _selected(relation: str, kept: list[int], width: int) -> str:
    if len(kept) == width:
        return relation
    listed = ", ".join(f"c{position + 1} AS c{number}" for number, position in enumerate(kept, 1))
    return f"(SELECT {listed} FROM {relation})"


def _find_header(sheet: CalamineSheet) -> int:
    """The first row that is filled for the most part, with texts, and has rows of the same width below it."""
    rows = list(islice(sheet.iter_rows(), _LOOKED_AT + (sheet.start[0] if sheet.start else 0)))
    filled = [{position for position, value in enumerate(row) if value != ""} for row in rows]
    for number, row in enumerate(rows):
        if not filled[number]:
            continue
        below = [cells for cells in filled[number + 1 : number + 1 + _BELOW] if cells]
        width = len(filled[number].union(*below)) if below else len(filled[number])
        texts = sum(1 for value in row if isinstance(value, str) and value != "")
        if len(filled[number]) * 2 > width and texts * 5 >= len(filled[number]) * 4:
            return number
    return next(number for number, cells in enumerate([*filled, {0}]) if cells)


def _notes(texts: _Texts, header: int, found: Findings, *, merged: bool) -> list[str]:
    notes: list[str] = []
    blank_above = texts.sheet.start[0] if texts.sheet.start else 0
    if header > blank_above:
        notes.append(f"The header is in row {header + 1}; skipped above it: {counted(header, 'rows')}.")
    if merged:
        notes.append("Cells of the header are merged over several columns; each of these has the name.")
    if texts.filled:
        notes.append(f"Filled with the value of the merged range: {counted(texts.filled, 'cells')}.")
    if errors := texts.errors + found.errors:
        notes.append(f"Read as empty: {counted(errors, 'cells')} with an error such as #DIV/0!.")
    if found.not_computed:
        notes.append(_not_computed(found.not_computed))
    if texts.blank:
        notes.append(f"Left out: {counted(texts.blank, 'blank rows')}.")
    return notes
