"""JSON and NDJSON as a table of text: one row for each object, one column for each of their fields."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

from sandtable_runner.intake import clean_csv, headers
from sandtable_runner.intake.bad_file import BadFile
from sandtable_runner.intake.encodings import as_utf8
from sandtable_runner.intake.json_stream import Stream, dump
from sandtable_runner.intake.recognising import refuse_foreign
from sandtable_runner.intake.text_table import TextTable
from sandtable_runner.intake.workbench import MAX_COLUMNS, Workbench, counted, reading

_COLUMNS_MB = 256
_HOW = "Give an array of objects: one object for each row"
Object = dict[str, Any]
Rows = Callable[[], Iterator[Object]]


@dataclass(slots=True)
class _Fields:
    """The columns, in the order in which their fields are first met."""

    names: dict[str, int] = field(default_factory=dict[str, int])
    nested: set[str] = field(default_factory=set[str])
    """Those that hold arrays or deeper objects somewhere."""

    def add(self, row: Object) -> None:
        for name, value in _flat(row):
            self.names.setdefault(name, len(self.names))
            if isinstance(value, (dict, list)):
                self.nested.add(name)


def _flat(row: Object) -> Iterator[tuple[str, Any]]:
    """Fields and values; those of an object inside as `a.b`."""
    for name, value in row.items():
        if isinstance(value, dict):
            for inner, item in value.items():
                yield f"{name}.{inner}", item
        else:
            yield name, value


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else dump(value)


def open_json(bench: Workbench, path: Path, given: Mapping[str, Any] | None, kind: str) -> TextTable:
    refuse_foreign(bench.source, path, "JSON")
    utf8, encoding, notes = as_utf8(bench, path, given["encoding"] if given else None, long_lines=True)
    kind, rows, more = _find_rows(bench.source, utf8, given["kind"] if given else kind)
    fields = _Fields()
    for row in rows():
        fields.add(row)
        if len(fields.names) > MAX_COLUMNS:
            headers.check_width(bench.source, len(fields.names))
    if not fields.names:
        raise BadFile(f"{bench.source} has no fields: it holds no object with values", _HOW)
    for name in sorted(fields.nested, key=fields.names.__getitem__):
        more.append(f"Column {name} holds arrays or nested objects; they are kept as JSON text.")
    width = len(fields.names)
    writer = clean_csv.write_rows(bench, width, (_row(row, fields) for row in rows()))
    renaming = headers.RENAME in {*bench.repairs, *(given["repairs"] if given else ())}
    names, renamed = headers.name_columns(bench.source, list(fields.names), rename=renaming)
    text = reading(kind, encoding=encoding, repairs=[headers.RENAME] if renaming else [])
    return TextTable("", writer.relation(), names, text, 0, (*notes, *more, *renamed))


def _row(row: Object, fields: _Fields) -> list[str]:
    cells = [""] * len(fields.names)
    for name, value in _flat(row):
        cells[fields.names[name]] = _cell(value)
    return cells


def _find_rows(source: str, path: Path, kind: str) -> tuple[str, Rows, list[str]]:
    """How the file holds its rows: the kind, what gives the rows as often as asked, and notes."""
    with closing(Stream(source, path)) as stream:
        first = stream.peek()
        if not first:
            raise BadFile(f"{source} is empty", "Give a file with at least one object")
        if first == "[":
            return "json", lambda: _of_array(source, path), []
        if first != "{":
            raise BadFile(f"{source} holds no object: it begins with {first!r}", _HOW)
        if kind == "ndjson":
            return "ndjson", lambda: _of_lines(source, path), []
        shapes = _shapes(stream)
        if stream.peek() == "{":
            return "ndjson", lambda: _of_lines(source, path), []
        stream.at_end()
    return "json", *_of_document(source, path, shapes)


def _objects(source: str, stream: Stream, values: Iterator[Any]) -> Iterator[Object]:
    for number, value in enumerate(values, 1):
        if not isinstance(value, dict):
            found = "an array" if isinstance(value, list) else "a single value"
            raise BadFile(f"{source}: element {number} is {found}, not an object", _HOW)
        yield value


def _of_array(source: str, path: Path, inside: str | None = None) -> Iterator[Object]:
    """The objects of the array that is the file, or the one field `inside` of its object."""
    with closing(Stream(source, path)) as stream:
        if inside is None:
            yield from _objects(source, stream, stream.elements())
            stream.at_end()
            return
        for key in stream.names():
            stream.take(":")
            if key == inside:
                yield from _objects(source, stream, stream.elements())
            else:
                stream.value()


def _of_lines(source: str, path: Path) -> Iterator[Object]:
    with closing(Stream(source, path)) as stream:
        while first := stream.peek():
            if first != "{":
                raise stream.fault("an object is missing")
            yield stream.value()


def _shapes(stream: Stream) -> dict[str, str]:
    """What each field of the object holds: rows, a list, an object, or one value."""
    found: dict[str, str] = {}
    for key in stream.names():
        stream.take(":")
        if stream.peek() == "[":
            kinds = {dict: "rows"}
            inside = {kinds.get(type(item), "list") for item in stream.elements()}
            found[key] = "rows" if inside == {"rows"} else "list"
        else:
            found[key] = "object" if isinstance(stream.value(), dict) else "value"
    return found


def _of_document(source: str, path: Path, shapes: dict[str, str]) -> tuple[Rows, list[str]]:
    rows = [key for key, shape in shapes.items() if shape == "rows"]
    if len(rows) == 1:
        others = ", ".join(key for key in shapes if key != rows[0])
        notes = [f"The rows are those of {rows[0]}; left out: {others}."] if others else []
        return lambda: _of_array(source, path, rows[0]), notes
    if len(rows) > 1:
        raise BadFile(
            f"{source} holds {len(rows)} arrays of objects: {', '.join(rows)}", "Give one file for each"
        )
    kinds = set(shapes.values())
    if kinds in ({"list"}, {"object"}):
        return lambda: _of_columns(source, path), []
    return lambda: _of_lines(source, path), []


def _of_columns(source: str, path: Path) -> Iterator[Object]:
    """An object of columns: each is an array of cells, or an object of cells by the number of their row."""
    if path.stat().st_size > _COLUMNS_MB << 20:
        raise BadFile(f"{source} holds whole columns and has more than {_COLUMNS_MB} MB", _HOW)
    with closing(Stream(source, path)) as stream:
        columns: dict[str, dict[str, Any]] = {}
        for key in stream.names():
            stream.take(":")
            if stream.peek() == "[":
                columns[key] = {str(number): item for number, item in enumerate(stream.elements())}
            else:
                columns[key] = stream.value()
    lengths = {key: len(column) for key, column in columns.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{key} {counted(length, 'values')}" for key, length in list(lengths.items())[:8])
        raise BadFile(
            f"{source} has columns of different lengths: {shown}", "Give every column as many values"
        )
    labels = list(next(iter(columns.values()), {}))
    if any(list(column) != labels for column in columns.values()):
        raise BadFile(
            f"{source} holds objects with different names, which are not the columns of a table", _HOW
        )
    for cells in zip_longest(*(column.values() for column in columns.values())):
        yield dict(zip(columns, cells, strict=True))
