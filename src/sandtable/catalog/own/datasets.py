"""Datasets that people add, and that stay: made from files, changed by newer files and by corrections, removed.

Invariant: a version is converted and published before a record names it, so what a record lists can be opened or built
again from its kept sources. A dataset exists only when no question about its files is open.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from sandtable.catalog.convert import Convert
from sandtable.catalog.model import Dataset
from sandtable.catalog.names import nearest
from sandtable.catalog.own.changes import changes_of
from sandtable.catalog.own.names import is_id, name_for, takes_files
from sandtable.catalog.own.records import (
    KeptSource,
    Outdated,
    OwnDataset,
    OwnRecords,
    OwnVersion,
    now,
    repeated,
)
from sandtable.catalog.reading.file_tables import NOTHING_DECIDED, Decided, Reading
from sandtable.catalog.reading.filenames import NamedFile, name_files
from sandtable.catalog.reading.ingest import Ingested, reading_of, take_in
from sandtable.catalog.recipe import Recipe
from sandtable.catalog.registry import Catalog
from sandtable.catalog.semantics.editions import CatalogEditions
from sandtable.catalog.stored.removals import Removal, RemovalRule
from sandtable.catalog.stored.source import Progress, digest_source
from sandtable.catalog.stored.store import DataStore, disk_trouble
from sandtable.errors import InvalidInput, NotFound, RunnerBroken, SandtableError
from sandtable.quoting import quote

T = TypeVar("T")

_EMPTY_MISFITS = "misfits-empty:"


@dataclass(frozen=True, slots=True)
class Added:
    record: OwnDataset
    outcome: Literal["added", "changed", "unchanged"]
    notes: tuple[str, ...] = ()
    """Such as why it has another name than its file."""


@dataclass(frozen=True, slots=True)
class _Change:
    """What is to become of a dataset."""

    id: str
    before: OwnDataset | None
    title: str
    sources: tuple[KeptSource, ...]
    decided: Decided = NOTHING_DECIDED
    recipes: Mapping[str, Recipe] | None = None
    notes: tuple[str, ...] = ()
    owner: str | None = None


class OwnDatasets:
    def __init__(
        self,
        catalog: Catalog,
        store: DataStore,
        convert: Convert | None,
        *,
        editions: CatalogEditions | None = None,
    ) -> None:
        """Without `convert`, as where there is no sandbox, datasets can be listed and removed."""
        self._catalog = catalog
        self._store = store
        self._convert = convert
        self._editions = editions or CatalogEditions(store.root)
        self.records = OwnRecords(store.root)

    def list(self) -> tuple[OwnDataset, ...]:
        return self.records.values()

    def find(self, dataset_id: str) -> OwnDataset | None:
        return self.records.get(dataset_id) if is_id(dataset_id) else None

    def get(self, dataset_id: str) -> OwnDataset:
        """Raises NotFound with the nearest id."""
        found = self.find(dataset_id)
        if found is not None:
            return found
        ids = [record.id for record in self.list()]
        alike = nearest(dataset_id, ids)
        hint = f"; did you mean {quote(alike)}?" if alike else ""
        built_in = " It is a built-in one, which stays as it is." if dataset_id in self._catalog else ""
        raise NotFound(
            f"no dataset {quote(dataset_id)} was added here{hint}",
            suggestion=f"Added were: {', '.join(ids) or 'none'}.{built_in}",
            dataset=dataset_id,
            nearest=alike,
        )

    async def add(
        self,
        files: Sequence[Path | NamedFile],
        *,
        dataset_id: str | None = None,
        title: str = "",
        to: str | None = None,
        decided: Decided = NOTHING_DECIDED,
        progress: Progress | None = None,
        owner: str | None = None,
    ) -> Added:
        """Adds files as a dataset; or as a newer version of the one that was made from files of these names. `to`
        adds them as further tables of a dataset. A `NamedFile` with a name is a copy, such as an upload: its path is
        not looked at again by `refresh`.

        Without `dataset_id`, the first file names it, with a number where that is taken by a built-in dataset or by one
        of other files. `owner`: whose it becomes, empty for everyone here; only a dataset of theirs or of everyone
        becomes newer then. None may change any. Raises InvalidInput with the open `questions` and the `repairs`.
        """
        named = name_files(files)
        with disk_trouble(self._store.root):
            kept = tuple([await asyncio.to_thread(self._keep, file, progress) for file in named])
            return await self._change(
                lambda: self._addition(named, kept, dataset_id, title, to, decided, owner), progress
            )

    def _keep(self, file: NamedFile, progress: Progress | None) -> KeptSource:
        return self.records.keep(file, None if file.name else file.path, progress)

    def _addition(
        self,
        files: Sequence[NamedFile],
        kept: tuple[KeptSource, ...],
        wanted: str | None,
        title: str,
        to: str | None,
        decided: Decided,
        owner: str | None,
    ) -> _Change:
        if to is not None:
            before = takes_files(self.get(to))
            new = {source.table.lower() for source in kept}
            sources = tuple(s for s in before.current.sources if s.table.lower() not in new)
            return _Change(to, before, title, (*sources, *kept), decided)
        chosen, notes = name_for(files, wanted, self._catalog, self.records, owner)
        return _Change(chosen, self.find(chosen), title, kept, decided, notes=notes, owner=owner)

    async def refresh(
        self,
        dataset_id: str,
        *,
        fetched: Mapping[str, NamedFile] | None = None,
        decided: Decided = NOTHING_DECIDED,
        progress: Progress | None = None,
    ) -> Added:
        """Looks at the files again where they were; those that are gone stay as they were. `fetched`: by
        `KeptSource.table`, the files at addresses that have changed."""

        def change() -> _Change:
            before = self.get(dataset_id)
            sources, notes = self.records.keep_again(before, fetched or {}, progress)
            return _Change(dataset_id, before, "", sources, decided, notes=notes)

        with disk_trouble(self._store.root):
            return await self._change(change, progress)

    async def correct(
        self,
        dataset_id: str,
        answers: Mapping[str, str] | None = None,
        *,
        repairs: Sequence[str] = (),
        recipes: Mapping[str, Recipe] | None = None,
        title: str = "",
        progress: Progress | None = None,
    ) -> Added:
        """Reads the kept files in another way: `answers` by column, or whole `recipes` by table."""
        decided = Decided(dict(answers or {}), tuple(repairs))

        def change() -> _Change:
            before = self.get(dataset_id)
            unknown = [name for name in recipes or () if before.dataset.table(name) is None]
            if unknown:
                raise InvalidInput(
                    f"{quote(dataset_id)} has no table {quote(unknown[0])}",
                    suggestion=f"Its tables are {', '.join(t.name for t in before.dataset.tables)}.",
                )
            return _Change(dataset_id, before, title, before.current.sources, decided, recipes)

        with disk_trouble(self._store.root):
            return await self._change(change, progress)

    async def remove(self, dataset_id: str) -> OwnDataset:
        """With its versions and sources, as far as no other dataset needs them. Returns what it was."""
        with disk_trouble(self._store.root):

            async def attempt() -> OwnDataset:
                record = self.get(dataset_id)
                await asyncio.to_thread(self.records.remove, record)
                # Another dataset may get the id: nothing that was written about this one holds for it.
                await asyncio.to_thread(self._editions.remove, record.id)
                await asyncio.to_thread(self._release, record.versions, "dataset")
                return record

            return await repeated(attempt, dataset_id)

    async def remove_file(self, dataset_id: str, table: str) -> None:
        """Takes the source that became this table, or tables with this prefix, out of the dataset, as a new version;
        the dataset goes with its last one."""

        def change() -> _Change:
            before = self.get(dataset_id)
            left = tuple(s for s in before.current.sources if s.table != table)
            return _Change(dataset_id, before, "", left)

        if all(source.table == table for source in self.get(dataset_id).current.sources):
            await self.remove(dataset_id)
            return
        with disk_trouble(self._store.root):
            await self._change(change, None)

    async def drop_versions(
        self, dataset_id: str, versions: Sequence[OwnVersion], rule: RemovalRule
    ) -> list[OwnVersion]:
        """Earlier versions; the current one stays in any case. Returns those that were removed."""
        with disk_trouble(self._store.root):

            async def attempt() -> list[OwnVersion]:
                record = self.get(dataset_id)
                left = tuple(v for v in record.versions[:-1] if v not in versions)
                kept = record.model_copy(update={"versions": (*left, record.current)})
                gone = [v for v in record.versions if v not in kept.versions]
                if gone:
                    await asyncio.to_thread(self.records.write, kept, record)
                    await asyncio.to_thread(self._release, gone, rule)
                return gone

            return await repeated(attempt, dataset_id)

    async def rebuild(self, version: str, progress: Progress | None = None) -> bool:
        """Converts a damaged or lost version again from its kept sources. False where there are none."""
        known = await asyncio.to_thread(self.records.version, version)
        if known is None or known.dataset.live is not None:
            return False
        for source in known.sources:
            kept = self.records.source(source.sha256)
            if not kept.is_file() or await asyncio.to_thread(digest_source, kept, progress) != source.sha256:
                raise InvalidInput(
                    f"the kept copy of {source.name} is missing or damaged",
                    suggestion="Add the same file again: it becomes the same version.",
                )
        readings = [reading_of(self._file(s), known.tables_of(s)) for s in known.sources]
        await take_in(readings, self._store, self._converter(), progress, replace=version)
        return True

    def size_of(self, version: OwnVersion) -> int:
        """Of its converted files, in bytes."""
        folder = self._store.path(version.dataset.version)
        return sum(path.lstat().st_size for path in folder.iterdir()) if folder.is_dir() else 0

    def is_kept(self, version: str) -> bool:
        known = self.records.version(version)
        return known is not None and known.dataset.live is None

    # A new version

    async def _change(self, change: Callable[[], _Change], progress: Progress | None) -> Added:
        async def attempt() -> Added:
            return await self._made(await asyncio.to_thread(change), progress)

        return await repeated(attempt, "the dataset")

    async def _made(self, change: _Change, progress: Progress | None) -> Added:
        before = change.before
        earlier = before.current.decided if before else NOTHING_DECIDED
        decided = earlier.with_more(change.decided)
        if before is not None and change.recipes is None and decided == earlier:
            kept = before.current.model_copy(update={"sources": change.sources})
            if kept.contents == before.current.contents:
                return await self._kept(change, before, kept)
        try:
            made = await self._converted(change, earlier, progress)
        except SandtableError:
            if before is not None and not all(map(self.records.has_source, change.sources)):
                # The version that the change was made from was removed meanwhile.
                raise Outdated from None
            raise
        title = change.title or (before.title if before else made.dataset.title)
        version = OwnVersion(
            at=now(),
            dataset=made.dataset.model_copy(update={"id": change.id, "title": title}),
            sources=change.sources,
            table_sources=dict(made.sources),
            findings=dict(made.findings),
            answers=dict(decided.answers),
            repairs=decided.repairs,
        )
        if before is None:
            whose, at = change.owner or "", version.at
            record = OwnDataset(id=change.id, title=title, added_at=at, owner=whose, versions=(version,))
            await asyncio.to_thread(self.records.write, record, None)
            return Added(record, "added", change.notes)
        current = before.current
        if version.dataset.version == current.dataset.version:
            return await self._kept(change, before, version.model_copy(update={"at": current.at}))
        changes = changes_of(current.dataset, version.dataset, current.findings, version.findings)
        version = version.model_copy(update={"changes": changes})
        record = before.model_copy(update={"title": title, "versions": (*before.versions, version)})
        await asyncio.to_thread(self.records.write, record, before)
        return Added(record, "changed", change.notes)

    async def _kept(self, change: _Change, before: OwnDataset, current: OwnVersion) -> Added:
        """The data are the same; where the files lie, the title and the answers may not be."""
        title = change.title or before.title
        current = current.model_copy(update={"dataset": current.dataset.model_copy(update={"title": title})})
        record = before.model_copy(update={"title": title, "versions": (*before.versions[:-1], current)})
        if record != before:
            await asyncio.to_thread(self.records.write, record, before)
        return Added(record, "unchanged", change.notes)

    async def _converted(self, change: _Change, earlier: Decided, progress: Progress | None) -> Ingested:
        readings = [self._reading(source, change) for source in change.sources]
        store, convert = self._store, self._converter()
        try:
            return await take_in(readings, store, convert, progress, decided=change.decided, earlier=earlier)
        except InvalidInput as error:
            as_before = change.recipes is None and any(r.as_before for r in readings)
            if change.before is None or not as_before or _names_misfits(error):
                raise
            refused = error
        fresh = [Reading(reading.file) for reading in readings]
        made = await take_in(fresh, store, convert, progress, decided=change.decided, earlier=earlier)
        # With other columns, the evidence decides; where cells do not fit the recipe, a person does.
        if _columns(made.dataset) == _columns(change.before.dataset):
            await asyncio.to_thread(self._remove_unnamed, made.dataset.version)
            raise refused
        return made

    def _converter(self) -> Convert:
        if self._convert is None:
            raise RunnerBroken("files cannot be converted without a sandbox")
        return self._convert

    def _reading(self, source: KeptSource, change: _Change) -> Reading:
        file = self._file(source)
        if change.before is None or file.copied is not None:
            return reading_of(file, ())
        tables = change.before.current.tables_of(source)
        names = {
            name.lower() for t in tables for c in t.columns for name in (t.name, c.name, f"{t.name}.{c.name}")
        }
        answered = any(name.lower() in names for name in change.decided.answers)
        others = [repair for repair in change.decided.repairs if not repair.startswith(_EMPTY_MISFITS)]
        if not tables or answered or others:
            return Reading(file)
        reading = reading_of(file, tables)
        given = {t.name: recipe for t in tables if (recipe := (change.recipes or {}).get(t.name))}
        recipes = {**(reading.recipes or {}), **given}
        if not recipes:
            return reading
        emptied = {repair.removeprefix(_EMPTY_MISFITS) for repair in change.decided.repairs}
        return Reading(file, recipes={name: _emptied(name, each, emptied) for name, each in recipes.items()})

    def _file(self, source: KeptSource) -> NamedFile:
        return NamedFile(source.table, self.records.source(source.sha256), source.name, copied=source.copied)

    def _release(self, versions: Sequence[OwnVersion], rule: RemovalRule) -> None:
        """Removes the data of versions that no record names any more, and their sources."""
        for version in versions:
            removal = Removal(dataset_id=version.dataset.id, at=now(), rule=rule)
            self._remove_unnamed(version.dataset.version, removal)
        self.records.drop_sources(versions, all_of_them=rule == "dataset")

    def _remove_unnamed(self, version: str, removal: Removal | None = None) -> None:
        declared = any(dataset.version == version for dataset in self._catalog.values())
        if not declared and self.records.version(version) is None:
            self._store.remove(version, removal)


def _names_misfits(error: InvalidInput) -> bool:
    repairs = error.details.get("repairs") or ()
    return bool(error.details.get("misfits")) or any(r["id"].startswith(_EMPTY_MISFITS) for r in repairs)


def _columns(dataset: Dataset) -> set[tuple[str, str]]:
    return {(table.name, column.name) for table in dataset.tables for column in table.columns}


def _emptied(table: str, recipe: Recipe, columns: set[str]) -> Recipe:
    changed = tuple(
        c.model_copy(update={"misfits": "empty"}) if {c.name, f"{table}.{c.name}"} & columns else c
        for c in recipe.columns
    )
    return recipe.model_copy(update={"columns": changed})
