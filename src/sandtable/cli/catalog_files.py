"""`sandtable data export`, `data import`: what a dataset means, as a file. Neither needs a sandbox."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from sandtable.assemble import CatalogParts, catalog_parts_of
from sandtable.catalog.model import Dataset
from sandtable.catalog.semantics.applying import semantics_of
from sandtable.catalog.semantics.changes import Change
from sandtable.catalog.semantics.exchange.importing import NAMES, Import, prepare, read_file, write
from sandtable.catalog.semantics.exchange.ossie_writing import write_ossie
from sandtable.catalog.semantics.model import UnusedSemantics
from sandtable.catalog.semantics.yaml_text import write_yaml
from sandtable.catalog.semantics.yaml_tree import write_values
from sandtable.cli import inputs
from sandtable.cli.show import clean, print_json
from sandtable.errors import InvalidInput, NotFound
from sandtable.process import load_settings, quiet_logs
from sandtable.quoting import quote

_LONGEST_FILE = 8 << 20
_LONGEST_VALUE = 100


@click.command("export")
@click.argument("dataset_id", metavar="DATASET")
@click.option(
    "--file", type=click.Path(path_type=Path, dir_okay=False), help="Write to this file, not to stdout."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["yaml", "ossie"]),
    default="yaml",
    help="Our own file, or a semantic model of Apache Ossie.",
)
@inputs.json_option
def export(dataset_id: str, file: Path | None, form: str, as_json: bool) -> int:
    """Write what a dataset means as a file: descriptions, synonyms, units, joins, metrics.

    DATASET is a built-in one, or one that was added. Every table and column is listed. It is YAML, or JSON with --json
    or where FILE ends in .json. `data import` reads both again.

    Exit code: 0 written, 2 there is no such dataset, or the file cannot be written.
    """
    parts = _parts()
    dataset = parts.as_found(dataset_id)
    whole = parts.editions.whole(dataset)
    as_json = as_json or (file is not None and file.suffix == ".json")
    if form == "yaml" and not as_json:
        text = write_yaml(whole, semantics_of(dataset))
    else:
        made = (
            whole.model_dump(mode="json", exclude_none=True)
            if form == "yaml"
            else write_ossie(whole, parts.editions.describe(dataset).dataset)
        )
        text = json.dumps(made, ensure_ascii=False, indent=2) + "\n" if as_json else write_values(made)
    content = text.encode("utf-8", "backslashreplace")
    if file is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return 0
    try:
        file.write_bytes(content)
    except OSError as error:
        raise InvalidInput(
            f"cannot write {file}: {error.strerror or error}", suggestion="Check the path."
        ) from error
    click.echo(f"Wrote {clean(str(file))}.", err=True)
    return 0


@click.command("import")
@click.argument("file", metavar="FILE", type=click.Path(allow_dash=True))
@click.option(
    "--to", metavar="DATASET", help="The dataset that it describes; else the one that the file names."
)
@click.option("--note", default="", metavar="TEXT", help="Why it was changed; kept with the version.")
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@inputs.json_option
def import_(file: str, to: str | None, note: str, dry_run: bool, as_json: bool) -> int:
    """Read what a dataset means from a file: a new version of its catalog.

    FILE (or - for stdin) is what `data export` wrote, a semantic model of Apache Ossie (YAML or JSON), or the
    semantic_manifest.json of dbt. Our own file replaces the catalog. The others are put over it: what they do not
    mention stays, and what cannot be used here is listed with its reason and kept.

    Exit code: 0 imported, or nothing changed, 2 the file cannot be read or does not fit the data.
    """
    parts = _parts()
    arrived = read_file(inputs.read_text(file, _LONGEST_FILE))
    dataset_id = to or arrived.dataset_id
    if not dataset_id:
        raise InvalidInput(
            f"the file is a {NAMES[arrived.format]}, which names no dataset of yours",
            suggestion="Add --to DATASET.",
        )
    dataset = _dataset(parts, dataset_id, given=to is not None)
    found = prepare(parts.editions, dataset, arrived)
    if not dry_run:
        write(parts.editions, dataset, found, note=note)
    if as_json:
        print_json(_as_json(dataset.id, found, written=not dry_run))
    else:
        _show(dataset.id, found, dry_run)
    return 0


def _dataset(parts: CatalogParts, dataset_id: str, *, given: bool) -> Dataset:
    try:
        return parts.as_found(dataset_id)
    except NotFound as error:
        if given:
            raise
        raise NotFound(
            f"the file is about {quote(dataset_id)}, and there is no such dataset",
            suggestion="Add --to DATASET.",
            dataset=dataset_id,
        ) from error


def _parts() -> CatalogParts:
    quiet_logs()
    return catalog_parts_of(load_settings())


def _as_json(dataset_id: str, found: Import, *, written: bool) -> dict[str, Any]:
    return {
        "dataset": dataset_id,
        "format": found.format,
        "written": written,
        "catalog_version": found.catalog_version,
        "changes": [{"place": c.place, "before": c.before, "after": c.after} for c in found.changes],
        "unused": [each.model_dump(mode="json") for each in found.unused],
    }


def _show(dataset_id: str, found: Import, dry_run: bool) -> None:
    for change in found.changes:
        click.echo(clean(_line(change)))
    whole, rest = _apart(found.unused)
    if whole:
        click.echo("Not used:")
        for each in whole:
            click.echo(clean(f"  {each.kind} {each.name}: {each.reason}"))
    if rest:
        click.echo(f"Kept for an export, without a use here: {rest} detail{'s' * (rest != 1)}.")
    count = len(found.changes)
    what = f"{count} change{'s' * (count != 1)}" if count else "Nothing changes"
    if dry_run:
        click.echo(f"{what} in {dataset_id}. Nothing was written (--dry-run).")
    else:
        click.echo(f"{what} in {dataset_id}, from a {NAMES[found.format]}: {found.catalog_version}")


def _apart(unused: tuple[UnusedSemantics, ...]) -> tuple[list[UnusedSemantics], int]:
    """Parts that have no use, and the number of details of parts that have one."""
    whole = [each for each in unused if "name" in each.content]
    return whole, len(unused) - len(whole)


def _line(change: Change) -> str:
    if change.before is None:
        return f"+ {change.place}: {_value(change.after)}"
    if change.after is None:
        return f"- {change.place}: {_value(change.before)}"
    return f"~ {change.place}: {_value(change.before)} → {_value(change.after)}"


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"


COMMANDS = (export, import_)
