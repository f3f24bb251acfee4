"""`sandtable data`: datasets that stay, and maintenance of the converted data on disk."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

import click
from rich.console import Console
from rich.status import Status
from rich.text import Text

from sandtable.assemble import Parts, store_of
from sandtable.capsule.keys import open_signing_key
from sandtable.catalog.stored.integrity import Whole
from sandtable.catalog.stored.source import Progress
from sandtable.catalog.stored.store import DataStore
from sandtable.cli import catalog_files, inputs, sources
from sandtable.cli.failure import FAILED
from sandtable.cli.own_data import COMMANDS
from sandtable.cli.session import with_parts
from sandtable.cli.show import clean, console, grid, on_terminal, print_json
from sandtable.errors import SandtableError
from sandtable.process import load_settings, quiet_logs

_STYLES = {"whole": "green", "rebuilt": "yellow", "damaged": "bold red"}


@dataclass(frozen=True, slots=True)
class Found:
    version: str
    dataset: str
    bytes: int
    state: Literal["whole", "damaged", "rebuilt"]
    detail: str = ""

    def as_json(self) -> dict[str, Any]:
        return {
            "version": self.version,
            "dataset": self.dataset,
            "bytes": self.bytes,
            "state": self.state,
            "detail": self.detail,
        }


@click.group("data")
def command() -> None:
    """Add data files as datasets that stay, and look after the data on disk."""


for _each in (*COMMANDS, *sources.COMMANDS, *catalog_files.COMMANDS):
    command.add_command(_each)


@command.command("scrub")
@click.option(
    "--repair", is_flag=True, help="Build what is damaged again from its original, where that is kept."
)
@inputs.json_option
def scrub(repair: bool, as_json: bool) -> int:
    """Read all converted data and compare them with the digests that were published.

    Shows a line for each version: `whole`, `damaged` and what is wrong with it, or `rebuilt`. Runs on a damaged version
    fail with DATA_DAMAGED until it is rebuilt or its files are restored, and what was cached from it is not used again.
    With --repair it is converted again in the sandbox: from the files of the registry, or from the files that were
    given with --data, if they are still where they were and have not changed.

    Exit code: 0 everything is whole or was rebuilt, 1 something is damaged.
    """
    quiet_logs()
    settings = load_settings()
    store = store_of(settings, open_signing_key(settings.home, settings.signing_key))
    found = [_read(store, version, place) for version, place in _places(store)]
    wrong = [each for each in found if each.state == "damaged"]
    if repair and wrong:
        rebuilt = with_parts(lambda parts: _rebuilt(parts, wrong), settings)
        found = [rebuilt.get(each.version, each) for each in found]
    if as_json:
        print_json([each.as_json() for each in found])
    else:
        _show(found)
    return FAILED if any(each.state == "damaged" for each in found) else 0


def _places(store: DataStore) -> list[tuple[str, str]]:
    versions = store.versions()
    return [(version, f"version {number} of {len(versions)}") for number, version in enumerate(versions, 1)]


def _read(store: DataStore, version: str, place: str) -> Found:
    with _progress(f"Reading {place}") as progress:
        found = store.check(version, progress, thorough=True)
    size = sum(path.lstat().st_size for path in store.path(version).glob("*"))
    try:
        dataset = store.load(version).id
    except SandtableError:
        dataset = ""
    if isinstance(found, Whole):
        return Found(version, dataset, size, "whole")
    return Found(version, dataset, size, "damaged", found.why)


async def _rebuilt(parts: Parts, wrong: list[Found]) -> dict[str, Found]:
    made: dict[str, Found] = {}
    for each in wrong:
        with _progress(f"Building {each.dataset or each.version[:19]} again") as progress:
            try:
                await parts.datasets.rebuilding.rebuild(each.version, progress)
                made[each.version] = replace(each, state="rebuilt")
            except SandtableError as error:
                made[each.version] = replace(
                    each, detail=f"{each.detail}; not rebuilt: {error.problem.in_words}"
                )
    return made


@contextmanager
def _progress(doing: str) -> Generator[Progress | None, None, None]:
    if not sys.stderr.isatty():
        yield None
        return
    status = Status(f"{doing}…", console=Console(file=sys.stderr))
    with status:
        yield lambda done, total: status.update(f"{doing}… {100 * done // max(total, 1)} %")


def _show(found: list[Found]) -> None:
    if not on_terminal():
        for each in found:
            click.echo("\t".join((each.state, each.version, clean(each.dataset), clean(each.detail))))
        return
    table = grid("state", "dataset", "version", "MB", "detail")
    for each in found:
        table.add_row(
            Text(each.state, style=_STYLES[each.state]),
            Text(clean(each.dataset)),
            Text(f"{each.version[:19]}…"),
            Text(f"{each.bytes / 1e6:,.1f}"),
            Text(clean(each.detail)),
        )
    console().print(table)
