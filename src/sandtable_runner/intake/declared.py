"""CSV files with the columns that a registry declares.

The file's folder is the current one and read-only. A bad file is refused with its line and what to do.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from sandtable_runner import engine
from sandtable_runner.intake.bad_file import BadFile

# Looked up while modules can still be loaded: a sealed sandbox finds no codec.
codecs.lookup("utf-8-sig")

_CHUNK = 4 << 20
_MAX_LINE = 16 << 20
_MAX_COLUMNS = 10_000
_DELIMITERS = ",;\t|"
_MARKS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
PARQUET = "FORMAT parquet, ROW_GROUP_SIZE 122880"
"""Options of a COPY that writes a table."""


def convert_csv(
    connection: engine.Connection, source: str, target: str, declared: list[list[str]], *, exact: bool = False
) -> None:
    """`exact`: commas, and `""` is an empty text; else also no value."""
    _check_bytes(source)
    delimiter, names = _read_header(source, "," if exact else _DELIMITERS)
    arguments = {
        "header": "true",
        "delim": engine.literal(delimiter),
        "quote": "'\"'",
        "escape": "'\"'",
        "strict_mode": "true",
        "null_padding": "false",
        "skip": "0",
        "comment": "''",
        "max_line_size": str(_MAX_LINE),
        # By default it allocates several buffers of sixteen times the longest line.
        "buffer_size": str(2 * _MAX_LINE),
        "allow_quoted_nulls": "false" if exact else "true",
    }
    _check_declared(source, names, [name for name, _ in declared])
    pairs = ", ".join(f"{engine.literal(name)}: {engine.literal(kind)}" for name, kind in declared)
    arguments |= {"columns": f"{{{pairs}}}", "auto_detect": "false"}
    listed = ", ".join(f"{key} = {value}" for key, value in arguments.items())
    query = f"SELECT * FROM read_csv({engine.literal(source)}, {listed})"
    try:
        connection.execute(f"COPY ({query}) TO {engine.literal(target)} ({PARQUET})")
    except engine.ENGINE_ERRORS as error:
        if engine.is_exhaustion(error):
            raise
        raise _find_fault(source, delimiter, len(names)) or _explain(source, error) from error
    described = connection.execute(
        f"DESCRIBE SELECT * FROM read_parquet({engine.literal(target)})"
    ).fetchall()
    found = [row[0] for row in described]
    if found != [name for name, _ in declared]:
        raise _find_fault(source, delimiter, len(names)) or BadFile(
            f"{source} was read with the columns {found}, its header has {names}",
            "check that every line has one field for each name in the header",
        )


def _check_bytes(source: str) -> None:
    """One pass over the raw bytes: UTF-8 text, no NUL, no overlong line."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    line, line_length, first = 1, 0, True
    with Path(source).open("rb") as file:
        while chunk := file.read(_CHUNK):
            if first and chunk[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
                raise BadFile(f"{source} is UTF-16 text", "save it as UTF-8 (in Excel: 'CSV UTF-8')")
            if first and chunk[:4] == b"PAR1":
                raise BadFile(f"{source} is a Parquet file, not CSV", "give it the ending .parquet")
            first = False
            if (at := chunk.find(0)) >= 0:
                where = line + chunk.count(b"\n", 0, at)
                raise BadFile(
                    f"{source} has a NUL byte in line {where}",
                    "remove NUL bytes; the file may be binary or cut short",
                )
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError as error:
                where = line + chunk.count(b"\n", 0, max(0, error.start))
                raise BadFile(
                    f"{source} is not UTF-8: bad byte in line {where}",
                    "save it as UTF-8; it may be Latin-1 or Windows-1252",
                ) from error
            newlines = chunk.count(b"\n")
            line += newlines
            line_length = len(chunk) - chunk.rfind(b"\n") - 1 if newlines else line_length + len(chunk)
            if line_length > _MAX_LINE:
                raise BadFile(
                    f"line {line} of {source} is longer than {_MAX_LINE >> 20} MB",
                    "check the file's line ends and quotes: this is not a table",
                )
    if first:
        raise BadFile(f"{source} is empty", "give a file with a header line and at least one row")
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise BadFile(
            f"{source} ends inside a UTF-8 character", "the file seems cut short; export it again"
        ) from error


def _read_header(source: str, delimiters: str) -> tuple[str, list[str]]:
    with Path(source).open(encoding="utf-8-sig", newline="") as file:
        start = file.readline(_MAX_LINE)
        delimiter = max(delimiters, key=lambda mark: (_outside_quotes(start, mark), -delimiters.index(mark)))
        file.seek(0)
        try:
            names = next(_reader(file, delimiter), [])
        except csv.Error as error:
            raise _bad_quote(source, 1) from error
    if not any(name.strip() for name in names):
        raise BadFile(
            f"{source} has no header: its first line is blank", "put the column names in the first line"
        )
    _check_names(source, names)
    return delimiter, names


def _check_names(source: str, names: list[str]) -> None:
    if len(names) > _MAX_COLUMNS:
        raise BadFile(
            f"{source} has {len(names)} columns; the limit is {_MAX_COLUMNS}", "reshape it to a long table"
        )
    seen: dict[str, int] = {}
    for position, name in enumerate(names, 1):
        if not name.strip():
            raise BadFile(f"column {position} of {source} has no name", "give every column a name")
        if name.lower() in seen:
            other = seen[name.lower()]
            raise BadFile(
                f"{source} has the column {name!r} twice (columns {other} and {position})",
                "rename one of them",
            )
        seen[name.lower()] = position


def _reader(file: TextIO, delimiter: str) -> Iterator[list[str]]:
    csv.field_size_limit(_MAX_LINE)
    return csv.reader(file, delimiter=delimiter, strict=True)


def _bad_quote(source: str, line: int) -> BadFile:
    return BadFile(
        f"{source}: the quotes of line {line} do not match, or text follows a closing quote",
        'close the quote, or write it twice ("") inside a value',
    )


def _find_fault(source: str, delimiter: str, width: int) -> BadFile | None:
    """The engine gave no line, or counts lines differently: find the first bad line here."""
    line = 1
    with Path(source).open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        try:
            for row in reader:
                if row and len(row) != width:
                    return BadFile(
                        f"{source}: line {line} has {len(row)} fields, the header has {width}",
                        f"mend that line: a missing field, or a {_MARKS[delimiter]} that needs quotes",
                    )
                line = reader.line_num + 1
        except csv.Error:
            return _bad_quote(source, line)
    return None


def _outside_quotes(line: str, mark: str) -> int:
    return sum(part.count(mark) for part in line.split('"')[::2])


def _check_declared(source: str, found: list[str], declared: list[str]) -> None:
    if [name.lower() for name in found] != [name.lower() for name in declared]:
        raise BadFile(
            f"{source} has the columns {found}, the registry declares {declared}",
            "make the header and the registry agree",
        )


def _explain(source: str, error: Exception) -> BadFile:
    text = str(error)
    found = re.search(r"CSV Error on Line: (\d+)", text)
    where = f"line {found[1]} of {source}" if found else source
    reason = next(
        (part.strip() for part in text.splitlines() if part.startswith("Error when")), text.splitlines()[0]
    )
    return BadFile(
        f"{where} cannot be read as CSV: {reason}", "mend the value, or declare the column as text"
    )
