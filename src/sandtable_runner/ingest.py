"""Converts an untrusted CSV or Parquet file to our Parquet. Runs inside a sandbox only.

The file's folder is the current one and read-only; the result goes to `job["out"]`. A bad file is refused with its line
and what to do, before the engine tries to guess its structure.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from sandtable_runner import engine
from sandtable_runner.intake.bad_file import BadFile
from sandtable_runner.type_names import is_moment

# Looked up while modules can still be loaded: a sealed sandbox finds no codec.
codecs.lookup("utf-8-sig")

_CHUNK = 4 << 20
_MAX_LINE = 16 << 20
_MAX_COLUMNS = 10_000
_SAMPLE_ALL_BELOW = 256 << 20
_SAMPLE_ROWS = 500_000
_DELIMITERS = ",;\t|"
_MARKS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
_SQL_TYPES = {
    "text": "VARCHAR",
    "integer": "BIGINT",
    "decimal": "DOUBLE",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "time": "TIME",
    "boolean": "BOOLEAN",
}
_PARQUET = "FORMAT parquet, ROW_GROUP_SIZE 122880"


def ingest(connection: engine.Connection, job: dict[str, Any]) -> dict[str, Any]:
    """Writes `<table>.parquet`; returns the table's columns, number of rows and recipe."""
    options = job["options"]
    source = Path(options["source"]).name
    table, kind = options["table"], options["format"]
    target = f"{job['out']}/{table}.parquet"
    connection.execute(f"SET memory_limit = '{max(64, job['limits']['memory_mb'] * 7 // 10)}MiB'")
    connection.execute(f"SET threads = {job['threads']}")
    if kind == "parquet":
        _convert_parquet(connection, source, target)
    elif kind == "csv":
        _convert_csv(connection, source, target, options["columns"] or _columns_of(options["recipes"]))
    else:
        raise BadFile(f"{source} is neither CSV nor Parquet", "export it as CSV or Parquet")
    described = _describe(connection, target)
    columns = [] if kind == "parquet" else [_reading(column) for column in described["columns"]]
    recipe = {"text": {"kind": kind}, "columns": columns}
    made = {
        "table": table,
        "output": f"{table}.parquet",
        **described,
        "recipe": None if options["columns"] else recipe,
        "misfits": [],
        "misfit_counts": {},
        "notes": [],
        "repairs": [],
    }
    return {"tables": [made], "questions": []}


def _reading(column: dict[str, Any]) -> dict[str, str]:
    read_as = next((kind for kind, name in _SQL_TYPES.items() if name == column["sql_type"]), "text")
    return {"header": column["name"], "name": column["name"], "read_as": read_as}


def _columns_of(recipes: list[dict[str, Any]] | None) -> list[list[str]] | None:
    if not recipes:
        return None
    return [[column["name"], _SQL_TYPES[column["read_as"]]] for column in recipes[0]["recipe"]["columns"]]


def _convert_parquet(connection: engine.Connection, source: str, target: str) -> None:
    """Rewrites the file, so that a damaged page is found now and not by a later query."""
    with Path(source).open("rb") as file:
        if file.read(4) != b"PAR1":
            raise BadFile(f"{source} is not a Parquet file", "export it as Parquet again, or give a CSV file")
    path = engine.literal(source)
    try:
        _check_names(source, _parquet_names(connection, path))
        connection.execute(
            f"COPY (SELECT * FROM read_parquet({path})) TO {engine.literal(target)} ({_PARQUET})"
        )
    except engine.ENGINE_ERRORS as error:
        if engine.is_exhaustion(error):
            raise
        reason = str(error).splitlines()[0]
        raise BadFile(
            f"{source} cannot be read as Parquet: {reason}", "export it again; the file seems damaged"
        ) from error


def _parquet_names(connection: engine.Connection, path: str) -> list[str]:
    """Names as in the file: the reader would rename duplicates. Parents come before their children."""
    elements = connection.execute(f"SELECT name, num_children FROM parquet_schema({path})").fetchall()
    names: list[str] = []
    nested = 0
    for name, children in elements[1:]:
        if nested:
            nested -= 1
        else:
            names.append(name)
        nested += children or 0
    return names


def _convert_csv(
    connection: engine.Connection, source: str, target: str, declared: list[list[str]] | None
) -> None:
    _check_bytes(source)
    delimiter, names = _read_header(source)
    arguments = {
        "header": "true",
        "delim": engine.literal(delimiter),
        "quote": "'\"'",
        "escape": "'\"'",
        "strict_mode": "true",
        "null_padding": "false",
        # The sniffer must find types only: by default it also skips lines that do not fit.
        "skip": "0",
        "comment": "''",
        "max_line_size": str(_MAX_LINE),
        # By default it allocates several buffers of sixteen times the longest line.
        "buffer_size": str(2 * _MAX_LINE),
    }
    if declared:
        _check_declared(source, names, [name for name, _ in declared])
        pairs = ", ".join(f"{engine.literal(name)}: {engine.literal(kind)}" for name, kind in declared)
        arguments |= {"columns": f"{{{pairs}}}", "auto_detect": "false"}
    else:
        everything = Path(source).stat().st_size < _SAMPLE_ALL_BELOW
        arguments["sample_size"] = "-1" if everything else str(_SAMPLE_ROWS)
        arguments["names"] = "[" + ", ".join(engine.literal(name) for name in names) + "]"
    listed = ", ".join(f"{key} = {value}" for key, value in arguments.items())
    query = f"SELECT * FROM read_csv({engine.literal(source)}, {listed})"
    try:
        connection.execute(f"COPY ({query}) TO {engine.literal(target)} ({_PARQUET})")
    except engine.ENGINE_ERRORS as error:
        if engine.is_exhaustion(error):
            raise
        raise _find_fault(source, delimiter, len(names)) or _explain(source, error) from error
    described = connection.execute(
        f"DESCRIBE SELECT * FROM read_parquet({engine.literal(target)})"
    ).fetchall()
    found = [row[0] for row in described]
    if found != ([name for name, _ in declared] if declared else names):
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


def _read_header(source: str) -> tuple[str, list[str]]:
    with Path(source).open(encoding="utf-8-sig", newline="") as file:
        start = file.readline(_MAX_LINE)
        delimiter = max(
            _DELIMITERS, key=lambda mark: (_outside_quotes(start, mark), -_DELIMITERS.index(mark))
        )
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


def _describe(connection: engine.Connection, target: str) -> dict[str, Any]:
    """Columns, row count, and the latest value of each date or timestamp column, in one pass."""
    path = engine.literal(target)
    described = connection.execute(f"DESCRIBE SELECT * FROM read_parquet({path})").fetchall()
    moments = [row[0] for row in described if is_moment(row[1])]
    wanted = [f"count({engine.quote(row[0])})" for row in described]
    wanted += [f"max({engine.quote(name)})::VARCHAR" for name in moments]
    found = connection.execute(
        f"SELECT count(*), {', '.join(wanted)} FROM read_parquet({path})"
    ).fetchone() or (0,)
    rows, present, latest = found[0], found[1 : 1 + len(described)], found[1 + len(described) :]
    columns = [
        {"name": row[0], "sql_type": row[1], "nullable": count < rows}
        for row, count in zip(described, present, strict=True)
    ]
    dated = {name: value for name, value in zip(moments, latest, strict=True) if value is not None}
    return {"columns": columns, "rows": rows, "latest": dated}
