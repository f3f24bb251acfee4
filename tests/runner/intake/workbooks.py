"""Workbooks written by hand: the smallest XML that spreadsheet programs also write."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

_TYPES = "http://schemas.openxmlformats.org"
_REL = f"{_TYPES}/officeDocument/2006/relationships"
_STYLES = (
    f'<styleSheet xmlns="{_TYPES}/spreadsheetml/2006/main"><fonts count="1"><font/></fonts>'
    '<fills count="1"><fill/></fills><borders count="1"><border/></borders>'
    '<cellStyleXfs count="1"><xf/></cellStyleXfs>'
    '<cellXfs count="3"><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/></cellXfs></styleSheet>'
)
DAY, MOMENT = 1, 2
"""Styles of a date and of a date with a time."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of its own kind: an error, a formula, a number in a format."""

    value: str | None
    kind: str = "n"
    style: int = 0
    formula: str = ""


Value = str | int | float | bool | None | Cell


@dataclass(frozen=True, slots=True)
class Sheet:
    name: str
    rows: list[list[Value]]
    merged: tuple[str, ...] = ()
    state: str = "visible"
    first: tuple[int, int] = (1, 1)
    """Row and column of the first cell."""


def column_letters(number: int) -> str:
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def _cell(place: str, value: Value) -> str:
    match value:
        case None:
            return ""
        case Cell():
            formula = f"<f>{escape(value.formula)}</f>" if value.formula else ""
            content = "" if value.value is None else f"<v>{escape(value.value)}</v>"
            return f'<c r="{place}" t="{value.kind}" s="{value.style}">{formula}{content}</c>'
        case bool():
            return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
        case str():
            return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
        case _:
            return f'<c r="{place}"><v>{value!r}</v></c>'


def _sheet(sheet: Sheet) -> str:
    top, left = sheet.first
    rows = "".join(
        f'<row r="{row}">'
        + "".join(_cell(f"{column_letters(column)}{row}", value) for column, value in enumerate(values, left))
        + "</row>"
        for row, values in enumerate(sheet.rows, top)
    )
    merged = "".join(f'<mergeCell ref="{ref}"/>' for ref in sheet.merged)
    merges = f'<mergeCells count="{len(sheet.merged)}">{merged}</mergeCells>' if merged else ""
    return f'<worksheet xmlns="{_TYPES}/spreadsheetml/2006/main"><sheetData>{rows}</sheetData>{merges}</worksheet>'


def xlsx(*sheets: Sheet) -> bytes:
    main, rel = f"{_TYPES}/spreadsheetml/2006/main", f"{_TYPES}/package/2006/relationships"
    listed = "".join(
        f'<sheet name="{escape(sheet.name)}" sheetId="{n}" state="{sheet.state}" r:id="rId{n}"/>'
        for n, sheet in enumerate(sheets, 1)
    )
    related = "".join(
        f'<Relationship Id="rId{n}" Type="{_REL}/worksheet" Target="worksheets/sheet{n}.xml"/>'
        for n in range(1, len(sheets) + 1)
    )
    styles = f'<Relationship Id="rId99" Type="{_REL}/styles" Target="styles.xml"/>'
    office = f'<Relationship Id="rId1" Type="{_REL}/officeDocument" Target="xl/workbook.xml"/>'
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_TYPES}/package/2006/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{rel}">{office}</Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{_REL}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{rel}">{related}{styles}</Relationships>',
        "xl/styles.xml": _STYLES,
        **{f"xl/worksheets/sheet{n}.xml": _sheet(sheet) for n, sheet in enumerate(sheets, 1)},
    }
    return zipped({name: text.encode() for name, text in parts.items()})


def _ods_cell(value: Value) -> str:
    match value:
        case None:
            return "<table:table-cell/>"
        case Cell():
            return f"<table:table-cell {value.kind}><text:p>{escape(value.value or '')}</text:p></table:table-cell>"
        case bool():
            kind = f'office:value-type="boolean" office:boolean-value="{str(value).lower()}"'
        case str():
            kind = 'office:value-type="string"'
        case _:
            kind = f'office:value-type="float" office:value="{value!r}"'
    return f"<table:table-cell {kind}><text:p>{escape(str(value))}</text:p></table:table-cell>"


def _ods_row(sheet: Sheet, number: int, row: Sequence[Value]) -> str:
    cells: list[str] = []
    for column, value in enumerate(row, 1):
        cell = _ods_cell(value)
        for ref in sheet.merged:
            (left, top), (right, bottom) = (_place(end) for end in ref.split(":"))
            if (column, number) == (left, top):
                spans = f'columns-spanned="{right - left + 1}" table:number-rows-spanned="{bottom - top + 1}"'
                cell = cell.replace("<table:table-cell", f"<table:table-cell table:number-{spans}", 1)
            elif left <= column <= right and top <= number <= bottom:
                cell = "<table:covered-table-cell/>"
        cells.append(cell)
    return "".join(cells)


def _place(ref: str) -> tuple[int, int]:
    """Column and row of `B12`; of one letter."""
    return ord(ref[0]) - 64, int(ref[1:])


def ods(*sheets: Sheet) -> bytes:
    space = "urn:oasis:names:tc:opendocument:xmlns"
    tables = "".join(
        f'<table:table table:name="{escape(sheet.name)}">'
        + "".join(
            f"<table:table-row>{_ods_row(sheet, n, row)}</table:table-row>"
            for n, row in enumerate(sheet.rows, 1)
        )
        + "</table:table>"
        for sheet in sheets
    )
    content = (
        f'<office:document-content xmlns:office="{space}:office:1.0" xmlns:table="{space}:table:1.0" '
        f'xmlns:text="{space}:text:1.0"><office:body><office:spreadsheet>{tables}</office:spreadsheet>'
        "</office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = f'<manifest:manifest xmlns:manifest="{space}:manifest:1.0"/>'
    return zipped(
        {
            "mimetype": kind.encode(),
            "content.xml": content.encode(),
            "META-INF/manifest.xml": manifest.encode(),
        }
    )


def zipped(members: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return target.getvalue()
