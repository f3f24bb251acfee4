"""`sandtable data propose`: shows what could be said about a dataset, and says it where a person agrees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click
from rich.text import Text

from sandtable.assemble import Parts
from sandtable.catalog.model import Dataset
from sandtable.catalog.proposed.keys import KeyProposal
from sandtable.catalog.proposed.proposals import JoinProposal, MaskProposal, MetricProposal, Proposals
from sandtable.catalog.semantics.applying import semantics_of
from sandtable.catalog.semantics.model import ColumnSemantics, Semantics, TableSemantics
from sandtable.cli import inputs
from sandtable.cli.session import patience, with_parts
from sandtable.cli.show import clean, console, grid, on_terminal, print_json
from sandtable.errors import InvalidInput

Proposal = JoinProposal | KeyProposal | MetricProposal | MaskProposal


@dataclass(frozen=True, slots=True)
class _Found:
    proposals: tuple[Proposal, ...]
    catalog_version: str
    accepted: tuple[int, ...]


@click.command("propose")
@click.argument("dataset_id", metavar="ID")
@click.option(
    "--accept",
    "accepted",
    type=click.IntRange(min=1),
    multiple=True,
    metavar="N",
    help="Add this proposal to the catalog; repeatable.",
)
@inputs.json_option
def propose(dataset_id: str, accepted: tuple[int, ...], as_json: bool) -> int:
    """Show joins, keys, metrics and masks that could be added to the catalog of a dataset, each with its reason.

    Nothing of it is used before it is accepted. The numbers are those of the list that the same command printed: a
    newer version of the data or of the catalog may have others.

    Exit code: 0 shown or accepted, 2 there is no such dataset or proposal, 4 no sandbox.
    """

    async def act(parts: Parts) -> _Found:
        async with patience(parts):
            dataset = await parts.datasets.ready(dataset_id)
            found = _listed(await parts.datasets.proposals(dataset))
        if not accepted:
            return _Found(found, dataset.catalog_version, ())
        unknown = [number for number in accepted if number > len(found)]
        if unknown:
            raise InvalidInput(
                f"there is no proposal {unknown[0]}",
                suggestion=f"There are {len(found)}: run `sandtable data propose {dataset_id}` without --accept.",
            )
        editions = parts.datasets.editions
        said = _with(editions.current(dataset_id), dataset, [found[number - 1] for number in accepted])
        made = editions.write(
            parts.datasets.as_found(dataset_id),
            said,
            before=dataset.catalog_version,
            note="Accepted what was proposed",
        )
        return _Found(found, made.dataset.catalog_version, accepted)

    found = with_parts(act)
    if as_json:
        print_json(_json(found))
    else:
        _show(found, dataset_id)
    return 0


def _listed(found: Proposals) -> tuple[Proposal, ...]:
    return (*found.joins, *found.keys, *found.metrics, *found.masks)


def _with(said: Semantics, dataset: Dataset, accepted: list[Proposal]) -> Semantics:
    """What people said, with these proposals. Joins and metrics are said as a whole, so those in force are repeated."""
    whole = semantics_of(dataset)
    joins, metrics, tables = list(whole.joins or ()), dict(whole.metrics or {}), dict(said.tables)
    for each in accepted:
        match each:
            case JoinProposal(join):
                joins.append(join)
            case MetricProposal(name, semantics):
                metrics[name] = semantics
            case KeyProposal(name, columns):
                tables[name] = tables.get(name, TableSemantics()).model_copy(update={"key": columns})
            case MaskProposal(name, column):
                table = tables.get(name, TableSemantics())
                masked = table.columns.get(column, ColumnSemantics()).model_copy(update={"masked": True})
                tables[name] = table.model_copy(update={"columns": {**table.columns, column: masked}})
    update: dict[str, Any] = {"tables": tables}
    if any(isinstance(each, JoinProposal) for each in accepted):
        update["joins"] = tuple(joins)
    if any(isinstance(each, MetricProposal) for each in accepted):
        update["metrics"] = metrics
    return said.model_copy(update=update)


def _words(proposal: Proposal) -> tuple[str, str]:
    match proposal:
        case JoinProposal(join):
            return "join", f"{join.many} → {join.one}"
        case KeyProposal(table, columns):
            return "key", f"{table}: {', '.join(columns)}"
        case MetricProposal(name):
            return "metric", name
        case MaskProposal(table, column):
            return "mask", f"{table}.{column}"


def _json(found: _Found) -> dict[str, Any]:
    return {
        "catalog_version": found.catalog_version,
        "accepted": list(found.accepted),
        "proposals": [
            {"number": number, "kind": _words(each)[0], "what": _words(each)[1], "reason": each.reason}
            | (
                {"semantics": each.semantics.model_dump(mode="json")}
                if isinstance(each, MetricProposal)
                else {}
            )
            | ({"matched": each.matched, "missing": each.missing} if isinstance(each, JoinProposal) else {})
            for number, each in enumerate(found.proposals, 1)
        ],
    }


def _show(found: _Found, dataset_id: str) -> None:
    if found.accepted:
        names = ", ".join(clean(_words(found.proposals[number - 1])[1]) for number in found.accepted)
        click.echo(f"The catalog of {clean(dataset_id)} has {names} now: version {found.catalog_version}")
        return
    if not found.proposals:
        click.echo(f"Nothing is proposed for {clean(dataset_id)}.")
        return
    if not on_terminal():
        for number, each in enumerate(found.proposals, 1):
            click.echo("\t".join((str(number), *map(clean, _words(each)), clean(each.reason))))
        return
    table = grid("", "kind", "proposal", "because")
    for number, each in enumerate(found.proposals, 1):
        table.add_row(Text(str(number)), *(Text(clean(text)) for text in (*_words(each), each.reason)))
    console().print(table)
    click.echo(f"Accept with: sandtable data propose {clean(dataset_id)} --accept 1")
