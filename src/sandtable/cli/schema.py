"""`sandtable schema`: the schema of a dataset. Needs a sandbox only for files that are not yet converted."""

from __future__ import annotations

import click
from rich.text import Text

from sandtable.catalog.model import Dataset, Table
from sandtable.cli import inputs
from sandtable.cli.known import known_datasets
from sandtable.cli.show import clean, console, grid, print_json


@click.command("schema")
@click.argument("dataset_id", metavar="[ID]", required=False)
@inputs.data_options
@inputs.json_option
def command(about: inputs.About, as_json: bool) -> int:
    """Show the tables, columns, relationships and metrics of a dataset."""
    inputs.require_dataset(about, "a dataset ID")
    dataset = _from_files(about) if about.data else known_datasets().get(str(about.dataset_id))
    if as_json:
        print_json(dataset.model_dump(mode="json"))
    else:
        _show(dataset)
    return 0


def _from_files(about: inputs.About) -> Dataset:
    # Only here are all parts needed, which take a second to load.
    from sandtable.cli.session import open_dataset, with_parts

    return with_parts(lambda parts: open_dataset(parts, about))


def _show(dataset: Dataset) -> None:
    out = console()
    out.print(Text.assemble((clean(dataset.title or dataset.id), "bold"), f"  {dataset.id}"))
    if dataset.description:
        out.print(Text(clean(dataset.description)))
    for table in dataset.tables:
        _show_table(table)
    for link in dataset.relationships:
        arrow = f"{link.many_table}.{link.many_column} → {link.one_table}.{link.one_column}"
        out.print(Text(clean(arrow)))
    if dataset.metrics:
        metrics = grid("metric", "table", "meaning")
        for metric in dataset.metrics:
            metrics.add_row(Text(metric.name), Text(metric.table), Text(clean(metric.description)))
        out.print(metrics)
    out.print(
        Text(f"version {dataset.version}" + (f", as of {dataset.as_of}" if dataset.as_of else ""), "dim")
    )


def _show_table(table: Table) -> None:
    rows = "" if table.rows is None else f"{table.rows:,} rows"
    columns = grid("column", "type", "unit", "meaning")
    columns.title = Text.assemble((clean(table.name), "bold"), f"  {rows}  {clean(table.description)}")
    columns.title_justify = "left"
    for column in table.columns:
        columns.add_row(
            Text(clean(column.name)),
            Text(clean(column.sql_type)),
            Text(clean(column.unit)),
            Text(clean(column.description)),
        )
    console().print(columns)
