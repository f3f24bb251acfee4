"""Stage one: a source file as tables of text. Nothing is interpreted; what was found of the file is in each reading."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from sandtable_runner import engine
from sandtable_runner.intake.bad_file import BadFile
from sandtable_runner.intake.csv_file import open_csv
from sandtable_runner.intake.json_rows import open_json
from sandtable_runner.intake.parquet_file import open_parquet
from sandtable_runner.intake.recognising import recognise
from sandtable_runner.intake.scanning import Unproven
from sandtable_runner.intake.sheets import open_workbook
from sandtable_runner.intake.sqlite_file import open_sqlite
from sandtable_runner.intake.text_table import TextTable
from sandtable_runner.intake.unpacking import ARCHIVES, Unpacked, unpack
from sandtable_runner.intake.workbench import Workbench

Reading = Mapping[str, Any]
_KINDS = {
    "csv": "csv",
    "tsv": "csv",
    "tab": "csv",
    "txt": "csv",
    "json": "json",
    "ndjson": "ndjson",
    "jsonl": "ndjson",
    "parquet": "parquet",
    "xlsx": "xlsx",
    "xlsm": "xlsx",
    "ods": "ods",
    "xls": "xls",
    "xlsb": "xlsb",
    "sqlite": "sqlite",
    "sqlite3": "sqlite",
    "db": "sqlite",
    "db3": "sqlite",
    "gz": "gz",
    "zst": "zst",
    "zip": "zip",
}
_MOST_MB = 64 << 10


def open_tables(
    connection: engine.Connection,
    source: Path,
    kind: str,
    out: Path,
    given: Sequence[Reading] | None,
    repairs: Collection[str],
    *,
    file_mb: int = _MOST_MB,
    unproven: Unproven | None = None,
) -> list[TextTable]:
    """The tables of a file; with `given`, exactly those, in that order. Raises BadFile. With `unproven`, CSV files that
    seem clean are added to it and not read to their end.

    The table of a Parquet file has its own columns and types, and no stage two.
    """
    bench = Workbench(connection, source.name, out, frozenset(repairs), file_mb, unproven)
    found = _kind(kind, source.name, source)
    if found not in ARCHIVES:
        return _only_one_has_no_name(_open(bench, source, found, given))
    wanted = None if given is None or found != "zip" else {str(one["member"]) for one in given}
    members, notes = unpack(bench, source, found, wanted)
    tables: list[TextTable] = []
    for member in members:
        its = None if given is None else [one for one in given if one["member"] == member.member]
        inside = bench if found != "zip" else bench.of(f"{member.name} in {source.name}")
        opened = _open(inside, member.path, _kind("", member.name, member.path), its)
        only = len(members) == 1
        tables += [_of_member(table, member, found, several=len(opened) > 1, only=only) for table in opened]
    if notes and tables:
        tables[0] = replace(tables[0], notes=(*tables[0].notes, *notes))
    if given is not None:
        tables = [_the_one(tables, one) for one in given]
    return _only_one_has_no_name(tables)


def _the_one(tables: list[TextTable], given: Reading) -> TextTable:
    return next(
        table
        for table in tables
        if table.reading["member"] == given["member"] and table.reading["sheet"] == given["sheet"]
    )


def _kind(kind: str, name: str, path: Path) -> str:
    """An archive by its name's ending: what is known is the kind of the file inside. Others by what is known, by the
    ending, or by their bytes."""
    ending = PurePosixPath(name).suffix.lower().removeprefix(".")
    if ending in ARCHIVES:
        return ending
    known = _KINDS.get(kind.lower().rpartition(".")[2]) or _KINDS.get(ending)
    return known or recognise(path) or "csv"


def _open(bench: Workbench, path: Path, kind: str, given: Sequence[Reading] | None) -> list[TextTable]:
    one = given[0] if given else None
    openers: dict[str, Callable[[], list[TextTable]]] = {
        "csv": lambda: [open_csv(bench, path, one)],
        "json": lambda: [open_json(bench, path, one, "json")],
        "ndjson": lambda: [open_json(bench, path, one, "ndjson")],
        "parquet": lambda: [open_parquet(bench, path)],
        "sqlite": lambda: open_sqlite(bench, path, list(given) if given is not None else None),
    }
    if kind in openers:
        return openers[kind]()
    if kind in ARCHIVES:
        raise BadFile(f"{bench.source} is an archive in an archive", "Unpack it, and give the files inside")
    return open_workbook(bench, path, kind, list(given) if given is not None else None)


def _of_member(
    table: TextTable, member: Unpacked, compression: str, *, several: bool, only: bool
) -> TextTable:
    stem = PurePosixPath(member.name).stem if member.member else ""
    name = f"{stem} {table.name}".strip() if several else stem or table.name
    if table.alone:
        # Where an archive holds several files, two of them may have tables of one name.
        alone = only or not stem
        name = table.name if alone else f"{stem} {table.name}"
        table = replace(table, alone=alone)
    return replace(
        table, name=name, reading={**table.reading, "compression": compression, "member": member.member}
    )


def _only_one_has_no_name(tables: list[TextTable]) -> list[TextTable]:
    return [replace(tables[0], name="")] if len(tables) == 1 and not tables[0].alone else tables
