"""Converts source files to a version in the data store.

Invariant: this process copies and hashes bytes; only `convert`, in a sandbox, parses them. The same bytes under the
same names give the same version with the same relationships, and are converted once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sandtable.catalog.attestations import Original
from sandtable.catalog.convert import CompareRequest, Convert, ConvertRequest, ConvertResult, SourceFormat
from sandtable.catalog.filenames import NamedFile, dataset_id, name_files, source_format
from sandtable.catalog.integrity import Damage
from sandtable.catalog.links import candidates, links, ones_of, said
from sandtable.catalog.model import Column, ColumnType, Dataset, Relationship, Table
from sandtable.catalog.originals import originals
from sandtable.catalog.registry import explain
from sandtable.catalog.source import Progress, digest_source
from sandtable.catalog.store import DataStore, Workspace, disk_trouble
from sandtable.catalog.version import canonical_digest, dataset_version
from sandtable.errors import DataDamaged, InvalidInput, NotFound, RunnerBroken

_LINKS_FORMAT = 1
"""Increment it when relationships are found differently: sets of files are then examined again, and versions without
relationships get those that are found."""


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
            declared = tuple((c.name, c.sql_type) for c in table.columns)
            result = await _convert(convert, work, _Staged(table.name, table.file, source, sha256), declared)
            _check_declared(table, result)
            outputs[table.name] = result.output
        await asyncio.to_thread(store.publish, work, dataset, outputs, replace=replace)
    return dataset


async def ingest_files(
    paths: Sequence[Path], store: DataStore, convert: Convert, progress: Progress | None = None
) -> Dataset:
    """Make a dataset of data files: one table per file, types detected by the converter.

    An earlier conversion of the same files is reused while it is whole, and otherwise repeated.
    """
    files = name_files(paths)
    digests = [await asyncio.to_thread(_digest, file, progress) for file in files]
    key = _source_key((file.table, file.path, digest) for file, digest in zip(files, digests, strict=True))
    known = await asyncio.to_thread(store.recall, key)
    if known is None or key != _source_key((t.name, Path(t.file), t.sha256) for t in known.tables):
        return await _take_in(files, store, convert, progress)
    found = await asyncio.to_thread(store.check, known.version, progress)
    if isinstance(found, Damage):
        return await _take_in(files, store, convert, progress, replace=known.version)
    originals = {
        file.table: Original.of(file.path, digest) for file, digest in zip(files, digests, strict=True)
    }
    await asyncio.to_thread(store.integrity.remember_originals, known.version, originals)
    return _renamed(known, files)


async def ingest_again(
    version: str, store: DataStore, convert: Convert, progress: Progress | None = None
) -> Dataset:
    """Convert a damaged version again from its source files. Raises InvalidInput without them."""
    originals = await asyncio.to_thread(store.integrity.originals, version)
    if not originals:
        raise InvalidInput(
            "its original is not kept", suggestion="Add the same files again: they become the same version."
        )
    files = [NamedFile(table, original.path) for table, original in originals.items()]
    for file, original in zip(files, originals.values(), strict=True):
        if await asyncio.to_thread(_digest, file, progress) != original.sha256:
            raise InvalidInput(
                f"{file.file} is no longer the file that the data was made from",
                suggestion="Put the original back to its place, or use the new file as other data.",
            )
    return await _take_in(files, store, convert, progress, replace=version)


async def _take_in(
    files: Sequence[NamedFile],
    store: DataStore,
    convert: Convert,
    progress: Progress | None,
    *,
    replace: str | None = None,
) -> Dataset:
    """`replace` is the damaged version that the conversion must produce again."""
    async with _workspace(store) as work:
        tables: list[Table] = []
        outputs: dict[str, str] = {}
        latest: list[str] = []
        for file in files:
            name = f"{file.table}{file.path.suffix.lower()}"
            source, sha256 = await asyncio.to_thread(store.stage, work, file.path, name, progress)
            staged = _Staged(file.table, file.file, source, sha256)
            result = await _convert(convert, work, staged, None)
            table = _table(staged, result)
            tables.append(table)
            outputs[file.table] = result.output
            if table.time_column in result.latest:
                latest.append(result.latest[table.time_column])
        found = await _related(convert, work, tables, outputs)
        dataset = _dataset(files, tables, max(latest, default=None), found, said(found))
        if replace not in (None, dataset.version):
            raise RunnerBroken(f"converted again, the files became {dataset.version} instead of {replace}")
        originals = {
            file.table: Original.of(file.path, t.sha256) for file, t in zip(files, tables, strict=True)
        }
        again = replace is not None or await asyncio.to_thread(_lacks_links, dataset, store)
        await asyncio.to_thread(store.publish, work, dataset, outputs, originals, replace=again)
        key = _source_key((table.name, Path(table.file), table.sha256) for table in tables)
        await asyncio.to_thread(store.remember, key, dataset.version)
        # Capsules are verified with the stored dataset, also where a registry has declared the same data.
        return _renamed(await asyncio.to_thread(store.load, dataset.version), files)


async def _related(
    convert: Convert, work: Workspace, tables: Sequence[Table], outputs: dict[str, str]
) -> tuple[Relationship, ...]:
    proposed = await asyncio.to_thread(candidates, tables)
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


@dataclass(frozen=True, slots=True)
class _Staged:
    table: str
    file: str
    source: str
    sha256: str


@asynccontextmanager
async def _workspace(store: DataStore) -> AsyncGenerator[Workspace, None]:
    with disk_trouble(store.root):
        work = store.open_workspace()
        try:
            yield work
        finally:
            store.close_workspace(work)


async def _convert(
    convert: Convert, work: Workspace, staged: _Staged, columns: tuple[tuple[str, str], ...] | None
) -> ConvertResult:
    kind: SourceFormat = source_format(Path(staged.file))
    request = ConvertRequest(
        table=staged.table, source=staged.source, format=kind, columns=columns, staging=work.staging
    )
    try:
        return await convert(request)
    except InvalidInput as e:
        message = e.message if staged.file in e.message else f"{staged.file}: {e.message}"
        details: dict[str, Any] = {**e.details, "table": staged.table, "file": staged.file}
        raise InvalidInput(message, suggestion=e.suggestion, **details) from e


def _check_declared(table: Table, result: ConvertResult) -> None:
    found = [(c.name, c.sql_type) for c in result.columns]
    if found != [(c.name, c.sql_type) for c in table.columns]:
        raise RunnerBroken(f"the conversion of {table.file} gave other columns than declared: {found}")
    if table.rows is not None and result.rows != table.rows:
        raise InvalidInput(
            f"{table.file} has {result.rows:,} rows; the registry says {table.rows:,}",
            suggestion="Update rows in registry.json.",
            table=table.name,
            file=table.file,
        )


def _digest(file: NamedFile, progress: Progress | None) -> str:
    digest = digest_source(file.path, progress, lines=file.path.suffix.lower() != ".parquet")
    if file.path.stat().st_size == 0:
        raise InvalidInput(
            f"{file.path} is empty", suggestion="A CSV needs at least a header line.", file=str(file.path)
        )
    return digest


def _source_key(files: Iterable[tuple[str, Path, str]]) -> str:
    """Key over the table, the file's format and its digest, for each file."""
    subject = sorted([table, source_format(path), digest] for table, path, digest in files)
    return canonical_digest(subject if len(subject) == 1 else [*subject, {"links": _LINKS_FORMAT}])


