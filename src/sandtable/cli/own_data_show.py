"""Datasets that were added, for a person and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click
from rich.text import Text

from sandtable.catalog.model import Table
from sandtable.catalog.own.datasets import Added
from sandtable.catalog.own.records import OwnDataset, OwnVersion
from sandtable.catalog.recipe import ColumnReading, Recipe
from sandtable.cli.show import clean, console, grid, on_terminal

_OUTCOMES = {"added": "Added", "changed": "New version of", "unchanged": "Nothing changed in"}


def added_json(added: Added) -> dict[str, Any]:
    return {"outcome": added.outcome, "notes": list(added.notes), **dataset_json(added.record)}


def dataset_json(record: OwnDataset, *, brief: bool = False) -> dict[str, Any]:
    current = record.current
    found = {
        "id": record.id,
        "title": record.title,
        "added_at": record.added_at,
        "version": record.dataset.version,
        "live": record.dataset.live is not None,
        "versions": len(record.versions) if brief else [_version_json(v) for v in reversed(record.versions)],
        "tables": [
            {"name": t.name, "file": t.file, "rows": t.rows}
            if brief
            else {
                **t.model_dump(mode="json", exclude={"description", "time_column"}),
                "findings": found.model_dump(mode="json")
                if (found := current.findings.get(t.name))
                else None,
            }
            for t in record.dataset.tables
        ],
    }
    return found if brief else {**found, "answers": current.answers, "repairs": list(current.repairs)}


def _version_json(version: OwnVersion) -> dict[str, Any]:
    return {
        "version": version.dataset.version,
        "at": version.at,
        "changes": version.changes.model_dump(mode="json"),
        "sources": [s.model_dump(mode="json", include={"name", "sha256", "bytes"}) for s in version.sources],
    }


def show_added(added: Added) -> None:
    record = added.record
    click.echo(f"{_OUTCOMES[added.outcome]} {clean(record.id)}")
    for table in record.dataset.tables:
        click.echo(f"  {clean(_summary(table))}")
    for line in _live(record):
        click.echo(f"  {line}")
    said = record.current.changes.in_words if added.outcome == "changed" else ()
    for line in (*added.notes, *said, *_findings(record.current)):
        click.echo(f"  {clean(line)}")
    if added.outcome != "unchanged":
        click.echo(f'Ask about it: sandtable ask "…" --dataset {clean(record.id)}', err=True)


def _live(record: OwnDataset) -> Iterator[str]:
    if (live := record.dataset.live) is not None:
        yield f"The rows stay in {clean(live.source)}: answers are signed, and their data are not pinned."


def _summary(table: Table) -> str:
    rows = "" if table.rows is None else f"{table.rows:,} rows, "
    return f"{table.name}: {rows}{len(table.columns)} columns, from {table.file}"


def _findings(version: OwnVersion) -> Iterator[str]:
    for table, found in version.findings.items():
        yield from (f"{table}: {note}" for note in found.notes)
        for column, count in found.misfit_counts.items():
            shown = ", ".join(f"row {m.row:,}: {m.value}" for m in found.misfits if m.column == column)
            yield f"{table}.{column}: {count:,} cells do not fit the rest ({shown[:200]})"
        yield from (f"{table}: --repair {repair.id} would {repair.label}" for repair in found.repairs)


def show_list(records: Sequence[OwnDataset]) -> None:
    if not on_terminal():
        for record in records:
            tables = ", ".join(t.name for t in record.dataset.tables)
            click.echo("\t".join(map(clean, (record.id, record.title, tables, str(len(record.versions))))))
        return
    table = grid("dataset", "title", "tables", "versions", "last change")
    for record in records:
        names = "\n".join(f"{t.name} ({t.rows:,} rows)" if t.rows else t.name for t in record.dataset.tables)
        table.add_row(
            Text(clean(record.id), style="bold"),
            Text(clean(record.title)),
            Text(clean(names)),
            str(len(record.versions)),
            record.current.at,
        )
    console().print(table)


def show_dataset(record: OwnDataset) -> None:
    out = console()
    out.print(Text.assemble((clean(record.title or record.id), "bold"), f"  {clean(record.id)}"))
    for table in record.dataset.tables:
        out.print(Text(clean(_summary(table)), "bold"))
        if table.recipe is not None and (read := _text_read(table.recipe)):
            out.print(Text(clean(read)))
        columns = grid("column", "type", "unit", "read as", "why")
        readings = {r.name: r for r in table.recipe.columns} if table.recipe else {}
        for column in table.columns:
            reading = readings.get(column.name)
            cells = (
                column.name,
                column.sql_type,
                column.unit,
                _read(reading),
                reading.reason if reading else "",
            )
            columns.add_row(*(Text(clean(cell)) for cell in cells))
        out.print(columns)
    for line in _findings(record.current):
        out.print(Text(clean(line)))
    for line in _live(record):
        out.print(line)
    versions = grid("version", "made", "what changed")
    for version in reversed(record.versions):
        words = "\n".join(version.changes.in_words)
        versions.add_row(
            Text(f"{version.dataset.version[:19]}…"), Text(version.at), Text(clean(words, newlines=True))
        )
    out.print(versions)


def _text_read(recipe: Recipe) -> str:
    text = recipe.text
    parts = [
        text.kind,
        text.compression,
        text.member and f"member {text.member}",
        text.sheet and f"{'table' if text.kind == 'sqlite' else 'sheet'} {text.sheet}",
    ]
    if text.kind == "csv":
        parts += [text.encoding, f"delimiter {text.delimiter!r}"]
    parts += [f"{text.skipped_rows} rows above the header skipped"] if text.skipped_rows else []
    parts += ["no header"] if not text.header else []
    return ", ".join(filter(None, (*parts, *text.repairs)))


def _read(reading: ColumnReading | None) -> str:
    if reading is None:
        return ""
    words = [word for word in reading.empty if word]
    empty = f"empty: {', '.join(words)}" if words else ""
    misfits = "what does not fit is empty" if reading.misfits == "empty" else ""
    return "; ".join(filter(None, (f"{reading.read_as} {reading.format}".strip(), empty, misfits)))
