"""`sandtable data add`, `list`, `show`, `propose`, `refresh`, `correct`, `remove`, `prune`: datasets that stay."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from sandtable.assemble import Parts, own_datasets_of
from sandtable.assemble.sources import sources_of
from sandtable.assemble.version_retention import version_retention_of
from sandtable.catalog.own.datasets import Added, OwnDatasets
from sandtable.catalog.own.pruning import Going, PruneRules
from sandtable.catalog.reading.file_tables import Decided
from sandtable.catalog.reading.filenames import data_files
from sandtable.cli import inputs
from sandtable.cli.data_proposals import propose
from sandtable.cli.file_questions import can_ask, with_answers
from sandtable.cli.own_data_show import added_json, dataset_json, show_added, show_dataset, show_list
from sandtable.cli.session import patience, showing, with_parts
from sandtable.cli.show import clean, print_json
from sandtable.errors import InvalidInput
from sandtable.process import load_settings, quiet_logs
from sandtable.settings import Settings
from sandtable.state import state_of

Change = Callable[[Decided], Awaitable[Added]]

_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_MOST_LEFT = 10
_LOST = "Capsules of a version that goes can be verified only after the same files were added again."


@click.command("add")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(readable=False))
@click.option("--id", "dataset_id", metavar="ID", help="The dataset's id; else the first file's name.")
@click.option("--title", default="", metavar="TEXT", help="The dataset's title; else the first file's name.")
@click.option("--to", metavar="ID", help="Add the files as further tables of this dataset.")
@inputs.decided_options
@inputs.json_option
def add(
    files: tuple[str, ...],
    dataset_id: str | None,
    title: str,
    to: str | None,
    decided: Decided,
    as_json: bool,
) -> int:
    """Add data files as a dataset that stays.

    Each FILE is a data file (CSV, TSV, JSON, NDJSON, Parquet, Excel, ODS; texts also as .gz or .zst; a zip of them), a
    folder, which stands for the data files directly in it, or the address of a data file (https://…). The files are
    copied and converted in the sandbox. Files of the same names as before are a newer version, read in the same way:
    what changed is printed. What a file does not say by itself is asked on a terminal, and else is an error that lists
    the options to give.

    Addresses must be public ones, unless SANDTABLE_FETCH_PRIVATE is set, and a file has limits of size and time
    (SANDTABLE_MAX_UPLOAD_MB, SANDTABLE_FETCH_TIMEOUT_S). No proxy is used.

    Without --id, a name that is taken by a built-in dataset or by other files gets a number; an --id that is taken is
    refused.

    Exit code: 0 added, changed or the same as before, 2 a file or an option cannot be used, 4 no sandbox.
    """
    if to is not None and dataset_id is not None:
        raise click.UsageError("Give either --id or --to.")
    given, left = _given(files)

    @asynccontextmanager
    async def adding(parts: Parts) -> AsyncGenerator[Change, None]:
        addresses = [file for file in given if isinstance(file, str)]
        async with AsyncExitStack() as stack:
            async with showing(f"Fetching {_hosts(addresses)}") as progress:
                copies = await stack.enter_async_context(parts.addresses.fetched(addresses, progress))
            every = [copies[file] if isinstance(file, str) else file for file in given]
            yield lambda now: parts.datasets.add_own(
                every, dataset_id=dataset_id, title=title, to=to, decided=now
            )

    return changed(decided, as_json, adding, left)


def _given(files: Sequence[str]) -> tuple[list[Path | str], list[str]]:
    """Files and addresses; and what is said about folders that hold something else, too."""
    given: list[Path | str] = []
    notes: list[str] = []
    for file in files:
        path = Path(file)
        if _ADDRESS.match(file) or not path.is_dir():
            given.append(file if _ADDRESS.match(file) else path)
            continue
        taken, left = data_files(path)
        given += taken
        if left:
            more = f" and {len(left) - _MOST_LEFT} more" if len(left) > _MOST_LEFT else ""
            notes.append(f"Not taken from {path}: {', '.join(left[:_MOST_LEFT])}{more}.")
    return given, notes


def _hosts(addresses: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(clean(_ADDRESS.sub("", address).split("/")[0]) for address in addresses))


@click.command("refresh")
@click.argument("dataset_id", metavar="ID")
@inputs.decided_options
@inputs.json_option
def refresh(dataset_id: str, decided: Decided, as_json: bool) -> int:
    """Look at the files of a dataset again where they were.

    Files at addresses are fetched again, unless their server says that they have not changed. Tables of a connected
    database are copied again (see `sandtable data connect`); of those that stay there, the columns are read again.

    Exit code: 0 changed or the same as before, 2 the files cannot be used, 4 no sandbox.
    """

    @asynccontextmanager
    async def refreshing(parts: Parts) -> AsyncGenerator[Change, None]:
        datasets = parts.datasets
        current = datasets.own.get(dataset_id).current
        if current.dataset.live is not None:
            yield lambda _: sources_of(parts).make_live(dataset_id)
            return
        sources = current.sources
        hosts = _hosts([source.fetched.address for source in sources if source.fetched is not None])
        async with AsyncExitStack() as stack:
            if any(source.copied for source in sources):
                yield await copied_tables(parts, stack, dataset_id, ())
                return
            async with showing(f"Fetching {hosts}") as progress:
                copies = await stack.enter_async_context(parts.addresses.fetched_again(sources, progress))
            yield lambda now: datasets.own.refresh(
                dataset_id, fetched=copies, decided=now, progress=datasets.progress
            )

    return changed(decided, as_json, refreshing)


async def copied_tables(
    parts: Parts, stack: AsyncExitStack, name: str, tables: Sequence[str], title: str = ""
) -> Change:
    """The change that makes a dataset of a connected database's tables, which are copied now; kept until the stack is
    closed."""
    async with showing(f"Copying from {clean(name)}") as progress:
        files = await stack.enter_async_context(sources_of(parts).copied(name, tables, progress))
    first = parts.datasets.own.find(name) is None
    return lambda now: parts.datasets.add_own(
        files, dataset_id=name, title=title or (name if first else ""), decided=now
    )


@click.command("correct")
@click.argument("dataset_id", metavar="ID")
@click.option("--title", default="", metavar="TEXT", help="Another title.")
@inputs.decided_options
@inputs.json_option
def correct(dataset_id: str, title: str, decided: Decided, as_json: bool) -> int:
    """Read the files of a dataset in another way.

    Makes a new version from the copies that were kept; the files themselves are not needed.

    Exit code: 0 changed or the same as before, 2 an option cannot be used, 4 no sandbox.
    """
    if not decided and not title:
        raise click.UsageError("Give --answer, --repair or --title.")

    @asynccontextmanager
    async def correcting(parts: Parts) -> AsyncGenerator[Change, None]:
        datasets = parts.datasets
        yield lambda now: datasets.own.correct(
            dataset_id, now.answers, repairs=now.repairs, title=title, progress=datasets.progress
        )

    return changed(decided, as_json, correcting)


def changed(
    decided: Decided,
    as_json: bool,
    changing: Callable[[Parts], AbstractAsyncContextManager[Change]],
    notes: Sequence[str] = (),
) -> int:
    """Makes the change, once more for each question that is answered meanwhile; what it needs is there until then."""

    async def act(parts: Parts) -> tuple[Added, list[Going]]:
        async with changing(parts) as change:

            async def attempt(now: Decided) -> Added:
                async with patience(parts):
                    return await change(now)

            added = await with_answers(decided, attempt)
        return replace(added, notes=(*added.notes, *notes)), await parts.versions.apply()

    added, gone = with_parts(act)
    if as_json:
        print_json(added_json(added))
    else:
        show_added(added)
    if gone:
        click.echo(f"Removed {_counted(len(gone))} that the rules for versions do not keep.", err=True)
    return 0


@click.command("list")
@inputs.json_option
def list_(as_json: bool) -> int:
    """List the datasets that were added."""
    records = _own().list()
    if as_json:
        print_json([dataset_json(record, brief=True) for record in records])
    else:
        show_list(records)
    return 0


@click.command("show")
@click.argument("dataset_id", metavar="ID")
@inputs.json_option
def show(dataset_id: str, as_json: bool) -> int:
    """Show a dataset that was added: its tables, how each column was read and why, its versions."""
    record = _own().get(dataset_id)
    if as_json:
        print_json(dataset_json(record))
    else:
        show_dataset(record)
    return 0


@click.command("remove")
@click.argument("dataset_id", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
@inputs.json_option
def remove(dataset_id: str, yes: bool, as_json: bool) -> int:
    """Remove a dataset that was added, with its versions and the copies of its files.

    What another dataset needs, too, stays. Capsules of its versions can be verified only after the same files were
    added again.

    Exit code: 0 removed, 1 the answer was no, 2 there is no such dataset.
    """
    own = _own()
    record = own.get(dataset_id)
    if not _agreed(f"Remove {clean(record.id)} with {_counted(len(record.versions))}? {_LOST}", yes):
        return 1
    gone = asyncio.run(own.remove(dataset_id))
    if as_json:
        print_json({"removed": gone.id, "versions": [v.dataset.version for v in gone.versions]})
    else:
        click.echo(f"Removed {clean(gone.id)} with {_counted(len(gone.versions))}.")
    return 0


@click.command("prune")
@click.option(
    "--keep-versions",
    type=click.IntRange(min=1),
    metavar="N",
    help="So many versions of each dataset stay, the current one among them.",
)
@click.option(
    "--older-than", type=inputs.Number(0), metavar="DAYS", help="What was replaced longer ago goes."
)
@click.option(
    "--max-mb", type=click.IntRange(min=0), metavar="N", help="All versions together take no more than this."
)
@click.option("--dry-run", is_flag=True, help="Only show what would go.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@inputs.json_option
def prune(
    keep_versions: int | None,
    older_than: float | None,
    max_mb: int | None,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """Remove earlier versions of the datasets that were added.

    The current version of a dataset always stays, and so does one that a run or an import uses. Without a rule on the
    command line, SANDTABLE_KEEP_VERSIONS, SANDTABLE_KEEP_VERSIONS_DAYS and SANDTABLE_KEEP_VERSIONS_MB are the rules; a
    server applies them by itself. Capsules of a version that goes can be verified only after the same files were added
    again; the versions are listed.

    Exit code: 0 done or nothing to do, 1 the answer was no, 2 there is no rule.
    """
    quiet_logs()
    settings = load_settings()
    given = PruneRules(keep_versions, older_than, None if max_mb is None else max_mb << 20)
    rules = given if given.any else PruneRules.of(settings)
    if not rules.any:
        raise InvalidInput(
            "no rule says what is to be kept",
            suggestion="Give --keep-versions, --older-than or --max-mb, or set SANDTABLE_KEEP_VERSIONS,"
            " SANDTABLE_KEEP_VERSIONS_DAYS or SANDTABLE_KEEP_VERSIONS_MB.",
        )
    goes = asyncio.run(_pruned(settings, rules, remove=False))
    if not as_json:
        for each in goes:
            click.echo(f"{clean(each.dataset_id)}\t{each.version.dataset.version}\t{each.version.at}")
    if goes and not dry_run:
        if not _agreed(f"Remove {_counted(len(goes))}? {_LOST}", yes):
            return 1
        goes = asyncio.run(_pruned(settings, rules, remove=True))
    if as_json:
        print_json({"goes": [_going_json(each) for each in goes], "removed": not dry_run})
    elif not dry_run or not goes:
        click.echo(f"Removed {_counted(len(goes))}." if goes else "Nothing goes.")
    return 0


async def _pruned(settings: Settings, rules: PruneRules, *, remove: bool) -> list[Going]:
    runs = state_of(settings).runs
    await runs.open()
    try:
        retention = version_retention_of(settings, own_datasets_of(settings), runs, rules=rules)
        return await retention.apply() if remove else await retention.chosen()
    finally:
        await runs.aclose()


def _going_json(each: Going) -> dict[str, Any]:
    version = each.version
    return {
        "dataset": each.dataset_id,
        "version": version.dataset.version,
        "at": version.at,
        "bytes": each.bytes,
        "rule": each.rule,
    }


def _own() -> OwnDatasets:
    quiet_logs()
    return own_datasets_of(load_settings())


def _agreed(question: str, yes: bool) -> bool:
    if yes:
        return True
    if not can_ask():
        raise InvalidInput("there is no terminal to ask on", suggestion="Add --yes.")
    return click.confirm(question, err=True)


def _counted(versions: int) -> str:
    return f"{versions} version{'s' * (versions != 1)}"


COMMANDS = (add, list_, show, propose, refresh, correct, remove, prune)
