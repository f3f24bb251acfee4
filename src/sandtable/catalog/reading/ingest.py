"""Converts source files to a version in the data store.

Invariant: this process copies and hashes bytes; only `convert`, in a sandbox, parses them. The same bytes under the
same names, with the same answers and repairs, give the same version with the same relationships, and are converted
once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from sandtable.catalog.convert import ColumnPlace, CompareRequest, Convert, ConvertedTable, ConvertResult
from sandtable.catalog.model import Dataset, Relationship, Table
from sandtable.catalog.proposed.links import candidates, links, ones_of, said
from sandtable.catalog.reading.file_tables import (
    NOTHING_DECIDED,
    Decided,
    Reading,
    require_answers,
    table_from,
    tables_of,
    unusable,
)
from sandtable.catalog.reading.filenames import (
    DATABASES,
    LINES,
    NamedFile,
    dataset_id,
    ending_of,
    name_files,
    source_format,
    stem_of,
    table_name,
)
from sandtable.catalog.reading.originals import originals
from sandtable.catalog.recipe import Recipe
from sandtable.catalog.stored.attestations import Original
from sandtable.catalog.stored.conversions import Conversion, Findings
from sandtable.catalog.stored.integrity import Damage
from sandtable.catalog.stored.source import Progress, digest_source, require_written
from sandtable.catalog.stored.store import DataStore, Workspace, disk_trouble
from sandtable.catalog.version import canonical_digest, dataset_version
from sandtable.errors import DataDamaged, InvalidInput, NotFound, RunnerBroken
from sandtable.quoting import quote

_LINKS_FORMAT = 1
"""Increment it when relationships are found differently: sets of files are then examined again, and versions without
relationships get those that are found."""
_READING_FORMAT = 1
"""Increment it when files are read differently: they are then converted again."""


@dataclass(frozen=True, slots=True)
class Ingested:
    dataset: Dataset
    findings: Mapping[str, Findings]
    """By table."""
    sources: Mapping[str, str]
    """By table, `NamedFile.table` of its file."""


async def ingest_declared(
    dataset: Dataset,
    folder: Path,
    store: DataStore,
    convert: Convert,
    progress: Progress | None = None,
    *,
    replace: bool = False,
) -> Dataset:
    """Put a dataset of the registry in `folder` into the store, unless it is there; `replace` does so in any case."""
    if not replace and await asyncio.to_thread(store.has, dataset.version):
        return dataset
    async with _workspace(store) as work, originals(dataset, folder, store.root / work.incoming) as sources:
        outputs: dict[str, str] = {}
        for table in dataset.tables:
            origin = sources[table.name]
            source, sha256 = await asyncio.to_thread(store.stage, work, origin, table.file, progress)
            if sha256 != table.sha256:
                raise InvalidInput(
                    f"{table.file} of dataset {dataset.id} is not the file the registry describes: "
                    f"its sha256 is {sha256}, expected {table.sha256}",
                    suggestion="Restore the file, or update sha256, rows and version in registry.json.",
                    table=table.name,
                    file=table.file,
                )
            reading = Reading(NamedFile(table.name, origin, table.file), columns=_declared(table))
            outputs[table.name] = _checked(table, await tables_of(convert, work, source, reading))
        await asyncio.to_thread(store.publish, work, dataset, outputs, replace=replace)
    return dataset


async def ingest_files(
    paths: Sequence[Path],
    store: DataStore,
    convert: Convert,
    progress: Progress | None = None,
    decided: Decided = NOTHING_DECIDED,
) -> Dataset:
    """Make a dataset of data files: see `ingest_named`."""
    return (await ingest_named(name_files(paths), store, convert, progress, decided)).dataset


async def ingest_named(
    files: Sequence[NamedFile],
    store: DataStore,
    convert: Convert,
    progress: Progress | None = None,
    decided: Decided = NOTHING_DECIDED,
) -> Ingested:
    """Make a dataset of data files, with the tables and types that the converter finds in each.

    An earlier conversion of the same files is reused while it is whole, and otherwise repeated. Raises InvalidInput,
    whose details have the `questions` that are open and the `repairs` that are offered.
    """
    digests = {file.table: await asyncio.to_thread(checked_digest, file, progress) for file in files}
    key = _source_key(files, digests, decided)
    recalled = await asyncio.to_thread(store.recall, key)
    again = None
    if recalled is not None and _is_of(digests, *recalled):
        known, conversion = recalled
        found = await asyncio.to_thread(store.check, known.version, progress)
        if not isinstance(found, Damage):
            kept = _originals(files, known.tables, conversion.sources)
            await asyncio.to_thread(store.integrity.remember_originals, known.version, kept)
            renamed = _renamed(known, files, conversion.sources)
            return Ingested(renamed, conversion.findings, conversion.sources)
        again = known.version
    readings = [Reading(file) for file in files]
    made = await take_in(readings, store, convert, progress, decided=decided, replace=again)
    entry = Conversion(version=made.dataset.version, sources=dict(made.sources), findings=dict(made.findings))
    with disk_trouble(store.root):
        await asyncio.to_thread(store.remember, key, entry)
    return made


async def ingest_again(
    version: str, store: DataStore, convert: Convert, progress: Progress | None = None
) -> Dataset:
    """Convert a damaged version again from its source files. Raises InvalidInput without them."""
    kept = await asyncio.to_thread(store.integrity.originals, version)
    if not kept:
        raise InvalidInput(
            "its original is not kept", suggestion="Add the same files again: they become the same version."
        )
    try:
        known = {table.name: table for table in (await asyncio.to_thread(store.manifest, version)).tables}
    except (NotFound, DataDamaged):
        known = dict[str, Table]()
    sources: dict[tuple[Path, str], list[str]] = {}
    for table, original in kept.items():
        sources.setdefault((original.path, original.sha256), []).append(table)
    readings: list[Reading] = []
    for (path, sha256), tables in sources.items():
        described = [known[table] for table in tables if table in known]
        name = described[0].file if described else ""
        several = any(table.recipe is not None for table in described)
        file = NamedFile(table_name(stem_of(Path(name))) if several else tables[0], path, name)
        if await asyncio.to_thread(checked_digest, file, progress) != sha256:
            raise InvalidInput(
                f"{path.name} is no longer the file that the data was made from",
                suggestion="Put the original back to its place, or use the new file as other data.",
            )
        readings.append(reading_of(file, described))
    return (await take_in(readings, store, convert, progress, replace=version)).dataset


def reading_of(file: NamedFile, tables: Sequence[Table]) -> Reading:
    """Reads the file as these tables of it were read before."""
    if file.copied is not None:
        return Reading(file, columns=file.copied.columns)
    recipes = {table.name: table.recipe for table in tables if table.recipe is not None}
    if recipes:
        return Reading(file, recipes=recipes)
    return Reading(file, columns=_declared(tables[0]) if tables else None)


async def take_in(
    readings: Sequence[Reading],
    store: DataStore,
    convert: Convert,
    progress: Progress | None = None,
    *,
    decided: Decided = NOTHING_DECIDED,
    earlier: Decided = NOTHING_DECIDED,
    replace: str | None = None,
) -> Ingested:
    """Converts and publishes. `earlier` decisions hold, too, where what they are about is still there; `replace` is the
    damaged version that the conversion must produce again."""
    files = [reading.file for reading in readings]
    every = earlier.with_more(decided)
    async with _workspace(store) as work:
        results: list[tuple[NamedFile, str, ConvertResult]] = []
        for reading in readings:
            name = f"{reading.file.table}{ending_of(reading.file.named)}"
            source, sha256 = await asyncio.to_thread(store.stage, work, reading.file.path, name, progress)
            results.append((reading.file, sha256, await tables_of(convert, work, source, reading, every)))
        require_answers([result for _, _, result in results], decided)
        made = [(file, sha256, table) for file, sha256, result in results for table in result.tables]
        tables = [table_from(table, file, sha256) for file, sha256, table in made]
        _require_other_names(made)
        outputs = {table.table: table.output or "" for _, _, table in made}
        sources = {table.table: file.table for file, _, table in made}
        found = await _related(convert, work, tables, outputs, _foreign_keys(made))
        as_of = _latest(tables, [table for _, _, table in made])
        dataset = _dataset(files, tables, as_of, found, said(found))
        if replace not in (None, dataset.version):
            raise RunnerBroken(f"converted again, the files became {dataset.version} instead of {replace}")
        again = replace is not None or await asyncio.to_thread(_lacks_links, dataset, store)
        kept = _originals(files, tables, sources)
        await asyncio.to_thread(store.publish, work, dataset, outputs, kept, replace=again)
        # Capsules are verified with the stored dataset, also where a registry has declared the same data.
        stored = await asyncio.to_thread(store.load, dataset.version)
        findings = {table.table: Findings.of(table) for _, _, table in made}
        recipes = {table.name: table.recipe for table in tables}
        return Ingested(_renamed(stored, files, sources, recipes), findings, sources)


def _foreign_keys(
    made: Sequence[tuple[NamedFile, str, ConvertedTable]],
) -> set[tuple[ColumnPlace, ColumnPlace]]:
    """Foreign keys that the files, or the databases that they were copied from, declare."""
    found = {
        (ColumnPlace(table.table, each.column), ColumnPlace(each.table, each.referred))
        for _, _, table in made
        for each in table.references
    }
    for file, _, table in made:
        for each in file.copied.refers if file.copied else ():
            found.add((ColumnPlace(table.table, each.column), ColumnPlace(each.to_table, each.to_column)))
    return found


def _require_other_names(made: Sequence[tuple[NamedFile, str, ConvertedTable]]) -> None:
    seen: dict[str, NamedFile] = {}
    for file, _, table in made:
        other = seen.setdefault(table.table.lower(), file)
        if other is not file:
            databases = [each for each in (other, file) if ending_of(each.named).startswith(DATABASES)]
            raise InvalidInput(
                f"{other.file} and {file.file} would both become the table {quote(table.table)}",
                suggestion="Add them as two datasets." if databases else "Rename one of the files.",
                files=[other.file, file.file],
            )


def _latest(tables: Sequence[Table], made: Sequence[ConvertedTable]) -> str | None:
    known = [each.latest.get(table.time_column or "") for table, each in zip(tables, made, strict=True)]
    return max((latest for latest in known if latest), default=None)


def _originals(
    files: Sequence[NamedFile], tables: Sequence[Table], sources: Mapping[str, str]
) -> dict[str, Original]:
    paths = {file.table: file.path for file in files}
    return {table.name: Original.of(paths[sources[table.name]], table.sha256) for table in tables}


async def _related(
    convert: Convert,
    work: Workspace,
    tables: Sequence[Table],
    outputs: dict[str, str],
    declared: Collection[tuple[ColumnPlace, ColumnPlace]],
) -> tuple[Relationship, ...]:
    proposed = await asyncio.to_thread(candidates, tables, declared)
    if not proposed:
        return ()
    request = CompareRequest(
        files=outputs,
        ones=ones_of(proposed),
        pairs=tuple((candidate.many, candidate.one) for candidate in proposed),
        incoming=work.incoming,
        staging=work.staging,
    )
    return links(tables, proposed, await convert.compare(request))


def _lacks_links(dataset: Dataset, store: DataStore) -> bool:
    """Whether the version was stored without relationships, before they were detected, and has some."""
    try:
        stored = store.load(dataset.version)
    except (NotFound, DataDamaged):
        return False
    return bool(dataset.relationships) and not (stored.relationships or stored.metrics)


@asynccontextmanager
async def _workspace(store: DataStore) -> AsyncGenerator[Workspace, None]:
    with disk_trouble(store.root):
        work = store.open_workspace()
        try:
            yield work
        finally:
            store.close_workspace(work)


def _declared(table: Table) -> tuple[tuple[str, str], ...]:
    return tuple((c.name, c.sql_type) for c in table.columns)


def _checked(table: Table, result: ConvertResult) -> str:
    """The file that the conversion of a declared table wrote."""
    if len(result.tables) != 1 or (output := result.tables[0].output) is None:
        raise RunnerBroken(f"the conversion of {table.file} gave {len(result.tables)} tables instead of one")
    found = [(c.name, c.sql_type) for c in result.tables[0].columns]
    if found != [(c.name, c.sql_type) for c in table.columns]:
        raise RunnerBroken(f"the conversion of {table.file} gave other columns than declared: {found}")
    rows = result.tables[0].rows
    if table.rows is not None and rows != table.rows:
        raise InvalidInput(
            f"{table.file} has {rows:,} rows; the registry says {table.rows:,}",
            suggestion="Update rows in registry.json.",
            table=table.name,
            file=table.file,
        )
    return output


def checked_digest(file: NamedFile, progress: Progress | None) -> str:
    if ending_of(file.named) in DATABASES:
        require_written(file.path)
    # What is longer than a line may be is no delimited text; the line ends of other files mean nothing.
    digest = digest_source(file.path, progress, lines=ending_of(file.named) in LINES)
    if file.path.stat().st_size == 0:
        raise InvalidInput(
            f"{file.path} is empty", suggestion="A CSV needs at least a header line.", file=str(file.path)
        )
    return digest


def _source_key(files: Sequence[NamedFile], digests: Mapping[str, str], decided: Decided) -> str:
    """Key over what decides the version: for each file its table, format and digest; the answers and repairs."""
    subject = {
        "files": sorted([file.table, source_format(file.named), digests[file.table]] for file in files),
        "answers": dict(decided.answers),
        "repairs": sorted(decided.repairs),
        "reading": _READING_FORMAT,
        "links": _LINKS_FORMAT,
    }
    return canonical_digest(subject)


def _is_of(digests: Mapping[str, str], known: Dataset, conversion: Conversion) -> bool:
    """Whether the index entry leads to a version that was made from these files."""
    sources = conversion.sources
    return set(sources.values()) == set(digests) and all(
        digests.get(sources.get(table.name, "")) == table.sha256 for table in known.tables
    )


def _dataset(
    files: Sequence[NamedFile],
    tables: Sequence[Table],
    as_of: str | None,
    relationships: tuple[Relationship, ...],
    why: str,
) -> Dataset:
    names = ", ".join(f.file for f in files)
    try:
        return Dataset(
            id=dataset_id(files[0]),
            title=stem_of(files[0].named),
            description=f"Made from {names}" + (f"; {why}" if why else ""),
            tables=tuple(tables),
            relationships=relationships,
            as_of=as_of,
            version=dataset_version(tables),
        )
    except ValidationError as e:
        raise unusable(names, e) from e


def _renamed(
    known: Dataset,
    files: Sequence[NamedFile],
    sources: Mapping[str, str],
    recipes: Mapping[str, Recipe | None] | None = None,
) -> Dataset:
    """The known dataset with the names and the order of the given files, and with the plain recipes that a version from
    before recipes lacks."""
    tables = [
        table.model_copy(
            update={"file": file.file, "recipe": table.recipe or (recipes or {}).get(table.name)}
        )
        for file in files
        for table in known.tables
        if sources.get(table.name) == file.table
    ]
    why = said(known.relationships)
    # Relationships that a registry declared for the same data were not counted here.
    return _dataset(
        files, tables, known.as_of, known.relationships, why if known.description.endswith(why) else ""
    )
