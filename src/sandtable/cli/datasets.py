"""`sandtable datasets`: lists the datasets. Needs no sandbox."""

from __future__ import annotations

import click
from rich.text import Text

from sandtable.cli import inputs
from sandtable.cli.known import known_datasets
from sandtable.cli.show import clean, console, grid, on_terminal, print_json


@click.command("datasets")
@inputs.json_option
def command(as_json: bool) -> int:
    """List what may be asked about."""
    datasets = known_datasets().values()
    if as_json:
        shown = {"id", "title", "description", "version", "as_of", "prompts"}
        print_json(
            [
                {**dataset.model_dump(mode="json", include=shown), "tables": [t.name for t in dataset.tables]}
                for dataset in datasets
            ]
        )
    elif on_terminal():
        table = grid("dataset", "tables", "description")
        for dataset in datasets:
            names = "\n".join(f"{t.name} ({t.rows:,} rows)" if t.rows else t.name for t in dataset.tables)
            table.add_row(Text(dataset.id, style="bold"), Text(names), Text(clean(dataset.description)))
        console().print(table)
    else:
        for dataset in datasets:
            click.echo(f"{dataset.id}\t{clean(dataset.description)}")
    return 0
