"""One table of a SQLite database: what its columns hold, and their cells written as text.

Every value of SQLite has a type of its own, its storage class. A column of one class is that; texts, and columns that
mix numbers with texts, are read by their evidence.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandtable_runner.engine import quote
from sandtable_runner.intake import clean_csv, headers, numbers
from sandtable_runner.intake.bad_file import BadFile
from sandtable_runner.intake.encodings import as_utf8
from sandtable_runner.intake.reading import TEXT, Reading
from sandtable_runner.intake.scanning import MAX_LINE
from sandtable_runner.intake.text_table import Stored, TextTable
from sandtable_runner.intake.words import boolean
from sandtable_runner.intake.workbench import Workbench, reading

_AT_ONCE = 100
"""Columns in one query."""
_LONGEST_BLOB = 32
"""In bytes: identifiers and digests. Longer ones are pictures, documents and the like."""
_EXACT = 2**53
_SMALLEST = 1e-300
_INTEGER = Reading("integer", numbers.STORED)
_YES_NO = boolean(("1",), ("0",))
_MOMENT = re.compile(r"(?i)\b(?:date|timestamp)")
_NULLS = ", nullstr = '\\N', allow_quoted_nulls = false"
_ROWS_BETWEEN_CHECKS = 4096


@dataclass(frozen=True, slots=True)
class TableColumn:
    name: str
    declared: str
    """Its type in the schema, which SQLite does not enforce."""
    in_key: bool = False
    """Whether it identifies rows, of this table or of another."""


@dataclass(frozen=True, slots=True)
class _Kept:
    column: TableColumn
    stored: Stored
    value: str
    """In the SQL of SQLite."""


def open_table(
    bench: Workbench,
    database: sqlite3.Connection,
    name: str,
    columns: Sequence[TableColumn],
    given: Mapping[str, Any] | None,
) -> TextTable | None:
    """None where all columns hold binary data."""
    headers.check_width(bench.source, len(columns))
    kept, notes = _keep(database, name, columns)
    if not kept:
        return None
    renaming = headers.RENAME in {*bench.repairs, *(given["repairs"] if given else ())}
    named, renamed = headers.name_columns(bench.source, [each.column.name for each in kept], rename=renaming)
    values = ", ".join(each.value for each in kept)
    path = bench.new_path("csv")
    rows = _write(bench, path, database, f"SELECT {values} FROM {quote(name)} NOT INDEXED")
    encoding, also = "utf-8", list[str]()
    if rows:
        path, encoding, also = as_utf8(bench, path, given["encoding"] if given else None)
    more = clean_csv.WRITTEN_LINES + _NULLS
    text = reading("sqlite", sheet=name, encoding=encoding, repairs=[headers.RENAME] if renaming else [])
    return TextTable(
        name,
        clean_csv.relation(str(path), len(kept), header=False, more=more),
        named,
        text,
        0,
        (*notes, *also, *renamed),
        stored=tuple(each.stored for each in kept),
        alone=True,
    )


def holds_text(database: sqlite3.Connection, name: str, columns: Sequence[TableColumn]) -> bool:
    """Whether a column of the table can be read."""
    return bool(_keep(database, name, columns)[0])


def _keep(
    database: sqlite3.Connection, table: str, columns: Sequence[TableColumn]
) -> tuple[list[_Kept], list[str]]:
    kept: list[_Kept] = []
    notes: list[str] = []
    for column, held in zip(columns, _look(database, table, columns), strict=True):
        value = quote(column.name)
        if "blob" in held.classes:
            if reason := _unfit(held):
                notes.append(f"Column {column.name} is left out: {reason}.")
                continue
            notes.append(f"Column {column.name} holds short binary values; they are written in hexadecimal.")
            value = f"CASE WHEN {value} IS NOT NULL THEN lower(hex({value})) END"
        stored = _stored(column, held)
        if stored.reading is not None and stored.reading.read_as == "decimal" and _is_moment(column):
            notes.append(
                f"Column {column.name} is declared as {column.declared} and holds decimals; they stay numbers."
            )
        kept.append(_Kept(column, stored, value))
    return kept, notes


@dataclass(slots=True)
class _Held:
    """What the cells of a column are."""

    classes: tuple[str, ...]
    """The first and the last of the storage classes in the order of the alphabet; empty where all cells are NULL."""
    least: int = 0
    most: int = 0
    """Of whole numbers."""
    smallest: float = 1.0
    largest: float = 0.0
    """Of decimals, without their sign; without zeros."""
    longest: int = 0
    """Of binary values, in bytes."""

    @property
    def exact(self) -> bool:
        """Whether the decimals keep every digit as a DOUBLE, also those that are stored as whole numbers."""
        whole = max(-self.least, self.most) <= _EXACT
        return whole and self.smallest >= _SMALLEST and math.isfinite(self.largest)


def _look(database: sqlite3.Connection, table: str, columns: Sequence[TableColumn]) -> list[_Held]:
    cells = [quote(column.name) for column in columns]
    kinds = [f"nullif(typeof({cell}), 'null')" for cell in cells]
    found = _aggregates(database, table, [f"{which}({kind})" for kind in kinds for which in ("min", "max")])
    pairs = zip(found[::2], found[1::2], strict=True)
    held = [_Held(tuple(dict.fromkeys(kind.decode() for kind in pair if kind))) for pair in pairs]
    for each, cell in zip(held, cells, strict=True):
        if "blob" in each.classes:
            (each.longest,) = _aggregates(database, table, [f"max(length({cell}))"])
    numeric = [
        at for at, each in enumerate(held) if each.classes and set(each.classes) <= {"integer", "real"}
    ]
    wanted: list[str] = []
    for at in numeric:
        whole, decimal = (
            f"CASE typeof({cells[at]}) WHEN '{kind}' THEN {cells[at]} END" for kind in ("integer", "real")
        )
        wanted += [f"min({whole})", f"max({whole})"]
        wanted += [f"min(abs(nullif({decimal}, 0)))", f"max(abs({decimal}))"]
    values = iter(_aggregates(database, table, wanted))
    for at in numeric:
        held[at].least, held[at].most = next(values) or 0, next(values) or 0
        held[at].smallest, held[at].largest = next(values) or 1.0, next(values) or 0.0
    return held


def _aggregates(database: sqlite3.Connection, table: str, wanted: Sequence[str]) -> list[Any]:
    """Of all rows; some at once, because SQLite bounds the columns of a query."""
    found: list[Any] = []
    for start in range(0, len(wanted), _AT_ONCE):
        listed = ", ".join(wanted[start : start + _AT_ONCE])
        found += database.execute(f"SELECT {listed} FROM {quote(table)} NOT INDEXED").fetchone()
    return found


def _unfit(held: _Held) -> str:
    """Why a column with binary values is left out; empty where it is not."""
    if held.classes != ("blob",):
        return "it mixes binary data with other values"
    return f"it holds binary data of up to {held.longest:,} bytes" if held.longest > _LONGEST_BLOB else ""


def _is_moment(column: TableColumn) -> bool:
    return _MOMENT.search(column.declared) is not None


def _stored(column: TableColumn, held: _Held) -> Stored:
    match held.classes:
        case ():
            declared = f"; declared as {column.declared}" if column.declared else ""
            return Stored(_declared(column), f"no value{declared}")
        case ("blob",):
            return Stored(TEXT, "stored as BLOB")
        case ("integer",) if "BOOL" in column.declared.upper() and 0 <= held.least <= held.most <= 1:
            return Stored(_YES_NO, f"declared as {column.declared}")
        case ("integer",):
            moments = (held.least, held.most) if _is_moment(column) else None
            return Stored(_INTEGER, "stored as INTEGER", moments)
        case ("real",) | ("integer", "real") if held.exact:
            return Stored(
                Reading("decimal"), f"stored as {' and '.join(each.upper() for each in held.classes)}"
            )
        case _:
            return Stored(key=column.in_key)


def _declared(column: TableColumn) -> Reading:
    """By the rules with which SQLite reads a declared type, and the names of types that it does not have."""
    declared = column.declared.upper()
    if _is_moment(column):
        return Reading("date" if re.search(r"\bDATE\b", declared) else "timestamp")
    if "BOOL" in declared:
        return _YES_NO
    if "INT" in declared:
        return _INTEGER
    decimals = ("REAL", "FLOA", "DOUB", "DEC", "NUM", "MONEY")
    return Reading("decimal") if any(name in declared for name in decimals) else TEXT


def _write(bench: Workbench, path: Path, database: sqlite3.Connection, query: str) -> int:
    """The cells as CSV, one row after the other; texts have quotes, NULL has none. Returns the number of rows."""
    most = bench.file_mb << 20
    rows = 0
    with path.open("wb") as file:
        for row in database.execute(query):
            line = b",".join([_cell(value) for value in row])
            rows += 1
            if len(line) > MAX_LINE // 4:
                raise BadFile(
                    f"row {rows:,} of {bench.source} has {len(line):,} bytes; the limit is {MAX_LINE // 4:,}",
                    "Copy the table to another database without the column that holds so long a text",
                )
            if rows % _ROWS_BETWEEN_CHECKS == 0 and file.tell() > most:
                raise BadFile(
                    f"the text of {bench.source} has more than {bench.file_mb:,} MB",
                    "Split the table into smaller ones",
                )
            file.write(line + b"\n")
    return rows


def _cell(value: Any) -> bytes:
    kind = type(value)
    if kind is bytes:
        return b'"%b"' % value.replace(b'"', b'""')
    if kind is int:
        return b"%d" % value
    return b"\\N" if value is None else repr(value).encode()
