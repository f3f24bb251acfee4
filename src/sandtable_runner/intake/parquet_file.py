"""A Parquet file: typed already, so it has no stage two. Its names are checked as in any other file."""

from __future__ import annotations

from pathlib import Path

from sandtable_runner import engine
from sandtable_runner.intake import headers
from sandtable_runner.intake.bad_file import BadFile
from sandtable_runner.intake.recognising import head_of
from sandtable_runner.intake.text_table import TextTable
from sandtable_runner.intake.workbench import Workbench, reading


def open_parquet(bench: Workbench, path: Path) -> TextTable:
    """Its relation has the columns of the file, with their names and types."""
    source = bench.source
    if not head_of(path).startswith(b"PAR1"):
        raise BadFile(f"{source} is not a Parquet file", "Export it as Parquet again, or give a CSV file")
    literal = engine.literal(str(path))
    try:
        names = _names(bench.connection, literal)
    except engine.ENGINE_ERRORS as error:
        if engine.is_exhaustion(error):
            raise
        reason = str(error).splitlines()[0]
        raise BadFile(
            f"{source} cannot be read as Parquet: {reason}", "Export it again; the file seems damaged"
        ) from error
    _check_names(source, names)
    return TextTable("", f"read_parquet({literal})", tuple(names), reading("parquet"), 0)


def _names(connection: engine.Connection, path: str) -> list[str]:
    """As in the file: the reader would rename duplicates. Parents come before their children."""
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


def _check_names(source: str, names: list[str]) -> None:
    headers.check_width(source, len(names))
    seen: dict[str, int] = {}
    for position, name in enumerate(names, 1):
        if not name.strip():
            raise BadFile(f"column {position} of {source} has no name", "Give every column a name")
        if name.lower() in seen:
            raise BadFile(
                f"{source} has the column {name!r} twice (columns {seen[name.lower()]} and {position})",
                "Rename one of them",
            )
        seen[name.lower()] = position
