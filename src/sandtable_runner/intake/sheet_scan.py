"""A first look at the parts of a workbook, before its cells are loaded: bounds, and what the reader leaves out.

The reader keeps a sheet as a full rectangle in memory, so one stray cell far out would take all of it.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from sandtable_runner.intake.bad_file import BadFile
from sandtable_runner.intake.ods_merges import MARK, Ranges, merged_ranges
from sandtable_runner.intake.workbench import CHUNK, Workbench

_MOST_CELLS = 30_000_000
_MOST_RATIO = 400
_FREE = 100 << 20
_SMALL_PART = 8 << 20
_OVERLAP = 512

_REFERENCE = re.compile(rb'<(?:\w+:)?c\s[^>]*?\br="([A-Z]{1,3})(\d{1,7})"')
_ERROR = re.compile(rb'<(?:\w+:)?c\s[^>]*?\bt="e"')
_NOT_COMPUTED = re.compile(
    rb"(?:</(?:\w+:)?f>|<(?:\w+:)?f(?:\s[^>]*)?/>)\s*(?:<(?:\w+:)?v\s*/>|<v></v>)?\s*</(?:\w+:)?c>"
)
_ODS_NOT_COMPUTED = re.compile(rb"<table:table-cell\s(?=[^>]*table:formula=)(?![^>]*office:value-type=)")
_SHEET = re.compile(rb"<(?:\w+:)?sheet\s[^>]*>")
_RELATION = re.compile(rb"<(?:\w+:)?Relationship\s[^>]*>")
_ENCRYPTED_ODS = b"manifest:encryption-data"
_NAME, _ID, _TARGET = (
    re.compile(rb"\b" + key + rb'="([^"]*)"') for key in (rb"name", rb"(?:\w+:)?[iI]d", rb"Target")
)


@dataclass(slots=True)
class Findings:
    """Of one sheet."""

    errors: int = 0
    not_computed: int = 0
    """Formulas whose value is not in the file."""
    last_row: int = 0
    last_column: int = 0
    merged: dict[str, Ranges] = field(default_factory=dict[str, Ranges])
    """By sheet, of an OpenDocument workbook."""


def scan_workbook(bench: Workbench, path: Path, kind: str) -> list[Findings]:
    """What is found in each sheet, in the order of the workbook. Raises BadFile for a workbook beyond bounds."""
    try:
        with zipfile.ZipFile(path) as archive:
            _check_size(bench, path, archive)
            if kind == "ods":
                return [_scan_ods(bench, archive)]
            return [
                _scan_sheet(bench, archive, part) if part in archive.NameToInfo else Findings()
                for part in _sheet_parts(archive)
            ]
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise BadFile(
            f"{bench.source} cannot be read as a workbook: {error}",
            "Save it again; the file seems damaged",
        ) from error


def _check_size(bench: Workbench, path: Path, archive: zipfile.ZipFile) -> None:
    total = sum(entry.file_size for entry in archive.infolist())
    if total > min(bench.file_mb << 20, 4 << 30) or (
        total > _FREE and total > _MOST_RATIO * path.stat().st_size
    ):
        raise BadFile(
            f"{bench.source} unpacks to {total >> 20:,} MB, which is too much for a workbook",
            "Save the table as CSV",
        )


def _part(archive: zipfile.ZipFile, name: str) -> bytes:
    with archive.open(name) as file:
        return file.read(_SMALL_PART)


def _found(pattern: re.Pattern[bytes], text: bytes) -> bytes:
    match = pattern.search(text)
    return match[1] if match else b""


def _sheet_parts(archive: zipfile.ZipFile) -> list[str]:
    """The paths of the sheets in the archive, in the workbook's order; empty for one that is not found."""
    names = archive.NameToInfo
    if "xl/workbook.xml" not in names or "xl/_rels/workbook.xml.rels" not in names:
        return []
    targets = {
        _found(_ID, entry): _found(_TARGET, entry).decode("utf-8", "replace")
        for entry in _RELATION.findall(_part(archive, "xl/_rels/workbook.xml.rels"))
    }
    listed = _SHEET.findall(_part(archive, "xl/workbook.xml"))
    found = [
        targets.get(_found(re.compile(rb'\br:id="([^"]*)"'), entry) or _found(_ID, entry), "")
        for entry in listed
    ]
    return [target.removeprefix("/") if target.startswith("/") else f"xl/{target}" for target in found]


def _scan_sheet(bench: Workbench, archive: zipfile.ZipFile, part: str) -> Findings:
    found = Findings()
    with archive.open(part) as file:
        tail = b""
        while chunk := file.read(CHUNK):
            text = tail + chunk
            # What is within the overlap is counted with the next chunk.
            end = max(0, len(text) - _OVERLAP) if len(chunk) == CHUNK else len(text)
            cut = text.rfind(b"<c", 0, end) if end < len(text) else end
            cut = cut if cut > 0 else end
            _count(bench, part, text[:cut], found)
            tail = text[cut:]
        _count(bench, part, tail, found)
    return found


def _count(bench: Workbench, part: str, text: bytes, found: Findings) -> None:
    references = _REFERENCE.findall(text)
    if references:
        widest = max({letters for letters, _ in references}, key=lambda letters: (len(letters), letters))
        found.last_column = max(found.last_column, _column(widest))
        found.last_row = max(found.last_row, int(references[-1][1]), int(references[0][1]))
    found.errors += len(_ERROR.findall(text))
    found.not_computed += len(_NOT_COMPUTED.findall(text))
    if found.last_row * found.last_column > _MOST_CELLS:
        raise BadFile(
            f"a sheet of {bench.source} ({part}) has cells up to row {found.last_row:,} and column "
            f"{found.last_column:,}; the limit is {_MOST_CELLS:,} cells",
            "Delete stray cells far from the table, or save the table as CSV",
        )


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def _scan_ods(bench: Workbench, archive: zipfile.ZipFile) -> Findings:
    names = archive.NameToInfo
    if "META-INF/manifest.xml" in names and _ENCRYPTED_ODS in _part(archive, "META-INF/manifest.xml"):
        raise BadFile(f"{bench.source} is protected by a password", "Remove the password, and save it again")
    found = Findings()
    if "content.xml" in names:
        merges, tail = False, b""
        with archive.open("content.xml") as file:
            while chunk := file.read(CHUNK):
                found.not_computed += len(_ODS_NOT_COMPUTED.findall(chunk))
                merges = merges or MARK in tail + chunk
                tail = chunk[-len(MARK) :]
        if merges:
            found.merged = merged_ranges(bench.source, archive)
    return found