def _table(staged: _Staged, result: ConvertResult) -> Table:
    try:
        columns = tuple(
            Column(name=c.name, type=c.type, sql_type=c.sql_type, nullable=c.nullable) for c in result.columns
        )
        temporal = (c.name for c in columns if c.type in (ColumnType.DATE, ColumnType.TIMESTAMP))
        return Table(
            name=staged.table,
            file=staged.file,
            sha256=staged.sha256,
            rows=result.rows,
            columns=columns,
            time_column=next(temporal, None),
        )
    except ValidationError as e:
        raise _unusable(staged.file, e) from e


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
            title=Path(files[0].file).stem,
            description=f"Made from {names}" + (f"; {why}" if why else ""),
            tables=tuple(tables),
            relationships=relationships,
            as_of=as_of,
            version=dataset_version(tables),
        )
    except ValidationError as e:
        raise _unusable(names, e) from e


def _renamed(known: Dataset, files: Sequence[NamedFile]) -> Dataset:
    """The known dataset with the names and the order of the given files."""
    tables = [t.model_copy(update={"file": f.file}) for f in files if (t := known.table(f.table))]
    why = said(known.relationships)
    # Relationships that a registry declared for the same data were not counted here.
    return _dataset(
        files, tables, known.as_of, known.relationships, why if known.description.endswith(why) else ""
    )


def _unusable(what: str, error: ValidationError) -> InvalidInput:
    return InvalidInput(
        f"{what} cannot be used as a table: {explain(error)}",
        suggestion="Give every column a name of its own, at most 255 characters long.",
    )
